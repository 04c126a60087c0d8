"""The scroll bar of a list or a log: where in the whole of it one is, and where there are matches.

Only cells that look different are painted: Textual's own paints all of them whenever the list moves by a line.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget
    from typing_extensions import Self

    from slurmtui.widgets.styles import StyleBook

BUCKETS = 1024
"""The whole is cut into so many parts; a match is marked by the number of its part."""
_MARK = "▐"


def filtered(widget: Widget, strips: list[Strip]) -> list[Strip]:
    """Lines that a widget paints by itself, as the terminal is to have them."""
    for line_filter in widget.get_line_filters():
        strips = [strip.apply_filter(line_filter, widget.background_colors[1]) for strip in strips]
    return strips


class LineBar(ScrollBar):
    """Shows what it is told; that the view beside it scrolls does not concern it."""

    # Textual sets these on every change of the view; here they mean nothing and must not cost a repaint.
    window_virtual_size = 100
    window_size = 0
    position = 0

    def __init__(self, styles: StyleBook) -> None:
        super().__init__(vertical=True, name="vertical", thickness=1)
        self._styles = styles
        self._extent = (0.0, 1.0)
        self._marks: frozenset[int] = frozenset()
        self._drawn: list[str] = []

    def show(self, first: float, last: float, marks: frozenset[int] = frozenset()) -> None:
        """Show which part is on screen (0 is the start of the whole, 1 its end), and where the matches are."""
        self._extent, self._marks = (first, last), marks
        before, now = self._drawn, self._cells()
        if len(before) != len(now):
            self.refresh()
            return
        changed = [cell for cell, (old, new) in enumerate(zip(before, now, strict=True)) if old != new]
        self._drawn = now
        if changed:
            self.refresh(*(Region(0, cell, 1, 1) for cell in changed))

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """As every widget does it; but Textual asks for it whenever the list changes, also where nothing looks new."""
        if not (regions or layout or recompose) and self._drawn == self._cells():
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def forget(self) -> None:
        """The styles have changed: everything looks new."""
        self._drawn = []
        self.refresh()

    def _cells(self) -> list[str]:
        """What stands in each cell from top to bottom: ``thumb`` or ``track``, and whether it has a mark."""
        height = max(1, self.size.height)
        first, last = self._extent
        start = min(height - 1, max(0, int(first * height)))
        end = height if last >= 1 else min(height, max(start + 1, ceil(last * height)))
        if first <= 0 and last >= 1:  # nothing is hidden: there is no place to be shown
            end = start
        marks = {mark * height // BUCKETS for mark in self._marks}
        return [f"{'thumb' if start <= cell < end else 'track'}{_MARK * (cell in marks)}" for cell in range(height)]

    def render_lines(self, crop: Region) -> list[Strip]:
        """The cells from top to bottom; there is nothing around them."""
        self._drawn = self._cells()
        looks = {look: self._look(look) for look in set(self._drawn)}
        strips = [looks[look] for look in self._drawn[crop.y : crop.bottom]]
        return filtered(self, strips)

    def _look(self, look: str) -> Strip:
        style = self._styles.component(look.removesuffix(_MARK))
        if look.endswith(_MARK):
            style += Style(color=self._styles.named("match").color, bold=True)
        return Strip([Segment(_MARK if look.endswith(_MARK) else " ", style)], 1)
