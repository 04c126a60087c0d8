"""The lines of a table: heading, rows, and the sentence of an empty one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from slurmtui.widgets.columns import Column, Placed, place
from slurmtui.widgets.lines import Cell, fit, fit_cell, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.widgets.styles import StyleBook

GUTTER = 1  # the mark of a marked row stands here
MARKED = "●"


class RowFacts(NamedTuple):
    """What the look of a row depends on."""

    cells: tuple[Cell, ...]
    style: str | None
    under_cursor: bool
    marked: bool
    dimmed: bool
    focused: bool = False
    """Whether it is under the cursor of a table that has the focus."""


class TableLines:
    """Makes strips from cells; columns are placed once a width."""

    def __init__(self, styles: StyleBook) -> None:
        self._styles = styles
        self.columns: tuple[Column, ...] = ()
        self.sort: tuple[str, bool] | None = None
        self._placed: tuple[Placed, ...] = ()
        self._width = -1

    def set_columns(self, columns: Sequence[Column], sort: tuple[str, bool] | None) -> bool:
        """Take other columns; False when they are the same."""
        if tuple(columns) == self.columns and sort == self.sort:
            return False
        self.columns, self.sort = tuple(columns), sort
        self._width = -1
        return True

    def placed(self, width: int) -> tuple[Placed, ...]:
        """The columns shown at this width."""
        if width != self._width:
            self._placed, self._width = place(self.columns, width - GUTTER), width
        return self._placed

    def changed_span(self, before: Sequence[Cell], now: Sequence[Cell], width: int) -> tuple[int, int]:
        """From the first to the last cell of the line in whose columns something else stands."""
        first, end, start = width, GUTTER, GUTTER
        for placed in self.placed(width):
            if before[placed.number : placed.number + 1] != now[placed.number : placed.number + 1]:
                first, end = min(first, start), start + placed.width
            start += placed.width + 1
        return min(first, end), end

    def header(self, width: int) -> Strip:
        """The headings; the one that is sorted by carries an arrow."""
        parts = []
        for placed in self.placed(width):
            title = placed.column.title
            if self.sort and self.sort[0] == placed.column.key:
                arrow = "▾" if self.sort[1] else "▴"
                room = placed.width - 1
                title = (title if width_of(title) <= room else fit(title, room).rstrip()) + arrow
            parts.append(fit(title, placed.width, placed.column.align))
        text = " " * GUTTER + " ".join(parts)
        return Strip([Segment(fit(text, width), self._styles.component("header"))], width)

    def row(self, facts: RowFacts, width: int) -> Strip:
        """One row: styles of cells on the style of the line; old data, and above all the cursor, win over both."""
        book = self._styles
        line = book.base + book.named(facts.style) if facts.style else book.base
        over = Style(color=book.component("dimmed").color) if facts.dimmed else None
        if facts.under_cursor:
            blurred = (over or Style()) + book.background_of("cursor")
            over = book.component("cursor-focused") if facts.focused else blurred
        row = _Pieces(over)
        row.put(MARKED if facts.marked else " ", line + book.named("mark") if facts.marked else line)
        used = GUTTER
        for number, placed in enumerate(self.placed(width)):
            if number:
                row.put(" ", line)
            cell = facts.cells[placed.number] if placed.number < len(facts.cells) else ""
            for text, name in fit_cell(cell, placed.width, placed.column.align, placed.column.cut):
                row.put(text, line + book.named(name) if name else line)
            used += placed.width + bool(number)
        row.put(" " * (width - used), line)
        strip = Strip(row.segments(), max(width, used))
        return strip if used <= width else strip.crop(0, width)


class _Pieces:
    """Texts of a line; those side by side in the same style are one segment."""

    def __init__(self, over: Style | None) -> None:
        self._over = over
        self._made: list[Segment] = []
        self._text, self._style = "", Style.null()

    def put(self, text: str, style: Style) -> None:
        """Add a text."""
        if style is self._style or style == self._style:
            self._text += text
        elif text:
            self._end()
            self._text, self._style = text, style

    def segments(self) -> list[Segment]:
        """All of them."""
        self._end()
        return self._made

    def _end(self) -> None:
        if self._text:
            style = self._style if self._over is None else self._style + self._over
            self._made.append(Segment(self._text, style))
