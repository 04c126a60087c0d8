"""Lines of several places as one log: in the order of their times, each shown once.

What a flow logs goes to Prefect's server and is printed as well: to driver.log by the driver, to a job's stderr by a
Dask worker. The server has it some seconds later than the file. Whoever brings a line first shows it.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slurmtui.store.log_entry import LogEntry

TOLERANCE = 2.0
"""Seconds by which two places may tell different times of one line."""
_KEPT = 20_000

FLOW = "flow"
"""Who speaks, when it is the flow run itself; a task run is ``task NAME``."""


class Mark(NamedTuple):
    """Where a line stands in its file: from where to where, and since which beginning of the file."""

    start: int
    end: int
    generation: int


class Found(NamedTuple):
    """A line as a place brought it.

    Attributes:
        order: where it belongs in the log, seconds since the epoch.
        entry: the line.
        place: who brought it ("prefect", or a file).
        message: what was logged, None for a line that no other place can have.
        speaker: who logged it, "" when that is not known.
        rest: more lines of the same message that this place has brought in the entry's wake.
        mark: where to find it again: in its file, or its id at Prefect's server.
    """

    order: float
    entry: LogEntry
    place: str
    message: str | None = None
    speaker: str = ""
    rest: tuple[str, ...] = ()
    mark: Mark | str | None = None


class _Shown:
    """A line that was shown, and the places that have brought it so far."""

    __slots__ = ("places", "rest", "speaker", "time")

    def __init__(self, found: Found) -> None:
        self.time = found.order if found.entry.time is None else found.entry.time
        self.speaker = found.speaker
        self.places = {found.place}
        self.rest = found.rest


class Merger:
    """Merges batch after batch; knows the lines of the last while."""

    def __init__(self) -> None:
        self._shown: dict[str, list[_Shown]] = {}
        self._order: collections.deque[str] = collections.deque()
        self._known: dict[str, list[str]] = {}  # by place: lines that come next and were shown with another's message

    def merge(self, batch: Iterable[Found]) -> list[LogEntry]:
        """The new lines of a batch in the order of their times; lines of one place stay in theirs."""
        return [found.entry for found in self.new_of(batch)]

    def new_of(self, batch: Iterable[Found]) -> list[Found]:
        """The same, with where they come from."""
        return [found for found in sorted(batch, key=lambda found: found.order) if self._is_new(found)]

    def new_of_apart(self, batch: Iterable[Found]) -> list[Found]:
        """The same for a batch that does not go on where the last one ended (older lines)."""
        known, self._known = self._known, {}
        try:
            return self.new_of(batch)
        finally:
            self._known = known

    def _is_new(self, found: Found) -> bool:
        known = self._known.get(found.place)
        if found.message is None:
            if not known:
                return True
            if known[0] == found.entry.text:
                del known[0]
                return False
            known.clear()
            return True
        words = found.message.strip()
        other = self._brought_by_another(words, found)
        if other is None:
            self._remember(words, found)
            self._known.pop(found.place, None)
            return True
        other.places.add(found.place)
        self._known[found.place] = list(found.rest or other.rest)
        return False

    def _brought_by_another(self, words: str, found: Found) -> _Shown | None:
        time = found.order if found.entry.time is None else found.entry.time
        same = [
            shown
            for shown in self._shown.get(words, ())
            if found.place not in shown.places
            and abs(shown.time - time) <= TOLERANCE
            and (shown.speaker == found.speaker or not shown.speaker or not found.speaker)
        ]
        return min(same, key=lambda shown: abs(shown.time - time), default=None)

    def _remember(self, words: str, found: Found) -> None:
        self._shown.setdefault(words, []).append(_Shown(found))
        self._order.append(words)
        if len(self._order) > _KEPT:
            oldest = self._order.popleft()
            entries = self._shown[oldest]
            del entries[0]
            if not entries:
                del self._shown[oldest]
