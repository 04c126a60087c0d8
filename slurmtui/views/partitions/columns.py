"""The columns of the Partitions view, and what can be sorted by."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from slurmtui.models.node import natural
from slurmtui.widgets.columns import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slurmtui.models.partition_use import PartitionUse

_NARROW = 60


def columns(width: int) -> tuple[Column, ...]:
    """The columns for a terminal of this width. What is free stands before what there is: ``14/16``."""
    narrow = width < _NARROW
    return (
        Column(
            "partition",
            "PARTITION",
            0,
            weight=2,
            min_width=9 if narrow else 10,
            max_width=24,
            cut="middle",
            priority=100,
        ),
        Column("state", "STATE", 6, min_width=4, priority=70),
        Column("nodes", "IDLE", 0, weight=2, min_width=9, max_width=22, priority=60),
        Column("cpus", "FREE CPU", 10, min_width=8, align="right", priority=95),
        Column("memory", "FREE MEM", 10, min_width=9, align="right", priority=50),
        Column("gpus", "FREE GPU", 0, weight=4, min_width=8 if narrow else 12, max_width=44, priority=90),
        Column("limit", "LIMIT", 6, align="right", priority=65),
        Column("running", "RUNNING", 8, min_width=7, align="right", priority=75),
        Column("pending", "WAITING", 8, min_width=7, align="right", priority=80),
    )


def _free_gpus(use: PartitionUse) -> int | None:
    return sum(gpu.free for gpu in use.gpus) if use.gpus else None


def _limit(use: PartitionUse) -> float:
    return float(use.facts.max_time) if isinstance(use.facts.max_time, int) else math.inf


SORTS: Mapping[str, tuple[Callable[[PartitionUse], Any], bool]] = {
    "partition": (lambda use: natural(use.facts.name), False),
    "state": (lambda use: use.facts.state, False),
    "nodes": (lambda use: use.idle, True),
    "cpus": (lambda use: use.cpus_free, True),
    "memory": (lambda use: use.memory_free, True),
    "gpus": (_free_gpus, True),
    "limit": (_limit, True),
    "running": (lambda use: use.jobs.running if use.jobs else None, True),
    "pending": (lambda use: use.jobs.pending if use.jobs else None, True),
}
