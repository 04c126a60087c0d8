"""Cancels a run so that nothing of it is left: state, driver, jobs, and a look whether the queue is empty of it.

Prefect alone does not end a run that was started without a deployment, and a driver that is killed leaves its jobs
behind; so each part is ended, in this order, and looked at afterwards.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from slurmtui.control.end_driver import EndDriver
from slurmtui.control.end_jobs import EMPTY, JOBS, EndJobs, tied_jobs
from slurmtui.control.prefect import set_state
from slurmtui.control.resolve import NO_SERVER
from slurmtui.control.run_lock import holding
from slurmtui.control.steps import Steps
from slurmtui.errors import CommandError, PrefectError, Refused, RunFolderError
from slurmtui.models.marks import Marks, job_name
from slurmtui.models.steps import CancelReport, Step
from slurmtui.sources.run_folder import read_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.models.flow_run import FlowRun
    from slurmtui.models.job import Job
    from slurmtui.models.run_record import RunRecord
    from slurmtui.session import Session

__all__ = ["CancelReport", "Step", "cancel_run"]

_TITLES = {
    "prefect": "Prefect: CANCELLING",
    "driver": "driver",
    JOBS: "jobs: scancel",
    EMPTY: "squeue seen empty",
    "final": "Prefect: CANCELLED",
}
_WORKER_SECONDS = 15.0  # so long a Prefect worker that is in charge of the run may take: it looks every ten seconds
_DELETED = "Prefect does not know this run (any more)"
_MESSAGE = "Cancelled by slurmtui"


async def cancel_run(session: Session, run_id: str, progress: Callable[[Step], None] | None = None) -> CancelReport:
    """Cancel the run, tell ``progress`` about every step, and report what is left.

    Raises:
        Refused: the run has ended and nothing of it is left, or another console is acting on it.
        RunFolderError: the lock of the run cannot be written.
    """
    async with holding(run_id, "cancelling"):
        return await _Cancel(session, run_id, progress).run()


class _Cancel:
    """One cancel, from what is known at its beginning."""

    def __init__(self, session: Session, run_id: str, progress: Callable[[Step], None] | None) -> None:
        self._session, self._run_id, self._progress = session, run_id, progress
        self._run: FlowRun | None = None
        self._record: RunRecord | None = None
        self._prefect_error = ""
        self._unknown_to_prefect = False
        self._folder_error = ""

    async def run(self) -> CancelReport:
        await self._learn()
        asked_at = time.time()
        queue, queue_error = await self._queue(self._marks())
        active = None if queue is None else frozenset(job.id for job in queue)
        quiet = Steps({"driver": ""})
        record = self._record
        lives = record is not None and await EndDriver(self._session, record, quiet, active, asked_at).lives()
        self._refuse_if_over(lives=lives, jobs=queue, queue_error=queue_error)
        steps = Steps(_TITLES, self._progress)
        await self._ask_prefect(steps)
        forced = await self._end_driver(steps, active, asked_at)
        jobs = EndJobs(self._session, self._marks(), steps)
        await jobs.end(twice=forced, expected=self._record is None or bool(self._record.job_ids))
        state_type = await self._finish(steps, all_gone=not {steps["driver"].state, steps[EMPTY].state} & {"failed"})
        left = jobs.left or (self._record.job_ids if jobs.unknown and self._record else ())
        return CancelReport(
            ok=not steps.failed, run_id=self._run_id, steps=steps.all, left_jobs=left, state_type=state_type
        )

    async def _learn(self) -> None:
        try:
            self._record = await asyncio.to_thread(read_run, self._run_id)
        except RunFolderError as error:
            self._folder_error = str(error)
        client = self._session.prefect
        if client is None:
            self._prefect_error = NO_SERVER
            return
        try:
            self._run = await client.flow_run(self._run_id)
        except PrefectError as error:
            self._prefect_error = str(error)
            self._unknown_to_prefect = error.status == 404

    def _marks(self) -> Marks:
        if self._record is not None:
            return Marks.of(self._record.spec, self._record)
        return Marks(self._run_id, {job_name(self._run.flow_name, self._run_id)} if self._run else ())

    async def _queue(self, marks: Marks) -> tuple[tuple[Job, ...] | None, str]:
        try:
            return await tied_jobs(self._session, marks), ""
        except CommandError as error:
            return None, str(error)

    def _refuse_if_over(self, *, lives: bool, jobs: tuple[Job, ...] | None, queue_error: str) -> None:
        if self._run is None and self._record is None:
            raise Refused(f"Nothing is known of run {self._run_id}: {self._prefect_error or self._folder_error}")
        over = self._unknown_to_prefect or (self._run is not None and self._run.final)
        if not over or lives or jobs:
            return
        ended = f"{self._run.name} has ended already ({self._run.state_name})" if self._run else _DELETED
        if jobs is None:
            raise Refused(f"{ended}. Whether jobs of it are left is not known: {queue_error}")
        raise Refused(f"{ended}, and nothing of it is left.")

    async def _ask_prefect(self, steps: Steps) -> None:
        client, run = self._session.prefect, self._run
        steps.begin("prefect")
        if self._unknown_to_prefect:
            steps.skip("prefect", _DELETED)
            return
        if client is None or run is None:
            steps.failed_with("prefect", self._prefect_error)
            return
        if run.final:
            steps.skip("prefect", f"it is {run.state_name} already")
            return
        if run.state_type == "CANCELLING":
            steps.done("prefect", "it was asked for before")
            return
        try:
            answer = await set_state(client, run.id, "CANCELLING", f"{_MESSAGE} ({self._session.user})")
        except PrefectError as error:
            steps.failed_with("prefect", str(error))
            return
        if answer.accepted:
            steps.done("prefect")
        else:
            steps.skip("prefect", f"it is {answer.state_type}: {answer.reason}")

    async def _end_driver(self, steps: Steps, active: frozenset[str] | None, asked_at: float) -> bool:
        """End it; whether it was killed or had been, so that a job of its may still be on its way."""
        if self._record is not None:
            driver = EndDriver(self._session, self._record, steps, active, asked_at)
            await driver.end()
            # With what it submitted until its end.
            self._record = await asyncio.to_thread(read_run, self._run_id) or self._record
            return driver.forced
        if self._folder_error:
            steps.failed_with("driver", f"{self._folder_error}. Its process, if it lives, was not touched.")
            return False
        if self._run is not None and self._run.deployment_id and not self._run.final:
            await self._wait_for_worker(steps)
        else:
            steps.skip("driver", "slurmtui did not start this run: its process, if it lives, was not touched")
        return False

    async def _wait_for_worker(self, steps: Steps) -> None:
        """Prefect's own worker ends a run of a deployment; give it the time it takes."""
        client = self._session.prefect
        steps.begin("driver", "a Prefect worker is in charge of this run: it was asked to end it")
        until = time.monotonic() + _WORKER_SECONDS
        while client is not None and time.monotonic() < until:
            try:
                if (await client.flow_run(self._run_id)).final:
                    steps.done("driver", "ended by Prefect's worker")
                    return
            except PrefectError as error:
                steps.say("driver", str(error))
            await asyncio.sleep(1)
        steps.failed_with("driver", "no Prefect worker ended it; its process, if it lives, was not touched")

    async def _finish(self, steps: Steps, *, all_gone: bool) -> str:
        """Let Prefect say CANCELLED, when it is true."""
        client = self._session.prefect
        steps.begin("final")
        if self._unknown_to_prefect:
            steps.skip("final", _DELETED)
            return ""
        if client is None:
            steps.failed_with("final", NO_SERVER)
            return ""
        try:
            now = await client.flow_run(self._run_id)
            if self._run is not None and self._run.final:
                steps.skip("final", f"it stays {now.state_name}")
            elif now.state_type == "CANCELLED":
                steps.done("final")
            elif now.state_type == "COMPLETED":
                steps.skip("final", "it completed before the cancel reached it")
            elif not all_gone:
                steps.failed_with("final", f"left at {now.state_name}: something of the run may still be alive")
            else:
                return await self._force_cancelled(steps)
        except PrefectError as error:
            steps.failed_with("final", str(error))
            return ""
        return now.state_type

    async def _force_cancelled(self, steps: Steps) -> str:
        client = self._session.prefect
        assert client is not None  # noqa: S101 - asked just before
        answer = await set_state(client, self._run_id, "CANCELLED", _MESSAGE)
        if not answer.accepted:
            answer = await set_state(client, self._run_id, "CANCELLED", _MESSAGE, force=True)
        if answer.accepted:
            steps.done("final")
        else:
            steps.failed_with("final", f"Prefect keeps {answer.state_type}: {answer.reason}")
        return answer.state_type
