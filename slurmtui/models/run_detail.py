"""What is known of one run beyond its row: asked for only while somebody looks at it."""

from __future__ import annotations

import msgspec

from slurmtui.models.job import EndedJob
from slurmtui.models.run_record import DriverRecord, TaskPlace


class StateChange(msgspec.Struct, frozen=True, kw_only=True):
    """A state the run has had in Prefect, and when it began."""

    type: str
    name: str = ""
    message: str = ""
    time: float | None = None


class DaskCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What a run's own Dask scheduler says at this moment."""

    address: str
    workers: int = 0
    processing: int = 0
    waiting: int = 0
    erred: int = 0


class RunDetail(msgspec.Struct, frozen=True, kw_only=True):
    """The detail of a run.

    Attributes:
        states: its states in Prefect, oldest first.
        attempts: those that said that they ended, oldest first.
        places: where each task run last began, by its id.
        kept: ids of the task runs whose result is kept and is there.
        gone: ids of those whose result was kept and is not there any more.
        jobs: what accounting says of jobs that have left the queue.
        script: the first script handed to sbatch in the newest attempt.
        dask: what its scheduler says, None when there is none that answers.
        problems: what could not be read, a sentence each.
    """

    run_id: str
    states: tuple[StateChange, ...] = ()
    attempts: tuple[DriverRecord, ...] = ()
    places: dict[str, TaskPlace] = msgspec.field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    jobs: tuple[EndedJob, ...] = ()
    script: str = ""
    dask: DaskCounts | None = None
    problems: tuple[str, ...] = ()
