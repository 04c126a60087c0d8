"""Retry with more of what was lacking: by a person, and by the driver itself as the profile's policy allows."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.control.retry import plan_retry, retry_run
from slurmtui.control.retry_change import slurm_says, ways_for
from slurmtui.models.retry import best_way
from slurmtui.models.run_record import DriverStatus
from slurmtui.sources.processes import driver_status
from slurmtui.sources.run_folder import read_attempts, read_run
from tests.live.waiting import tasks_ended

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from slurmtui.models.run_record import RunSpec
    from slurmtui.session import Session

    Submit = Callable[..., Awaitable[RunSpec]]
    Drive = Callable[..., Awaitable[Any]]
    Eventually = Callable[..., Awaitable[Any]]

# Without cgroups nobody enforces memory here: the job itself fails unless it was given enough.
HUNGRY = """
from prefect import flow, task
from slurmtui.flows import batch_job

@task
def first(folder):
    with open(f"{folder}/executed", "a") as stream:
        stream.write("first\\n")
    return 1

@flow
def hungry(folder: str):
    first.submit(folder).result()
    batch_job(command="test $SLURM_MEM_PER_NODE -ge 1000", options=["--comment=mine"])
"""
LATE = """
from prefect import flow
from prefect.task_runners import ThreadPoolTaskRunner
from slurmtui.flows import batch_job, slurm_runner

@flow
def late(seconds: int):
    batch_job(command=f"sleep {seconds}")

@flow
def onnode(folder: str):
    batch_job(command=f"test -e {folder}/open || {{ touch {folder}/begun; sleep 300; }}", options=["--no-requeue"])

@flow
def wrong():
    raise ValueError("NODE_FAIL is what this error of the code is called")

@flow
def broken():
    batch_job(command="exit 3")
