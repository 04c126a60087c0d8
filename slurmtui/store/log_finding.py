"""Finding lines anywhere in a log, beyond the part that is shown; and counting them.

The files are searched as they are, large ones by a process, and that can be stopped at any time. Prefect's lines are
searched where no driver's file repeats them.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from slurmtui.errors import PrefectError
from slurmtui.sources.exec import Runner
from slurmtui.sources.files import line_file, scan
from slurmtui.sources.files.search import Hits, Until
from slurmtui.store.log_filter import holds
from slurmtui.store.log_live import Spot
from slurmtui.store.log_prefect import PLACE as PREFECT
from slurmtui.store.log_prefect import PrefectCursor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.sources.files.needle import Needle
    from slurmtui.store.log_document import LogDocument
    from slurmtui.store.log_place import FilePlace
    from slurmtui.store.log_prefect import PrefectLines

_PAGE = 200
_TICK = 4e-6  # seconds: beside a line of Prefect's
_SLICE_SECONDS = 0.25
_NEAR = 4_000_000  # bytes
RUNNER = Runner()
"""For searches in a process of their own; not the session's, for these are no questions to SLURM."""


class Finder:
    """Seeks one thing in one log.

    Attributes:
        needle: what is sought.
        complete: all files have been counted.
        known: they have been, before more was written.
    """

    def __init__(self, document: LogDocument, needle: Needle) -> None:
        self.needle = needle
        self.complete = self.known = False
        self._document = document
        self._hits: dict[str, tuple[int, Hits]] = {}  # by file: since which beginning of it, and what was found
        self._stop = threading.Event()
        self._counting = threading.Lock()

    def stop(self) -> None:
        """Give up, within a few milliseconds."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether it was given up."""
        return self._stop.is_set()

    async def beyond(self, step: int) -> Spot | None:
        """The nearest match before the part that is shown (step -1) or behind it (1)."""
        places = self._document.places()
        starts = [self._document.window.edge_of(place, step) for place in places]
        edge = self._document.window.prefect_edge(step)
        return await self._nearest(list(zip(places, starts, strict=True)), step, edge)

    async def from_end(self, step: int, *, to_window: bool = False) -> Spot | None:
        """The last match of the log (step -1), or its first (1); ``to_window``: of what lies beyond what is shown."""
        window, places = self._document.window, self._document.places()
        edge = None if step < 0 else PrefectCursor(0.0)
        bounds = [window.edge_of(place, -step) if to_window else None for place in places]
        starts = [(place, place.size if step < 0 else 0) for place in places]
        return await self._nearest(starts, step, edge, bounds)

    async def further(self, spot: Spot, step: int) -> Spot | None:
        """The next match before or behind a spot."""
        places = self._document.places()
        starts = await asyncio.to_thread(lambda: [_next_to(place, spot, step) for place in places])
        edge = PrefectCursor(spot.order - _TICK if step < 0 else spot.order + _TICK)
        return await self._nearest(list(zip(places, starts, strict=True)), step, edge)

    async def _nearest(
        self,
        starts: list[tuple[FilePlace, int]],
        step: int,
        edge: PrefectCursor | None,
        bounds: Sequence[int | None] = (),
    ) -> Spot | None:
        parts = [
            (place, start, (0 if step < 0 else place.size) if bound is None else bound)
            for (place, start), bound in zip(starts, bounds or [None] * len(starts), strict=True)
        ]
        found = await self._in_files(parts, step)
        prefect = self._document.live.prefect
        told = any(place.source == "driver" and place.size for place in self._document.places())
        if prefect is not None and not told and PREFECT not in self._document.window.filter.hidden:
            found += await self._in_prefect(prefect, step, edge)
        return max(found, key=lambda spot: -step * spot.order, default=None)

    async def _in_files(self, parts: list[tuple[FilePlace, int, int]], step: int) -> list[Spot]:
        """The nearest match in each file; what is large is searched by a process."""
        if sum(abs(start - bound) for _, start, bound in parts) < scan.LARGE:
            places = await asyncio.to_thread(self._in_small_files, parts, step)
        elif (near := await asyncio.to_thread(self._near_in_file, parts, step)) is not None:
            places = (near,)
        else:
            asked = tuple(scan.Part(place.key, start, bound) for place, start, bound in parts)
            what = "before" if step < 0 else "after"
            places = (await scan.ask(RUNNER, scan.Request(what, asked, scan.spec_of(self.needle)))).places
        return await asyncio.to_thread(
            lambda: [
                Spot(place.at(at).order, place.key, at)
                for (place, _, _), at in zip(parts, places, strict=True)
                if at is not None
            ]
        )

    def _near_in_file(self, parts: list[tuple[FilePlace, int, int]], step: int) -> int | None:
        """A match in the first part of a single file: it is there before a process would have begun."""
        if len(parts) != 1:
            return None
        ((place, start, bound),) = parts
        nearer = max(bound, start - _NEAR) if step < 0 else min(bound, start + _NEAR)
        return place.find(self.needle, start, step, Until(self._stop, polite=True), nearer)

    def _in_small_files(self, parts: list[tuple[FilePlace, int, int]], step: int) -> tuple[int | None, ...]:
        until = Until(self._stop)
        return tuple(place.find(self.needle, start, step, until, bound) for place, start, bound in parts)

    async def _in_prefect(self, prefect: PrefectLines, step: int, cursor: PrefectCursor | None) -> list[Spot]:
        """The nearest match at the server, page by page."""
        while not self.stopped:
            try:
                ask = prefect.before(cursor, _PAGE) if step < 0 else prefect.after(cursor or PrefectCursor(0.0), _PAGE)
                portion = await ask
            except PrefectError:
                return []
            for one in portion.found[::step]:
                if holds(self.needle.pattern, one.entry):
                    return [Spot(one.order, PREFECT)]
            if portion.done:
                break
            cursor = portion.cursor
        return []

    # --- counting

    @property
    def total(self) -> int:
        """How many matching lines there are in the files, as far as they have been counted."""
        return sum(hits.total for _, hits in self._hits.values())

    @property
    def share(self) -> float:
        """Which share of the files has been counted."""
        sizes = sum(place.size for place in self._document.places())
        return sum(hits.covered for _, hits in self._hits.values()) / sizes if sizes else 1.0

    async def count(self) -> bool:
        """Count on for a while; True when all is counted that has been written."""
        places = self._document.places()
        new = [place for place in places if place.size > scan.LARGE and not self._hits_of(place).covered]
        if new:
            asked = tuple(scan.Part(place.key, 0, place.size) for place in new)
            answer = await scan.ask(RUNNER, scan.Request("count", asked, scan.spec_of(self.needle)))
            for place, state in zip(new, answer.hits, strict=True):
                self._hits_of(place).restore(state)
        self.complete = await asyncio.to_thread(self._count, places)
        self.known |= self.complete
        return self.complete

    def _count(self, places: list[FilePlace]) -> bool:
        until = Until(self._stop, _SLICE_SECONDS, polite=True)
        with self._counting:  # one that was given up may still be at it
            for place in places:
                hits = self._hits_of(place)
                try:
                    with line_file.reading(place.key) as handle:
                        if hits.covered < place.size and not hits.extend(handle, place.size, until):
                            return False
                except OSError:
                    continue
        return True

    def _hits_of(self, place: FilePlace) -> Hits:
        """What has been counted of a file since it last began anew."""
        generation, hits = self._hits.get(place.key, (-1, None))
        if hits is None or generation != place.generation:
            hits = Hits(self.needle)
            self._hits[place.key] = (place.generation, hits)
        return hits

    def number_of(self, place: FilePlace, start: int) -> int | None:
        """The how manieth match of its file the line at ``start`` is; None when that is not known (yet)."""
        if place.key not in self._hits:
            return None
        try:
            with line_file.reading(place.key) as handle:
                return self._hits[place.key][1].number_of(handle, start)
        except OSError:
            return None

    def marks(self, place: FilePlace, buckets: int) -> frozenset[int]:
        """In which of so many equal parts of a file there are matches."""
        found = self._hits.get(place.key)
        return frozenset() if found is None else found[1].marks(place.size, buckets)


def _next_to(place: FilePlace, spot: Spot, step: int) -> int:
    """Where a search of a file goes on beside a spot."""
    if place.key != spot.place:
        return place.seek(spot.order).at
    if step < 0:
        return spot.at
    try:
        with line_file.reading(place.key) as handle:
            return line_file.after(handle, spot.at, 1, place.size).end
    except OSError:
        return spot.at
