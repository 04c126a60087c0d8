"""Rows with a cursor, of a table that renders those on screen only. The cursor belongs to a row's *key*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from slurmtui.widgets.line_view import LineView
from slurmtui.widgets.rows import NoRows, RowSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.widgets.lines import Cell

_KEPT_ROWS = 1000


class RowList(LineView):
    """The rows and the cursor: where it stands when the rows are swapped, and how it moves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor(-1)", "Up", id="table.up", show=False),
        Binding("down,j", "cursor(1)", "Down", id="table.down", show=False),
        Binding("home,g", "edge(0)", "First row", id="table.first", show=False),
        Binding("end,G", "edge(1)", "Last row", id="table.last", show=False),
        Binding("pageup,ctrl+u", "page(-1)", "Page up", id="table.page-up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", id="table.page-down", show=False),
        Binding("enter", "choose", "Open", id="table.choose", show=False),
    ]

    class TableMessage(Message):
        """Of a table; ``key`` names the row."""

        def __init__(self, table: RowList, key: str) -> None:
            self.table = table
            self.key = key
            super().__init__()

        @property
        def control(self) -> RowList:
            """The table it comes from."""
            return self.table

    class CursorMoved(TableMessage):
        """The cursor is on another row ("" when there is none any more)."""

        def can_replace(self, message: Message) -> bool:
            """Of several in a row the last one counts."""
            return isinstance(message, RowList.CursorMoved) and message.table is self.table

    class Steered(TableMessage):
        """A person has moved the cursor, whether or not there was a row to move it to."""

    class RowChosen(TableMessage):
        """Enter, or a click on the row under the cursor."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._source: RowSource = NoRows()
        self._index_of: Callable[[str], int | None] = lambda _key: None
        self._cursor = -1
        self._cursor_key: str | None = None
        self._rows: dict[int, tuple[str, tuple[Cell, ...], str | None]] = {}  # what the source said of those on screen

    # --- for the views

    @property
    def source(self) -> RowSource:
        """The rows shown."""
        return self._source

    @property
    def cursor_key(self) -> str | None:
        """The key of the row under the cursor, None when there is no row."""
        return self._cursor_key

    @property
    def cursor_index(self) -> int:
        """The number of the row under the cursor, -1 when there is no row."""
        return self._cursor

    @property
    def shown(self) -> range:
        """The numbers of the rows on screen."""
        return range(self.top_row, min(self.top_row + self.page_rows, len(self._source)))

    def set_source(self, source: RowSource, *, index_of: Callable[[str], int | None]) -> None:
        """Swap the rows. ``index_of(key)`` tells where a key is now, None when it has gone.

        The cursor stays on its key and its line of the screen (a list that stands at its top stays there, so that new
        rows are seen). A vanished key leaves the cursor where it was, on the neighbour.
        """
        top, old_source, old_cursor, old_key = self.top_row, self._source, self._cursor, self._cursor_key
        self._source, self._index_of = source, index_of
        self._rows.clear()
        found = index_of(old_key) if old_key is not None else None
        self._cursor = min(max(old_cursor, 0), len(source) - 1) if found is None else found
        self._cursor_key = source.key(self._cursor) if self._cursor >= 0 else None
        self.set_row_count(len(source))
        line = old_cursor - top
        if 0 <= line < self.page_rows:
            if top:
                self.scroll_rows(self._cursor - line)
            self._show_cursor()
        elif 0 < top < len(old_source):  # scrolled away from the cursor: keep what is being looked at
            anchor = index_of(old_source.key(top))
            self.scroll_rows(top if anchor is None else anchor)
        self.repaint_changed()
        if old_key != self._cursor_key:
            self.post_message(self.CursorMoved(self, self._cursor_key or ""))

    def refresh_rows(self) -> None:
        """Ask the source again for the rows on screen (same rows, other words)."""
        self._rows.clear()
        self.repaint_changed()

    def _row(self, index: int) -> tuple[str, tuple[Cell, ...], str | None]:
        row = self._rows.get(index)
        if row is None:
            if len(self._rows) > _KEPT_ROWS:
                self._rows.clear()
            source = self._source
            row = self._rows[index] = (source.key(index), tuple(source.cells(index)), source.row_style(index))
        return row

    def move_to(self, key: str) -> bool:
        """Put the cursor on ``key``; False when it is not there."""
        index = self._index_of(key)
        if index is None:
            return False
        self._move(index)
        return True

    # --- the cursor

    def action_cursor(self, step: int) -> None:
        """Move by rows."""
        self._steer(self._cursor + step)

    def action_page(self, step: int) -> None:
        """Move by pages; the list moves with the cursor."""
        rows = max(1, self.page_rows - 1)
        self.scroll_rows(self.top_row + step * rows)
        self._steer(self._cursor + step * rows)

    def action_edge(self, last: int) -> None:
        """Go to the first or the last row."""
        self._steer(len(self._source) - 1 if last else 0)

    def action_choose(self) -> None:
        """Say that the row under the cursor was chosen."""
        if self._cursor_key is not None:
            self.post_message(self.RowChosen(self, self._cursor_key))

    def _steer(self, index: int) -> None:
        self._move(index)
        self.post_message(self.Steered(self, self._cursor_key or ""))

    def _move(self, index: int) -> None:
        index = min(max(index, 0), len(self._source) - 1)
        before, self._cursor = self._cursor, index
        self._cursor_key = self._source.key(index) if index >= 0 else None
        self._show_cursor()
        if index != before:
            first = self.top_row - self.fixed_lines
            self.repaint_lines((before - first, index - first))
            self.post_message(self.CursorMoved(self, self._cursor_key or ""))

    def _show_cursor(self) -> None:
        top, rows = self.top_row, self.page_rows
        if self._cursor < 0 or not rows:
            return
        if self._cursor < top:
            self.scroll_rows(self._cursor)
        elif self._cursor >= top + rows:
            self.scroll_rows(self._cursor - rows + 1)

    def on_resize(self) -> None:
        """The cursor stays in view."""
        self._show_cursor()
        self.paint_bar()
