"""What a partition allows, and the kinds of its nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.gres import Gres
from slurmtui.models.node import NodeState
from slurmtui.models.values import Seconds, Special, count, memory, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN_FEATURES = re.compile(r"[\w.+-]+(?:[&|,][\w.+-]+)*", re.ASCII)


class PartitionRules(msgspec.Struct, frozen=True, kw_only=True):
    """``scontrol show partition``. None means: not limited; of lists of names: everybody."""

    name: str
    state: str = ""
    max_time: Seconds = Special.UNKNOWN
    min_nodes: int | None = None
    max_nodes: int | None = None
    max_cpus_per_node: int | None = None
    max_memory_per_node: float | None = None
    max_memory_per_cpu: float | None = None
    total_nodes: int = 0
    total_cpus: int = 0
    allow_accounts: tuple[str, ...] | None = None
    deny_accounts: tuple[str, ...] = ()
    allow_qos: tuple[str, ...] | None = None
    deny_qos: tuple[str, ...] = ()
    allow_groups: tuple[str, ...] | None = None
    qos: str = ""
    nodes: str = ""
    root_only: bool = False

    @property
    def open(self) -> bool:
        """Whether jobs are started in it."""
        return self.state in {"", "UP"}


class NodeKind(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of a partition that are all alike; memory in mebibytes."""

    partition: str
    state: NodeState
    count: int = 0
    cpus: int = 0
    memory: float | None = None
    gres: tuple[Gres, ...] = ()
    features: frozenset[str] | None = frozenset()
    names: str = ""

    def has(self, thing: Gres) -> int:
        """How many of a kind of GRES each node has; of every type where none is asked for."""
        same = [own for own in self.gres if own.name == thing.name]
        return sum(own.count for own in same if thing.type in {"", own.type})


def parse_partitions(text: str) -> dict[str, PartitionRules]:
    """The answer of ``scontrol -o show partition``, by name."""
    found: dict[str, PartitionRules] = {}
    for line in text.splitlines():
        told = dict(part.split("=", 1) for part in line.split() if "=" in part)
        if "PartitionName" in told:
            rules = _rules(told)
            found[rules.name] = rules
    return found


def _rules(told: Mapping[str, str]) -> PartitionRules:
    return PartitionRules(
        name=told["PartitionName"],
        state=told.get("State", ""),
        max_time=seconds(told.get("MaxTime", "")),
        min_nodes=count(told.get("MinNodes", "")) or None,
        max_nodes=count(told.get("MaxNodes", "")),
        max_cpus_per_node=count(told.get("MaxCPUsPerNode", "")),
        max_memory_per_node=memory(told.get("MaxMemPerNode", "")),
        max_memory_per_cpu=memory(told.get("MaxMemPerCPU", "")),
        total_nodes=count(told.get("TotalNodes", "")) or 0,
        total_cpus=count(told.get("TotalCPUs", "")) or 0,
        allow_accounts=_names(told.get("AllowAccounts", "ALL")),
        deny_accounts=_names(told.get("DenyAccounts", "")) or (),
        allow_qos=_names(told.get("AllowQos", "ALL")),
        deny_qos=_names(told.get("DenyQos", "")) or (),
        allow_groups=_names(told.get("AllowGroups", "ALL")),
        qos="" if told.get("QoS", "N/A") == "N/A" else told["QoS"],
        nodes=told.get("Nodes", ""),
        root_only=told.get("RootOnly") == "YES",
    )


def _names(text: str) -> tuple[str, ...] | None:
    return None if text in {"ALL", ""} else tuple(text.split(","))


def features_fit(wanted: str, features: frozenset[str] | None) -> bool | None:
    """Whether a node with ``features`` satisfies a constraint; None when it cannot be said (counts, brackets, cut)."""
    if not wanted:
        return True
    if features is None or not _PLAIN_FEATURES.fullmatch(wanted):
        return None
    return all(any(name in features for name in part.split("|")) for part in re.split("[&,]", wanted))
