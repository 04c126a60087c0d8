"""The picture that the console shows: one frozen value, replaced as a whole, never edited.

Each source has a ``Part``: the last good data, when it came, and what is wrong now. Absence of data is never read as
the end of anything: whoever uses a part looks at its error and age as well.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from slurmtui.models.flow_run import FlowRun, TaskCounts, TaskRun
from slurmtui.models.job import EndedJob
from slurmtui.models.job_table import EMPTY, JobTable
from slurmtui.models.run_record import DriverStatus, RunRecord
from slurmtui.models.run_view import RunView
from slurmtui.models.shared_cluster import ClusterRecord, ClusterView

Data = TypeVar("Data")


class Part(msgspec.Struct, Generic[Data], frozen=True):
    """What one source said.

    Attributes:
        data: the last good answer (empty before the first one).
        at: when it came (seconds since the epoch), None before the first one.
        error: what the source says now instead of answering; empty while all is well.
        failing_since: when it began to fail, None while all is well (or when the source is not set up at all).
        seconds: how long the last answer took.
    """

    data: Data
    at: float | None = None
    error: str = ""
    failing_since: float | None = None
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        """Whether the data is what the source says now."""
        return self.at is not None and not self.error

    @property
    def asked(self) -> float | None:
        """When the last good answer was asked for: it may be as old as that."""
        return None if self.at is None else self.at - self.seconds


class Overlay(msgspec.Struct, frozen=True):
    """A word shown over a row for a while after an own action (``cancelling…``); ``until`` since the epoch."""

    text: str
    until: float


class Orphan(msgspec.Struct, frozen=True):
    """A job that carries a run's mark, of a run that neither Prefect nor the run folders know."""

    job_id: str
    run_id: str


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known at one moment.

    Attributes:
        user: whose jobs are joined to runs.
        everyone: whether ``queue`` holds the jobs of all users.
        first_jobs: while the first answer is still being read, the first jobs of it: to be looked at, never judged by.
        since: ended runs from this moment on are shown; None for all.
        flow_runs_cut: whether Prefect had more flow runs than were read.
        unknown_runs: recorded runs that Prefect was asked for by id and does not know.
        api_url: where Prefect was asked.
        drivers: what can be proved about each recorded run's driver.
        driver_since: when the driver was first seen in that state (seconds since the epoch).
        clusters: the shared clusters, ended ones among them, by id.
        keepers: what can be proved about each cluster's keeper.
        jobs_seen: when jobs of a run were last seen in the queue (seconds since the epoch), by run id.
        ended: jobs that left the queue, as accounting tells them, by job id.
        task_runs: of the runs that are watched, by run id.
        overlays: by run id or job id; see ``overlay_text``.
        runs: the runs, active ones first, joined and judged.
        run_of_job: run id by the id of each queued job of a run.
        shared: the shared clusters with their jobs and verdicts, by id.
        cluster_of_job: cluster id by the id of each queued job of a shared cluster.
    """

    user: str = ""
    everyone: bool = False
    queue: Part[JobTable] = Part(EMPTY)
    first_jobs: JobTable = EMPTY
    flow_runs: Part[tuple[FlowRun, ...]] = Part(())
    since: float | None = None
    flow_runs_cut: bool = False
    unknown_runs: frozenset[str] = frozenset()
    api_url: str = ""
    records: Part[dict[str, RunRecord]] = msgspec.field(default_factory=lambda: Part({}))
    drivers: dict[str, DriverStatus] = msgspec.field(default_factory=dict)
    driver_since: dict[str, float] = msgspec.field(default_factory=dict)
    clusters: Part[dict[str, ClusterRecord]] = msgspec.field(default_factory=lambda: Part({}))
    keepers: dict[str, DriverStatus] = msgspec.field(default_factory=dict)
    counts: Part[dict[str, TaskCounts]] = msgspec.field(default_factory=lambda: Part({}))
    ended: Part[dict[str, EndedJob]] = msgspec.field(default_factory=lambda: Part({}))
    task_runs: Part[dict[str, tuple[TaskRun, ...]]] = msgspec.field(default_factory=lambda: Part({}))
    jobs_seen: dict[str, float] = msgspec.field(default_factory=dict)
    overlays: dict[str, Overlay] = msgspec.field(default_factory=dict)
    runs: tuple[RunView, ...] = ()
    run_of_job: dict[str, str] = msgspec.field(default_factory=dict)
    orphans: tuple[Orphan, ...] = ()
    shared: dict[str, ClusterView] = msgspec.field(default_factory=dict)
    cluster_of_job: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def jobs_to_show(self) -> JobTable:
        """The queue; before it is known, as much of it as has been read."""
        return self.first_jobs if self.queue.at is None else self.queue.data

    def overlay_text(self, identifier: str, now: float) -> str:
        """The word to show over the row of ``identifier``, empty when there is none (any more)."""
        found = self.overlays.get(identifier)
        return found.text if found is not None and found.until > now else ""

    def find_run(self, run_id: str) -> RunView | None:
        """The run with this id."""
        return next((view for view in self.runs if view.run.id == run_id), None)
