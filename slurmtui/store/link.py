"""Joins flow runs, run folders and the queue into the rows of the Runs view, each with its verdict.

Pure, but for a memory that spares doing again what cannot have changed: with thousands of ended runs and a large queue
a new poll costs some milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from slurmtui.models.ids import base_id
from slurmtui.models.run_record import DriverStatus
from slurmtui.models.run_view import RunView
from slurmtui.store.clusters import cluster_views
from slurmtui.store.facts import Facts, Source, driver_job_ids
from slurmtui.store.job_marks import Links, Marks, link_jobs
from slurmtui.store.recorded import recorded_run
from slurmtui.store.verdict import judge, settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slurmtui.models.flow_run import FlowRun, TaskCounts, TaskRun
    from slurmtui.models.job import EndedJob, Job
    from slurmtui.models.job_table import JobTable
    from slurmtui.models.run_record import RunRecord
    from slurmtui.models.shared_cluster import ClusterView
    from slurmtui.store.snapshot import Part, Snapshot


class Memory:
    """What the last join found, kept for the next."""

    def __init__(self) -> None:
        self._marks: tuple[object, object, object, Marks] | None = None
        self._links: tuple[JobTable, Marks, str, Links] | None = None
        self._ended: tuple[object, dict[str, list[EndedJob]]] | None = None
        self.views: dict[str, tuple[Inputs, RunView]] = {}

    def links(self, snapshot: Snapshot) -> Links:
        """The jobs of each run; found again only when the queue, the runs or the records have changed."""
        runs, records, table = snapshot.flow_runs.data, snapshot.records.data, snapshot.queue.data
        clusters = frozenset(snapshot.clusters.data)
        before = self._marks
        if before is None or before[0] is not runs or before[1] is not records or before[2] != clusters:
            self._marks = before = (runs, records, clusters, Marks(runs, records, clusters))
            self._links = None
        marks = before[3]
        if self._links is None or self._links[0] != table or self._links[2] != snapshot.user:
            self._links = (table, marks, snapshot.user, link_jobs(table, snapshot.user, marks))
        return self._links[3]

    def ended(self, part: Part[dict[str, EndedJob]]) -> dict[str, list[EndedJob]]:
        """The ended jobs by the number that names the whole array or het job."""
        if self._ended is None or self._ended[0] is not part.data:
            by_base: dict[str, dict[str, EndedJob]] = {}
            for job in part.data.values():
                by_base.setdefault(base_id(job.id), {})[job.id] = job
            self._ended = (part.data, {base: list(jobs.values()) for base, jobs in by_base.items()})
        return self._ended[1]


class Inputs(NamedTuple):
    """Everything in a row that is of this run alone: where it is the same, an ended run's row is the same."""

    run: FlowRun
    known: bool
    record: RunRecord | None
    driver: DriverStatus
    jobs: tuple[Job, ...]
    tasks: TaskCounts | None
    task_runs: tuple[TaskRun, ...] | None
    ended: tuple[EndedJob, ...]
    cluster: ClusterView | None


def join(snapshot: Snapshot, now: float, memory: Memory | None = None) -> Snapshot:
    """The snapshot with runs, shared clusters, orphans, the ties of jobs and ``jobs_seen`` made anew from its parts."""
    memory = memory if memory is not None else Memory()
    links = memory.links(snapshot)
    snapshot = msgspec.structs.replace(
        snapshot,
        run_of_job=links.run_of_job,
        orphans=links.orphans,
        jobs_seen=_jobs_seen(snapshot, links),
        shared=cluster_views(snapshot.clusters.data, snapshot.keepers, links.cluster_jobs, now),
        cluster_of_job=links.cluster_of_job,
    )
    ended = memory.ended(snapshot.ended)
    views, kept = [], {}
    for run, known in _subjects(snapshot, links):
        record = snapshot.records.data.get(run.id)
        inputs = Inputs(
            run,
            known,
            record,
            snapshot.drivers.get(run.id, DriverStatus.NONE),
            links.jobs.get(run.id, ()),
            snapshot.counts.data.get(run.id),
            snapshot.task_runs.data.get(run.id),
            _ended_jobs(record, ended),
            _cluster(snapshot, run, record),
        )
        before = memory.views.get(run.id)
        if before is not None and before[0] == inputs:
            view, keep = before[1], True
        else:
            facts = _facts(snapshot, now, inputs)
            view, keep = _view(facts), settled(facts)
        views.append(view)
        if keep:
            kept[run.id] = (inputs, view)
    memory.views = kept
    return msgspec.structs.replace(snapshot, runs=tuple(sorted(views, key=_order)))


