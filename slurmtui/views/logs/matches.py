"""Matches among the lines that a pane holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.store.log_errors import ERRORS
from slurmtui.store.log_merge import Found
from slurmtui.widgets.log_rows import find_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.sources.files.needle import Needle
    from slurmtui.widgets.log_rows import Line

_NEAR = 3


def find(lines: Sequence[Line], needle: Needle, start: int, step: int) -> int | None:
    """The number of the next of these lines with a match; Dask's own are no failures."""
    number = find_line(lines, needle.pattern, start, step)
    while number is not None and needle is ERRORS and _is_dasks_own(lines[number]):
        number = find_line(lines, needle.pattern, number + step, step) if number + step >= 0 else None
    return number


def _is_dasks_own(line: Line) -> bool:
    return isinstance(line.row.origin, Found) and line.row.origin.entry.library


def nearest(lines: Sequence[Line], at: int, step: int, needle: Needle) -> Line | None:
    """A line with a match at a place or beside it, rather in this direction."""
    beside = sorted(range(at - _NEAR, at + _NEAR + 1), key=lambda number: ((number - at) * step < 0, abs(number - at)))
    near = [lines[number] for number in beside if 0 <= number < len(lines)]
    found = find(near, needle, 0, 1)
    return None if found is None else near[found]
