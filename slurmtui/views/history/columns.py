"""The columns of the History view, and what can be sorted by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui.models.node import natural
from slurmtui.models.values import Seconds, Special
from slurmtui.widgets.columns import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slurmtui.models.history import PastJob

_NARROW = 60
_WIDE = 100


def columns(width: int, *, runs: bool = True) -> tuple[Column, ...]:
    """The columns for a terminal of this width; without ``runs`` that of the flow runs is left out."""
    narrow, wide = width < _NARROW, width >= _WIDE
    found = (
        Column("job", "JOB", 14, min_width=8, cut="middle", priority=100),
        Column("name", "NAME", 0, weight=2, min_width=8 if narrow else 12, max_width=28, cut="middle", priority=90),
        Column("partition", "PART", 9, min_width=5, cut="middle", priority=55),
        Column("state", "ST", 3, priority=99),
        Column("end", "ENDED", 6, align="right", priority=80),
        Column("time", "TIME", 6, align="right", priority=70),
        Column("limit", "LIMIT", 6, align="right", priority=30),
        Column("wait", "WAIT", 6, align="right", priority=40),
        Column("nodes", "N", 3, align="right", priority=20),
        Column("cpus", "CPU", 4, align="right", priority=45),
        Column("memory", "MEM", 6, align="right", priority=25),
        Column("gpus", "GPU", 8, cut="middle", priority=35),
        Column("how", "HOW / WHERE", 0, weight=5, min_width=8 if narrow else 24 if wide else 14, priority=95),
        Column("run", "RUN", 15, min_width=10, cut="middle", priority=60),
    )
    return found if runs else found[:-1]


def _number(value: Seconds) -> int | None:
    return None if isinstance(value, Special) else value


SORTS: Mapping[str, tuple[Callable[[PastJob], Any], bool]] = {
    "job": (lambda job: natural(job.id), False),
    "name": (lambda job: job.name.casefold(), False),
    "partition": (lambda job: job.partition, False),
    "state": (lambda job: job.state, False),
    "end": (lambda job: job.end, True),
    "time": (lambda job: _number(job.elapsed), True),
    "limit": (lambda job: _number(job.time_limit), True),
    "wait": (lambda job: job.wait, True),
    "nodes": (lambda job: job.node_count, True),
    "cpus": (lambda job: job.cpus, True),
    "memory": (lambda job: job.memory, True),
    "gpus": (lambda job: job.gpus, True),
    "run": (lambda job: job.run_mark or None, False),
}
