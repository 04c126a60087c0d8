"""Shared clusters with their jobs, and what is to be said of each. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.run_record import DriverStatus
from slurmtui.models.shared_cluster import ClusterRecord, ClusterView
from slurmtui.models.text import visible
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.store.words import clock, counted, sbatch_words, span
from slurmtui.store.working import waiting_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from slurmtui.models.job import Job
    from slurmtui.models.run_record import Submission

_LISTED = 8


def cluster_view(record: ClusterRecord, keeper: DriverStatus, jobs: tuple[Job, ...], now: float) -> ClusterView:
    """The cluster with its verdict and the evidence of it."""
    found = _verdict(record, keeper, [job for job in jobs if job.active], now)
    found = msgspec.structs.replace(found, evidence=tuple(map(visible, _evidence(record, keeper, jobs, now))))
    return ClusterView(record=record, keeper=keeper, jobs=jobs, verdict=found)


def cluster_views(
    records: Mapping[str, ClusterRecord],
    keepers: Mapping[str, DriverStatus],
    jobs: Mapping[str, tuple[Job, ...]],
    now: float,
) -> dict[str, ClusterView]:
    """Every cluster by its id, the oldest first."""
    ordered = sorted(records.values(), key=lambda record: (record.spec.created, record.spec.id))
    return {
        record.spec.id: cluster_view(
            record, keepers.get(record.spec.id, DriverStatus.GONE), jobs.get(record.spec.id, ()), now
        )
        for record in ordered
    }


def refused(record: ClusterRecord) -> Submission | None:
    """The newest answer of sbatch, when it was a refusal."""
    last = record.submissions[-1] if record.submissions else None
    return last if last is not None and last.code else None


def _verdict(record: ClusterRecord, keeper: DriverStatus, jobs: list[Job], now: float) -> Verdict:
    if keeper is DriverStatus.ENDED:
        return _ended(record, jobs)
    if keeper is DriverStatus.GONE:
        host = f" ({record.keeper.host})" if record.keeper is not None else ""
        left = f", {counted(len(jobs), 'job')} alive" if jobs else ""
        text = visible(f"keeper gone{host}{left}")
        return Verdict(kind="keeper-gone", text=text, mood=Mood.LOST, needs_you=True)
    if keeper is DriverStatus.STARTING:
        return Verdict(kind="starting", text="starting", mood=Mood.WAITING)
    return _living(record, jobs, now)


def _living(record: ClusterRecord, jobs: list[Job], now: float) -> Verdict:
    status, refusal = record.status, refused(record)
    workers, tasks = (status.workers, status.tasks) if status is not None else (0, 0)
    if refusal is not None and not jobs and tasks:
        text = f"sbatch refused: {sbatch_words(refusal.said)}"
        return Verdict(kind="sbatch-refused", text=text, mood=Mood.LOST, needs_you=True)
    if jobs and all(job.state == "PENDING" for job in jobs):
        return waiting_for("waiting for SLURM", jobs, now)
    there = counted(workers, "worker") if jobs or workers else "no jobs"
    text = f"up, {there}, {counted(tasks, 'task') if tasks else 'idle'}"
    mood = Mood.DONE if not tasks else Mood.RUNNING if jobs or workers else Mood.WAITING
    return Verdict(kind="up" if tasks else "idle", text=text, mood=mood)


def _ended(record: ClusterRecord, jobs: list[Job]) -> Verdict:
    why = f": {record.keeper.message}" if record.keeper is not None and record.keeper.message else ""
    if jobs:
        text = visible(f"ended, but {counted(len(jobs), 'job')} alive{why}")
        return Verdict(kind="ended-jobs-alive", text=text, mood=Mood.LOST, needs_you=True)
    return Verdict(kind="ended", text=visible(f"ended{why}"), mood=Mood.CANCELLED)


def _evidence(record: ClusterRecord, keeper: DriverStatus, jobs: tuple[Job, ...], now: float) -> Iterator[str]:
    spec, status = record.spec, record.status
    who = f"Its keeper, {record.where},"
    if keeper is DriverStatus.GONE:
        yield f"{who} is gone and never said that it ended."
    elif keeper is DriverStatus.ENDED:
        ended = record.keeper.ended if record.keeper is not None else None
        yield f"{who} ended at {clock(ended or 0, now)}."
    else:
        yield f"{who} is alive; it was started at {clock(spec.created, now)}."
    if status is not None and keeper is DriverStatus.ALIVE:
        flows = counted(status.flows, "flow")
        yield f"{counted(status.workers, 'worker')}, {counted(status.tasks, 'task')}, {flows} connected."
    yield (
        f"{spec.minimum} to {counted(spec.maximum, 'job')} of profile {spec.name}; a job goes after {span(spec.idle)} "
        f"without work, the cluster after {span(spec.end)} without a flow."
    )
    listed = [f"{job.id} {job.state.lower()}" for job in jobs[:_LISTED]]
    more = f" and {len(jobs) - _LISTED} more" if len(jobs) > _LISTED else ""
    yield f"In the queue: {', '.join(listed)}{more}." if listed else "No job of it is in the queue."
    if (refusal := refused(record)) is not None:
        yield f"sbatch refused at {clock(refusal.time, now)}: {sbatch_words(refusal.said)}"
