"""The driver: flows run for real, ended in every way a run can end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import msgspec
import psutil
import pytest

from slurmtui.control.run_folder import ask_cancel
from slurmtui.models.run_record import DriverRecord
from slurmtui.sources.processes import command_line, environment_of
from slurmtui.sources.run_folder import read_folder
from tests.live.waiting import CANCELLED_WITHIN, tasks_ended

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    Drive = Callable[..., Awaitable[Any]]
    Eventually = Callable[..., Awaitable[Any]]

NAPS = """
import asyncio
import time
from pathlib import Path
from prefect import flow, task
from prefect.task_runners import ThreadPoolTaskRunner

@task
def nap(number, seconds):
    time.sleep(seconds)
    return number

def ended(flow, run, state):
    Path("hook").write_text(state.type.value)

@flow(log_prints=True, on_cancellation=[ended])
def naps(count: int = 4, seconds: float = 60):
    futures = nap.map(list(range(count)), seconds=seconds)
    print("all are submitted")
    return [future.result() for future in futures]

@flow(log_prints=True)
async def async_naps(count: int = 4, seconds: float = 60):
    futures = nap.map(list(range(count)), seconds=seconds)
    print("all are submitted")
    await asyncio.sleep(0.1)
    return [future.result() for future in futures]

@flow(log_prints=True, task_runner=ThreadPoolTaskRunner())
def deaf():
    print("all are submitted")
    return nap.submit(0, 280).result()
"""

FACTS = """
import os
from prefect import flow, task
from prefect.logging import get_run_logger

@task
def look(number):
    from distributed import get_worker
    get_run_logger().info("look %d begins", number)
    get_run_logger().info("look %d is the last line", number)
    worker = get_worker()
    return {
        "job": os.environ["SLURM_JOB_ID"],
        "told": worker.metrics["slurm_job_id"](worker),
        "secrets": [name for name in os.environ if "AUTH_STRING" in name or "TOKEN" in name],
        "tls": worker.address.startswith("tls://"),
    }

@flow
def facts():
    import json
    from pathlib import Path
    found = [future.result() for future in look.map(list(range(4)))]
    Path("facts.json").write_text(json.dumps(found))
"""

OWN_RUNNER = """
from prefect import flow, task
from prefect_dask import DaskTaskRunner
from dask_jobqueue import SLURMCluster

@task
def square(number):
    return number * number

@flow(task_runner=DaskTaskRunner(
    cluster_class=SLURMCluster,
    cluster_kwargs={"queue": "batch", "cores": 1, "memory": "500MB", "walltime": "00:10:00", "n_workers": 1},
))
def own():
    assert square.submit(3).result() == 9
"""

REPAIRED = """
from pathlib import Path
from prefect import flow, task

@task
def count(number):
    with Path("executed").open("a") as stream:
        stream.write(f"{number}\\n")
    return number

@task
def needs_file():
    if not Path("repaired").exists():
        raise FileNotFoundError("not repaired")

@flow
def repair():
    futures = count.map([1, 2, 3])
    [future.result() for future in futures]
    needs_file.submit().result()
"""


def driver_of(run: Any) -> DriverRecord:
    """What the driver has written about itself."""
    driver = read_folder(run.folder).driver
    assert driver is not None
    return driver


async def submitted(run: Any, eventually: Eventually) -> None:
    """Wait until the flow's tasks are handed to Dask."""
    await eventually(lambda: "all are submitted" in run.log, 90, "the flow to run")


async def running(run: Any, eventually: Eventually) -> None:
    """Wait until the run's jobs run."""

    async def both_run() -> bool:
        jobs = await run.jobs()
        told = set(read_folder(run.folder).job_ids)  # sbatch's wrapper writes a job down after SLURM has it
        return len(jobs) == 2 and all(job.state == "RUNNING" and job.id in told for job in jobs)

    await eventually(both_run, 90, "two jobs to run")


async def test_a_plain_flow_runs_on_the_profiles_jobs(drive: Drive, tmp_path: Path) -> None:
    run = await drive(FACTS, "facts")
    assert await run.ended() == 0, run.log
    found = json.loads((tmp_path / "facts.json").read_text())
    record = read_folder(run.folder)
    assert {fact["job"] for fact in found} <= set(record.job_ids), "each task ran in a job that was written down"
    assert len(record.job_ids) == 2
    assert all(fact["told"] == fact["job"] for fact in found), "the workers tell the scheduler their job"
    assert all(fact["tls"] for fact in found)
    assert not any(fact["secrets"] for fact in found), "no password goes along with a job"
    assert not (run.folder / "tls").exists(), "no certificate is left"
    assert driver_of(run).outcome == "COMPLETED"
    assert (driver_of(run).ended or 0) > driver_of(run).started
    assert (run.folder / "jobs" / f"{record.job_ids[0]}.err").stat().st_size > 0
    assert await run.jobs() == []


