"""What a source's answer, or its failure, makes of the snapshot: pure functions.

Data that says the same as before stays the same object, so that what is made from it need not be made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from slurmtui.models.flow_run import FlowRun
from slurmtui.models.job_table import EMPTY
from slurmtui.store.snapshot import Overlay, Part, Snapshot

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from slurmtui.models.flow_run import TaskCounts, TaskRun
    from slurmtui.models.job import EndedJob
    from slurmtui.models.job_table import JobTable
    from slurmtui.models.run_record import DriverStatus, RunRecord
    from slurmtui.models.shared_cluster import ClusterRecord

Data = TypeVar("Data")


class PrefectAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The flow runs, whether there were more, recorded runs that Prefect does not know, and where it was asked."""

    runs: tuple[FlowRun, ...]
    cut: bool = False
    unknown: frozenset[str] = frozenset()
    api_url: str = ""


def queue_answered(snapshot: Snapshot, table: JobTable, *, everyone: bool, at: float, seconds: float) -> Snapshot:
    """A new queue."""
    part = _answered(snapshot.queue, table, at, seconds)
    return msgspec.structs.replace(snapshot, queue=part, everyone=everyone, first_jobs=EMPTY)


def prefect_answered(
    snapshot: Snapshot, answer: PrefectAnswer, *, since: float | None, at: float, seconds: float
) -> Snapshot:
    """New flow runs; counts and task runs of those that are no longer listed go."""
    before = {run.id: run for run in snapshot.flow_runs.data}
    runs = tuple(before[run.id] if before.get(run.id) == run else run for run in answer.runs)
    listed = {run.id for run in runs}
    return msgspec.structs.replace(
        snapshot,
        flow_runs=_answered(snapshot.flow_runs, runs, at, seconds),
        flow_runs_cut=answer.cut,
        unknown_runs=answer.unknown,
        api_url=answer.api_url,
        since=since,
        counts=_only(snapshot.counts, listed),
        task_runs=_only(snapshot.task_runs, listed),
    )


def counts_answered(snapshot: Snapshot, counts: Mapping[str, TaskCounts], *, at: float, seconds: float) -> Snapshot:
    """Counts of some runs; those of others stay."""
    merged = {**snapshot.counts.data, **counts}
    return msgspec.structs.replace(snapshot, counts=_answered(snapshot.counts, merged, at, seconds))


def task_runs_answered(
    snapshot: Snapshot, task_runs: Mapping[str, tuple[TaskRun, ...]], *, at: float, seconds: float
) -> Snapshot:
    """Task runs of some runs; those of others stay."""
    merged = {**snapshot.task_runs.data, **task_runs}
    return msgspec.structs.replace(snapshot, task_runs=_answered(snapshot.task_runs, merged, at, seconds))


def task_runs_kept(snapshot: Snapshot, ids: Collection[str]) -> Snapshot:
    """Without the task runs of runs that nobody watches any more."""
    return msgspec.structs.replace(snapshot, task_runs=_only(snapshot.task_runs, ids))


def ended_answered(snapshot: Snapshot, ended: Mapping[str, EndedJob], *, at: float, seconds: float) -> Snapshot:
    """What accounting said of more jobs."""
    merged = {**snapshot.ended.data, **ended}
    return msgspec.structs.replace(snapshot, ended=_answered(snapshot.ended, merged, at, seconds))


def records_answered(
    snapshot: Snapshot,
    records: Mapping[str, RunRecord],
    drivers: Mapping[str, DriverStatus],
    *,
    at: float,
    seconds: float,
) -> Snapshot:
    """The run folders, and what can be proved of their drivers."""
    changed = {
        run_id: at
        for run_id, status in drivers.items()
        if run_id in snapshot.drivers and snapshot.drivers[run_id] is not status
    }
    since = {run_id: time for run_id, time in snapshot.driver_since.items() if run_id in drivers} | changed
    return msgspec.structs.replace(
        snapshot,
        records=_answered(snapshot.records, dict(records), at, seconds),
        drivers=snapshot.drivers if snapshot.drivers == drivers else dict(drivers),
        driver_since=snapshot.driver_since if since == snapshot.driver_since else since,
    )


def clusters_answered(
    snapshot: Snapshot, clusters: Mapping[str, ClusterRecord], keepers: Mapping[str, DriverStatus], *, at: float
) -> Snapshot:
    """The shared clusters, and what can be proved of their keepers."""
    return msgspec.structs.replace(
        snapshot,
        clusters=_answered(snapshot.clusters, dict(clusters), at, 0.0),
        keepers=snapshot.keepers if snapshot.keepers == keepers else dict(keepers),
    )


def failed(snapshot: Snapshot, name: str, error: str, *, at: float) -> Snapshot:
    """A source (the part of this name) does not answer: its last data stays, with the error beside it."""
    part: Part[object] = getattr(snapshot, name)
    since = part.failing_since if part.failing_since is not None else at
    part = msgspec.structs.replace(part, error=error, failing_since=since)
    return msgspec.structs.replace(snapshot, **{name: part})


def overlaid(snapshot: Snapshot, identifiers: Collection[str], text: str, until: float) -> Snapshot:
    """A word over these rows until then; without ``text`` the words that are there go."""
    overlays = {key: overlay for key, overlay in snapshot.overlays.items() if key not in identifiers}
    if text:
        overlays |= dict.fromkeys(identifiers, Overlay(text, until))
    return msgspec.structs.replace(snapshot, overlays=overlays)


def without_expired(snapshot: Snapshot, now: float) -> Snapshot:
    """The overlays whose time is over go."""
    overlays = {key: overlay for key, overlay in snapshot.overlays.items() if overlay.until > now}
    if len(overlays) == len(snapshot.overlays):
        return snapshot
    return msgspec.structs.replace(snapshot, overlays=overlays)


def _answered(part: Part[Data], data: Data, at: float, seconds: float) -> Part[Data]:
    return Part(part.data if part.data == data else data, at=at, seconds=seconds)


def _only(part: Part[dict[str, Data]], ids: Collection[str]) -> Part[dict[str, Data]]:
    if all(key in ids for key in part.data):
        return part
    kept = {key: value for key, value in part.data.items() if key in ids}
    return msgspec.structs.replace(part, data=kept)


def with_join(parts: Snapshot, joined: Snapshot) -> Snapshot:
    """The newest parts with what the join found, which may be of slightly older ones."""
    return msgspec.structs.replace(
        parts,
        runs=joined.runs,
        run_of_job=joined.run_of_job,
        orphans=joined.orphans,
        jobs_seen=joined.jobs_seen,
        shared=joined.shared,
        cluster_of_job=joined.cluster_of_job,
    )


def with_overlays(joined: Snapshot, parts: Snapshot) -> Snapshot:
    """The joined snapshot with what is shown of now: it may have been put while the join was under way."""
    if joined.queue.at is None:
        joined = msgspec.structs.replace(joined, first_jobs=parts.first_jobs, everyone=parts.everyone)
    return msgspec.structs.replace(joined, overlays=parts.overlays)
