"""A shared cluster as its own files tell it: a Dask cluster that outlives the flows that use it.

``<state>/clusters/<cluster id>/``: each file has one writer, as in a run folder.

| file | written by | holds |
|---|---|---|
| cluster.json | ``cluster up``, once | ClusterSpec |
| keeper.json | the keeper at its start and end; whoever settles a dead one | KeeperRecord |
| status.json | the keeper, at least every 20 s | ClusterStatus |
| submissions.jsonl, bin/, jobs/, tasks/ | as in a run folder | |
| down.json | whoever asks for its end | CancelRequest |
| tls/ | the keeper; gone when it has ended | key and certificates of the cluster |
| keeper.log | the keeper's stdout and stderr | text |
"""

from __future__ import annotations

import msgspec

from slurmtui.models import marks
from slurmtui.models.job import Job
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import DriverStatus, Submission
from slurmtui.models.verdict import Verdict


def cluster_id(name: str, unique: str) -> str:
    """The id of a new cluster: its folder's name, and the name and the mark of its jobs."""
    return marks.job_name(f"cluster-{name}", unique)


class ClusterSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for. ``name`` is that of its profile; ``idle`` and ``end`` are seconds, as in the profile."""

    id: str
    name: str
    profile: Profile
    minimum: int = 0
    maximum: int = 1
    idle: float = 300.0
    end: float = 3600.0
    python: str = ""
    created: float = 0
    user: str = ""


class KeeperRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The process that holds the scheduler. ``address`` is empty until it listens; ``message`` says why it ended."""

    host: str
    pid: int
    pid_started: float
    started: float = 0
    address: str = ""
    dashboard: str = ""
    ended: float | None = None
    message: str = ""


class ClusterStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How the cluster is: its workers, tasks that wait or are worked on, and the flows that are connected."""

    time: float
    workers: int = 0
    tasks: int = 0
    flows: int = 0


class ClusterRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in one cluster's folder; ``sign`` is when its keeper last gave a sign of life."""

    spec: ClusterSpec
    folder: str
    keeper: KeeperRecord | None = None
    status: ClusterStatus | None = None
    submissions: tuple[Submission, ...] = ()
    sign: float = 0

    @property
    def where(self) -> str:
        """The keeper's process in words."""
        return f"process {self.keeper.pid} on {self.keeper.host}" if self.keeper is not None else "not yet recorded"


class ClusterView(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster with its jobs in the queue, what can be proved about its keeper, and what is to be said of it."""

    record: ClusterRecord
    keeper: DriverStatus
    jobs: tuple[Job, ...] = ()
    verdict: Verdict

    @property
    def over(self) -> bool:
        """Whether it has ended, and said so."""
        return self.keeper is DriverStatus.ENDED

    def lasted(self, now: float) -> float:
        """Seconds from its start to its end, or up to now while it has told none."""
        keeper = self.record.keeper
        until = keeper.ended if keeper is not None and keeper.ended is not None else now
        return until - self.record.spec.created
