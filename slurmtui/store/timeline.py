"""How the queue stood at each poll of this session: a bounded memory for the plot, thinned out as it grows old."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from slurmtui.store.job_marks import own_rows
from slurmtui.store.tally import counted_states

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job_table import JobTable
    from slurmtui.store.snapshot import Snapshot

MOST_POINTS = 1440


class Point(NamedTuple):
    """Jobs (array tasks one by one) at a moment."""

    at: float
    running: int
    waiting: int
    other: int


class Timeline:
    """Two series: one's own jobs, and everybody's where the queue of all was read."""

    def __init__(self) -> None:
        self.mine: list[Point] = []
        self.all: list[Point] = []
        self._last: tuple[float, JobTable, bool] | None = None

    def note(self, snapshot: Snapshot) -> None:
        """Add what the queue says, once a poll (some milliseconds with many jobs: not for the event loop)."""
        at, table, everyone = snapshot.queue.at, snapshot.queue.data, snapshot.everyone
        if at is None or snapshot.queue.error or (self._last is not None and self._last[0] == at):
            return
        same = self._last is not None and self._last[1] is table and self._last[2] == everyone
        self._last = (at, table, everyone)
        if same:
            _add(self.mine, self.mine[-1]._replace(at=at))
            if everyone:
                _add(self.all, self.all[-1]._replace(at=at))
            return
        whole = _point(at, table, range(len(table)))
        if everyone:
            _add(self.all, whole)
            _add(self.mine, _point(at, table, own_rows(table, snapshot.user)))
        else:
            _add(self.mine, whole)


def _add(points: list[Point], point: Point) -> None:
    points.append(point)
    if len(points) > MOST_POINTS:  # the older half at half the density: a long session keeps its whole length
        half = len(points) // 2
        points[:half] = points[:half:2]


def _point(at: float, table: JobTable, rows: Sequence[int]) -> Point:
    counts = counted_states(table, rows)
    running, waiting = counts["RUNNING"], counts["PENDING"]
    return Point(at, running, waiting, counts.total() - running - waiting)
