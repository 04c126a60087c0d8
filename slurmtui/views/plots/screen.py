"""The Plots view: a list of pictures, and the one under the cursor beneath it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import ContentSwitcher, Static

from slurmtui.actions.model import Context
from slurmtui.models.amounts import counted
from slurmtui.views.base import ViewScreen
from slurmtui.views.keys import bindings_for
from slurmtui.views.plots import series
from slurmtui.views.plots.canvas import Canvas
from slurmtui.views.side import Rows, SideScreen
from slurmtui.widgets.columns import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from slurmtui.store.side_feed import SideFeed
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.store.timeline import Point
    from slurmtui.views.plots.series import BarRow

_LOW = 18  # lines of a terminal below which the list gives way to the picture
_TITLES = {
    "queue": "Queue over time", "cpus": "Partitions", "gpus": "GPUs", "waits": "Waiting times",
}  # fmt: skip


class PlotsScreen(SideScreen):
    """The queue over time, partitions and GPUs in use, waiting times by partition."""

    PLACE = "plots"
    BINDINGS = bindings_for("plots")
    CSS_PATH: ClassVar[list[str]] = [  # type: ignore[assignment]  # Textual takes one or several
        ViewScreen.CSS_PATH, str(Path(__file__).with_name("plots.tcss")),
    ]  # fmt: skip
    HELP = (
        "Choose a picture in the list. The queue over time is drawn from what this console has seen since it was "
        "opened; waiting times are those of your own jobs that have ended (m goes further back)."
    )

    def __init__(self) -> None:
        super().__init__()
        self.canvas = Canvas(id="canvas")
        self.bars = Static("", id="bar-lines", markup=False)
        self._doing["more-days"] = self.more_days

    def compose(self) -> ComposeResult:
        """As every view, with the picture beneath the list."""
        yield from super().compose()
        with ContentSwitcher(id="picture", initial="canvas"):
            yield self.canvas
            with VerticalScroll(id="bars"):
                yield self.bars

    def feeds(self) -> Sequence[SideFeed[Any]]:
        """Nodes and ended jobs; the queue is polled anyway."""
        side = self.console.store.side
        return (side.nodes, side.history)

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """The name of a picture and its newest number."""
        del width
        return (
            Column("plot", "PLOT", 16, min_width=13, priority=100),
            Column("now", "NOW", 0, weight=1, min_width=10, priority=90),
        )

    # --- rows and the picture

    def rebuild(self, snapshot: Snapshot) -> None:
        """The newest number of each picture; the picture under the cursor."""
        del snapshot
        numbers = {
            "queue": series.queue_words(*self._points()),
            "cpus": self._told("nodes") or series.cpu_words(self.console.store.side.nodes.part.data),
            "gpus": self._told("nodes") or series.gpu_words(self.console.store.side.nodes.part.data),
            "waits": self._told("history") or self._wait_words(),
        }
        rows = Rows([(key, (title, numbers[key]), None) for key, title in _TITLES.items()])
        self.table.set_source(rows, index_of=rows.index_of)
        self._paint_picture()

    def _told(self, name: str) -> str:
        """Why there is no number: it is not there yet, or cannot be had."""
        part = getattr(self.console.store.side, name).part
        return "" if part.at is not None else " ".join(part.error.split()) or "asking SLURM…"

    def _points(self) -> tuple[Sequence[Point], str]:
        """Everybody's jobs where the queue of all is read, else mine."""
        timeline = self.console.store.timeline
        if self.snapshot.everyone and len(timeline.all) > 1:
            return timeline.all, "everybody"
        return timeline.mine, "mine"

    def _bars(self, which: str) -> list[BarRow]:
        side = self.console.store.side
        if which == "waits":
            return series.wait_bars(side.history.part.data.jobs)
        cluster = side.nodes.part.data
        return series.cpu_bars(cluster) if which == "cpus" else series.gpu_bars(cluster)

    def _wait_words(self) -> str:
        history = self.console.store.side.history.part.data
        started = sum(job.wait is not None for job in history.jobs)
        return f"{counted(started, 'started job')} of mine in {len(history.days)} days, by partition"

    def _paint_picture(self) -> None:
        which = self.table.cursor_key or "queue"
        switcher = self.query_one("#picture", ContentSwitcher)
        points, whose = self._points()
        if which == "queue" and self.canvas.size.width and not self.canvas.has_room:
            switcher.current = "bars"
            self._say("too small for a curve")
        elif which == "queue":
            switcher.current = "canvas"
            self.canvas.border_title = Content(whose)
            self.canvas.show(points)
        else:
            switcher.current = "bars"
            self._show_bars(which)

    def _show_bars(self, which: str) -> None:
        told = self._told("history" if which == "waits" else "nodes")
        lines = series.bar_lines(self._bars(which), max(20, self.size.width - 4))
        if told or not lines:
            nothing = {"cpus": "No partition is shown", "gpus": "This cluster has no GPU that SLURM tells of"}
            self._say(told or nothing.get(which, "None of your jobs started in these days; m goes further back"))
            return
        legend = _legend(which)
        text = [Content.assemble(*map(_coloured, line)) for line in [*lines, [("", "")], legend]]
        self.bars.update(Content("\n").join(text))

    def _say(self, text: str) -> None:
        self.bars.update(Content(text))

    # --- the rest of a view

    def on_row_list_cursor_moved(self) -> None:
        """Another picture."""
        self._paint_picture()

    def on_resize(self) -> None:
        """On a low terminal the list gives way."""
        super().on_resize()
        self.table.styles.height = 5 if self.size.height >= _LOW else 2
        self.call_after_refresh(self._paint_picture)

    def paint_pane(self) -> None:
        """The picture is the detail."""

    def tab_words(self, snapshot: Snapshot) -> str:
        """Since when the queue has been watched."""
        del snapshot
        points = self._points()[0]
        return f"since {time.strftime('%H:%M', time.localtime(points[0].at))}" if points else ""

    def context(self) -> Context:
        """A picture."""
        return Context(self.console, self.PLACE, row_kind="plot", pane=self.pane_shown)


def _coloured(span: tuple[str, str]) -> tuple[str, str]:
    """A span with the theme's variable for its style."""
    return (span[0], f"${span[1]}") if span[1].startswith("state") else span


def _legend(which: str) -> list[tuple[str, str]]:
    """What the glyphs mean."""
    if which == "waits":
        return [
            (series.HALF[0], series.HALF[1]), (" half of the jobs started within this   ", "dim"),
            (series.MOST[0], series.MOST[1]), (" nine of ten", "dim"),
        ]  # fmt: skip
    return [
        (series.USED[0], series.USED[1]), (" in use   ", "dim"), (series.FREE[0], series.FREE[1]), (" free   ", "dim"),
        (series.OUT[0], series.OUT[1]), (" out of order, reserved, or in a closed partition", "dim"),
    ]  # fmt: skip
