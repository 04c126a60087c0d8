"""What the table and the log pane share: lines painted only when what they show has changed.

A subclass says by ``line_facts`` what the look of a line of the screen depends on, and by ``line_strip`` how it looks.
After any change ``repaint_changed`` compares the facts with those painted last; equal lines cost no output at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.widget import Widget

from slurmtui.widgets.line_bar import LineBar, filtered
from slurmtui.widgets.styles import StyleBook

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.scrollbar import ScrollBar
    from textual.strip import Strip

Facts = tuple[object, ...]


class LineView(ScrollView, can_focus=True):
    """A scrolling view of lines, of which ``fixed_lines`` at the top do not scroll."""

    DEFAULT_CSS = """
    LineView {
        overflow-y: auto;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        background: $background;
        color: $foreground;
        height: 1fr;
    }
    """
    STYLE_PREFIX: ClassVar[str] = ""
    fixed_lines: ClassVar[int] = 0

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._painted: dict[int, tuple[Facts, Strip]] = {}  # by line of the screen
        self.style_book = StyleBook(self, self.STYLE_PREFIX)

    def line_facts(self, line: int) -> Facts:
        """Everything the look of a line of the screen depends on, besides the width and the styles."""
        raise NotImplementedError

    def line_strip(self, facts: Facts, line: int, width: int) -> Strip:
        """The look of a line, ``width`` cells wide."""
        raise NotImplementedError

    @property
    def text_width(self) -> int:
        """Cells of a line."""
        return self.scrollable_content_region.width

    @property
    def page_rows(self) -> int:
        """Lines on screen that scroll."""
        return max(0, self.scrollable_content_region.height - self.fixed_lines)

    @property
    def top_row(self) -> int:
        """The number of the first row on screen."""
        return round(self.scroll_y)

    def set_row_count(self, count: int) -> None:
        """Tell the scroll bar the number of rows, without a new layout of the screen."""
        size = Size(1, count + self.fixed_lines)
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            if self.is_attached and self.container_size:
                self._scroll_update(size)
                self.paint_bar()

    def scroll_rows(self, top: int) -> None:
        """Make ``top`` the first row on screen, as far as there are rows."""
        if self.is_attached and self.page_rows:
            highest = max(0, self.virtual_size.height - self.fixed_lines - self.page_rows)
            self.scroll_to(y=min(max(top, 0), highest), animate=False, force=True)

    def repaint_changed(self) -> None:
        """Ask for a repaint of the lines that no longer are what was painted."""
        self.repaint_lines(range(self.scrollable_content_region.height))

    def repaint_lines(self, lines: Iterable[int]) -> None:
        """The same of some lines of the screen; of those that are not on it nothing is asked."""
        if not self.is_attached:
            return
        width, height = self.scrollable_content_region.size
        for line in lines:
            if not 0 <= line < height:
                continue
            painted = self._painted.get(line)
            facts = self.line_facts(line)
            if painted is None:
                self.refresh(Region(0, line, width, 1))
            elif painted[0] != facts:
                start, end = self.changed_span(painted[0], facts, width)
                self.refresh(Region(start, line, end - start, 1))

    def changed_span(self, _before: Facts, _now: Facts, width: int) -> tuple[int, int]:
        """The cells between which a line looks different; what is beside them need not be sent again."""
        return 0, width

    def repaint_all(self) -> None:
        """Paint everything again, with styles looked up anew."""
        self.style_book.forget()
        self._painted.clear()
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines as they are: a view has no border, padding or opacity of its own for which they would be made anew.

        (Textual's way to them all costs twice as much as the lines themselves.) Whoever changes what lines show asks
        for their repaint at once: a line that is rendered here counts as painted.
        """
        strips = filtered(self, [self.render_line(y) for y in crop.line_range])
        if crop.column_span != (0, self.size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        facts = self.line_facts(y)
        width = self.text_width
        painted = self._painted.get(y)
        if painted is not None and painted[0] == facts and painted[1].cell_length == width:
            return painted[1]
        strip = self.line_strip(facts, y, width)
        if strip.cell_length != width:  # on a terminal of a few cells
            strip = strip.adjust_cell_length(width, self.style_book.base)
        self._painted[y] = (facts, strip)
        return strip

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Paint the lines that differ after scrolling."""
        if round(old_value) != round(new_value):
            self.paint_bar()
            self.repaint_changed()

    # --- the scroll bar

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The scroll bar, made when it is first wanted, as Textual makes its own."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = LineBar(self.style_book)
            self._vertical_scrollbar.display = False
            self.app._start_widget(self, self._vertical_scrollbar)  # noqa: SLF001 - as above
        return self._vertical_scrollbar

    def extent(self) -> tuple[float, float]:
        """Which part of the whole is on screen: 0 is its start, 1 its end."""
        rows = max(1, self.virtual_size.height - self.fixed_lines)
        return self.top_row / rows, (self.top_row + self.page_rows) / rows

    def bar_marks(self) -> frozenset[int]:
        """Which parts of the whole (of ``BUCKETS``) are marked in the scroll bar."""
        return frozenset()

    def paint_bar(self) -> None:
        """Show the place in the scroll bar."""
        bar = self._vertical_scrollbar
        if isinstance(bar, LineBar) and self.show_vertical_scrollbar:
            bar.show(*self.extent(), self.bar_marks())

    def watch_has_focus(self, _has_focus: bool) -> None:  # noqa: FBT001 - Textual calls it
        """The cursor looks different without the focus."""
        super().watch_has_focus(_has_focus)
        self.repaint_all()

    def notify_style_update(self) -> None:
        """The theme or a style has changed."""
        super().notify_style_update()
        self.style_book.forget()
        self._painted.clear()
        if isinstance(self._vertical_scrollbar, LineBar):
            self._vertical_scrollbar.forget()
