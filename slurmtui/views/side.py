"""Base of the views whose source is asked only while they are shown: nodes, partitions, history, shares, plots."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from slurmtui.models.text import visible
from slurmtui.views.base import ViewScreen
from slurmtui.views.format import age
from slurmtui.widgets.beside import start

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.worker import Worker

    from slurmtui.store.side_feed import SideFeed
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.store.view_state import ViewState
    from slurmtui.views.order import Order
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.lines import Cell


_OLD = 75.0
_DAYS = (7, 14, 30, 90, 366)


Row = TypeVar("Row", bound="tuple[Any, ...]")


class KeyedRows(Generic[Row]):
    """Rows made once a change; the first part of each names it."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._places: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def key(self, index: int) -> str:
        """What names a row."""
        key: str = self._rows[index][0]
        return key

    def index_of(self, key: str) -> int | None:
        """Where a row is."""
        if self._places is None:
            self._places = {row[0]: place for place, row in enumerate(self._rows)}
        return self._places.get(key)


class Rows(KeyedRows["tuple[str, Sequence[Cell], str | None]"]):
    """Rows of (key, cells, style of the line)."""

    def __init__(self, rows: Sequence[tuple[str, Sequence[Cell], str | None]] = ()) -> None:
        super().__init__(rows)

    def cells(self, index: int) -> Sequence[Cell]:
        """The cells of a row."""
        return self._rows[index][1]

    def row_style(self, index: int) -> str | None:
        """The style of a line."""
        return self._rows[index][2]


class SideScreen(ViewScreen):
    """A view with feeds of its own; the first of ``feeds`` is the one it stands and falls with."""

    SOURCE = "SLURM"

    def feeds(self) -> Sequence[SideFeed[Any]]:
        """What it shows."""
        raise NotImplementedError

    def on_screen_resume(self) -> None:
        """On screen: ask."""
        for feed in self.feeds():
            feed.show(self.PLACE, self.fed)
        super().on_screen_resume()

    def on_screen_suspend(self) -> None:
        """Covered or left: ask nothing."""
        for feed in self.feeds():
            feed.hide(self.PLACE)

    def fed(self) -> None:
        """A feed has an answer, or none."""
        self.show_snapshot(self.snapshot)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show it: the rows first, then the lines around them."""
        self.rebuild(snapshot)
        self.seek_on()
        part = self.feeds()[0].part
        self.table.dimmed = bool(part.error) and part.at is not None
        self.paint_lines()
        self.paint_pane()

    def complaint_words(self, snapshot: Snapshot, now: float) -> str:
        """One sentence when what is shown is old."""
        for feed in self.feeds():
            part = feed.part
            if part.error and part.at is not None:
                said = visible(" ".join(part.error.split()))
                return f" {self.SOURCE} does not answer, last data {age(now - part.at)} old: {said}"
        return super().complaint_words(snapshot, now)

    def start(self, work: Callable[[], Awaitable[None]], group: str) -> Worker[None]:
        """Begin ``work`` in place of what the group was doing."""
        return start(self, work, group, exclusive=True)

    def more_days(self) -> None:
        """Look further back in the ended jobs; after the furthest, a week again."""
        side = self.console.store.side
        days = next((step for step in _DAYS if step > side.book.days), _DAYS[0])
        side.set_days(days)
        self.console.tell(f"asking for the jobs of {days} days")

    def waiting_words(self) -> str:
        """Why there is no data at all: not asked yet, or what was said instead."""
        error = self.feeds()[0].part.error
        return visible(" ".join(error.split())) if error else f"Asking {self.SOURCE}…"

    def age_words(self) -> str:
        """How old the data is, when it is older than the time between two questions."""
        at = self.feeds()[0].part.at
        seconds = time.time() - at if at is not None else 0.0
        return f" · {age(seconds)} old" if seconds > _OLD else ""

    def log_source(self) -> None:
        """Nothing here has a log."""
        return

    def detail_lines(self) -> list[list[Piece]]:
        """Nothing is under the cursor."""
        return [[("Nothing is under the cursor", "$text-muted")]]


class OrderedScreen(SideScreen):
    """One whose rows a person puts in an order, which is remembered."""

    order: Order[Any]

    @property
    def sorted_by(self) -> tuple[str, bool] | None:
        """The column the rows are sorted by, and whether the largest comes first."""
        return self.order.sort

    def left_as(self) -> ViewState:
        """Filter and order."""
        return self.order.left_as(super().left_as())

    def restore(self, state: ViewState) -> None:
        """As it was left."""
        super().restore(state)
        self.order.restore(state)
