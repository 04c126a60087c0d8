"""Which jobs of the queue belong to which run, found in the table's bytes: only jobs of a run are decoded.

Three marks tie a job to its run, in this order: the comment names the run (and settles it, one way or the other), the
name is the run's, the id is in the run's folder. Only the user's own jobs are looked at, since anybody may write any
name and comment. Never is a job tied by a name that others use as well, such as ``dask-worker``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models import marks
from slurmtui.models.ids import base_id
from slurmtui.models.job import Job
from slurmtui.store.facts import driver_job_ids
from slurmtui.store.snapshot import Orphan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from slurmtui.models.flow_run import FlowRun
    from slurmtui.models.job_table import JobTable
    from slurmtui.models.run_record import RunRecord

SAME_JOB_SECONDS = 3600.0
"""A recorded id whose job carries no other mark, and was submitted at another time, is a number used again."""

_MARK = marks.COMMENT_PREFIX.encode()
_NUMBER = re.compile(rb"\d+")


class Links(msgspec.Struct, frozen=True, kw_only=True):
    """The run's jobs by run id, the run by job id, the same of shared clusters, and jobs whose run nobody knows."""

    jobs: dict[str, tuple[Job, ...]] = {}
    run_of_job: dict[str, str] = {}
    cluster_jobs: dict[str, tuple[Job, ...]] = {}
    cluster_of_job: dict[str, str] = {}
    orphans: tuple[Orphan, ...] = ()


class Marks:
    """The marks of all known runs and shared clusters."""

    def __init__(self, runs: Iterable[FlowRun], records: Mapping[str, RunRecord], clusters: Iterable[str] = ()) -> None:
        self.clusters = frozenset(clusters)
        self.run_ids: set[str] = set(records)
        self.names: dict[bytes, str] = {}
        self.recorded: dict[bytes, list[tuple[str, float]]] = {}
        for run in runs:
            self.run_ids.add(run.id)
            self.names[marks.job_name(run.flow_name, run.id).encode()] = run.id
        for run_id, record in records.items():
            spec = record.spec
            self.names[marks.job_name(spec.flow_name, run_id).encode()] = run_id
            if spec.job_name:
                self.names[spec.job_name.encode()] = run_id
            for entry in record.submissions:
                if entry.job_id:
                    self._record(entry.job_id, run_id, entry.time)
            started = record.launch.time if record.launch is not None else spec.created
            for job_id in driver_job_ids(record):
                self._record(job_id, run_id, started)

    def _record(self, job_id: str, run_id: str, time: float) -> None:
        self.recorded.setdefault(base_id(job_id).encode(), []).append((run_id, time))

    def by_record(self, base: bytes, submit: float | None) -> str | None:
        """The run that recorded this job id for a job submitted at that time (the nearest, when several did)."""
        found = self.recorded.get(base)
        if not found:
            return None
        if submit is None:
            return found[-1][0]
        run_id, time = min(found, key=lambda entry: abs(entry[1] - submit))
        return run_id if abs(time - submit) < SAME_JOB_SECONDS else None


def link_jobs(table: JobTable, user: str, known: Marks) -> Links:
    """Tie the user's jobs in ``table`` to runs."""
    jobs: dict[str, list[Job]] = {}
    run_of_job: dict[str, str] = {}
    cluster_of_job: dict[str, str] = {}
    orphans: list[Orphan] = []
    own = set(own_rows(table, user))
    for row in sorted(own.intersection(_candidates(table, known))) if own else ():
        comment = table.raw(row, "comment")
        if comment.startswith(_MARK):
            run_id = comment[len(_MARK) :].strip().decode("utf-8", "replace")
            if run_id not in known.run_ids and run_id not in known.clusters:
                orphans.append(Orphan(table.plain(row, "id"), run_id))
                continue
        else:
            run_id = known.names.get(table.raw(row, "name"), "") or _recorded(table, row, known)
            if not run_id:
                continue
        job = table.job(row)
        jobs.setdefault(run_id, []).append(job)
        (cluster_of_job if run_id in known.clusters else run_of_job)[job.id] = run_id
    # squeue's order changes with priorities; rows under a run keep their places.
    ordered = {run_id: tuple(sorted(found, key=lambda job: (job.raw_id, job.id))) for run_id, found in jobs.items()}
    return Links(
        jobs={run_id: found for run_id, found in ordered.items() if run_id not in known.clusters},
        run_of_job=run_of_job,
        cluster_jobs={cluster: found for cluster, found in ordered.items() if cluster in known.clusters},
        cluster_of_job=cluster_of_job,
        orphans=tuple(orphans),
    )


def _candidates(table: JobTable, known: Marks) -> Iterator[int]:
    """The rows with any of the marks, found without looking at each of them."""
    yield from table.marked(_MARK)
    yield from table.rows_where("name", known.names.__contains__)
    for base in known.recorded:
        yield from table.names.rows_of(base)


def own_rows(table: JobTable, user: str) -> list[int]:
    """The rows of one user's jobs."""
    _, start, end = table.layout.slots["user"]
    name = user.encode()[: end - start]
    return table.rows_where("user", lambda raw: raw == name)


def _recorded(table: JobTable, row: int, known: Marks) -> str:
    if not known.recorded:
        return ""
    number = _NUMBER.match(table.raw(row, "id"))
    if number is None or number.group() not in known.recorded:
        return ""
    return known.by_record(number.group(), table.value(row, "submit")) or ""
