"""The line one is at in a log, and the lines that are marked to be copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.widgets.log_lines import CURRENT, CURSOR, PLAIN, SELECTED

if TYPE_CHECKING:
    from slurmtui.widgets.log_rows import Line, LogRows


class LogCursor:
    """A cursor that is there only when it is wanted: at a match, or while lines are marked.

    Attributes:
        current: the line one is at, None for none.
        marking: whether lines are being marked, from where the marking began to the current one.
    """

    def __init__(self, rows: LogRows) -> None:
        self._rows = rows
        self.current: Line | None = None
        self.marking = False
        self._anchor: Line | None = None
        self._marked: tuple[object, frozenset[int]] = (None, frozenset())

    def clear(self) -> None:
        """No line, nothing marked."""
        self.current = self._anchor = None
        self.marking = False

    def begin(self, line: Line | None) -> None:
        """Mark from this line on."""
        self.current = self._anchor = line
        self.marking = line is not None

    def move(self, step: int) -> Line | None:
        """Go ``step`` lines on; the line one comes to."""
        lines = self._rows.lines
        number = self._number(self.current)
        if number is None or not lines:
            return None
        self.current = lines[min(max(number + step, 0), len(lines) - 1)]
        return self.current

    def marked(self) -> list[Line]:
        """The marked lines; without any the current one."""
        first, last = self._number(self._anchor), self._number(self.current)
        if not self.marking or first is None or last is None:
            return [self.current] if self.current is not None else []
        return self._rows.lines[min(first, last) : max(first, last) + 1]

    def mark_of(self, line: Line) -> int:
        """How a line stands out."""
        if line is self.current:
            return CURSOR if self.marking else CURRENT
        if not self.marking:
            return PLAIN
        key = (self._anchor, self.current, len(self._rows.lines))
        if self._marked[0] != key:
            self._marked = (key, frozenset(map(id, self.marked())))
        return SELECTED if id(line) in self._marked[1] else PLAIN

    def _number(self, line: Line | None) -> int | None:
        if line is None:
            return None
        return next((number for number, one in enumerate(self._rows.lines) if one is line), None)
