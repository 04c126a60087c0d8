"""A log that one can move in, whatever its size: a window of lines that is extended at both ends and follows the end.

Whoever shows it keeps the lines of the window (``Found``) and tells which of them it has let go. Memory is bounded by
the window; what lies beyond it is read again when it is wanted.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from slurmtui.store.log_entry import LIBRARY
from slurmtui.store.log_history import PrefectStream
from slurmtui.store.log_live import News, Spot
from slurmtui.store.log_merge import Mark
from slurmtui.store.log_place import Cursor, FilePlace
from slurmtui.store.log_prefect import PLACE as PREFECT
from slurmtui.store.log_reading import Reading
from slurmtui.store.log_window import Window, notes_of, prefect_at, streams_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slurmtui.store.log_filter import LogFilter
    from slurmtui.store.log_live import Live
    from slurmtui.store.log_merge import Found
    from slurmtui.store.log_prefect import PrefectLines
    from slurmtui.store.snapshot import Snapshot

LATE_SECONDS = 0.25
"""How long the end of a log waits for Prefect's server before it is shown without its lines."""
_PATIENCE_SECONDS = 5.0
_MOST_NEW = 192 * 1024
_PAGE = 200
_TICK = 4e-6  # seconds: just before a line of Prefect's


class LogDocument:
    """A log.

    Args:
        live: what is followed.
        name: for a title.

    Attributes:
        window: where the window lies.
        unseen: lines written since, behind a window that does not reach the end.
    """

    def __init__(self, live: Live, name: str) -> None:
        live.begin_at_end()
        self.live = live
        self.name = name
        self.window = Window()
        self.unseen = 0
        self._lock = asyncio.Lock()
        self._started = False
        self._begun: asyncio.Future[list[Found]] | None = None
        self._early: asyncio.Task[PrefectStream] | None = None
        self._stale = False  # Prefect's lines came too late for the window
        self._seeking = Reading()

    # --- moving

    def begin(self, count: int) -> None:
        """Read the end already; the first ``to_end`` gives what was read."""
        self._begun = asyncio.ensure_future(self._first_end(count))

    async def to_end(self, count: int) -> list[Found]:
        """The last lines, and follow."""
        begun, self._begun = self._begun, None
        return await (begun if begun is not None else self._first_end(count))

    async def _first_end(self, count: int) -> list[Found]:
        async with self._lock:
            await self._start()
            return await self._to_end(count, LATE_SECONDS)

    async def to_start(self, count: int) -> list[Found]:
        """The first lines."""
        async with self._lock:
            await self._start()
            places, prefect = self._places(), self.live.prefect
            front = streams_of(places, [place.at_start() for place in places])
            front += [notes_of(self.live.notes), *([prefect_at(prefect, 0.0)] if prefect else [])]
            self.window.begin([], front)
            self.unseen = 0
            return await self._newer(count)

    async def to_spot(self, spot: Spot, before: int, after: int) -> tuple[list[Found], int]:
        """The lines around a spot, and which of them stands there (or is the next one)."""
        async with self._lock:
            await self._start()
            await self._aim(spot)
            newer = await self._newer(after)
            older = await self.window.older(before)
            return older + newer, min(len(older), max(0, len(older) + len(newer) - 1))

    async def older(self, count: int) -> list[Found]:
        """Up to about ``count`` lines before the window; none may mean that it takes longer (see ``at_start``)."""
        async with self._lock:
            return await self.window.older(count)

    async def newer(self, count: int) -> list[Found]:
        """The same behind it (see ``at_end``)."""
        async with self._lock:
            return await self._newer(count)

    async def choose(self, wanted: LogFilter) -> None:
        """Want other lines; the window has to be read again with ``to_end`` or ``to_spot``."""
        async with self._lock:
            self.window.filter = wanted

    def let_go_oldest(self, dropped: list[Found], kept: Iterable[Found]) -> None:
        """Lines at the start of the window were forgotten."""
        if dropped:
            self.window.let_go(dropped, kept, -1, self._places())

    def let_go_newest(self, dropped: list[Found], kept: Iterable[Found]) -> None:
        """Lines at the end of the window were forgotten."""
        if dropped:
            self.window.leave_end(self._places(), self.live.prefect)
            self.window.let_go(dropped, kept, 1, self._places())

    # --- following

    async def look(self, count: int, *, following: bool) -> News:
        """What is new; ``count`` is how many lines a window has that has to be read again."""
        async with self._lock:
            found = await self.live.gather()
            skipped = self._take_skipped()
            prefect = self.live.prefect
            if prefect is not None and prefect.returned:
                prefect.returned, self._stale = False, True
            if self.window.at_end and following and (skipped or self._stale):
                return News(await self._to_end(count, _PATIENCE_SECONDS), reset=True)
            if self.window.at_end and skipped:
                self._leave_end(found, skipped)
            if not self.window.at_end:
                self.unseen += sum(not one.entry.partial for one in found) + sum(lines for _, lines in skipped.values())
                return News([])
            return News(await self.window.followed(found))

    def update(self, snapshot: Snapshot) -> None:
        """Tell what is known now."""
        self.live.update(snapshot)

    # --- facts

    @property
    def why_empty(self) -> str:
        """A sentence why there is no line."""
        return self.live.why_empty

    @property
    def single(self) -> FilePlace | None:
        """The only place whose lines are wanted, when that is a file: it then has line numbers."""
        hidden = self.window.filter.hidden
        files = [lines for lines in self.live.files if lines.source not in hidden]
        if len(files) != 1 or (self.live.prefect is not None and PREFECT not in hidden):
            return None
        return FilePlace(files[0])

    @property
    def one_job(self) -> bool:
        """Whether it is the output of one job, as it stands in its files."""
        return self.live.prefect is None and all(lines.writer.raw for lines in self.live.files)

    @property
    def paths(self) -> list[str]:
        """The files."""
        return [lines.place for lines in self.live.files]

    @property
    def sources(self) -> list[str]:
        """Who writes."""
        found = ["prefect"] if self.live.prefect is not None else []
        return [*found, *dict.fromkeys(lines.source for lines in self.live.files)]

    @property
    def hidden_library(self) -> int:
        """How many of Dask's own lines are left out, of what was read so far."""
        return len(self.window.library) if LIBRARY in self.window.filter.hidden else 0

    def places(self) -> list[FilePlace]:
        """The files whose lines are wanted, to be read anywhere."""
        return [place for place in self._places() if place.source not in self.window.filter.hidden]

    def share_of(self, found: Found) -> float:
        """Where a line stands in the whole log: 0 is its start, 1 its end."""
        single = self.single
        if single is not None and isinstance(found.mark, Mark):
            return min(1.0, max(0, found.mark.start) / (single.size or 1))
        first, last = self.window.span
        return min(1.0, max(0.0, (found.order - first) / ((last - first) or 1.0)))

    async def spot_at(self, share: float) -> Spot:
        """Where that part of the log begins (a tenth, say)."""
        async with self._lock:
            await self._start()
            single = self.single
            if single is None:
                first, last = await self._seeking.run(self._bounds)
                return Spot(first + share * (last - first))
            at = await self._seeking.run(lambda: single.line_start(int(share * single.size)))
            return Spot(single.lines.changed, single.key, at)

    def _bounds(self) -> tuple[float, float]:
        """When the first line was written, and the last, as far as is known."""
        known = [place.bounds() for place in self._places() if place.size]
        return min([self.window.span[0], *(first for first, _ in known)]), max(
            [self.window.span[1], *(last for _, last in known)]
        )

    def close(self) -> None:
        """Give the file handles back."""
        for task in (self._early, self._begun):
            if task is not None:
                task.cancel()
        self.live.close()

    # --- inside

    def _places(self) -> list[FilePlace]:
        return [FilePlace(lines) for lines in self.live.files]

    async def _start(self) -> None:
        """Know the files and their ends."""
        if not self._started:
            self._started = True
            await self.live.gather()

    async def _newer(self, count: int) -> list[Found]:
        found = await self.window.newer(count, self._places())
        if self.window.at_end:
            self.unseen = 0
        return found

    async def _to_end(self, count: int, patience: float) -> list[Found]:
        places = self._places()
        streams = streams_of(places, [place.at_end() for place in places])
        streams.append(notes_of(self.live.notes))
        if self.live.prefect is not None:
            streams.append(await self._last_page(self.live.prefect, min(count, _PAGE), patience))
        self._take_skipped()
        self.window.begin(streams, [])
        self.unseen = 0
        return await self.window.older(count)

    async def _last_page(self, prefect: PrefectLines, count: int, patience: float) -> PrefectStream:
        """Prefect's last lines; when they do not come in time, none now and the whole end once more when they come."""
        stream = PrefectStream(prefect, PREFECT, None)
        self._stale = False
        if self._early is not None and not self._early.done():
            asking = self._early
        else:
            asking = self._early = asyncio.ensure_future(stream.fill(-1, count))
        await asyncio.wait([asking], timeout=patience)
        if asking.done() and not asking.cancelled():
            return asking.result()
        asking.add_done_callback(lambda _: self._come_late())
        stream.done = True
        return stream

    def _come_late(self) -> None:
        self._stale = True

    async def _aim(self, spot: Spot) -> None:
        """Begin a window at a spot: what is older goes backwards from there, the rest forwards."""
        places, prefect, notes = self._places(), self.live.prefect, self.live.notes
        cursors = await self._seeking.run(lambda: [place.spot(spot) for place in places])
        back = streams_of(places, [Cursor(cursor.at, spot.order) for cursor in cursors])
        front = streams_of(places, cursors)
        back.append(notes_of(one for one in notes if one.order < spot.order))
        front.append(notes_of(one for one in notes if one.order >= spot.order))
        if prefect is not None:
            back.append(prefect_at(prefect, spot.order - _TICK))
            front.append(prefect_at(prefect, spot.order))
        self.window.begin(back, front)
        self.unseen = 0

    def _take_skipped(self) -> dict[str, tuple[int, int]]:
        """Files of which too much was written to be read: from where on it was passed over, and how many lines."""
        found = {}
        for lines in self.live.files:
            lines.most = _MOST_NEW
            if lines.skipped is not None:
                found[lines.place] = (lines.skipped, lines.skipped_lines)
                lines.skipped, lines.skipped_lines = None, 0
        return found

    def _leave_end(self, found: list[Found], skipped: dict[str, tuple[int, int]]) -> None:
        """The person reads above, and too much was written: the window ends here, and goes on when they come back."""
        places = self._places()
        self.window.leave_end(places, self.live.prefect)
        self.window.let_go([one for one in found if one.place not in skipped], [], 1, places)
        for place in places:
            if place.key in skipped:
                self.window.go_on_at(place, skipped[place.key][0])