async def test_the_last_lines_of_a_task_reach_the_log(drive: Drive, eventually: Eventually) -> None:
    run = await drive(FACTS, "facts")
    assert await run.ended() == 0, run.log

    async def all_there() -> bool:
        lines = await run.session.prefect.log_tail(run.spec.id)
        return sum("is the last line" in line.message for line in lines) == 4

    await eventually(all_there, 60, "the last log line of each task")


async def test_a_flow_that_knows_nothing_of_slurmtui_is_tied_to_its_jobs(drive: Drive, eventually: Eventually) -> None:
    run = await drive(OWN_RUNNER, "own")
    seen: dict[str, str] = {}

    async def job_seen() -> bool:
        seen.update({job.id: job.comment for job in await run.jobs()})
        return bool(seen) or run.process.poll() is not None

    await eventually(job_seen, 90)
    assert await run.ended() == 0, run.log
    assert set(seen) == set(read_folder(run.folder).job_ids)
    assert set(seen.values()) == {f"slurmtui:{run.spec.id}"}


async def test_an_adaptive_profile_runs_too(drive: Drive) -> None:
    run = await drive(NAPS, "naps", profile={"workers": None, "adapt": {"maximum": 2}}, seconds=0.5)
    assert await run.ended() == 0, run.log


@pytest.mark.parametrize("flow", ["naps", "async_naps"])
async def test_cancel_while_running(drive: Drive, eventually: Eventually, tmp_path: Path, flow: str) -> None:
    run = await drive(NAPS, flow)
    await submitted(run, eventually)
    await running(run, eventually)
    asked = time.monotonic()
    ask_cancel(run.spec.id)

    async def gone() -> bool:
        return not await run.jobs()

    await eventually(gone, CANCELLED_WITHIN, "the queue to be empty")
    assert await run.ended(CANCELLED_WITHIN) == 1
    assert time.monotonic() - asked < CANCELLED_WITHIN
    states = await run.states()
    assert [state for state, _ in states][-2:] == ["CANCELLING", "CANCELLED"]
    assert driver_of(run).outcome == "CANCELLED"
    if flow == "naps":
        assert (tmp_path / "hook").exists(), "the flow's own on_cancellation hook has run"


async def test_cancel_while_the_jobs_wait(drive: Drive, eventually: Eventually) -> None:
    run = await drive(NAPS, "naps", profile={"directives": ["--hold"]})

    async def both_wait() -> bool:
        return [job.state for job in await run.jobs()] == ["PENDING", "PENDING"]

    await submitted(run, eventually)
    await eventually(both_wait, 60, "two jobs to wait")
    ask_cancel(run.spec.id)
    assert await run.ended(CANCELLED_WITHIN) == 1
    assert (await run.states())[-1][0] == "CANCELLED"
    assert await run.jobs() == []


async def test_cancel_before_the_flow_has_begun(drive: Drive) -> None:
    run = await drive(f"import time\ntime.sleep(250)\n{NAPS}", "naps", start=False)
    ask_cancel(run.spec.id)
    run.start()
    assert await run.ended(120) == 1
    assert [state for state, _ in await run.states()] == ["PENDING", "CANCELLED"]
    assert read_folder(run.folder).job_ids == ()


async def test_a_flow_that_cannot_be_interrupted_is_ended_all_the_same(drive: Drive, eventually: Eventually) -> None:
    run = await drive(NAPS, "deaf")
    await submitted(run, eventually)
    ask_cancel(run.spec.id)
    await eventually(lambda: driver_of(run).ended, 60, "the end to be written down")
    assert (await run.states())[-1][0] == "CANCELLED"
    assert await run.ended(120) == 1


