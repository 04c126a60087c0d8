"""The part of a log that a pane holds: extended and shortened at both ends, scrolled, followed.

It follows the end until the person scrolls up. Whoever owns it extends it when it is told that one comes near an end of
it (``Moved``), and may shorten it at the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message
from textual.reactive import reactive

from slurmtui.widgets.line_view import LineView
from slurmtui.widgets.log_cursor import LogCursor
from slurmtui.widgets.log_rows import Line, LogRow, LogRows

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARGIN_PAGES = 4


class LogWindow(LineView):
    """Lines, and which of them are on screen.

    Attributes:
        kept: the lines.
        cursor: the line one is at, and those that are marked.
        unseen: rows that have come since the following ended.
        marks: in which parts of the log there are matches, for the scroll bar.
    """

    fixed_lines = 1

    follow: reactive[bool] = reactive(True)
    """Whether the end is kept in view."""
    wrap: reactive[bool] = reactive(False)
    """Whether long lines are broken (else they are moved sideways)."""

    class LogMessage(Message):
        """Of a pane."""

        def __init__(self, view: LogWindow) -> None:
            self.view = view
            super().__init__()

        @property
        def control(self) -> LogWindow:
            """The pane it comes from."""
            return self.view

    class FollowChanged(LogMessage):
        """The person has scrolled away from the end, or has gone back to it (``view.follow`` tells)."""

    class Moved(LogMessage):
        """Another part of the window is on screen, or the person wants to go beyond it."""

        def can_replace(self, message: Message) -> bool:
            """Only the last place counts."""
            return isinstance(message, LogWindow.Moved)

    def __init__(
        self,
        *,
        kept: int | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        name: str | None = None,
    ) -> None:
        super().__init__(id=id, name=name)
        self.kept = LogRows(kept)
        self.cursor = LogCursor(self.kept)
        self.unseen = 0
        self.marks: frozenset[int] = frozenset()
        self._laid_out: tuple[int, bool] = (0, False)

    def prefix_cells(self) -> int:
        """Cells before the text of a line."""
        return 0

    def extent(self) -> tuple[float, float]:
        """Which part of the log is on screen: 0 is its start, 1 its end."""
        rows = len(self.kept.places) or 1
        return self.top_row / rows, (self.top_row + self.page_rows) / rows

    def bar_marks(self) -> frozenset[int]:
        """Where there are matches."""
        return self.marks

    # --- the window

    def show(self, rows: Sequence[LogRow], at: int | None = None) -> None:
        """Show this window instead: at its end and following, or with the line number ``at`` in view."""
        self.kept.clear()
        self.cursor.clear()
        self.kept.append(rows)
        self.unseen = 0
        if at is None:
            self.set_reactive(LogWindow.follow, True)
            self.lay_out()
        else:
            self.set_reactive(LogWindow.follow, False)
            self.lay_out()
            self.reveal(self.kept.lines[at] if self.kept.lines else None)
        self.post_message(self.FollowChanged(self))

    def append(self, rows: Sequence[LogRow]) -> None:
        """Add lines at the end."""
        if not rows:
            return
        prefix = self.prefix_cells()
        added, dropped = self.kept.append(rows)
        if not self.follow:
            self.unseen += added
        self._settle(shift=-dropped)
        if self.prefix_cells() != prefix:
            self.lay_out()

    def prepend(self, rows: Sequence[LogRow]) -> None:
        """Add older lines at the start; what is on screen stays."""
        if rows:
            self._settle(shift=self.kept.prepend(rows))

    def drop_first(self, count: int) -> list[Line]:
        """Forget the oldest lines; what is on screen stays."""
        dropped, rows = self.kept.drop_first(count)
        self._settle(shift=-rows)
        return dropped

    def drop_last(self, count: int) -> list[Line]:
        """Forget the newest lines."""
        dropped = self.kept.drop_last(count)
        self._settle()
        return dropped

    def clear(self) -> None:
        """Forget all lines and follow again."""
        self.kept.clear()
        self.cursor.clear()
        self.unseen = 0
        self.follow = True
        self._settle()

    @property
    def shown_lines(self) -> list[Line]:
        """The lines on screen."""
        rows = self.kept.places[self.top_row : self.top_row + self.page_rows]
        return list(dict.fromkeys(place[0] for place in rows))

    @property
    def rows_above(self) -> int:
        """Rows of the window above the screen."""
        return self.top_row

    @property
    def rows_below(self) -> int:
        """Rows of the window beneath the screen."""
        return max(0, len(self.kept.places) - self.top_row - self.page_rows)

    @property
    def margin(self) -> int:
        """So many rows should lie above and beneath the screen, if there are so many."""
        return max(100, _MARGIN_PAGES * self.page_rows)

    # --- moving

    def reveal(self, line: Line | None) -> None:
        """Bring a line onto the screen, if it is not there, and make it the current one; stay there."""
        self.follow = False
        self.cursor.current = line
        row = None if line is None else self.kept.row_of(line)
        if row is not None and row not in range(self.top_row, self.top_row + self.page_rows):
            self.scroll_rows(row - self.page_rows // 3)
        self.repaint_changed()

    def action_rows(self, step: int) -> None:
        """Scroll by lines; while lines are marked, go from line to line."""
        if self.cursor.marking:
            self._move_cursor(step)
            return
        self.scroll_rows(self.top_row + step)
        if not self.top_row or not self.rows_below:
            self.post_message(self.Moved(self))

    def action_page(self, step: int) -> None:
        """Scroll by pages."""
        self.action_rows(step * max(1, self.page_rows - 1))

    def _move_cursor(self, step: int) -> None:
        line = self.cursor.move(step)
        row = None if line is None else self.kept.row_of(line)
        if row is not None:
            self.follow = False
            if row < self.top_row:
                self.scroll_rows(row)
            elif row >= self.top_row + self.page_rows:
                self.scroll_rows(row - self.page_rows + 1)
        self.post_message(self.Moved(self))
        self.repaint_changed()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling up ends the following."""
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value and new_value < self.max_scroll_y:
            self.follow = False
        self.post_message(self.Moved(self))

    def watch_follow(self) -> None:
        """To the end, or stay."""
        self.unseen = 0
        if self.follow:
            self.cursor.current = None
        self._settle()
        self.post_message(self.FollowChanged(self))

    def on_resize(self) -> None:
        """Other widths break the lines elsewhere; the end stays in view."""
        self.lay_out()

    # --- rows

    def _settle(self, shift: int = 0) -> None:
        """After a change of the rows: the scroll bar, the place, and the lines that look different."""
        rows, top = len(self.kept.places), self.top_row
        self.set_row_count(rows)  # this may move the place
        if self.follow:
            self.scroll_rows(rows)
        elif shift or self.top_row != top:
            self.scroll_rows(top + shift)
        self.repaint_changed()
        self.paint_bar()

    def lay_out(self) -> None:
        """Break the lines anew where that may have changed; keep the line at the top of the screen there."""
        width = max(1, self.text_width - self.prefix_cells()) if self.wrap else 0
        log, top = self.kept, self.top_row
        if (width, log.folded) != self._laid_out:
            self._laid_out = (width, log.folded)
            anchor = log.places[top][0] if top < len(log.places) else None
            log.wrap_width = width
            log.lay_out()
            row = None if anchor is None else log.row_of(anchor)
            self._settle(shift=0 if row is None else row - top)
        else:
            self._settle()