"""


async def over(session: Session, run_id: str, state: str, eventually: Eventually, seconds: float = 90) -> None:
    """Wait until the run is in that state and its driver has ended."""

    async def ended() -> bool:
        assert session.prefect is not None
        run = await session.prefect.flow_run(run_id)
        record = read_run(run_id)
        if record is None or run.state_type != state or driver_status(record, ()) is not DriverStatus.ENDED:
            return False
        # The driver says that it has ended, and then writes the attempt down.
        return any(one.attempt == record.driver.attempt for one in read_attempts(folder_of(run_id)))  # type: ignore[union-attr]

    await eventually(ended, seconds, f"the run to be {state}")


async def retried(*arguments: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(
        subprocess.run, [sys.executable, "-m", "slurmtui", "retry", *arguments],
        env=dict(os.environ), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def folder_of(run_id: str) -> Path:
    from pathlib import Path  # noqa: PLC0415

    record = read_run(run_id)
    assert record is not None
    return Path(record.folder)


async def test_a_run_that_lacked_memory_completes_with_more_and_keeps_its_results(
    session: Session, drive: Drive, eventually: Eventually, tmp_path: Path
) -> None:
    run = await drive(HUNGRY, "hungry", profile={"memory": "600M"}, folder=str(tmp_path))
    await over(session, run.spec.id, "FAILED", eventually)
    await tasks_ended(session, run.spec.id, 2)
    plan = await plan_retry(session, run.spec.id)
    assert (plan.refused, plan.reused, plan.fixed) == ("", 1, "")
    assert plan.cost is not None
    assert (plan.cost.jobs, round(plan.cost.core_hours or 0, 2)) == (2, 0.33)
    record = read_run(run.spec.id)
    assert record is not None
    ways = await ways_for(session, record)
    assert best_way(ways, "out_of_memory") == "memory"
    bigger = next(way for way in ways if way.key == "memory").profile
    assert bigger is not None
    assert bigger.memory == "1200M"
    assert (await slurm_says(session, bigger))[0]
    await retry_run(session, run.spec.id, bigger, "out of memory")

    async def asked_more() -> bool:
        return any(job.memory in {"1200M", "1200"} for job in await run.jobs())

    await eventually(asked_more, 60, "a job in squeue with the memory that was asked for")
    await over(session, run.spec.id, "COMPLETED", eventually)
    assert (tmp_path / "executed").read_text() == "first\n", "a kept result was made again"
    overrides = json.loads((folder_of(run.spec.id) / "overrides.json").read_text())
    assert overrides[0]["why"] == "memory 600M → 1200M (after out of memory)"
    first, second = read_attempts(folder_of(run.spec.id))
    assert (first.outcome, first.cause, second.outcome) == ("FAILED", "code", "COMPLETED")
    record = read_run(run.spec.id)
    assert record is not None
    assert record.spec.profile is not None
    assert record.spec.profile.memory == "600M", "run.json was written again"


async def test_the_command_takes_memory_time_and_partition_and_tells_the_cost(
    session: Session, drive: Drive, eventually: Eventually, tmp_path: Path
) -> None:
    run = await drive(HUNGRY, "hungry", profile={"memory": "600M"}, folder=str(tmp_path))
    await over(session, run.spec.id, "FAILED", eventually)
    planned = await retried(run.spec.id, "--plan", "--memory", "1G", "--time", "30m", "--partition", "debug")
    assert planned.returncode == 0, planned.stderr
    assert "≤ 1 core-hours" in planned.stdout
    assert "memory 600M → 1G" in planned.stdout
    assert "one would start" in planned.stdout
    refused = await retried(run.spec.id, "--partition", "nowhere")
    assert refused.returncode == 1
    assert "invalid partition" in refused.stderr.lower()
    assert (await retried(run.spec.id, "--time", "90")).returncode == 2
    assert not (folder_of(run.spec.id) / "overrides.json").exists()
    done = await retried(run.spec.id, "--memory", "1G", "--time", "0:20:00", "--partition", "debug", "--wait")
    assert done.returncode == 0, done.stderr
    assert "memory 600M → 1G" in done.stderr

    async def told() -> bool:
        asked = await session.slurm.ended_jobs(read_run(run.spec.id).job_ids[-1:])  # type: ignore[union-attr]
        return ("debug", 1200, 1024) in {
            (job.partition, job.time_limit, job.requested_memory) for job in asked.values()
        }

    await eventually(told, 60, "accounting to tell what the last job asked for")


@pytest.mark.timeout(600)  # SLURM ends a job of one minute when it next looks
async def test_the_driver_runs_it_again_with_more_time_after_its_time_limit(
    session: Session, drive: Drive, eventually: Eventually
) -> None:
    policy = {"walltime": "00:01:00", "workers": 1, "retry": {"timeout": 1, "node_fail": 1}}
    run = await drive(LATE, "late", profile=policy, seconds=100)
    await over(session, run.spec.id, "COMPLETED", eventually, 400)
    first, second = read_attempts(run.folder)
    assert (first.outcome, first.cause) == ("FAILED", "timeout")
    assert first.again == "run again by itself, 1 of 1, time 00:01:00 → 00:02:00"
    assert (second.outcome, second.again) == ("COMPLETED", "")
    assert first.pid == second.pid
    states = await run.states()
    assert any(kind == "PENDING" and "time limit" in message for kind, message in states), states

    async def limits() -> bool:
        asked = await session.slurm.ended_jobs(read_run(run.spec.id).job_ids)  # type: ignore[union-attr]
        return {job.time_limit for job in asked.values()} == {60, 120}

    await eventually(limits, 60, "accounting to tell the time limits of both jobs")


async def test_the_driver_runs_it_again_after_a_node_failed(
    session: Session, drive: Drive, eventually: Eventually, tmp_path: Path
) -> None:
    run = await drive(LATE, "onnode", profile={"workers": 1, "retry": {"node_fail": 2}}, folder=str(tmp_path))

    async def running() -> str:
        calls = read_run(run.spec.id).submissions  # type: ignore[union-attr]
        made = [entry.job_id for entry in calls if entry.by == "batch_job"]
        return next((job.nodes for job in await run.jobs() if job.id in made and job.state == "RUNNING"), "")

    node = await eventually(running, 90, "the batch job to run")
    await eventually((tmp_path / "begun").exists, 60, "its command to have begun")
    (tmp_path / "open").touch()
    await change_node(session, node, "down", "reason=test")
    try:
        await over(session, run.spec.id, "COMPLETED", eventually, 240)
    finally:
        await change_node(session, node, "resume")  # refused when it has come back by itself
    first, second = read_attempts(run.folder)
    assert (first.cause, first.again, second.outcome) == ("node_fail", "run again by itself, 1 of 2", "COMPLETED")
    assert not (run.folder / "overrides.json").exists()


async def change_node(session: Session, node: str, state: str, *more: str) -> None:
    await session.runner.run(
        ["scontrol", "update", f"nodename={node}", f"state={state}", *more], timeout=20, check=False
    )


async def test_errors_of_the_code_are_not_run_again_by_itself(
    session: Session, drive: Drive, eventually: Eventually
) -> None:
    policy = {"workers": 1, "retry": {"timeout": 3, "node_fail": 3, "out_of_memory": 3, "preempted": 3}}
    for flow in ("wrong", "broken"):
        run = await drive(LATE, flow, profile=policy)
        await over(session, run.spec.id, "FAILED", eventually)
        (only,) = read_attempts(run.folder)
        assert only.again == ""
