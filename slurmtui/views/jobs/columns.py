"""The columns of the Jobs view: which there are, which are shown, and how they share the width."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from slurmtui.widgets.columns import Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NARROW = 60
VOLATILE = frozenset({"time", "left", "wait"})
"""Columns whose change means nothing but that time goes by."""


class JobColumn(NamedTuple):
    """A column and what a person is told of it."""

    column: Column
    about: str


_COLUMNS = (
    JobColumn(Column("job", "JOB", 14, min_width=9, cut="middle", priority=100), "id; an array is one row"),
    JobColumn(
        Column("name", "NAME", 0, weight=2, min_width=12, max_width=36, cut="middle", priority=90), "the job's name"
    ),
    JobColumn(Column("user", "USER", 9, min_width=6, cut="middle", priority=55), "whose it is"),
    JobColumn(Column("partition", "PART", 9, min_width=5, cut="middle", priority=60), "partition"),
    JobColumn(Column("state", "ST", 3, priority=99), "state, in SLURM's letters"),
    JobColumn(Column("time", "TIME", 6, align="right", priority=80), "how long it has run"),
    JobColumn(Column("limit", "LIMIT", 6, align="right", priority=50), "time limit"),
    JobColumn(Column("nodes", "N", 3, align="right", priority=35), "nodes"),
    JobColumn(Column("cpus", "CPU", 4, align="right", priority=40), "CPUs"),
    JobColumn(Column("memory", "MEM", 7, align="right", priority=30), "memory"),
    JobColumn(Column("gres", "GPU", 9, cut="middle", priority=45), "GPUs and other things"),
    JobColumn(Column("where", "WHERE / WHY", 0, weight=3, min_width=14, priority=95), "its nodes, or why it waits"),
    JobColumn(Column("run", "RUN", 15, min_width=10, cut="middle", priority=70), "the flow run it belongs to"),
    JobColumn(Column("left", "LEFT", 6, align="right", priority=28), "time left until its limit"),
    JobColumn(Column("wait", "WAIT", 6, align="right", priority=27), "how long it has waited"),
    JobColumn(Column("account", "ACCOUNT", 10, min_width=6, cut="middle", priority=26), "account"),
    JobColumn(Column("qos", "QOS", 8, min_width=5, cut="middle", priority=25), "quality of service"),
    JobColumn(Column("priority", "PRIO", 10, align="right", priority=24), "priority in the queue"),
    JobColumn(Column("submit", "SUBMIT", 6, align="right", priority=23), "when it was submitted"),
    JobColumn(Column("start", "START", 6, align="right", priority=22), "when it began, or is expected to"),
    JobColumn(Column("end", "END", 6, align="right", priority=21), "when its time limit ends it"),
    JobColumn(Column("dependency", "DEPENDS", 16, min_width=8, priority=20), "jobs it waits for"),
    JobColumn(Column("comment", "COMMENT", 18, min_width=8, cut="middle", priority=19), "comment"),
    JobColumn(Column("dir", "FOLDER", 24, min_width=10, cut="middle", priority=18), "working folder"),
)
COLUMNS: Mapping[str, JobColumn] = {one.column.key: one for one in _COLUMNS}
USUAL = (
    "job", "name", "user", "partition", "state", "time", "limit", "nodes", "cpus", "memory", "gres", "where", "run",
)  # fmt: skip
WIDE = ("left", "wait", "account", "qos", "priority", "submit", "start", "dependency", "comment", "dir")
"""What is added, at the right, by the wide view."""


def chosen(keys: Sequence[str]) -> tuple[str, ...]:
    """The columns among ``keys`` that there are; the usual ones when that is none."""
    return tuple(key for key in dict.fromkeys(keys) if key in COLUMNS) or USUAL


def columns(
    width: int,
    keys: Sequence[str] = USUAL,
    widths: Mapping[str, int] | None = None,
    *,
    wide: bool = False,
    skip: int = 0,
) -> tuple[Column, ...]:
    """The columns for a terminal of this width.

    Args:
        width: cells of the terminal.
        keys: the columns that were chosen.
        widths: widths that were chosen.
        wide: all that there is, as far as it goes from the left, instead of the most important.
        skip: in the wide view, how many columns behind the first are passed over.
    """
    narrow = width < _NARROW
    found = [_fitted(COLUMNS[key].column, (widths or {}).get(key, 0), narrow=narrow) for key in chosen(keys)]
    if not wide:
        return tuple(found)
    found += [COLUMNS[key].column for key in WIDE if key not in keys]
    shown = [found[0], *found[1 + min(skip, len(found) - 2) :]]
    return tuple(_solid(column)._replace(priority=100 if number == 0 else 50) for number, column in enumerate(shown))


def _fitted(column: Column, width: int, *, narrow: bool) -> Column:
    if width:
        least = width if column.key == "job" else min(width, column.min_width or width)  # an id that is cut is none
        return column._replace(width=width, min_width=least, max_width=0)
    if narrow and column.key in {"name", "where"}:
        return column._replace(min_width={"name": 8, "where": 9}[column.key])
    return column


def _solid(column: Column) -> Column:
    """A column that keeps a readable width where others are left out instead."""
    if column.width:
        return column._replace(min_width=0)
    return column._replace(min_width={"name": 16, "where": 28}.get(column.key, column.min_width))
