"""Cancel: in every situation a run can be in, nothing of it is left, and what cannot be done is said."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import psutil
import pytest

from slurmtui.control import end_driver, end_jobs
from slurmtui.control.cancel import cancel_run
from slurmtui.control.cancel_job import cancel_job_ids
from slurmtui.control.prefect import create_flow_run, set_state
from slurmtui.control.slurm import cancel_jobs, submit_script
from slurmtui.errors import Refused
from slurmtui.models import marks
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import DriverStatus
from slurmtui.sources.processes import driver_status
from slurmtui.sources.run_folder import read_run
from tests.live.waiting import CANCELLED_WITHIN

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slurmtui.models.job import Job
    from slurmtui.models.run_record import RunRecord, RunSpec
    from slurmtui.models.steps import CancelReport, Step
    from slurmtui.session import Session

    Submit = Callable[..., Awaitable[RunSpec]]
    Eventually = Callable[..., Awaitable[Any]]

NAPS = """
import time
from prefect import flow, task

@task
def nap(number):
    time.sleep(600)

@flow
def naps():
    return [future.result() for future in nap.map([1, 2])]

@flow
def nothing():
    pass
"""
SLEEP = b"#!/bin/sh\nsleep 600\n"
SMALL = ("--partition=batch", "--mem=50M", "--output=/dev/null", "--time=10")


async def jobs_of(session: Session, spec: RunSpec) -> list[Job]:
    table = await session.slurm.queue(everyone=False)
    return [job for job in table.jobs() if job.name == spec.job_name or job.comment == spec.comment]


async def state_of(session: Session, run_id: str) -> str:
    assert session.prefect is not None
    return (await session.prefect.flow_run(run_id)).state_type


async def running(session: Session, spec: RunSpec, eventually: Eventually, state: str = "RUNNING") -> RunRecord:
    """Wait until both workers' jobs are there in this state; the run's record."""

    async def there() -> RunRecord | None:
        jobs = [job.id for job in await jobs_of(session, spec) if job.state == state]
        record = read_run(spec.id)
        # sbatch's wrapper writes a job down after SLURM has it.
        return record if record is not None and len(jobs) >= 2 and set(jobs) <= set(record.job_ids) else None

    record: RunRecord = await eventually(there, 90, f"two jobs to be {state}")
    return record


def driver_of(record: RunRecord) -> psutil.Process:
    assert record.driver is not None
    return psutil.Process(record.driver.pid)


async def timed(session: Session, spec: RunSpec) -> CancelReport:
    began = time.monotonic()
    report = await cancel_run(session, spec.id)
    assert time.monotonic() - began < CANCELLED_WITHIN, report
    return report


async def assert_all_gone(session: Session, spec: RunSpec, report: CancelReport) -> None:
    assert report.ok, report
    assert report.state_type == "CANCELLED"
    assert report.left_jobs == ()
    assert await state_of(session, spec.id) == "CANCELLED"
    assert [job.id for job in await jobs_of(session, spec) if job.active] == []
    assert driver_status(read_run(spec.id), (), asked_at=time.time()) in {DriverStatus.ENDED, DriverStatus.GONE}


async def test_a_running_run_ends_by_itself_and_each_step_is_told(
    session: Session, submit: Submit, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(end_driver, "TERM_AFTER", 60.0)  # however long it takes on a busy machine
    monkeypatch.setattr(end_driver, "KILL_AFTER", 120.0)
    spec = await submit(NAPS, "naps")
    await running(session, spec, eventually)
    stranger = await submit_script(session.runner, SLEEP, SMALL)
    told: list[Step] = []
    began = time.monotonic()
    report = await cancel_run(session, spec.id, told.append)
    assert time.monotonic() - began < CANCELLED_WITHIN
    await assert_all_gone(session, spec, report)
    assert [step.key for step in report.steps] == ["prefect", "driver", "jobs", "empty", "final"]
    assert "by itself" in report.steps[1].detail
    assert {step.key for step in told if step.state == "waiting"} == {step.key for step in report.steps}
    assert (await session.slurm.jobs_by_id([stranger]))[stranger].active, "a job without the run's mark was touched"
    await cancel_jobs(session.runner, [stranger])


async def test_a_run_whose_jobs_still_wait(session: Session, submit: Submit, eventually: Eventually) -> None:
    held = Profile(
        name="held", partition="batch", memory="500M", walltime="00:10:00", workers=2, directives=("--hold",)
    )
    session.config = msgspec.structs.replace(session.config, profiles={**session.config.profiles, "held": held})
    spec = await submit(NAPS, "naps", profile="held")
    await running(session, spec, eventually, "PENDING")
    await assert_all_gone(session, spec, await timed(session, spec))


async def test_a_run_that_was_submitted_a_moment_ago(session: Session, submit: Submit) -> None:
    spec = await submit(NAPS, "naps")
    await assert_all_gone(session, spec, await timed(session, spec))


async def test_a_run_whose_driver_was_killed(session: Session, submit: Submit, eventually: Eventually) -> None:
    spec = await submit(NAPS, "naps")
    driver_of(await running(session, spec, eventually)).kill()
    await eventually(lambda: driver_status(read_run(spec.id), None) is DriverStatus.GONE, 60, "the driver to be gone")
    report = await timed(session, spec)
    await assert_all_gone(session, spec, report)
    assert "gone" in report.steps[1].detail


async def test_a_driver_that_does_not_answer_is_killed(
    session: Session, submit: Submit, eventually: Eventually
) -> None:
    spec = await submit(NAPS, "naps")
    driver_of(await running(session, spec, eventually)).send_signal(signal.SIGSTOP)
    report = await timed(session, spec)
    await assert_all_gone(session, spec, report)
    assert "SIGKILL" in report.steps[1].detail


@pytest.mark.parametrize("begun", [False, True])
async def test_a_driver_that_is_a_job(session: Session, submit: Submit, eventually: Eventually, *, begun: bool) -> None:
    spec = await submit(NAPS, "naps", driver="slurm")
    if begun:

        async def all_run() -> bool:
            return sum(job.state == "RUNNING" for job in await jobs_of(session, spec)) == 3

        await eventually(all_run, 60, "the driver and two workers to run")
    await assert_all_gone(session, spec, await timed(session, spec))


async def test_two_consoles_at_once_one_acts_and_the_other_is_told(
    session: Session, submit: Submit, eventually: Eventually
) -> None:
    spec = await submit(NAPS, "naps")
    await running(session, spec, eventually)
    answers = await asyncio.gather(cancel_run(session, spec.id), cancel_run(session, spec.id), return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, Refused)]
    assert len(refused) == 1
    assert re.match("Another console is (cancelling|acting on) this run", str(refused[0]))
    assert await state_of(session, spec.id) == "CANCELLED"


async def test_a_run_that_has_ended_is_refused_and_jobs_it_left_are_cancelled_alone(
    session: Session, submit: Submit, eventually: Eventually
) -> None:
    spec = await submit(NAPS, "nothing", profile="none")

    async def completed() -> bool:
        return await state_of(session, spec.id) == "COMPLETED"

    await eventually(completed, 60, "the run to complete")
    await eventually(lambda: driver_status(read_run(spec.id), ()) is DriverStatus.ENDED, 30, "the driver to end")
    with pytest.raises(Refused, match=r"has ended already.*nothing of it is left"):
        await cancel_run(session, spec.id)
    job_id = await submit_script(session.runner, SLEEP, [*SMALL, f"--comment={spec.comment}"])
    report = await cancel_run(session, spec.id)
    assert report.ok
    assert report.state_type == "COMPLETED"
    assert not await session.slurm.jobs_by_id([job_id])


async def test_a_run_that_slurmtui_did_not_start(session: Session) -> None:
    assert session.prefect is not None
    run = await create_flow_run(
        session.prefect, flow_name="foreign", run_name=None, parameters={}, idempotency_key=str(uuid.uuid4())
    )
    await set_state(session.prefect, run.id, "RUNNING")
    name = marks.job_name("foreign", run.id)
    job_id = await submit_script(session.runner, SLEEP, [*SMALL, f"--job-name={name}"])
    report = await cancel_run(session, run.id)
    assert report.ok
    assert "did not start this run" in report.steps[1].detail
    assert await state_of(session, run.id) == "CANCELLED"
    assert not await session.slurm.jobs_by_id([job_id])


async def test_a_run_stuck_in_cancelling(session: Session, submit: Submit, eventually: Eventually) -> None:
    spec = await submit(NAPS, "naps")
    driver_of(await running(session, spec, eventually)).kill()
    assert session.prefect is not None
    await set_state(session.prefect, spec.id, "CANCELLING")
    await assert_all_gone(session, spec, await timed(session, spec))


def configuration_without_controller(real: Path, folder: Path) -> Path:
    """A configuration whose controller is a port that nobody listens on."""
    lines = real.read_text(encoding="utf-8").splitlines()
    dead = folder / "slurm.conf"
    dead.write_text("\n".join("SlurmctldPort=1" if line.startswith("SlurmctldPort") else line for line in lines))
    return dead


async def test_a_silent_slurm_is_not_an_empty_queue(
    session: Session, submit: Submit, eventually: Eventually, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = await submit(NAPS, "naps")
    record = await running(session, spec, eventually)
    driver_of(record).kill()
    real = session.runner._environment["SLURM_CONF"]
    session.runner._environment["SLURM_CONF"] = str(configuration_without_controller(Path(real), tmp_path))
    monkeypatch.setattr(session.slurm, "timeout", 0.5)
    monkeypatch.setattr(end_jobs, "EMPTY_SECONDS", 1.0)
    report = await cancel_run(session, spec.id)
    assert not report.ok
    assert set(report.left_jobs) == set(record.job_ids)
    assert any("does not answer" in problem for problem in report.problems)
    assert await state_of(session, spec.id) == "CANCELLING"
    session.runner._environment["SLURM_CONF"] = real
    monkeypatch.undo()
    await assert_all_gone(session, spec, await cancel_run(session, spec.id))


async def test_of_an_array_the_named_tasks_only(session: Session) -> None:
    array = await submit_script(session.runner, SLEEP, [*SMALL, "--array=0-9%1"])
    results = await cancel_job_ids(session, [f"{array}_[2-4]", f"{array}_7", "99999999"])
    assert [result.ok for result in results] == [True, True, False]
    assert "is not in the queue" in results[2].text
    left = await session.slurm.jobs_by_id([array])
    waiting = next(job for job in left.values() if job.state == "PENDING")
    assert waiting.array_tasks.partition("%")[0] in {"1,5-6,8-9", "0-1,5-6,8-9"}
    assert all(result.ok for result in await cancel_job_ids(session, [array]))
    assert not await session.slurm.jobs_by_id([array])


async def test_the_command_takes_a_short_id_and_prints_facts(
    session: Session, submit: Submit, eventually: Eventually
) -> None:
    spec = await submit(NAPS, "naps")
    await running(session, spec, eventually)
    job_id = await submit_script(session.runner, SLEEP, SMALL)
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "slurmtui", "cancel", spec.id[:13], job_id, "--json"],
        env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run, job = json.loads(done.stdout)
    assert (run["id"], run["kind"], run["ok"], run["state"]) == (spec.id, "run", True, "CANCELLED")
    assert (job["id"], job["kind"], job["ok"]) == (job_id, "job", True)
