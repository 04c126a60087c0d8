"""What a job asks for, from the fields that ``scontrol show job`` tells of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.gres import Gres, parse_gres, tres, tres_memory
from slurmtui.models.nodes import expand_nodes
from slurmtui.models.values import Seconds, Special, count, known, memory, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_RANGE = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)


class JobRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for. Memory in mebibytes; None and 0 mean that nothing was asked for.

    Attributes:
        nodes: the least number of nodes.
        cpus_per_node: the least number of CPUs on each of them.
        gres_per_node: things wanted on each node.
        gres_per_job: things wanted in all.
        features: the constraint as it was written.
        only_nodes: nodes that must be among those given.
        not_nodes: nodes that must not.
        exclusive: whether it wants its nodes for itself.
    """

    partitions: tuple[str, ...] = ()
    account: str = ""
    qos: str = ""
    nodes: int = 1
    cpus: int = 1
    cpus_per_node: int = 1
    memory_per_node: float | None = None
    memory_per_cpu: float | None = None
    gres_per_node: tuple[Gres, ...] = ()
    gres_per_job: tuple[Gres, ...] = ()
    features: str = ""
    only_nodes: tuple[str, ...] = ()
    not_nodes: tuple[str, ...] = ()
    time_limit: Seconds = Special.UNKNOWN
    reservation: str = ""
    licenses: str = ""
    exclusive: bool = False
    total: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def memory_needed(self) -> float | None:
        """The memory wanted on each node, also where it is asked for by CPU."""
        if self.memory_per_node:
            return self.memory_per_node
        return self.memory_per_cpu * self.cpus_per_node if self.memory_per_cpu else None


def request_of(fields: Sequence[tuple[str, str]]) -> JobRequest:
    """The request in the fields of a job."""
    told = {key: known(value) for key, value in reversed(fields)}  # a key that comes twice: the first is scontrol's
    total = tres(told.get("ReqTRES") or told.get("TRES", ""))
    nodes, most = _nodes(told.get("NumNodes", ""))
    cpus = _number(told, "NumCPUs") or count(total.get("cpu", "")) or 1
    needed = max(_number(told, "MinCPUsNode") or 1, _number(told, "CPUs/Task") or 1)
    if most in {nodes, None}:
        needed = max(needed, -(-cpus // nodes))
    node_memory, cpu_memory = (_memory(told, key) for key in ("MinMemoryNode", "MinMemoryCPU"))
    if node_memory is None and cpu_memory is None and "MinMemoryNode" in told:
        whole = tres_memory(",".join(f"{key}={value}" for key, value in total.items()))
        node_memory = whole / nodes if whole and most in {nodes, None} else None
    return JobRequest(
        partitions=tuple(filter(None, told.get("Partition", "").split(","))),
        account=told.get("Account", ""),
        qos=told.get("QOS", ""),
        nodes=nodes,
        cpus=cpus,
        cpus_per_node=needed,
        memory_per_node=node_memory,
        memory_per_cpu=cpu_memory,
        gres_per_node=parse_gres(told.get("TresPerNode", "")) or parse_gres(told.get("Gres", "")),
        gres_per_job=parse_gres(told.get("TresPerJob", "")),
        features=told.get("Features", ""),
        only_nodes=expand_nodes(told.get("ReqNodeList", "")),
        not_nodes=expand_nodes(told.get("ExcNodeList", "")),
        time_limit=seconds(told.get("TimeLimit", "")),
        reservation=told.get("Reservation", ""),
        licenses=told.get("Licenses", ""),
        exclusive=told["Exclusive"] != "NO" if "Exclusive" in told else told.get("OverSubscribe") == "NO",
        total=total,
    )


def _nodes(text: str) -> tuple[int, int | None]:
    """The least and the largest number of nodes: ``2``, ``2-4``, ``1-1``."""
    found = _RANGE.match(text)
    if found is None:
        return 1, None
    return max(1, int(found[1])), int(found[2]) if found[2] else int(found[1])


def _number(told: Mapping[str, str], key: str) -> int | None:
    return count(told.get(key, ""))


def _memory(told: Mapping[str, str], key: str) -> float | None:
    return memory(told.get(key, "")) or None  # 0 is what SLURM writes where nothing was asked for
