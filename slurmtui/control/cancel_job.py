"""Cancels jobs by their exact ids, and looks whether they are gone."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.control.slurm import cancel_jobs
from slurmtui.models.ids import JobId, parse_job_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job import Job
    from slurmtui.session import Session

GONE_SECONDS = 30.0
_LOOK_EVERY = 0.5


class JobResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the wish to cancel one job (or a part of an array); ``text`` says it in words."""

    id: str
    ok: bool
    text: str


async def cancel_job_ids(session: Session, ids: Sequence[str]) -> tuple[JobResult, ...]:
    """Cancel each of ``ids`` (``123``, ``123_4``, ``123_[1-3]``, ``500+1``), no more than it names, and see it gone.

    Raises:
        CommandError: SLURM does not answer; nothing is known then.
    """
    before = await _alive(session, ids)
    wanted = [job_id for job_id in ids if before[job_id]]
    said = await cancel_jobs(session.runner, wanted)
    still = {job_id: before[job_id] for job_id in wanted}
    until = time.monotonic() + GONE_SECONDS
    while still and time.monotonic() < until:
        still = {job_id: jobs for job_id, jobs in (await _alive(session, list(still))).items() if jobs}
        still = {job_id: jobs for job_id, jobs in still.items() if not said.get(job_id) or _ending(jobs)}
        if still:
            await asyncio.sleep(_LOOK_EVERY)
    left = await _alive(session, wanted)
    return tuple(_result(job_id, bool(before[job_id]), said.get(job_id, ""), left.get(job_id, ())) for job_id in ids)


def _result(job_id: str, was_there: bool, said: str, left: Sequence[Job]) -> JobResult:  # noqa: FBT001
    if not was_there:
        return JobResult(id=job_id, ok=False, text="is not in the queue: it has ended, or never was")
    if not left:
        parsed = parse_job_id(job_id)
        others = "; SLURM ends the other components of its het job with it" if parsed and parsed.leads else ""
        return JobResult(id=job_id, ok=True, text=f"cancelled, and seen gone from the queue{others}")
    states = ", ".join(sorted({job.state for job in left}))
    if said:
        return JobResult(id=job_id, ok=False, text=f"was not cancelled ({states}): {said}")
    return JobResult(id=job_id, ok=False, text=f"was told to end, but is still in the queue ({states})")


def _ending(jobs: Sequence[Job]) -> bool:
    return all(job.state == "COMPLETING" for job in jobs)


async def _alive(session: Session, ids: Sequence[str]) -> dict[str, tuple[Job, ...]]:
    """The jobs in the queue that each id stands for."""
    bases = {job_id: str(parsed.base) for job_id in ids if (parsed := parse_job_id(job_id)) is not None}
    found = await session.slurm.jobs_by_id(list(dict.fromkeys(bases.values()))) if bases else {}
    return {job_id: _parts(job_id, [job for job in found.values() if job.active]) for job_id in ids}


def _parts(job_id: str, jobs: Sequence[Job]) -> tuple[Job, ...]:
    wanted = parse_job_id(job_id)
    if wanted is None:
        return ()
    pairs = [(job, parse_job_id(job.id) or JobId(job.array_id or job.het_id or job.raw_id)) for job in jobs]
    found = tuple(job for job, part in pairs if overlap(wanted, part))
    # SLURM's own number of a task or a component, which is what that calls itself ($SLURM_JOB_ID).
    return found or tuple(job for job in jobs if wanted == JobId(job.raw_id))


def overlap(one: JobId, other: JobId) -> bool:
    """Whether two ids have a job in common (``7_[1-3]`` and what is left of the array, ``7_[3-9]``)."""
    if one.holds(other) or other.holds(one):
        return True
    if one.base != other.base or not one.tasks or not other.tasks:
        return False
    return any(one.holds(JobId(other.base, task)) for task in other.each_task())
