"""The columns of the Nodes view, and what can be sorted by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui.models.node import Node, natural
from slurmtui.widgets.columns import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NARROW = 60


def columns(width: int) -> tuple[Column, ...]:
    """The columns for a terminal of this width. What is free stands before what there is: ``14/16``."""
    narrow = width < _NARROW
    return (
        Column("node", "NODE", 0, weight=1, min_width=6 if narrow else 9, max_width=28, cut="middle", priority=100),
        Column("state", "STATE", 0, weight=2, min_width=9, max_width=22, priority=99),
        Column("partitions", "PART", 0, weight=1, min_width=8, max_width=24, priority=40),
        Column("cpus", "FREE CPU", 9, min_width=8, align="right", priority=80),
        Column("memory", "FREE MEM", 9, align="right", priority=60),
        Column("gpus", "FREE GPU", 0, weight=2, min_width=8 if narrow else 10, max_width=30, priority=70),
        Column("load", "LOAD", 5, align="right", priority=30),
        Column("since", "SINCE", 5, align="right", priority=50),
        Column("why", "WHY / WHAT RUNS", 0, weight=4, min_width=10 if narrow else 16, priority=90),
    )


def _free_gpus(node: Node) -> int | None:
    return sum(thing.count for thing in node.free_gpus) if node.gpus else None


SORTS: Mapping[str, tuple[Callable[[Node], Any], bool]] = {
    "node": (lambda node: natural(node.name), False),
    "state": (lambda node: node.state.words, False),
    "partitions": (lambda node: node.partitions, False),
    "cpus": (lambda node: node.free_cpus, True),
    "memory": (lambda node: node.free_memory, True),
    "gpus": (_free_gpus, True),
    "load": (lambda node: node.load, True),
    "since": (lambda node: node.since, True),
    "why": (lambda node: node.reason.casefold() or None, False),
}