async def test_a_repaired_run_reuses_what_was_done(drive: Drive, tmp_path: Path) -> None:
    run = await drive(REPAIRED, "repair", profile={"workers": 1})
    assert await run.ended() == 1
    state, message = (await run.states())[-1]
    assert state == "FAILED"
    assert "not repaired" in message
    (tmp_path / "repaired").touch()
    assert await run.start().ended() == 0, run.log
    assert sorted((tmp_path / "executed").read_text().split()) == ["1", "2", "3"], "nothing was done twice"
    newest = await tasks_ended(run.session, run.spec.id, 4, attempt=2)
    assert sorted(task.state_name for task in newest) == ["Cached", "Cached", "Cached", "Completed"]
    attempts = (run.folder / "attempts.jsonl").read_bytes().splitlines()
    outcomes = [msgspec.json.decode(line, type=DriverRecord).outcome for line in attempts]
    assert outcomes == ["FAILED", "COMPLETED"]


async def test_one_driver_a_run(drive: Drive, eventually: Eventually) -> None:
    run = await drive(NAPS, "naps", profile={"directives": ["--hold"]})
    await submitted(run, eventually)
    first = run.process
    assert await run.start().ended(120) == 1
    assert f"held by its living driver, pid {first.pid}" in run.log
    assert first.poll() is None
    run.process = first


async def test_after_kill_9_the_next_attempt_takes_the_run_and_its_jobs_are_gone(
    drive: Drive, eventually: Eventually
) -> None:
    run = await drive(NAPS, "naps")
    await running(run, eventually)
    orphans = set(read_folder(run.folder).job_ids)
    run.process.kill()
    run.process.wait()
    assert {job.id for job in await run.jobs()} == orphans, "nobody has cancelled them"
    run.start()

    async def replaced() -> bool:
        jobs = {job.id for job in await run.jobs()}
        return bool(jobs) and not jobs & orphans

    await eventually(replaced, 90, "new jobs in place of the orphans")
    assert driver_of(run).attempt == 2
    ask_cancel(run.spec.id)
    assert await run.ended(120) == 1


async def test_sigterm_is_a_crash_and_leaves_no_job(drive: Drive, eventually: Eventually) -> None:
    run = await drive(NAPS, "naps")
    await running(run, eventually)
    run.process.send_signal(signal.SIGTERM)
    assert await run.ended(120) == 1
    assert (await run.states())[-1] == ("CRASHED", "Execution was aborted by a termination signal.")
    assert await run.jobs() == []
    assert driver_of(run).outcome == "CRASHED"


async def test_a_hangup_changes_nothing(drive: Drive, eventually: Eventually) -> None:
    run = await drive(NAPS, "naps", seconds=2)
    await submitted(run, eventually)
    os.killpg(run.process.pid, signal.SIGHUP)
    assert await run.ended() == 0, run.log


async def test_a_refused_sbatch_ends_the_run_with_slurms_words(drive: Drive) -> None:
    run = await drive(NAPS, "naps", profile={"partition": "nowhere"})
    assert await run.ended(120) == 1
    state, message = (await run.states())[-1]
    assert state == "FAILED"
    assert message.startswith("sbatch refused: Invalid partition name specified")
    assert read_folder(run.folder).submissions[0].code == 1


async def test_a_file_that_no_longer_imports_says_where(drive: Drive, eventually: Eventually) -> None:
    run = await drive("import no_such_module_here\n", "naps")
    assert await run.ended(120) == 1
    state, message = (await run.states())[-1]
    assert state == "FAILED"
    assert message == f"ModuleNotFoundError: No module named 'no_such_module_here' ({run.spec.entrypoint[:-5]}:1)"

    async def logged() -> bool:
        return any("could not be loaded" in line.message for line in await run.session.prefect.log_tail(run.spec.id))

    await eventually(logged, 60, "the traceback in the run's log")


async def test_a_job_that_ends_too_early_is_replaced(drive: Drive, eventually: Eventually) -> None:
    run = await drive(NAPS, "naps", profile={"workers": 1, "tls": False}, count=5, seconds=6)
    await submitted(run, eventually)

    def workers() -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if "distributed.cli.dask_worker" in command_line(process):
                    found += [process] if environment_of(process).get("SLURM_JOB_NAME") == run.spec.job_name else []
        return found

    nannies = await eventually(workers, 90, "the worker to come up")
    await eventually(lambda: "Starting worker compute stream" in run.log, 90, "the worker to be known")
    nannies[0].terminate()
    assert await run.ended(240) == 0, run.log
    assert "a new one is submitted in its place" in run.log
    assert len(read_folder(run.folder).job_ids) == 2
