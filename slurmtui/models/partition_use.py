"""A partition: its limits, and what of it is free now, by type of GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from slurmtui.models.gres import Gres
from slurmtui.models.node import Node
from slurmtui.models.values import Seconds, Special

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class PartitionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What sinfo says of a partition itself. ``size`` is how many nodes a job may have (``1-infinite``)."""

    name: str
    default: bool = False
    state: str = ""
    max_time: Seconds = Special.UNKNOWN
    default_time: Seconds = Special.UNKNOWN
    size: str = ""

    @property
    def open(self) -> bool:
        """Whether jobs are started in it (``up``), rather than none, or none of those that are waiting."""
        return self.state.rstrip("*").lower() == "up"


class ClusterUse(msgspec.Struct, frozen=True):
    """One answer of sinfo: the nodes (in natural order) and the partitions (in SLURM's)."""

    nodes: tuple[Node, ...] = ()
    partitions: tuple[PartitionFacts, ...] = ()


class JobCounts(msgspec.Struct, frozen=True):
    """Jobs of everybody in a partition; an array counts as its tasks."""

    running: int = 0
    pending: int = 0
    other: int = 0


class GpuUse(msgspec.Struct, frozen=True):
    """GPUs of one type: how many there are, are held by jobs, and could be given now.

    ``stranded`` of the free ones are on nodes without a free CPU, so that no job can use them.
    """

    type: str
    total: int = 0
    used: int = 0
    free: int = 0
    stranded: int = 0


class PartitionUse(msgspec.Struct, frozen=True, kw_only=True):
    """A partition with sums over its nodes; memory in mebibytes."""

    facts: PartitionFacts
    nodes: tuple[Node, ...] = ()
    idle: int = 0
    wrong: int = 0
    closed: int = 0
    cpus: int = 0
    cpus_used: int = 0
    cpus_free: int = 0
    memory: float = 0
    memory_used: float = 0
    memory_free: float = 0
    gpus: tuple[GpuUse, ...] = ()
    jobs: JobCounts | None = None

    @property
    def unhealthy(self) -> bool:
        """Whether a person should look: it is not open, or half of its nodes are out of order."""
        return not self.facts.open or (self.wrong > 0 and self.wrong * 2 >= len(self.nodes))


class _Seen(NamedTuple):
    """What counts of a node, looked up once for all of its partitions."""

    node: Node
    takes: bool
    wrong: bool
    held: tuple[Gres, ...]
    free: tuple[Gres, ...]


def partition_uses(cluster: ClusterUse, jobs: Mapping[str, JobCounts] | None = None) -> tuple[PartitionUse, ...]:
    """Every partition with its sums. In one that is not open nothing is free."""
    members: dict[str, list[_Seen]] = {facts.name: [] for facts in cluster.partitions}
    for node in cluster.nodes:
        seen = _seen(node)
        for name in node.partitions:
            members.setdefault(name, []).append(seen)
    return tuple(
        _use(facts, members[facts.name], None if jobs is None else jobs.get(facts.name, JobCounts()))
        for facts in cluster.partitions
    )


def cluster_gpus(cluster: ClusterUse) -> tuple[GpuUse, ...]:
    """The GPUs of the whole cluster by type, each node once."""
    return _gpu_uses([_seen(node) for node in cluster.nodes], opened=True)


def _seen(node: Node) -> _Seen:
    left = node.gpus_left if node.gres else ()
    takes = node.state.takes_jobs
    return _Seen(node, takes, node.state.wrong, _held(node, left), left if takes else ())


def _use(facts: PartitionFacts, members: Sequence[_Seen], jobs: JobCounts | None) -> PartitionUse:
    taking = [seen.node for seen in members if seen.takes] if facts.open else []
    nodes = tuple(seen.node for seen in members)
    wrong = sum(seen.wrong for seen in members)
    return PartitionUse(
        facts=facts,
        nodes=nodes,
        idle=sum(node.state.base == "IDLE" and node.cpus_used == 0 for node in taking),
        wrong=wrong,
        closed=sum(not seen.takes for seen in members) - wrong,
        cpus=sum(node.cpus for node in nodes),
        cpus_used=sum(node.cpus_used for node in nodes),
        cpus_free=sum(node.cpus_idle for node in taking),
        memory=sum(node.memory or 0 for node in nodes),
        memory_used=sum(node.memory_used or 0 for node in nodes),
        memory_free=sum(max(0.0, (node.memory or 0) - (node.memory_used or 0)) for node in taking),
        gpus=_gpu_uses(members, opened=facts.open),
        jobs=jobs,
    )


def _gpu_uses(members: Iterable[_Seen], *, opened: bool) -> tuple[GpuUse, ...]:
    """The GPUs by type; free are those on nodes that take jobs, if the partition is open.

    Where it is not known of which type the used ones are, used and free ones stand without a type, beside the totals.
    """
    total: dict[str, int] = {}
    used: dict[str, int] = {}
    free: dict[str, int] = {}
    stranded: dict[str, int] = {}
    for seen in members:
        if not seen.held:
            continue
        _add(total, seen.node.gpus)
        _add(used, seen.held)
        if opened and seen.takes:
            _add(free, seen.free)
            if not seen.node.cpus_idle:
                _add(stranded, seen.free)
    return tuple(
        GpuUse(kind, total.get(kind, 0), used.get(kind, 0), free.get(kind, 0), stranded.get(kind, 0))
        for kind in dict.fromkeys((*total, *used, *free))
    )


def _held(node: Node, left: Sequence[Gres]) -> tuple[Gres, ...]:
    """The GPUs of a node that jobs hold."""
    counts = {thing.type: thing.count for thing in left}
    things = node.gpus
    if any(thing.type not in counts for thing in things):
        number = sum(thing.count for thing in things) - sum(counts.values())
        return (Gres("gpu", "", number),)
    return tuple(Gres("gpu", thing.type, thing.count - counts[thing.type]) for thing in things)


def _add(counts: dict[str, int], things: Iterable[Gres]) -> None:
    for thing in things:
        counts[thing.type] = counts.get(thing.type, 0) + thing.count
