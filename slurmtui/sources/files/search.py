"""Searching a log file of any size, block by block.

Each function can be stopped between two blocks and lets other threads run in between, so that no key waits. They block
on the file system; call them in a thread of their own.
"""

from __future__ import annotations

import math
import os
import time
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.sources.files.line_file import Lines
from slurmtui.sources.files.open_log import LONGEST_LINE

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from slurmtui.sources.files.needle import Needle

BLOCK = 256 * 1024  # searched without letting go of the interpreter: a fraction of a millisecond
_LONGEST = 64 * BLOCK  # a line longer than this is searched in pieces

_PAUSE = 0.0002
_KEPT_STARTS = 50_000


class Block(NamedTuple):
    """Whole lines of a file: ``data`` from ``begin`` to ``end``; ``data`` itself stands at ``place``."""

    place: int
    data: bytes
    begin: int
    end: int


class Until:
    """When a search ends early: it was told to stop, or has taken so many seconds.

    A ``polite`` one lets go of the interpreter after each block: others need it in the same process.
    """

    def __init__(self, stop: threading.Event | None = None, seconds: float = math.inf, *, polite: bool = False) -> None:
        self.polite = polite
        self._stop = stop
        self._deadline = time.monotonic() + seconds

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop."""
        return self._stop is not None and self._stop.is_set()

    @property
    def over(self) -> bool:
        """Whether to end now."""
        return self.stopped or time.monotonic() > self._deadline


def blocks_after(handle: int, start: int, end: int, until: Until, context: int = 0) -> Iterator[Block]:
    """Whole lines from ``start`` (a line's start) on, about a block at a time; with so much beside them."""
    position, size = start, BLOCK
    while position < end and not until.stopped:
        position = _behind_hole(handle, position, end)
        data = os.pread(handle, min(size, end - position), position)
        if not data:
            return
        cut = data.rfind(b"\n") + 1
        if position + len(data) >= end or len(data) < size or (not cut and size >= _LONGEST):
            cut = len(data)
        if cut:
            yield _with_context(handle, Block(position, data, 0, cut), context)
            if until.polite:
                time.sleep(_PAUSE)
        position += cut  # what is left over is read again: a line at most, and nothing is copied
        size = BLOCK if cut else size * 4


def blocks_before(handle: int, end: int, until: Until, context: int = 0) -> Iterator[Block]:
    """Whole lines before ``end`` (a line's start), the last block of them first; with so much beside them."""
    position, size = end, BLOCK
    while position > 0 and not until.stopped:
        begin = max(0, position - size)
        data = os.pread(handle, position - begin, begin)
        if len(data) < position - begin:  # cut off meanwhile
            return
        first = data.find(b"\n", 0, len(data) - 1) + 1 if begin else 0
        if begin and not first and size < _LONGEST:
            size *= 4
            continue
        yield _with_context(handle, Block(begin, data, first, len(data)), context)
        if until.polite:
            time.sleep(_PAUSE)
        position, size = begin + first, BLOCK


def _with_context(handle: int, block: Block, context: int) -> Block:
    """The block with what stands before and behind it."""
    if not context:
        return block
    start, end = block.place + block.begin, block.place + block.end
    before = os.pread(handle, min(context, start), max(0, start - context))
    if len(before) < min(context, start):  # cut off meanwhile
        before = b""
    data = b"".join([before, block.data[block.begin : block.end], os.pread(handle, context, end)])
    return Block(start - len(before), data, len(before), len(before) + end - start)


def find_after(handle: int, start: int, end: int, needle: Needle, until: Until) -> int | None:
    """Where the first matching line starts from ``start`` on; None when there is none before ``end``."""
    for block in blocks_after(handle, start, end, until, needle.context):
        found = needle.lines(block.data, block.begin, block.end)
        if found:
            return block.place + found[0]
    return None


def find_before(handle: int, end: int, needle: Needle, until: Until, bound: int = 0) -> int | None:
    """Where the last matching line starts that ends before ``end``, a line's start, and lies behind ``bound``."""
    for block in blocks_before(handle, end, until, needle.context):
        if block.place + block.end <= bound:
            break
        found = needle.lines(block.data, block.begin, block.end)
        if found:
            return block.place + found[-1]
    return None


def matching_before(handle: int, end: int, needle: Needle, count: int, until: Until) -> Lines:
    """The last ``count`` matching lines before ``end``; with ``begin``, where the search came to."""
    texts: list[bytes] = []
    starts: list[int] = []
    begin = end
    for block in blocks_before(handle, end, until, needle.context):
        begin = block.place + block.begin
        found = needle.lines(block.data, block.begin, block.end)
        room = count - len(texts)
        if len(found) > room:
            found = found[len(found) - room :]
            begin = block.place + found[0]
        texts[:0] = [_line(block, at) for at in found]
        starts[:0] = [block.place + at for at in found]
        if len(texts) >= count or until.over:
            break
    return Lines(texts, starts, begin, end)


def matching_after(handle: int, start: int, limit: int, needle: Needle, count: int, until: Until) -> Lines:  # noqa: PLR0913, PLR0917 - a search has these parts
    """The first ``count`` matching lines from ``start`` up to ``limit``; with ``end``, where the search came to."""
    texts: list[bytes] = []
    starts: list[int] = []
    end = start
    for block in blocks_after(handle, start, limit, until, needle.context):
        end = block.place + block.end
        found = needle.lines(block.data, block.begin, block.end)
        room = count - len(texts)
        if len(found) > room:
            end = block.place + found[room]
            found = found[:room]
        texts += [_line(block, at) for at in found]
        starts += [block.place + at for at in found]
        if len(texts) >= count or until.over:
            break
    return Lines(texts, starts, start, end)


def _line(block: Block, start: int) -> bytes:
    """The line at ``start``, of one that is too long its beginning."""
    end = block.data.find(b"\n", start, block.end)
    return block.data[start : min(end if end >= 0 else block.end, start + LONGEST_LINE)]


class Hits:
    """How many lines match, and where they are, of all that was searched so far; grows with the file.

    Attributes:
        covered: so many bytes from the start were searched.
        total: how many lines match in them.
    """

    def __init__(self, needle: Needle) -> None:
        self.needle = needle
        self.covered = 0
        self.total = 0
        self._starts = array("Q")  # of the first matching lines
        self._ends = array("Q")  # where each block that was searched ends
        self._sums = array("Q")  # how many lines match up to there

    def extend(self, handle: int, end: int, until: Until) -> bool:
        """Search on up to ``end`` (a line's start); False when it was ended before."""
        for block in blocks_after(handle, self.covered, end, until, self.needle.context):
            found = self.needle.lines(block.data, block.begin, block.end)
            room = _KEPT_STARTS - len(self._starts)
            self._starts.extend([block.place + at for at in found[:room]] if room > 0 else ())
            self.total += len(found)
            self.covered = block.place + block.end
            self._ends.append(self.covered)
            self._sums.append(self.total)
            if until.over:
                return False
        return True

    def state(self) -> tuple[int, int, bytes, bytes, bytes]:
        """Everything that was found, to be sent to another process."""
        return self.covered, self.total, self._starts.tobytes(), self._ends.tobytes(), self._sums.tobytes()

    def restore(self, state: tuple[int, int, bytes, bytes, bytes]) -> None:
        """Take what another process has found."""
        self.covered, self.total = state[:2]
        for mine, theirs in zip((self._starts, self._ends, self._sums), state[2:], strict=True):
            del mine[:]
            mine.frombytes(theirs)

    def number_of(self, handle: int, start: int) -> int | None:
        """The how manieth match the line at ``start`` is, from 1; None when that is not known yet."""
        if not 0 <= start < self.covered:
            return None
        if self.total == len(self._starts) or start <= self._starts[-1]:
            return bisect_left(self._starts, start) + 1
        block = bisect_left(self._ends, start + 1)
        begin, before = (self._ends[block - 1], self._sums[block - 1]) if block else (0, 0)
        data = os.pread(handle, start - begin, begin)
        part = _with_context(handle, Block(begin, data, 0, len(data)), self.needle.context)
        return before + len(self.needle.lines(part.data, part.begin, part.end)) + 1

    def marks(self, size: int, buckets: int) -> frozenset[int]:
        """In which of so many equal parts of the file there are matches."""
        if not size:
            return frozenset()
        found = {start * buckets // size for start in self._starts}
        counted = len(self._starts)
        if self.total > counted:
            first = bisect_left(self._sums, counted + 1)
            for number in range(first, len(self._ends)):
                if self._sums[number] > (self._sums[number - 1] if number else 0):
                    found.add((self._ends[number] - 1) * buckets // size)
        return frozenset(bucket for bucket in found if bucket < buckets)


def _behind_hole(handle: int, position: int, end: int) -> int:
    """``position``, or where the data goes on when a hole of more than a block begins there."""
    try:
        data = min(os.lseek(handle, position, os.SEEK_DATA), end)
    except OSError:
        return position
    return data if data - position > BLOCK else position
