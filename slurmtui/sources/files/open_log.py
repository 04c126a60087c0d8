"""One open log file: what has been read of it, and what is new.

Everything here blocks on the file system; call it in a thread.
"""

from __future__ import annotations

import itertools
import os
from typing import NamedTuple

BLOCK = 64 * 1024
LONGEST_LINE = 64 * 1024  # a longer one is given out in pieces, so that no file can fill the memory
GONE = -1
"""Where a line starts that cannot be read again: its file was emptied or replaced."""
_ANCHOR = 64
_HOLE = b"\0" * 512


class Identity(NamedTuple):
    """What makes a file the same file, whatever its name."""

    device: int
    inode: int


def identity_of(status: os.stat_result) -> Identity:
    """The identity in an answer of ``stat``."""
    return Identity(status.st_dev, status.st_ino)


def lines_before(handle: int, end: int, count: int, budget: int) -> tuple[int, bytes]:
    """Read backwards: the last ``count`` whole lines before ``end`` and what follows, as (where that starts, bytes).

    At most ``budget`` bytes are read; then fewer lines are given, the first perhaps without its beginning.
    """
    blocks: list[bytes] = []
    start, newlines = end, 0
    while start > 0 and end - start < budget and newlines <= count:
        size = min(BLOCK, start)
        block = os.pread(handle, size, start - size)
        if len(block) < size:  # cut off while being read
            break
        start -= size
        newlines += block.count(b"\n")
        blocks.append(block)
    data = b"".join(reversed(blocks))
    position = len(data)
    for _ in range(count + 1):
        position = data.rfind(b"\n", 0, position)
        if position < 0:
            return start, data
    return start + position + 1, data[position + 1 :]


