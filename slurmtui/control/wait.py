"""Waits for the end of a run and tells what it is about meanwhile."""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING

from slurmtui.control.end_jobs import tied_jobs
from slurmtui.control.resolve import need_prefect
from slurmtui.errors import CommandError, PrefectError, PrefectUnauthorized, RunFolderError
from slurmtui.models.marks import Marks, job_name
from slurmtui.models.reasons import waiting_words
from slurmtui.models.run_record import DriverStatus, RunRecord
from slurmtui.models.text import visible
from slurmtui.sources.processes import driver_status
from slurmtui.sources.run_folder import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slurmtui.models.flow_run import FlowRun
    from slurmtui.models.job import Job
    from slurmtui.session import Session

_PREFECT_EVERY = 1.0
_SQUEUE_EVERY = 5.0
_PATIENCE_SECONDS = 10.0  # between a driver's end and the state it has written last


async def wait_for_run(session: Session, run_id: str, tell: Callable[[str], None]) -> FlowRun:
    """Wait until the run has ended, or until nothing is left that could end it; ``tell`` is given each new sentence.

    Raises:
        PrefectError: the run is not known there, or the credentials are refused; lost connections are waited for.
    """
    return await _Wait(session, run_id, tell).run()


class _Wait:
    def __init__(self, session: Session, run_id: str, tell: Callable[[str], None]) -> None:
        self._session, self._run_id, self._tell_out = session, run_id, tell
        self._said = ""
        self._jobs: tuple[Job, ...] | None = None
        self._asked, self._looked = 0.0, -math.inf  # when squeue was asked last: by the clock, and monotonic
        self._gone_since: float | None = None

    async def run(self) -> FlowRun:
        client = need_prefect(self._session)
        while True:
            try:
                run = await client.flow_run(self._run_id)
            except PrefectError as error:
                if isinstance(error, PrefectUnauthorized) or error.status == 404:
                    raise
                self._tell(f"Prefect does not answer: {error}")
            else:
                record = self._record()
                if run.final and not _may_go_on(record):
                    return run
                await self._look_at_queue(run, record)
                if self._is_lost(record):
                    self._tell(f"lost: the driver is gone. `slurmtui retry {run.id[:8]}` runs it again.")
                    return run
                self._tell(progress_words(run, self._jobs, record, self._asked))
            await asyncio.sleep(_PREFECT_EVERY)

    def _tell(self, sentence: str) -> None:
        if sentence != self._said:
            self._said = sentence
            self._tell_out(visible(sentence))

    def _record(self) -> RunRecord | None:
        try:
            return read_run(self._run_id)
        except RunFolderError:
            return None

    async def _look_at_queue(self, run: FlowRun, record: RunRecord | None) -> None:
        floor = self._session.config.slurm.floor_seconds
        new = any(moment > self._asked for moment in _made(record))  # jobs that squeue has not shown yet
        if time.monotonic() - self._looked < (floor if new else max(_SQUEUE_EVERY, floor)):
            return
        self._asked, self._looked = time.time(), time.monotonic()
        marks = Marks.of(record.spec, record) if record else Marks(run.id, {job_name(run.flow_name, run.id)})
        try:
            self._jobs = await tied_jobs(self._session, marks)
        except CommandError as error:
            self._jobs = None
            self._tell(f"SLURM does not answer: {error}")

    def _is_lost(self, record: RunRecord | None) -> bool:
        active = None if self._jobs is None else {job.id for job in self._jobs}
        if record is None or not driver_status(record, active).dead:
            self._gone_since = None
            return False
        if self._gone_since is None:
            self._gone_since = time.monotonic()
        return time.monotonic() - self._gone_since > _PATIENCE_SECONDS


def _may_go_on(record: RunRecord | None) -> bool:
    """Whether the driver may be about to run it again by itself, as its profile allows."""
    if record is None or record.profile is None or record.profile.retry is None:
        return False
    return driver_status(record, None) is DriverStatus.ALIVE


def _made(record: RunRecord | None) -> list[float]:
    """When the jobs of the newest attempt were made."""
    if record is None:
        return []
    newest = max((entry.attempt for entry in record.submissions), default=1)
    return [entry.time for entry in record.submissions if entry.job_id and entry.attempt == newest]


def progress_words(
    run: FlowRun, jobs: Sequence[Job] | None, record: RunRecord | None = None, asked: float = math.inf
) -> str:
    """What the run is about, in a line, in the words of its verdict; squeue was ``asked`` for its jobs then."""
    state = run.state_name.lower() or "unknown"
    if jobs is None:
        return state
    running = sum(1 for job in jobs if job.state == "RUNNING")
    waiting = [job for job in jobs if job.state == "PENDING"]
    if waiting and not running:
        reasons = sorted({waiting_words(job.reason) for job in waiting})
        return f"waiting for SLURM: {', '.join(reasons)} ({len(waiting)} job{'s' * (len(waiting) > 1)})"
    if jobs:
        profile = record.profile if record is not None else None
        thing = "worker" if profile is not None and (profile.workers or profile.adapt) else "job"
        many = f"{len(jobs)} {thing}{'s' * (len(jobs) > 1)}"
        return f"{state}, {many}" if running == len(jobs) else f"{state}, {running} of {many}"
    if record is not None and record.shared is not None:
        return f"{state} on the shared cluster {record.shared.name}"
    made = _made(record)
    return f"{state}, no jobs {'left' if made and min(made) <= asked else 'yet'}"
