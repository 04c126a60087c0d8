"""Line numbers of a file of any size: how many newlines stand before each mebibyte of it.

A gigabyte's index has eight kilobytes. It is made in a thread and grows with the file.
"""

from __future__ import annotations

import os
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading

BLOCK = 1024 * 1024


class LineIndex:
    """The index of one file; it takes any open handle of it.

    Attributes:
        covered: so many bytes from the start are known.
    """

    def __init__(self) -> None:
        self.covered = 0
        self._before = array("Q", [0])  # newlines before block i
        self._rest = 0  # newlines in the last, unfinished block, up to ``covered``

    @property
    def newlines(self) -> int:
        """How many newlines there are in what is covered."""
        return self._before[-1] + self._rest

    def state(self) -> tuple[int, bytes, int]:
        """Everything that is known, to be sent to another process."""
        return self.covered, self._before.tobytes(), self._rest

    def restore(self, state: tuple[int, bytes, int]) -> None:
        """Take what another process has found."""
        self.covered, before, self._rest = state
        self._before = array("Q")
        self._before.frombytes(before)

    def extend(self, handle: int, size: int, stop: threading.Event | None = None) -> bool:
        """Cover the file up to ``size``; False when it was stopped before."""
        if size < self.covered:
            self.__init__()  # type: ignore[misc] # the file was emptied: begin anew
        while self.covered < size:
            if stop is not None and stop.is_set():
                return False
            self._skip_hole(handle, size)
            first = (len(self._before) - 1) * BLOCK
            wanted = min(size, first + BLOCK) - self.covered
            data = os.pread(handle, wanted, self.covered) if wanted else b""
            if not data:
                break
            self._rest += data.count(b"\n")
            self.covered += len(data)
            if self.covered == first + BLOCK:
                self._before.append(self._before[-1] + self._rest)
                self._rest = 0
        return True

    def line_at(self, handle: int, position: int) -> int | None:
        """The number of the line in which ``position`` lies, from 1; None when that is not known yet."""
        if not 0 <= position <= self.covered:
            return None
        block = min(position // BLOCK, len(self._before) - 1)
        start = block * BLOCK
        return self._before[block] + os.pread(handle, position - start, start).count(b"\n") + 1

    def place_of(self, handle: int, line: int) -> int | None:
        """Where line number ``line`` (from 1) starts; the last one for too high a number; None when not known yet."""
        wanted = max(1, line) - 1  # so many newlines stand before it
        if wanted > self.newlines:
            return None
        low, high = 0, len(self._before) - 1
        while low < high:  # the last block before which fewer newlines stand
            middle = (low + high + 1) // 2
            if self._before[middle] < wanted:
                low = middle
            else:
                high = middle - 1
        if not wanted:
            return 0
        start = low * BLOCK
        data = os.pread(handle, min(BLOCK, self.covered - start), start)
        found = -1
        for _ in range(wanted - self._before[low]):
            found = data.find(b"\n", found + 1)
            if found < 0:
                return None  # the file is not what was indexed
        return start + found + 1

    def _skip_hole(self, handle: int, size: int) -> None:
        """Pass over whole blocks of a hole without reading it."""
        if self._rest or self.covered % BLOCK or size - self.covered < BLOCK:
            return
        try:
            data = os.lseek(handle, self.covered, os.SEEK_DATA)
        except OSError:  # no data from here on, or a file system that does not tell
            return
        blocks = min(data, size) // BLOCK - self.covered // BLOCK
        if blocks > 0:
            self._before.extend([self._before[-1]] * blocks)
            self.covered += blocks * BLOCK
