"""Cancels what a run has left in the queue, by id, and looks until the queue is seen to be empty of it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from slurmtui.control.slurm import cancel_jobs
from slurmtui.errors import CommandError, CommandMissing

if TYPE_CHECKING:
    from slurmtui.control.steps import Steps
    from slurmtui.models.job import Job
    from slurmtui.models.marks import Marks
    from slurmtui.session import Session

EMPTY_SECONDS = 60.0
_LOOK_EVERY = 0.4
_AGAIN_AFTER = 5.0
_SHOWN = 6
JOBS, EMPTY = "jobs", "empty"


async def tied_jobs(session: Session, marks: Marks) -> tuple[Job, ...]:
    """This user's jobs in the queue that carry a mark of the run.

    Raises:
        CommandError: squeue did not answer: the queue is then unknown, not empty.
    """
    table = await session.slurm.queue(everyone=False)
    return tuple(job for job in marks.select(table.jobs()) if job.active and job.user == session.user)


class EndJobs:
    """Ends the jobs that carry ``marks``, those ``of`` a run or of a shared cluster.

    Attributes:
        left: ids still in the queue when last seen.
        unknown: why nothing is known of the queue, empty when it is known.
    """

    def __init__(self, session: Session, marks: Marks, steps: Steps, of: str = "this run") -> None:
        self.left: tuple[str, ...] = ()
        self.unknown = ""
        self._session, self._marks, self._steps = session, marks, steps
        self._of = of
        self._cancelled_at: dict[str, float] = {}
        self._refused: dict[str, str] = {}

    async def end(self, *, twice: bool, expected: bool = True) -> None:
        """Cancel and look.

        Args:
            twice: the queue must be seen empty two times, as a job may still be arriving.
            expected: whether the run may have made jobs; if not, it is well that there is no SLURM here.
        """
        steps = self._steps
        steps.begin(JOBS)
        try:
            found = await tied_jobs(self._session, self._marks)
        except CommandMissing as error:
            self._without_slurm(str(error), expected=expected)
            return
        except CommandError as error:
            self.unknown = str(error)
            steps.say(JOBS, f"squeue does not answer: {error}")
            found = ()
        await self._cancel(found)
        if not self.unknown:
            self._tell_cancelled()
        steps.begin(EMPTY)
        await self._until_empty(need=2 if twice else 1)
        if steps[JOBS].state == "doing":
            self._tell_cancelled()

    def _without_slurm(self, error: str, *, expected: bool) -> None:
        if expected:
            self.unknown = error
            self._steps.failed_with(JOBS, error)
            self._steps.failed_with(EMPTY, "not looked at")
        else:
            self._steps.skip(JOBS, "the run made none, and there is no SLURM here")
            self._steps.skip(EMPTY, "there is no SLURM here")

    async def _cancel(self, jobs: tuple[Job, ...]) -> None:
        """Cancel each job, and again one that is still there after a while."""
        now = time.monotonic()
        wanted = [
            number
            for number in dict.fromkeys(_whole_id(job) for job in jobs if job.state != "COMPLETING")
            if now - self._cancelled_at.get(number, -_AGAIN_AFTER) >= _AGAIN_AFTER
        ]
        if not wanted:
            return
        self._steps.say(JOBS, f"scancel {_listed(wanted)}")
        self._refused = {
            job_id: said for job_id, said in (await cancel_jobs(self._session.runner, wanted)).items() if said
        }
        self._cancelled_at.update(dict.fromkeys(wanted, now))

    def _tell_cancelled(self) -> None:
        if self._cancelled_at:
            self._steps.done(JOBS, f"scancel {_listed(list(self._cancelled_at))}")
        else:
            self._steps.skip(JOBS, "none were left")

    async def _until_empty(self, need: int) -> None:
        begun = time.monotonic()
        seen_empty = 0
        while True:
            try:
                jobs = await tied_jobs(self._session, self._marks)
            except CommandError as error:
                self.unknown, seen_empty = str(error), 0
                self._steps.say(EMPTY, f"squeue does not answer: {error}")
            else:
                self.unknown = ""
                self.left = tuple(job.id for job in jobs)
                seen_empty = 0 if jobs else seen_empty + 1
                if seen_empty >= need:
                    self._steps.done(EMPTY, f"squeue shows no job of {self._of}")
                    return
                if jobs:
                    states = ", ".join(sorted({job.state.lower() for job in jobs}))
                    self._steps.say(EMPTY, f"still there: {_listed(self.left)} ({states})")
                    await self._cancel(jobs)
            if time.monotonic() - begun > EMPTY_SECONDS:
                self._steps.failed_with(EMPTY, self._what_is_left())
                return
            await asyncio.sleep(_LOOK_EVERY)

    def _what_is_left(self) -> str:
        if self.unknown:
            return f"squeue does not answer, so it is not known whether jobs are left: {self.unknown}"
        said = "; ".join(sorted(set(self._refused.values())))
        return f"still in the queue after {EMPTY_SECONDS:.0f} s: {_listed(self.left)}{f' ({said})' if said else ''}"


def _whole_id(job: Job) -> str:
    """The id that names all of an array or a het job: the run's mark is on each part of it."""
    return str(job.array_id or job.het_id or job.raw_id)


def _listed(ids: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return f"{' '.join(ids[:_SHOWN])}{more}"
