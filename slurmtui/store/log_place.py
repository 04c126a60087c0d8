"""One file of a log, read anywhere: before a place, after it, at a moment, at a match.

Everything here blocks on the file system; call it in a thread.
"""

from __future__ import annotations

import contextlib
import math
import os
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.models.dask_noise import CONTEXT, noise_among
from slurmtui.sources.files import line_file, search
from slurmtui.sources.files.open_log import identity_of
from slurmtui.store.log_lines import Spans
from slurmtui.store.log_merge import Mark
from slurmtui.store.log_parse import parse_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slurmtui.sources.files.line_file import Lines
    from slurmtui.sources.files.needle import Needle
    from slurmtui.sources.files.search import Until
    from slurmtui.store.log_files import FileLines
    from slurmtui.store.log_live import Spot
    from slurmtui.store.log_merge import Found

_PROBE = 64 * 1024
_FAR_PROBE = 1024 * 1024
_NEAR = 4096
_LINES = 100_000


class Cursor(NamedTuple):
    """A place in a file: where a line starts, and when what stands there was written.

    Backwards nothing before it is newer than ``order``, forwards nothing from it on is older; -inf is not known.
    """

    at: int
    order: float


class Portion(NamedTuple):
    """Lines that were read in one direction.

    Attributes:
        found: the lines, oldest first.
        cursor: where to go on.
        done: there is nothing more in that direction.
    """

    found: list[Found]
    cursor: Cursor
    done: bool


