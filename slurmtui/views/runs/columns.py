"""The columns of the Runs view."""

from __future__ import annotations

from slurmtui.widgets.columns import Column

_NARROW = 60


def columns(width: int) -> tuple[Column, ...]:
    """The columns for a terminal of this width: name and verdict are there on the narrowest too."""
    narrow = width < _NARROW
    return (
        Column("run", "RUN", 0, weight=2, min_width=14 if narrow else 20, max_width=32, cut="middle", priority=100),
        Column("flow", "FLOW", 14, min_width=8, cut="middle", priority=30),
        Column("verdict", "VERDICT", 0, weight=5, min_width=20 if narrow else 33, priority=95),
        Column("tasks", "TASKS", 13, align="right", priority=60),
        Column("jobs", "JOBS", 9, priority=50),
        Column("start", "START", 6, align="right", priority=40),
        Column("time", "TIME", 6, align="right", priority=70),
    )
