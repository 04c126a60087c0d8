"""A table that renders the rows on screen and nothing else, for 10 rows as for 100,000.

It knows strings, keys and style names. The cursor, the marks and the place on the screen belong to a row's *key*: when
the rows are swapped they follow it. Only lines that look different are painted again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.events import DescendantBlur, DescendantFocus
from textual.geometry import Size
from textual.reactive import reactive

from slurmtui.widgets.columns import Column
from slurmtui.widgets.lines import Cell
from slurmtui.widgets.row_list import RowList
from slurmtui.widgets.rows import RowSource
from slurmtui.widgets.sentence import sentence
from slurmtui.widgets.table_lines import RowFacts, TableLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.strip import Strip

    from slurmtui.widgets.line_view import Facts

__all__ = ["Cell", "Column", "RowSource", "VirtualTable"]


class VirtualTable(RowList):
    """The table. Give it ``set_columns`` and ``set_source``; listen to its messages."""

    HELP = "Arrow keys or `j` `k` move, `g` and `G` go to the ends, `enter` opens."
    STYLE_PREFIX = "virtual-table"
    fixed_lines = 1
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "virtual-table--header",
        "virtual-table--cursor",
        "virtual-table--cursor-focused",
        "virtual-table--dimmed",
        "virtual-table--empty",
        "virtual-table--track",
        "virtual-table--thumb",
    }
    DEFAULT_CSS = """
    VirtualTable {
        & > .virtual-table--header { color: $foreground; text-style: bold; }
        & > .virtual-table--dimmed { color: $foreground-muted; }
        & > .virtual-table--empty { color: $foreground-muted; }
        & > .virtual-table--track { background: $scrollbar-background; }
        & > .virtual-table--thumb { background: $scrollbar; }
        & > .virtual-table--cursor { background: $block-cursor-blurred-background; }
        & > .virtual-table--cursor-focused {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
        &:nocolor > .virtual-table--thumb { text-style: reverse; }
        &:nocolor > .virtual-table--cursor { text-style: underline; }
        &:nocolor > .virtual-table--cursor-focused { text-style: bold reverse; }
    }
    """
    marks: reactive[frozenset[str]] = reactive(frozenset[str](), repaint=False)
    """Keys of the marked rows; also of such that are not in the source now (filtered out): see ``marks_shown``."""
    dimmed: reactive[bool] = reactive(False, repaint=False)
    """Whether the rows are old data."""
    empty_text: reactive[str] = reactive("", repaint=False)
    """The sentence shown when there is no row."""

    def __init__(
        self,
        columns: Sequence[Column] = (),
        *,
        empty_text: str = "",
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._lines = TableLines(self.style_book)
        self._lines.set_columns(columns, None)
        self.set_reactive(VirtualTable.empty_text, empty_text)

    def on_mount(self) -> None:
        """What changes the look of lines."""
        for name in ("marks", "dimmed", "empty_text"):
            self.watch(self, name, self.repaint_changed, init=False)

    # --- for the views

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, also those that do not fit."""
        return self._lines.columns

    def marks_shown(self) -> list[str]:
        """The marked keys that are in the source, in its order."""
        found = ((self._index_of(key), key) for key in self.marks)
        return [key for _, key in sorted((index, key) for index, key in found if index is not None)]

    def shows_a_mark(self) -> bool:
        """Whether a marked row is in the source: of many the first that is found tells."""
        return any(self._index_of(key) is not None for key in self.marks)

    def set_columns(self, columns: Sequence[Column], sort: tuple[str, bool] | None = None) -> None:
        """Show these columns; ``sort`` is (column key, whether descending) for the heading's arrow."""
        before = self._lines.columns
        if self._lines.set_columns(columns, sort):
            if before == self._lines.columns:
                self.repaint_changed()
            else:
                self.repaint_all()

    def columns_shown(self) -> list[str]:
        """The keys of the columns that fit."""
        return [placed.column.key for placed in self._lines.placed(self.text_width)]

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor; on the row under the cursor it chooses."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y == 0:
            return
        index = self.top_row + offset.y - self.fixed_lines
        if index == self._cursor:
            self.action_choose()
        elif index < len(self._source):
            self._move(index)

    # --- painting

    def on_focus(self, event: events.Focus) -> None:
        """As every widget does it, but without painting all lines again."""
        event.prevent_default()
        self._focus_moved(DescendantFocus(self), has_focus=True)

    def on_blur(self, event: events.Blur) -> None:
        """The same."""
        event.prevent_default()
        self._focus_moved(DescendantBlur(self), has_focus=False)

    def _focus_moved(self, told: DescendantFocus | DescendantBlur, *, has_focus: bool) -> None:
        self.has_focus = has_focus
        if self.parent is not None:
            self.parent.post_message(told)

    def watch_has_focus(self, _has_focus: bool) -> None:  # noqa: FBT001 - Textual calls it
        """Only the cursor's line looks different; no style of the table depends on the focus."""
        self.repaint_changed()

    def line_facts(self, line: int) -> Facts:
        """Heading, row, or sentence."""
        if line == 0:
            return (self._lines.columns, self._lines.sort)
        count = len(self._source)
        if not count:
            return (self.empty_text, self.page_rows)
        index = self.top_row + line - self.fixed_lines
        if index >= count:
            return ("", 0)
        key, cells, style = self._row(index)
        here = index == self._cursor
        return RowFacts(cells, style, here, key in self.marks, self.dimmed, focused=here and self.has_focus)

    def changed_span(self, before: Facts, now: Facts, width: int) -> tuple[int, int]:
        """A time that ticks does not send its whole row again."""
        if not isinstance(before, RowFacts) or not isinstance(now, RowFacts) or before[1:] != now[1:]:
            return 0, width
        return self._lines.changed_span(before.cells, now.cells, width)

    def line_strip(self, facts: Facts, line: int, width: int) -> Strip:
        """Paint a line."""
        if line == 0:
            return self._lines.header(width)
        if not isinstance(facts, RowFacts):
            return sentence(str(facts[0]), line - 1, Size(width, self.page_rows), self.style_book.component("empty"))
        return self._lines.row(facts, width)
