"""Why a job waits: the facts that are gathered about it, and what follows from them."""

from __future__ import annotations

import msgspec

from slurmtui.models.job import Job
from slurmtui.models.job_limits import Limit
from slurmtui.models.job_request import JobRequest
from slurmtui.models.partition_rules import NodeKind, PartitionRules


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """One waiting job in the priority order of a partition; ``could_start`` unless it waits for something else."""

    id: str
    raw_id: int = 0
    user: str = ""
    priority: int = 0
    could_start: bool = True
    start: float | None = None
    nodes_planned: str = ""


class Factor(msgspec.Struct, frozen=True):
    """A part of a job's priority, and the most that it can be (None where that is not known)."""

    name: str
    value: float
    most: float | None = None


class Precondition(msgspec.Struct, frozen=True, kw_only=True):
    """A job that this one waits for. ``state`` is empty when it is in the queue no more."""

    condition: str
    id: str
    name: str = ""
    state: str = ""
    end: float | None = None


class WhyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out.

    Attributes:
        rules: every partition, by name.
        kinds: the kinds of nodes of every partition.
        line: the waiting jobs of the partitions asked for, highest priority first.
        begin: when it may start at the earliest.
        throttle: how many tasks of its array may run at once, 0 for any number.
        missing: what could not be found out, by part (``limits``, ``line`` …), in SLURM's own words.
    """

    job: Job
    now: float
    request: JobRequest = JobRequest()
    rules: dict[str, PartitionRules] = {}
    kinds: tuple[NodeKind, ...] = ()
    line: tuple[Waiting, ...] = ()
    factors: tuple[Factor, ...] = ()
    limits: tuple[Limit, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    begin: float | None = None
    throttle: int = 0
    missing: dict[str, str] = {}


class Never(msgspec.Struct, frozen=True):
    """Why a job cannot start in a partition as things are.

    Attributes:
        never: what it asks for that the partition does not have or allow.
        blocked: what is there, but out of service.
        fitting: how many nodes could be given to it if they were free.
    """

    partition: str
    never: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    fitting: int = 0


class Place(msgspec.Struct, frozen=True):
    """The place in the order: ``place`` of ``total`` that could start; whose jobs stand before it; how many wait else.

    ``place`` is 0 where the job itself is not among those that could start.
    """

    place: int
    total: int
    before: tuple[tuple[str, int], ...] = ()
    others: int = 0


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """What a person is told.

    Attributes:
        reason: in plain words.
        word: SLURM's own.
        todo: what would have to happen.
        never: why it can never start as it is; empty when it can.
        blocked: why it cannot start until an administrator does something.
        remedies: what the person can do.
        start: when SLURM means to start it, and where.
        place: the place in the order.
        limits: those that are set, the one that holds it first, each with whether it is the one.
        known: whether enough was known to judge whether it can ever start.
    """

    reason: str
    word: str = ""
    stuck: bool = False
    todo: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    start: float | None = None
    nodes_planned: str = ""
    place: Place | None = None
    limits: tuple[tuple[Limit, bool], ...] = ()
    known: bool = True
