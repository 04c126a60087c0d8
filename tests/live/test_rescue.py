"""Rescue on the real thing: jobs whose run nobody knows, a run stuck in CANCELLING, folders that Prefect forgot."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slurmtui import paths
from slurmtui.control.prefect import delete_flow_run, set_state
from slurmtui.control.slurm import submit_script
from slurmtui.models.run_record import DriverStatus
from slurmtui.sources.processes import driver_status
from slurmtui.sources.run_folder import read_run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slurmtui.models.run_record import RunSpec
    from slurmtui.session import Session

    Submit = Callable[..., Awaitable[RunSpec]]
    Eventually = Callable[..., Awaitable[Any]]

CODE = """
import time
from prefect import flow

@flow
def nothing():
    pass

@flow
def waits():
    time.sleep(600)
"""


async def verb(*words: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(
        subprocess.run, [sys.executable, "-m", "slurmtui", "rescue", *words],
        env=dict(os.environ), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


async def listed(run_id: str) -> list[dict[str, Any]]:
    done = await verb("--json")
    assert done.returncode == 0, done.stderr
    return [case for case in json.loads(done.stdout) if case["run_id"] == run_id]


async def test_jobs_of_a_run_that_nobody_knows_are_told_and_cancelled_when_asked(session: Session) -> None:
    run_id = str(uuid.uuid4())
    options = ("--partition=batch", "--mem=50M", "--output=/dev/null", f"--comment=slurmtui:{run_id}")
    mine = await submit_script(session.runner, b"#!/bin/sh\nsleep 300\n", options)
    other = await submit_script(session.runner, b"#!/bin/sh\nsleep 300\n", options[:3])
    (case,) = await listed(run_id)
    assert (case["kind"], case["job_ids"]) == ("orphan-jobs", [mine])
    assert set(await session.slurm.jobs_by_id([mine])) == {mine}, "looking must not touch"
    done = await verb(case["id"], "--do", "cancel-jobs", "--json")
    assert done.returncode == 0, done.stderr
    assert not await session.slurm.jobs_by_id([mine])
    assert await session.slurm.jobs_by_id([other]), "a job without the mark was cancelled"
    await session.runner.run(["scancel", other])
    assert not await listed(run_id)


async def test_a_folder_whose_run_was_deleted_is_put_aside_when_asked(
    session: Session, submit: Submit, eventually: Eventually
) -> None:
    spec = await submit(CODE, "nothing", profile="none")
    await eventually(lambda: driver_status(read_run(spec.id), ()) is DriverStatus.ENDED, 60, "the driver to end")
    assert session.prefect is not None
    assert not await listed(spec.id)
    await delete_flow_run(session.prefect, spec.id)
    (case,) = await listed(spec.id)
    assert case["kind"] == "forgotten-run"
    done = await verb(spec.id[:13], "--do", "put-aside", "--json")
    assert done.returncode == 0, done.stderr
    assert spec.id not in os.listdir(paths.runs_folder())  # noqa: PTH208 - a moment
    assert not await listed(spec.id)


async def test_a_run_whose_driver_is_gone_can_be_run_again(
    session: Session, submit: Submit, eventually: Eventually
) -> None:
    spec = await submit(CODE, "waits", profile="none")

    async def begun() -> bool:
        assert session.prefect is not None
        return (await session.prefect.flow_run(spec.id)).state_type == "RUNNING"

    await eventually(begun, 60, "the flow to begin")
    record = read_run(spec.id)
    assert record is not None
    assert record.driver is not None
    os.kill(record.driver.pid, 9)

    async def told() -> list[dict[str, Any]]:
        return await listed(spec.id)

    (case,) = await eventually(told, 60, "the run to be listed")
    assert (case["kind"], [one["key"] for one in case["repairs"]]) == ("driver-gone", ["crash", "retry", "cancel"])
    file = Path(spec.entrypoint.rpartition(":")[0])
    await asyncio.to_thread(file.write_text, CODE.replace("600", "0"))
    done = await verb(spec.id, "--do", "retry")
    assert done.returncode == 0, done.stderr
    assert session.prefect is not None

    async def completed() -> bool:
        assert session.prefect is not None
        return (await session.prefect.flow_run(spec.id)).state_type == "COMPLETED"

    await eventually(completed, 90, "the run to complete")
    answer = await set_state(session.prefect, spec.id, "CRASHED")
    assert not answer.accepted
