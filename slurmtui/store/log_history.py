"""Any part of a log of several places, in the order of the times: k-way merging backwards or forwards.

A place is read only when its next line may be the next one of the whole, so a run with a thousand old files costs
nothing until one scrolls there. Files are read in a thread; Prefect's server is asked in between.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from typing import TYPE_CHECKING, Any

from slurmtui.errors import PrefectError
from slurmtui.store.log_merge import Mark
from slurmtui.store.log_place import Cursor
from slurmtui.store.log_prefect import PrefectCursor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from slurmtui.sources.files.needle import Needle
    from slurmtui.sources.files.search import Until
    from slurmtui.store.log_merge import Found
    from slurmtui.store.log_place import FilePlace
    from slurmtui.store.log_prefect import PrefectLines
    from slurmtui.store.log_reading import Reading

_LEAST = 20
_PAGE = 200


class _Buffered:
    """What has been read of a place and not been given out, and where to go on."""

    def __init__(self, key: str, cursor: Any) -> None:
        self.key = key
        self.cursor = cursor
        self.buffer: deque[Found] = deque()
        self.done = False

    def bound(self, step: int) -> float:
        """No line that is still to come is newer (backwards) or older (forwards) than this."""
        if self.buffer:
            return self.buffer[-1 if step < 0 else 0].order
        order: float = self.cursor.order if self.cursor is not None else math.inf
        return order

    def put(self, portion: Any) -> None:
        """Take what was read."""
        self.buffer.extend(portion.found)
        self.cursor, self.done = portion.cursor, portion.done


class FileStream(_Buffered):
    """Of a file."""

    def __init__(self, place: FilePlace, cursor: Any) -> None:
        super().__init__(place.key, cursor)
        self.place = place
        self._generation = place.generation

    def fill(self, step: int, count: int, needle: Needle | None, until: Until) -> None:
        """Read on."""
        if self._generation != self.place.generation:
            self.done = True  # the file began anew: what stood there is gone
            return
        read = self.place.before if step < 0 else self.place.after
        self.put(read(self.cursor, count, until, needle))


class PrefectStream(_Buffered):
    """Of Prefect's server."""

    def __init__(self, lines: PrefectLines, key: str, cursor: PrefectCursor | None) -> None:
        super().__init__(key, cursor)
        self.cursor: PrefectCursor | None
        self.lines = lines

    async def fill(self, step: int, count: int) -> PrefectStream:
        """Ask on, and return itself; a server that does not answer is passed over until the next time."""
        try:
            if step < 0:
                self.put(await self.lines.before(self.cursor, count))
            else:
                self.put(await self.lines.after(self.cursor or PrefectCursor(0.0), count))
        except PrefectError as error:
            self.lines.problem = str(error)
            self.done = True
        return self


class ListStream(_Buffered):
    """Of lines that are known already."""

    def __init__(self, key: str, found: Iterable[Found]) -> None:
        super().__init__(key, PrefectCursor(0.0))
        self.buffer.extend(found)
        self.done = True


AnyStream = FileStream | PrefectStream | ListStream


class Direction:
    """Merges streams in one direction (``step`` -1: backwards)."""

    def __init__(self, streams: Iterable[AnyStream], step: int, reading: Reading) -> None:
        self.streams = {stream.key: stream for stream in streams}
        self.step = step
        self._reading = reading

    @property
    def done(self) -> bool:
        """Whether there is nothing more."""
        return all(stream.done and not stream.buffer for stream in self.streams.values())

    async def take(
        self, count: int, until: Until, needle: Needle | None, keeps: Callable[[Found], bool]
    ) -> list[Found]:
        """The next ``count`` lines that ``keeps`` wants, in the order of their times; fewer when it takes too long."""
        out: list[Found] = []
        asked = _PAGE
        while len(out) < count:
            dry = await self._reading.run(lambda: self._merge(out, count, until, needle, keeps))
            if dry is None:
                break
            await dry.fill(self.step, min(asked, 1000))
            asked *= 2
        if self.step < 0:
            out.reverse()
        return out

    def _merge(
        self,
        out: list[Found],
        count: int,
        until: Until,
        needle: Needle | None,
        keeps: Callable[[Found], bool],
    ) -> PrefectStream | None:
        """Merge until there is enough; the stream that must be asked first, if one must."""
        step = self.step
        ranks = {key: step * rank for rank, key in enumerate(sorted(self.streams))}  # of equal times: always the same
        heap = [
            (step * stream.bound(step), ranks[key], key)
            for key, stream in self.streams.items()
            if stream.buffer or not stream.done
        ]
        heapq.heapify(heap)
        chunk = max(_LEAST, 2 * count // (len(heap) or 1))
        while heap and len(out) < count:
            _, rank, key = heapq.heappop(heap)
            stream = self.streams[key]
            if stream.buffer:
                found = stream.buffer.pop() if step < 0 else stream.buffer.popleft()
                if keeps(found):
                    out.append(found)
            elif isinstance(stream, PrefectStream):
                return stream
            elif isinstance(stream, FileStream):
                stream.fill(step, chunk, needle, until)
                if until.over and not stream.buffer:
                    return None
            if stream.buffer or not stream.done:
                heapq.heappush(heap, (step * stream.bound(step), rank, key))
        return None


def edge(stream: AnyStream, step: int) -> int | None:
    """Where the part of a file begins (ends, backwards) that was not given out yet; None for what is no file."""
    if not isinstance(stream, FileStream):
        return None
    if stream.buffer:
        mark = stream.buffer[-1 if step < 0 else 0].mark
        if isinstance(mark, Mark):
            return mark.end if step < 0 else mark.start
    at: int = stream.cursor.at
    return at


def give_back(stream: AnyStream, dropped: list[Found], kept: Iterable[Found], step: int) -> None:
    """Lines of this place were forgotten at the edge of what is shown: go on with them when they are wanted again."""
    if isinstance(stream, ListStream):
        stream.buffer.extend(dropped) if step < 0 else stream.buffer.extendleft(reversed(dropped))
        return
    last = dropped[-1 if step < 0 else 0]
    if isinstance(stream, FileStream):
        if not isinstance(last.mark, Mark) or last.mark.generation != stream.place.generation or last.mark.start < 0:
            return  # the file began anew: they cannot be had again
        stream.cursor = Cursor(last.mark.end if step < 0 else last.mark.start, last.order)
    else:
        same = (one.mark for one in kept if one.place == stream.key and one.order == last.order)
        stream.cursor = PrefectCursor(last.order, frozenset(mark for mark in same if isinstance(mark, str)))
    stream.buffer.clear()
    stream.done = False
