"""Retry: the same run again, with the results it has kept, and never while something of it lives."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from slurmtui.control import server_process
from slurmtui.control.cancel import cancel_run
from slurmtui.control.retry import plan_retry, retry_run
from slurmtui.control.run_lock import hold
from slurmtui.control.slurm import cancel_jobs, submit_script
from slurmtui.errors import Refused
from slurmtui.models.run_record import DriverStatus
from slurmtui.sources.processes import driver_status
from slurmtui.sources.run_folder import read_run
from tests.live.waiting import tasks_ended

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slurmtui.models.run_record import RunSpec
    from slurmtui.session import Session

    Submit = Callable[..., Awaitable[RunSpec]]
    Eventually = Callable[..., Awaitable[Any]]

COUNTED = """
import time
from pathlib import Path
from prefect import flow, task

@task
def square(number, folder):
    with open(Path(folder) / "executed", "a") as stream:
        stream.write(f"{number}\\n")
    return number * number

@task
def gate(values, folder):
    if not (Path(folder) / "open").exists():
        raise RuntimeError("the gate is shut")
    return sum(values)

@task
def wait(values, folder):
    while not (Path(folder) / "open").exists():
        time.sleep(0.2)
    return sum(values)

@flow
def fails(folder: str):
    values = [future.result() for future in square.map([1, 2, 3], folder=folder)]
    return gate.submit(values, folder).result()

@flow
def waits(folder: str):
    values = [future.result() for future in square.map([1, 2, 3], folder=folder)]
    return wait.submit(values, folder).result()
"""


async def state_of(session: Session, run_id: str) -> str:
    assert session.prefect is not None
    return (await session.prefect.flow_run(run_id)).state_type


async def ended(session: Session, run_id: str, state: str, eventually: Eventually) -> None:
    """Wait until the run is in that state and its driver has ended."""

    async def over() -> bool:
        return await state_of(session, run_id) == state and driver_status(read_run(run_id), ()) is DriverStatus.ENDED

    await eventually(over, 90, f"the run to be {state}")


async def squares_done(session: Session, run_id: str, eventually: Eventually) -> None:
    async def done() -> bool:
        assert session.prefect is not None
        return sum(task.state_type == "COMPLETED" for task in await session.prefect.task_runs(run_id)) == 3

    await eventually(done, 90, "three tasks to complete")


def executed(folder: Path) -> list[str]:
    return sorted((folder / "executed").read_text().split())


def take_away(file: str) -> None:
    Path(file).rename(f"{file}.away")


async def test_a_failed_run_reuses_its_results_by_the_command(
    session: Session, submit: Submit, eventually: Eventually, tmp_path: Path
) -> None:
    spec = await submit(COUNTED, "fails", folder=str(tmp_path))
    await ended(session, spec.id, "FAILED", eventually)
    await tasks_ended(session, spec.id, 4)
    (tmp_path / "open").touch()
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "slurmtui", "retry", spec.id[:10], "--wait", "--json"],
        env=dict(os.environ), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["id"], facts["reused"], facts["tasks"], facts["state"]) == (spec.id, 3, 4, "COMPLETED")
    assert "3 of 4 tasks" in done.stderr
    assert executed(tmp_path) == ["1", "2", "3"], "a task whose result was kept was executed again"
    again = await tasks_ended(session, spec.id, 4, attempt=2)
    assert sorted(task.state_name for task in again) == ["Cached", "Cached", "Cached", "Completed"]
    assert "attempt 2" in (Path(read_run(spec.id).folder) / "driver.log").read_text()  # type: ignore[union-attr]
    with pytest.raises(Refused, match="completed; there is nothing to retry"):
        await retry_run(session, spec.id)


async def test_a_cancelled_run_runs_again(
    session: Session, submit: Submit, eventually: Eventually, tmp_path: Path
) -> None:
    spec = await submit(COUNTED, "waits", folder=str(tmp_path))
    await squares_done(session, spec.id, eventually)
    refused = (await plan_retry(session, spec.id)).refused
    assert "has a living driver" in refused
    with pytest.raises(Refused, match="has a living driver"):
        await retry_run(session, spec.id)
    assert (await cancel_run(session, spec.id)).ok
    plan = await plan_retry(session, spec.id)
    assert (plan.refused, plan.reused, plan.repair) == ("", 3, "")
    (tmp_path / "open").touch()
    await retry_run(session, spec.id)
    await ended(session, spec.id, "COMPLETED", eventually)
    assert executed(tmp_path) == ["1", "2", "3"]


async def test_a_run_whose_driver_was_killed_is_marked_crashed_and_runs_again(
    session: Session, submit: Submit, eventually: Eventually, tmp_path: Path
) -> None:
    spec = await submit(COUNTED, "waits", folder=str(tmp_path))
    await squares_done(session, spec.id, eventually)
    record = read_run(spec.id)
    assert record is not None
    assert record.driver is not None
    driver = psutil.Process(record.driver.pid)
    family = [driver, *driver.children(recursive=True)]
    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    await eventually(
        lambda: not any(map(server_process.lives, family)), 60, "the driver and what it started to be gone"
    )
    with pytest.raises(Refused, match="has jobs in the queue"):
        await retry_run(session, spec.id)
    await cancel_jobs(session.runner, record.job_ids)

    async def no_jobs() -> bool:
        return not any(job.active for job in (await session.slurm.jobs_by_id(record.job_ids)).values())

    await eventually(no_jobs, 60, "its jobs to be gone")
    assert await state_of(session, spec.id) == "RUNNING"
    plan = await plan_retry(session, spec.id)
    assert "its driver is gone" in plan.repair
    (tmp_path / "open").touch()
    await retry_run(session, spec.id)
    await ended(session, spec.id, "COMPLETED", eventually)
    assert session.prefect is not None
    states = await session.prefect.request("GET", f"/flow_run_states/?flow_run_id={spec.id}")
    assert "CRASHED" in {state["type"] for state in states}
    assert executed(tmp_path) == ["1", "2", "3"]


async def test_what_stands_in_the_way_is_said_and_nothing_is_changed(
    session: Session, submit: Submit, eventually: Eventually, tmp_path: Path
) -> None:
    spec = await submit(COUNTED, "fails", folder=str(tmp_path))
    await ended(session, spec.id, "FAILED", eventually)
    with hold(spec.id, "retrying"), pytest.raises(Refused, match="Another console is retrying this run"):
        await retry_run(session, spec.id)
    left = await submit_script(
        session.runner, b"#!/bin/sh\nsleep 600\n", ["--mem=50M", "--output=/dev/null", f"--comment={spec.comment}"]
    )
    with pytest.raises(Refused, match=f"has jobs in the queue .{left}."):
        await retry_run(session, spec.id)
    await cancel_run(session, spec.id)
    take_away(spec.entrypoint.rpartition(":")[0])
    with pytest.raises(Refused, match=r"file .*submitted\.py is not there"):
        await retry_run(session, spec.id)
    assert await state_of(session, spec.id) == "FAILED"
    record = read_run(spec.id)
    assert record is not None
    assert record.launch is not None
    assert record.launch.attempt == 1
