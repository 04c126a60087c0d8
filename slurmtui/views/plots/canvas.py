"""The curve of the queue, drawn by plotext."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.color import Color, ColorParseError
from textual_plotext import PlotextPlot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual_plotext.plot import Plot

    from slurmtui.store.timeline import Point

_LEAST_WIDTH, _LEAST_HEIGHT = 24, 5
_TICK_CELLS = 16

PlotColor = tuple[int, int, int] | int | str


class Canvas(PlotextPlot):
    """Curves over time. Without a theme of plotext's own: the background is the console's."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.theme = "clear"
        self._points: Sequence[Point] = ()
        self._drawn: tuple[object, ...] = ()

    @property
    def has_room(self) -> bool:
        """Whether a curve can be made out at this size."""
        return self.size.width >= _LEAST_WIDTH and self.size.height >= _LEAST_HEIGHT

    def show(self, points: Sequence[Point]) -> None:
        """Draw these points, if they are others than before."""
        last = points[-1].at if points else 0.0
        facts = (len(points), last, self.size, self.app.theme)
        if facts != self._drawn:
            self._drawn, self._points = facts, tuple(points)
            self._draw(self.plt)
            self.refresh()

    def _draw(self, plot: Plot) -> None:
        plot.clear_data()
        points = self._points
        if not points:
            return
        times = [point.at for point in points]
        curves = (
            ("running", [point.running for point in points], "state-running"),
            ("waiting", [point.waiting for point in points], "state-waiting"),
        )
        for label, values, style in curves:
            plot.plot(times, values, label=label, marker="braille", color=self._colour(style))
        highest = max(max(values) for _, values, _ in curves)
        top = max(4, -(-highest * 5 // 16) * 4)  # four equal steps of whole jobs, and room for the legend above
        plot.ylim(0, top)
        plot.yticks([top * step // 4 for step in range(5)])
        first, last = times[0], max(times[-1], times[0] + 60)
        plot.xlim(first, last)
        count = max(2, self.size.width // _TICK_CELLS)
        ticks = [first + (last - first) * step / (count - 1) for step in range(count)]
        form = "%H:%M" if last - first > 300 else "%H:%M:%S"
        plot.xticks(ticks, [time.strftime(form, time.localtime(tick)) for tick in ticks])

    def _colour(self, name: str) -> PlotColor:
        """A colour of the theme as plotext takes it."""
        value = self.app.theme_variables.get(name, "").split()
        try:
            found = Color.parse(value[0]) if value else None
        except ColorParseError:
            found = None
        if found is None:
            return "default"
        if found.ansi is not None:
            return found.ansi if found.ansi >= 0 else "default"
        return found.rgb