class OpenLog:
    """Reads a file from a position on; notices when it was emptied or written anew in place.

    Attributes:
        identity: which file it is.
        position: where the next read starts.
        partial: the line whose end has not been written yet.
        settled: where that line starts: everything before it has been given out.
        starts: where each line starts that was given out last.
        unread: how many bytes the last read left.
    """

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle
        self.identity = identity_of(os.fstat(handle))
        self.position = 0
        self.partial = b""
        self.settled = 0
        self.starts: list[int] = []
        self.unread = 0
        self._anchor = b""  # the bytes in front of the position: proof that the file still is what was read
        self._changed = -1  # st_mtime_ns of the last look

    def __del__(self) -> None:
        self.rest()

    @property
    def resting(self) -> bool:
        """Whether the handle has been given back."""
        return self._handle is None

    def rest(self) -> None:
        """Give the handle back but remember everything; ``wake`` goes on."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def wake(self, handle: int) -> None:
        """Go on with a new handle of the same file."""
        self.rest()
        self._handle = handle

    def start_at_end(self, count: int, budget: int) -> list[bytes]:
        """Go to the end; return the last ``count`` whole lines."""
        handle = self._open_handle()
        status = os.fstat(handle)
        self._changed = status.st_mtime_ns
        start, data = lines_before(handle, status.st_size, count, budget)
        self.position = start + len(data)
        if data.startswith(_HOLE):
            data = data.lstrip(b"\0")
            start = self.position - len(data)
        self._anchor = data[-_ANCHOR:]
        whole, newline, rest = data.rpartition(b"\n")
        self.partial = _compact(rest)
        self.settled = self.position - len(rest)
        lines, self.starts = split_lines(whole + newline, start)
        return lines

    def unchanged(self, status: os.stat_result) -> bool:
        """Whether an answer of ``stat`` shows that there is nothing to read."""
        return status.st_size == self.position and status.st_mtime_ns == self._changed

    def still_the_same(self) -> bool:
        """Whether what was read still stands in front of what is new."""
        start = self.position - len(self._anchor)
        return os.pread(self._open_handle(), len(self._anchor), start) == self._anchor

    def read(self, limit: int) -> tuple[list[bytes], bool]:
        """Read at most about ``limit`` bytes: (whole lines, whether it began anew)."""
        handle = self._open_handle()
        status = os.fstat(handle)
        lines: list[bytes] = []
        self.starts = []
        if self.unchanged(status):
            self.unread = 0
            return lines, False
        self._changed = status.st_mtime_ns
        start = self.position - len(self._anchor)
        data = os.pread(handle, limit + len(self._anchor), start) if status.st_size >= self.position else b""
        anew = not data.startswith(self._anchor) or status.st_size < self.position
        gone: list[int] = []
        if anew:
            lines += self.finish()
            gone = [GONE] * len(lines)
            self.position, self.settled, self._anchor = 0, 0, b""
            data = os.pread(handle, limit, 0)
        new = self._without_hole(handle, data[len(self._anchor) :], limit)
        self.position += len(new)
        self._anchor = (self._anchor + new)[-_ANCHOR:]
        lines += self._split(new)
        self.starts = gone + self.starts
        self.unread = max(0, status.st_size - self.position)
        return lines, anew

    def finish(self) -> list[bytes]:
        """The end of the file: what stands there without a newline is a line now."""
        rest, self.partial = self.partial, b""
        self.starts = [self.settled] if rest else []
        self.settled = self.position
        return [rest] if rest else []

    def _open_handle(self) -> int:
        if self._handle is None:
            raise OSError("the log file has been closed")
        return self._handle

    def _without_hole(self, handle: int, new: bytes, limit: int) -> bytes:
        """Skip a hole: what a writer leaves that goes on at its old place after the file was emptied."""
        if not new.startswith(_HOLE):
            return new
        try:
            data_at = os.lseek(handle, self.position, os.SEEK_DATA)
        except OSError:  # this file system does not tell holes
            return new
        if data_at <= self.position:
            return new
        block = os.pread(handle, limit, data_at)
        found = block.lstrip(b"\0")  # a hole ends at a block, the data may begin within it
        self.position = data_at + len(block) - len(found)
        self._anchor = b""
        return found

    def _split(self, new: bytes) -> list[bytes]:
        """Whole lines of what was held back and what is new; the last, unfinished one is held back."""
        begin = self.position - len(new)
        if not self.partial:
            self.settled = begin
        head, newline, rest = new.rpartition(b"\n")
        lines: list[bytes] = []
        self.starts = []
        if newline:
            first = head.find(b"\n")
            ended = self.partial + (head[:first] if first >= 0 else head) + newline
            lines, self.starts = split_lines(ended, self.settled)
            if first >= 0:
                more, starts = split_lines(head[first + 1 :] + newline, begin + first + 1)
                lines, self.starts = lines + more, self.starts + starts
            self.partial, self.settled = b"", self.position - len(rest)
        self.partial = _compact(self.partial + rest)
        if len(self.partial) > LONGEST_LINE:
            more, starts = split_lines(self.partial, self.settled)
            lines, self.starts = lines + more, self.starts + starts
            self.partial, self.settled = b"", self.position
        return lines


def split_lines(data: bytes, start: int) -> tuple[list[bytes], list[int]]:
    """The lines of ``data``, which stands at ``start``, and where each starts; those too long are cut into pieces."""
    if not data:
        return [], []
    lines = data.removesuffix(b"\n").split(b"\n")
    starts = list(itertools.accumulate((len(line) + 1 for line in lines[:-1]), initial=start))
    if all(len(line) <= LONGEST_LINE for line in lines):
        return lines, starts
    cuts = [
        (line[cut : cut + LONGEST_LINE], begin + cut)
        for line, begin in zip(lines, starts, strict=True)
        for cut in range(0, max(1, len(line)), LONGEST_LINE)
    ]
    return [line for line, _ in cuts], [begin for _, begin in cuts]


def _compact(partial: bytes) -> bytes:
    """Forget what a progress bar has overwritten already, so that an hour of bars is one short line."""
    if b"\r" not in partial or len(partial) < 1024:
        return partial
    end = len(partial) - 1 if partial.endswith(b"\r") else len(partial)
    return partial[partial.rfind(b"\r", 0, end) + 1 :]