def facts_of(snapshot: Snapshot, view: RunView, now: float) -> Facts:
    """The facts behind a row of this snapshot."""
    inputs = Inputs(
        view.run,
        view.known,
        view.record,
        view.driver,
        view.jobs,
        view.tasks,
        snapshot.task_runs.data.get(view.run.id),
        view.ended_jobs,
        _cluster(snapshot, view.run, view.record),
    )
    return _facts(snapshot, now, inputs)


def _subjects(snapshot: Snapshot, links: Links) -> Iterator[tuple[FlowRun, bool]]:
    """The runs to show, and whether Prefect knows them.

    A recorded run that Prefect did not list is shown when Prefect could never be asked (if it is recent), when it was
    asked before the run was made, or when it was asked for the run by id and does not know it though something of it
    lives.
    """
    prefect = snapshot.flow_runs
    yield from ((run, True) for run in prefect.data)
    if prefect.asked is None and not prefect.error:
        return  # Prefect is being asked for the first time
    listed = {run.id for run in prefect.data}
    for run_id, record in snapshot.records.data.items():
        if run_id in listed:
            continue
        driver = snapshot.drivers.get(run_id, DriverStatus.NONE)
        alive = driver.may_live or bool(links.jobs.get(run_id))
        if prefect.asked is None:
            shown = alive or record.spec.created >= (snapshot.since or 0)
        else:
            shown = record.spec.created > prefect.asked or (alive and run_id in snapshot.unknown_runs)
        if shown:
            yield recorded_run(record, driver), False


def _jobs_seen(snapshot: Snapshot, links: Links) -> dict[str, float]:
    """When each run's jobs (beside its driver's) were last in the queue."""
    at = snapshot.queue.asked
    if at is None:
        return snapshot.jobs_seen
    seen = dict(snapshot.jobs_seen)
    for run_id, jobs in links.jobs.items():
        own = driver_job_ids(snapshot.records.data.get(run_id))
        if any(job.id not in own and job.active for job in jobs):
            seen[run_id] = at
    return seen


def _ended_jobs(record: RunRecord | None, ended: dict[str, list[EndedJob]]) -> tuple[EndedJob, ...]:
    if record is None or not ended:
        return ()
    numbers = dict.fromkeys(base_id(job_id) for job_id in (*record.job_ids, *driver_job_ids(record)))
    return tuple(job for number in numbers for job in ended.get(number, ()))


def _cluster(snapshot: Snapshot, run: FlowRun, record: RunRecord | None) -> ClusterView | None:
    """The shared cluster that a run uses which goes on."""
    use = record.shared if record is not None and not run.final else None
    return snapshot.shared.get(use.cluster_id) if use is not None else None


def _order(view: RunView) -> tuple[int, float, str]:
    """Active runs first, the newest start first; then ended ones, the newest end first."""
    run = view.run
    if not run.over or view.verdict.kind == "starting":
        return 0, -(run.start or run.expected_start or run.created or 0), run.id
    return 1, -(run.end or run.state_since or run.start or run.created or 0), run.id


def _facts(snapshot: Snapshot, now: float, inputs: Inputs) -> Facts:
    queue, prefect, accounting = snapshot.queue, snapshot.flow_runs, snapshot.ended
    return Facts(
        now=now,
        driver_since=snapshot.driver_since.get(inputs.run.id),
        jobs_seen=snapshot.jobs_seen.get(inputs.run.id),
        queue=Source(queue.asked, queue.error),
        prefect=Source(prefect.asked, prefect.error),
        accounting=Source(accounting.asked, accounting.error),
        api_url=snapshot.api_url,
        **inputs._asdict(),
    )


def _view(facts: Facts) -> RunView:
    return RunView(
        run=facts.run,
        verdict=judge(facts),
        record=facts.record,
        driver=facts.driver,
        jobs=facts.jobs,
        ended_jobs=facts.ended,
        tasks=facts.tasks,
        known=facts.known,
    )
