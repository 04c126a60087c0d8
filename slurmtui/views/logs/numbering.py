"""Line numbers in the log of one file: the index behind them is made in a thread, when numbers are wanted."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.sources.files import line_file, scan
from slurmtui.sources.files.line_index import LineIndex
from slurmtui.store.log_finding import RUNNER
from slurmtui.store.log_merge import Found, Mark

if TYPE_CHECKING:
    from slurmtui.store.log_place import FilePlace
    from slurmtui.views.logs.pane import LogPane
    from slurmtui.widgets.log_rows import Line


class Numbering:
    """Gives the lines of a pane their numbers."""

    def __init__(self, pane: LogPane) -> None:
        self._pane = pane
        self._index = LineIndex()
        self._generation = -1
        self._stop = threading.Event()

    def clear(self) -> None:
        """Another log: forget everything."""
        self._stop.set()
        self._stop = threading.Event()
        self._index, self._generation = LineIndex(), -1

    def assign(self) -> None:
        """Number the lines that have come, if numbers are wanted."""
        place = self._pane.single
        if self._pane.numbers and place is not None:
            self._pane.work("log-numbers", self._assign, place)

    async def place_of(self, place: FilePlace, number: int) -> int | None:
        """Where a line starts; None when there is no such line."""
        await self._ready(place)
        return await asyncio.to_thread(self._place_of, place, number)

    async def number_of(self, place: FilePlace, start: int) -> int | None:
        """The number of the line that starts there."""
        await self._ready(place)
        return (await asyncio.to_thread(self._numbers_of, place, [start]))[0]

    async def _assign(self, place: FilePlace) -> None:
        lines = [line for line in self._pane.kept.lines if _mark(line) is not None]
        jumps = [line for before, line in zip([None, *lines], lines, strict=False) if _needs_look(before, line)]
        starts = [mark.start for line in jumps if (mark := _mark(line)) is not None]
        await self._ready(place)
        numbers = await asyncio.to_thread(self._numbers_of, place, starts)
        for line, number in zip(jumps, numbers, strict=True):
            line.number = number
        before: Line | None = None
        for line in lines:
            if line.number is None and before is not None and before.number is not None and _joins(before, line):
                line.number = before.number + 1
            before = line
        self._pane.show_numbers(self._index.newlines + 1)

    async def _ready(self, place: FilePlace) -> None:
        """Have the index of a large file made, by a process."""
        self._fresh(place)
        if place.size - self._index.covered > scan.LARGE:
            asked = scan.Request("index", (scan.Part(place.key, 0, place.size),))
            with contextlib.suppress(CommandError):  # it is then made here
                answer = await scan.ask(RUNNER, asked)
                self._index.restore(answer.lines[0])

    def _fresh(self, place: FilePlace) -> None:
        if place.generation != self._generation:
            self._index, self._generation = LineIndex(), place.generation

    def _numbers_of(self, place: FilePlace, starts: list[int]) -> list[int | None]:
        try:
            with line_file.reading(place.key) as handle:
                self._cover(handle, place)
                return [self._index.line_at(handle, start) for start in starts]
        except OSError:
            return [None] * len(starts)

    def _place_of(self, place: FilePlace, number: int) -> int | None:
        try:
            with line_file.reading(place.key) as handle:
                self._cover(handle, place)
                found = self._index.place_of(handle, number)
                return None if found is None else min(found, max(0, place.size - 1))
        except OSError:
            return None

    def _cover(self, handle: int, place: FilePlace) -> None:
        self._fresh(place)
        self._index.extend(handle, place.size, self._stop)


def _mark(line: Line) -> Mark | None:
    origin = line.row.origin
    mark = origin.mark if isinstance(origin, Found) else None
    return mark if isinstance(mark, Mark) and mark.start >= 0 else None


def _joins(before: Line, line: Line) -> bool:
    first, second = _mark(before), _mark(line)
    return first is not None and second is not None and first.end == second.start


def _needs_look(before: Line | None, line: Line) -> bool:
    return line.number is None and (before is None or not _joins(before, line))
