"""Runs a failed, crashed or cancelled run again under its own id, so that kept results are used and not made again."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from slurmtui.control import run_folder
from slurmtui.control.cost import Cost, cost_of
from slurmtui.control.end_jobs import tied_jobs
from slurmtui.control.launch import launch
from slurmtui.control.prefect import mark_crashed, set_state
from slurmtui.control.resolve import need_prefect
from slurmtui.control.retry_change import fixed_by_flow, why_changed
from slurmtui.control.run_lock import holding
from slurmtui.control.unbroken import unbroken
from slurmtui.errors import CommandError, CommandMissing, Refused, SlurmtuiError
from slurmtui.models.flow_run import RETRYABLE_STATES, FlowRun, TaskRun
from slurmtui.models.marks import Marks
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import AttemptProfile, DriverStatus, RunRecord, RunSpec
from slurmtui.sources.processes import SILENCE, driver_status, newest_start, orphans, silence
from slurmtui.sources.run_folder import read_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job import Job
    from slurmtui.session import Session
    from slurmtui.sources.prefect.client import PrefectClient

_STUCK_STATES = frozenset({"RUNNING", "PENDING", "CANCELLING", "SCHEDULED"})


class RetryPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a retry would do.

    Attributes:
        reused: tasks of the last attempt whose result is kept and there.
        total: tasks of the last attempt that Prefect knows of.
        refused: why the run may not be retried, empty when it may.
        repair: what is put right first (a run that Prefect holds for running though nothing of it lives), or empty.
        profile: what its jobs ask for when nothing is changed; None when that stands in the flow.
        fixed: why another profile would change nothing, empty when it would.
    """

    run: FlowRun
    reused: int = 0
    total: int = 0
    refused: str = ""
    repair: str = ""
    profile: Profile | None = None
    fixed: str = ""

    @property
    def again(self) -> int:
        """Known tasks that run again."""
        return self.total - self.reused

    @property
    def cost(self) -> Cost | None:
        """The most it uses when nothing is changed; None when nobody can tell."""
        return None if self.profile is None else cost_of(self.profile)


async def plan_retry(session: Session, run_id: str) -> RetryPlan:
    """Look at what a retry would do; nothing is changed.

    Raises:
        Refused: no Prefect server is configured.
        PrefectError: it does not know the run or does not answer.
    """
    client = need_prefect(session)
    run = await client.flow_run(run_id)
    record = await asyncio.to_thread(read_run, run_id)
    refused, repair = await _refusal(session, run, record)
    reused, total = await reuse_of(session, run_id)
    fixed = fixed_by_flow(record) if record is not None else ""
    return RetryPlan(
        run=run,
        reused=reused,
        total=total,
        refused=refused,
        repair=repair,
        profile=record.profile if record is not None and not fixed else None,
        fixed=fixed,
    )


async def reuse_of(session: Session, run_id: str) -> tuple[int, int]:
    """How many tasks of the newest attempt would be reused, of how many that are known.

    Raises:
        Refused: no Prefect server is configured.
        PrefectError: it does not answer.
    """
    newest = last_attempt(await need_prefect(session).task_runs(run_id))
    # A look for each result file: thousands on a network file system take a while.
    return await asyncio.to_thread(lambda: sum(map(is_reusable, newest))), len(newest)


async def retry_run(session: Session, run_id: str, profile: Profile | None = None, reason: str = "") -> RunSpec:
    """Start the run again, its jobs with ``profile`` from now on; without one they ask for what they last asked for.

    ``reason`` says in the run folder what the change answers.

    Raises:
        Refused: it may not be retried, or another console is acting on it.
        PrefectError: the server refused or does not answer.
        FlowError: the driver ended at once; the run is then CRASHED again.
        RunFolderError: the run folder cannot be written.
    """
    need_prefect(session)
    async with holding(run_id, "retrying"):
        plan = await plan_retry(session, run_id)
        record = await asyncio.to_thread(read_run, run_id)
        if plan.refused or record is None:
            raise Refused(plan.refused or f"Run {run_id} has no run folder here.")
        await unbroken(_start(session, plan, record, profile, reason))
    return record.spec


async def _start(session: Session, plan: RetryPlan, record: RunRecord, profile: Profile | None, reason: str) -> None:
    """Bring the run to PENDING and start its driver: half of that would be a run that waits for ever."""
    client, run_id = need_prefect(session), plan.run.id
    await _make_ready(client, plan)
    try:
        attempt = _next_attempt(record)
        folder = Path(record.folder)
        await asyncio.to_thread(_make_folder_ready, folder, record, attempt, profile, reason)
        await launch(session, _spec_now(record, profile), folder, attempt)
    except (SlurmtuiError, OSError, asyncio.CancelledError) as error:
        await mark_crashed(client, run_id, "start the run again", error)
        raise


def _spec_now(record: RunRecord, profile: Profile | None) -> RunSpec:
    """The run with the profile of now: the job of a driver goes where the run's own jobs go."""
    return msgspec.structs.replace(record.spec, profile=profile or record.profile)


