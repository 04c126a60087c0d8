"""Reading lines anywhere in a log file: forwards and backwards from a place, whatever the file's size.

A place is where a line starts, in bytes. Everything here blocks on the file system; call it in a thread.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.sources.files.open_log import BLOCK, lines_before, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUDGET = 2 * 1024 * 1024


class Lines(NamedTuple):
    """Lines that follow each other.

    Attributes:
        texts: the lines, without their newlines.
        starts: where each starts.
        begin: where the first starts (what was asked for, if there is none).
        end: where the next line would start.
    """

    texts: list[bytes]
    starts: list[int]
    begin: int
    end: int


@contextlib.contextmanager
def reading(path: Path | str) -> Iterator[int]:
    """A handle of the file.

    Raises:
        OSError: it cannot be opened.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        yield handle
    finally:
        os.close(handle)


def before(handle: int, end: int, count: int, budget: int = BUDGET) -> Lines:
    """The ``count`` lines before the line that starts at ``end``; fewer when they are more than ``budget`` bytes."""
    start, data = lines_before(handle, end, count, budget)
    texts, starts = split_lines(data, start)
    return Lines(texts, starts, start, end)


def after(handle: int, start: int, count: int, limit: int, budget: int = BUDGET) -> Lines:
    """The ``count`` lines from ``start`` on, none of which ends behind ``limit``; at most ``budget`` bytes of them."""
    blocks: list[bytes] = []
    position, newlines = start, 0
    while position < limit and position - start < budget and newlines < count:
        block = os.pread(handle, min(BLOCK, limit - position), position)
        if not block:
            break
        blocks.append(block)
        position += len(block)
        newlines += block.count(b"\n")
    data = b"".join(blocks)
    if newlines > count:
        data = data[: _nth_newline(data, count) + 1]
    elif not data.endswith(b"\n") and (newlines or position - start < budget):
        data = data[: data.rfind(b"\n") + 1]  # the rest is not whole yet
    texts, starts = split_lines(data, start)
    return Lines(texts, starts, start, start + len(data))


def line_start(handle: int, position: int, budget: int = BUDGET) -> int:
    """Where the line starts in which ``position`` lies."""
    end = position
    while end > 0 and position - end < budget:
        size = min(BLOCK, end)
        found = os.pread(handle, size, end - size).rfind(b"\n")
        if found >= 0:
            return end - size + found + 1
        end -= size
    return end


def _nth_newline(data: bytes, number: int) -> int:
    position = -1
    for _ in range(number):
        position = data.find(b"\n", position + 1)
    return position