class FilePlace:
    """Reads the file that ``lines`` follows, up to where those have come."""

    def __init__(self, lines: FileLines) -> None:
        self.lines = lines
        self.key = lines.place
        self.source = lines.source

    @property
    def generation(self) -> int:
        """Since which beginning of the file."""
        return self.lines.tail.generation

    @property
    def size(self) -> int:
        """How much of the file has been given out, in bytes."""
        return self.lines.tail.settled

    def at_end(self) -> Cursor:
        """Where the lines that are followed begin, to go backwards from."""
        return Cursor(self.size, self.lines.changed)

    def from_end(self) -> Cursor:
        """The same, to go forwards from."""
        return Cursor(self.size, -math.inf)

    def at_start(self) -> Cursor:
        """The file's beginning."""
        return Cursor(0, -math.inf)

    def before(self, cursor: Cursor, count: int, until: Until, needle: Needle | None = None) -> Portion:
        """The lines before a place; with a needle, those that match."""
        with self._reading() as handle:
            if handle is None or cursor.at <= 0:
                return Portion([], cursor, done=True)
            if needle is None:
                lines = line_file.before(handle, cursor.at, count)
            else:
                lines = search.matching_before(handle, cursor.at, needle, count, until)
            found = self._founds(handle, lines, cursor.order, selected=needle is not None)
        order = found[0].order if found else cursor.order
        return Portion(found, Cursor(lines.begin, order), lines.begin <= 0)

    def after(self, cursor: Cursor, count: int, until: Until, needle: Needle | None = None) -> Portion:
        """The lines from a place on; with a needle, those that match."""
        limit = self.size
        with self._reading() as handle:
            if handle is None or cursor.at >= limit:
                return Portion([], cursor, done=True)
            if needle is None:
                lines = line_file.after(handle, cursor.at, count, limit)
            else:
                lines = search.matching_after(handle, cursor.at, limit, needle, count, until)
            found = self._founds_after(handle, lines, cursor.order, selected=needle is not None)
        order = found[-1].order if found else cursor.order
        return Portion(found, Cursor(lines.end, order), lines.end >= limit or lines.end == cursor.at)

    def seek(self, moment: float) -> Cursor:
        """The first line that was written at ``moment`` or later (``order`` is then that line's)."""
        latest, limit = self.lines.changed, self.size
        if moment > latest:
            return Cursor(limit, -math.inf)
        with self._reading() as handle:
            if handle is None or not limit:
                return Cursor(0, -math.inf)
            low, high, timed = 0, limit, False
            while high - low > _PROBE:
                middle = (low + high) // 2
                told = self._told_after(handle, middle, high, latest)
                timed = timed or told is not None
                if told is not None and told.order < moment:
                    low = told.at
                else:
                    high = middle
            lines = line_file.after(handle, line_file.line_start(handle, low), _LINES, limit)
            for start, order in self._orders(lines, latest):
                timed = True
                if order >= moment:
                    return Cursor(start, order)
        # What tells no time at all counts as written when the file was.
        return Cursor(lines.end, -math.inf) if timed else Cursor(0, latest)

    def spot(self, spot: Spot) -> Cursor:
        """What belongs to a spot: the line itself, or in another file the first one that is not older."""
        return Cursor(spot.at, spot.order) if self.key == spot.place else self.seek(spot.order)

    def at(self, start: int) -> Cursor:
        """The line that starts at ``start``."""
        with self._reading() as handle:
            if handle is None:
                return Cursor(start, self.lines.changed)
            lines = line_file.after(handle, start, 1, self.size)
            found = self._founds(handle, lines, self.lines.changed, selected=True)
        return Cursor(start, found[0].order if found else self.lines.changed)

    def bounds(self) -> tuple[float, float]:
        """When the first line was written, and the last, as far as they tell."""
        latest = self.lines.changed
        with self._reading() as handle:
            if handle is None:
                return latest, latest
            first = next(self._orders(line_file.after(handle, 0, 100, self.size), latest), (0, latest))
        return first[1], latest

    def line_start(self, position: int) -> int:
        """Where the line starts in which ``position`` lies."""
        with self._reading() as handle:
            return 0 if handle is None else line_file.line_start(handle, min(position, self.size))

    def find(self, needle: Needle, start: int, step: int, until: Until, bound: int | None = None) -> int | None:
        """Where the next matching line starts: before ``start`` with step -1, from there on with 1; up to ``bound``."""
        with self._reading() as handle:
            if handle is None:
                return None
            if step < 0:
                return search.find_before(handle, min(start, self.size), needle, until, bound or 0)
            return search.find_after(handle, start, self.size if bound is None else bound, needle, until)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[int | None]:
        """A handle of the file that is followed; None when it is not there (any more)."""
        with contextlib.ExitStack() as opened:
            handle: int | None = None
            with contextlib.suppress(OSError):
                found = opened.enter_context(line_file.reading(self.lines.tail.path))
                handle = found if identity_of(os.fstat(found)) == self.lines.tail.identity else None
            yield handle

    def _founds(self, handle: int, lines: Lines, latest: float, *, selected: bool) -> list[Found]:
        found = self.lines.writer.up_to(self._spans(handle, lines, apart=selected), latest)
        return self._timed(handle, found) if selected else found

    def _founds_after(self, handle: int, lines: Lines, earliest: float, *, selected: bool) -> list[Found]:
        latest = self.lines.changed
        if earliest == -math.inf:  # nothing is known but when the file was written
            return self._founds(handle, lines, latest, selected=selected)
        found = self.lines.writer.since(self._spans(handle, lines, apart=selected), earliest, latest)
        return self._timed(handle, found) if selected else found

    def _spans(self, handle: int, lines: Lines, *, apart: bool) -> Spans:
        noise: Sequence[bool] = ()
        if not apart:
            before = os.pread(handle, min(CONTEXT, lines.begin), max(0, lines.begin - CONTEXT))
            noise = noise_among(lines.texts, before, os.pread(handle, CONTEXT, lines.end))
        return Spans(lines.texts, lines.starts, lines.end, self.generation, apart, noise)

    def _timed(self, handle: int, found: list[Found]) -> list[Found]:
        """Selected lines: the time of one that tells none is that of the last line before it that does."""
        timed = []
        for one in found:
            order = one.order
            mark = one.mark
            if one.entry.time is None and isinstance(mark, Mark):
                near = line_file.before(handle, mark.start, 100, _NEAR)
                told = [moment for _, moment in self._orders(near, order)]
                order = told[-1] if told else order
            timed.append(one._replace(order=order))
        return timed

    def _told_after(self, handle: int, middle: int, high: int, latest: float) -> Cursor | None:
        """The first line behind ``middle`` that tells its time."""
        for size in (_PROBE, _FAR_PROBE):
            begin = line_file.after(handle, middle, 1, high).end  # behind the line in which ``middle`` lies
            lines = line_file.after(handle, begin, _LINES, high, size)
            told = next(self._orders(lines, latest), None)
            if told is not None:
                return Cursor(*told)
        return None

    @staticmethod
    def _orders(lines: Lines, latest: float) -> Iterator[tuple[int, float]]:
        """Where the lines that tell their time start, and that time."""
        for text, start in zip(lines.texts, lines.starts, strict=True):
            moment = parse_line(text[:200].decode("utf-8", "replace"), latest).time
            if moment is not None:
                yield start, moment