def _make_folder_ready(folder: Path, record: RunRecord, attempt: int, profile: Profile | None, reason: str) -> None:
    """Put an old cancel aside, and write down what the jobs ask for from now on."""
    run_folder.put_cancel_aside(folder, attempt - 1)
    if profile is None or profile == record.profile:
        return
    if fixed := fixed_by_flow(record):
        raise Refused(f"{record.spec.name}: {fixed}.")
    why = why_changed(record.profile, profile, reason)
    change = AttemptProfile(attempt=attempt, profile=profile, why=why, time=time.time())
    run_folder.add_override(folder, change)


def last_attempt(task_runs: Sequence[TaskRun]) -> tuple[TaskRun, ...]:
    """The task runs of the newest attempt."""
    newest = max((task.attempt for task in task_runs), default=0)
    return tuple(task for task in task_runs if task.attempt == newest)


def is_reusable(task: TaskRun) -> bool:
    """Whether the task is done and its result is kept where it can be read."""
    return task.state_type == "COMPLETED" and bool(task.result_file) and Path(task.result_file or "").is_file()


async def _refusal(session: Session, run: FlowRun, record: RunRecord | None) -> tuple[str, str]:
    """Why not, and what must be put right first."""
    if record is None:
        return f"{run.name} was not started by slurmtui (it has no run folder), so it cannot be started again here.", ""
    refused = _wrong_state(run) or await asyncio.to_thread(_no_file, record) or await _still_alive(session, run, record)
    if refused or run.state_type in RETRYABLE_STATES:
        return refused, ""
    return "", f"Prefect holds it for {run.state_name}, but its driver is gone and no job of it is left"


def _wrong_state(run: FlowRun) -> str:
    if run.state_type == "COMPLETED":
        return f"{run.name} completed; there is nothing to retry. Submit the flow anew to run it once more."
    if run.state_type not in RETRYABLE_STATES | _STUCK_STATES:
        return f"Retry needs a failed, crashed or cancelled run; {run.name} is {run.state_name}."
    return ""


def _no_file(record: RunRecord) -> str:
    file = record.spec.entrypoint.rpartition(":")[0]
    return "" if os.access(file, os.R_OK) else f"The flow's file {file} is not there (or cannot be read)."


async def _still_alive(session: Session, run: FlowRun, record: RunRecord) -> str:
    asked_at = time.time()
    try:
        jobs = await tied_jobs(session, Marks.of(record.spec, record))
    except CommandMissing:
        jobs = ()  # without SLURM there are no jobs
    except CommandError as error:
        return f"It is not known whether jobs of {run.name} are alive: {error}"
    alive = await asyncio.to_thread(_alive, record, jobs, asked_at)
    return f"{run.name} {alive}: cancel it first (`slurmtui cancel {run.id[:8]}`)." if alive else ""


def _alive(record: RunRecord, jobs: Sequence[Job], asked_at: float) -> str:
    """What of the run lives, in words; empty when nothing does."""
    status = driver_status(record, {job.id for job in jobs}, asked_at=asked_at)
    newest = newest_start(record)
    where = f" (process {newest.pid} on {newest.host})" if newest is not None and newest.pid else ""
    if status.lives:
        return f"has a living driver{where}"
    if status is DriverStatus.ELSEWHERE and silence(record) < SILENCE:
        return f"has a driver on another host{where} that gave a sign {silence(record):.0f} s ago"
    if left := orphans(record):
        return f"has left processes behind ({', '.join(str(process.pid) for process in left)})"
    # What is only being cleaned up does no harm any more, nor does a driver's own job once it has said that it ended.
    over = record.driver_job_id if status is DriverStatus.ENDED else None
    if left_jobs := [job.id for job in jobs if job.state != "COMPLETING" and job.id != over]:
        return f"has jobs in the queue ({', '.join(left_jobs[:6])})"
    return ""


async def _make_ready(client: PrefectClient, plan: RetryPlan) -> None:
    """Bring the run to PENDING, from where the engine runs it again, and everyone sees that it is about to."""
    run = plan.run
    if plan.repair and run.state_type != "PENDING":
        # From Cancelling the server lets a run go to Cancelled only.
        end = "CANCELLED" if run.state_type == "CANCELLING" else "CRASHED"
        await _need_state(client, run.id, end, f"Found by slurmtui: {plan.repair}.")
        run = await client.flow_run(run.id)
    if run.state_type != "PENDING":
        # The server's rules know no way out of Cancelled but Running, which is the engine's to say.
        await _need_state(client, run.id, "PENDING", "Retried by slurmtui", force=run.state_type == "CANCELLED")


async def _need_state(
    client: PrefectClient, run_id: str, state_type: str, message: str, *, force: bool = False
) -> None:
    answer = await set_state(client, run_id, state_type, message, force=force)
    if not answer.accepted:
        raise Refused(f"Prefect does not let the run go to {state_type}; it keeps {answer.state_type}: {answer.reason}")


def _next_attempt(record: RunRecord) -> int:
    newest = newest_start(record)
    return (newest.attempt if newest is not None else 0) + 1
