"""The part of a log that is shown: it can be extended at both ends, and shortened at both.

Which lines are in it is known to whoever shows them; here is known how to go on at either end.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from typing import TYPE_CHECKING

from slurmtui.sources.files.search import Until
from slurmtui.store.log_filter import LogFilter
from slurmtui.store.log_history import AnyStream, Direction, FileStream, ListStream, PrefectStream, edge, give_back
from slurmtui.store.log_merge import Merger
from slurmtui.store.log_place import Cursor
from slurmtui.store.log_prefect import PLACE as PREFECT
from slurmtui.store.log_prefect import PrefectCursor
from slurmtui.store.log_reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from slurmtui.sources.files.needle import Needle
    from slurmtui.store.log_merge import Found
    from slurmtui.store.log_place import FilePlace
    from slurmtui.store.log_prefect import PrefectLines

NOTES = "attempts"
_TAKE_SECONDS = 0.3
_FEW = 600
_MOST_COUNTED = 20_000


class Window:
    """Where to go on at both ends.

    Attributes:
        filter: which lines are wanted.
        at_start: it begins with the log's first line.
        at_end: it ends with the log's last line.
        span: the times of the oldest and the newest line seen so far.
        library: which of Dask's own lines have been seen so far.
    """

    def __init__(self) -> None:
        self.filter = LogFilter()
        self.at_start = self.at_end = False
        self.span = (math.inf, -math.inf)
        self.library: set[int] = set()
        self._reading = Reading()
        self._merger = Merger()
        self._ids: set[str] = set()  # of Prefect's lines that are in it
        self._back = Direction([], -1, self._reading)
        self._front = Direction([], 1, self._reading)

    def begin(self, back: Iterable[AnyStream], front: Iterable[AnyStream]) -> None:
        """A new window, without any line; without ``front`` it lies at the log's end."""
        self._merger = Merger()
        self._ids = set()
        self._back = Direction(back, -1, self._reading)
        self._front = Direction(front, 1, self._reading)
        self.at_start = not self._back.streams
        self.at_end = not self._front.streams

    async def older(self, count: int) -> list[Found]:
        """Up to about ``count`` lines before it; none when it takes longer (see ``at_start``)."""
        found = self._not_shown(await self._take(self._back, count))
        self.at_start = self._back.done
        return await _merged(self._merger.new_of_apart, found)

    async def newer(self, count: int, places: Sequence[FilePlace]) -> list[Found]:
        """The same behind it (see ``at_end``)."""
        if self.at_end:
            return []
        self._join(places)
        found = self._not_shown(await self._take(self._front, count))
        self.at_end = self._front.done
        return await _merged(self._merger.new_of, found)

    async def followed(self, found: list[Found]) -> list[Found]:
        """New lines at its end: those of them that are wanted, each once."""
        found, needle = self._not_shown(found), self.filter.needle
        if needle is not None and needle.pattern.limited:
            kept = await asyncio.to_thread(lambda: list(filter(self._keeps, found)))
        else:
            kept = list(filter(self._keeps, found))
        return await _merged(self._merger.new_of, kept)

    def leave_end(self, places: Sequence[FilePlace], prefect: PrefectLines | None) -> None:
        """It no longer reaches the end: what comes after it is read again from where it is followed now."""
        if self.at_end:
            self.at_end = False
            self._front = Direction(streams_of(places, [place.from_end() for place in places]), 1, self._reading)
            if prefect is not None:
                self._front.streams[PREFECT] = PrefectStream(prefect, PREFECT, prefect.frontier())

    def go_on_at(self, place: FilePlace, start: int) -> None:
        """After its end a file goes on here."""
        self._front.streams[place.key] = FileStream(place, Cursor(start, -math.inf))

    def let_go(self, dropped: list[Found], kept: Iterable[Found], step: int, places: Iterable[FilePlace]) -> None:
        """Lines at its start (step -1) or end (1) were forgotten."""
        direction = self._back if step < 0 else self._front
        self.at_start = self.at_start and step > 0
        self._ids.difference_update(one.mark for one in dropped if isinstance(one.mark, str))
        held = list(kept) if any(one.place == PREFECT for one in dropped) else []
        by_place = sorted((one for one in dropped if not one.entry.partial), key=lambda one: one.place)
        for key, some in itertools.groupby(by_place, key=lambda one: one.place):
            stream = direction.streams.get(key)
            if stream is None and key == NOTES:
                stream = ListStream(NOTES, [])
            elif stream is None:
                place = next((place for place in places if place.key == key), None)
                stream = None if place is None else FileStream(place, place.at_start())
            if stream is not None:
                direction.streams[key] = stream
                give_back(stream, list(some), held, step)

    def edge_of(self, place: FilePlace, step: int) -> int:
        """Where the part of a file begins (ends, for step -1) that lies beyond it."""
        stream = (self._back if step < 0 else self._front).streams.get(place.key)
        found = None if stream is None else edge(stream, step)
        if found is None:
            return 0 if step < 0 else place.size
        return found

    def prefect_edge(self, step: int) -> PrefectCursor | None:
        """Where those of Prefect's lines begin (end, for step -1) that lie beyond it; None for the end."""
        stream = (self._back if step < 0 else self._front).streams.get(PREFECT)
        if not isinstance(stream, PrefectStream):
            return None
        if stream.buffer:
            return PrefectCursor(stream.buffer[-1 if step < 0 else 0].order)
        return stream.cursor

    def _not_shown(self, found: list[Found]) -> list[Found]:
        """The lines without those of Prefect's that are there already (it is asked in more than one way)."""
        new = [one for one in found if not isinstance(one.mark, str) or one.mark not in self._ids]
        self._ids.update(one.mark for one in new if isinstance(one.mark, str))
        if new:
            orders = [*self.span, *(one.order for one in new)]
            self.span = (min(orders[0], *orders[2:]), max(orders[1:]))
        return new

    async def _take(self, direction: Direction, count: int) -> list[Found]:
        return await direction.take(count, Until(seconds=_TAKE_SECONDS, polite=True), self._needle, self._keeps)

    def _keeps(self, found: Found) -> bool:
        if found.entry.library and len(self.library) < _MOST_COUNTED:
            self.library.add(hash((found.place, found.mark)))
        return self.filter.keeps(found.entry)

    def _join(self, places: Iterable[FilePlace]) -> None:
        """Files that have come, and lines that were added, since it began."""
        streams = self._front.streams
        for place in places:
            stream = streams.get(place.key)
            if stream is None:
                streams[place.key] = FileStream(place, place.at_start())
            elif isinstance(stream, FileStream) and stream.cursor.at < place.size:
                stream.done = False
        if PREFECT in streams:
            streams[PREFECT].done = False

    @property
    def _needle(self) -> Needle | None:
        """What the files can be searched for before their lines are looked at one by one."""
        needle = self.filter.needle
        if needle is None or any(sign in needle.text for sign in ("^", "$", "\\A", "(?<")):
            return None  # the line in the file has more in front of it than the line that is shown
        return needle


async def _merged(merge: Callable[[list[Found]], list[Found]], found: list[Found]) -> list[Found]:
    """Merge, in a thread if it is much: going there takes longer than merging a few hundred lines."""
    return merge(found) if len(found) < _FEW else await asyncio.to_thread(merge, found)


def streams_of(places: Iterable[FilePlace], cursors: Iterable[Cursor]) -> list[AnyStream]:
    """A stream for each place."""
    return [FileStream(place, cursor) for place, cursor in zip(places, cursors, strict=True)]


def notes_of(found: Iterable[Found]) -> ListStream:
    """A stream of sentences."""
    return ListStream(NOTES, found)


def prefect_at(prefect: PrefectLines, moment: float) -> PrefectStream:
    """The lines of Prefect's server from a moment on (or before it, backwards)."""
    return PrefectStream(prefect, PREFECT, PrefectCursor(moment))
