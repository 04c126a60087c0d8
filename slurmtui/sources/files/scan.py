"""Searching large files in a process of its own, so that no key of the console ever waits for it; and its other side.

``python -m slurmtui.sources.files.scan`` reads one request from its standard input and writes one answer. A search that
is given up is ended with its process, even in the middle of an expression that would never end by itself.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import PatternTooSlow
from slurmtui.models.pattern import too_slow
from slurmtui.sources.files import line_file, search
from slurmtui.sources.files.line_index import LineIndex
from slurmtui.sources.files.needle import Needle
from slurmtui.sources.files.search import Hits, Until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.sources.exec import Runner

LARGE = 8_000_000
"""Bytes from which a search is worth a process."""
_SECONDS = 3600.0
_NICE = 5


class Part(msgspec.Struct, frozen=True):
    """A part of a file: backwards from ``start`` to ``bound``, or forwards."""

    path: str
    start: int
    bound: int


class Request(msgspec.Struct, frozen=True):
    """What is asked: ``before``, ``after``, ``count`` or ``index``; ``needle`` as it is made: text, words, verify."""

    what: str
    parts: tuple[Part, ...]
    needle: tuple[str, tuple[str, ...], str] = ("", (), "")


class Answer(msgspec.Struct, frozen=True):
    """What was found in each part: where the line starts, or the counts; ``slow`` when the expression is too slow."""

    places: tuple[int | None, ...] = ()
    hits: tuple[tuple[int, int, bytes, bytes, bytes], ...] = ()
    lines: tuple[tuple[int, bytes, int], ...] = ()
    slow: bool = False


async def ask(runner: Runner, request: Request) -> Answer:
    """Have it done in a process; to give it up, cancel this.

    Raises:
        CommandError: the process did not do it.
        PatternTooSlow: the expression takes too long for a line.
    """
    argv = (sys.executable, "-m", "slurmtui.sources.files.scan")
    done = await runner.run(argv, timeout=_SECONDS, stdin=msgspec.msgpack.encode(request))
    answer = msgspec.msgpack.decode(done.stdout, type=Answer)
    if answer.slow:
        raise too_slow(request.needle[0])
    return answer


def spec_of(needle: Needle) -> tuple[str, tuple[str, ...], str]:
    """How a needle is made."""
    return needle.text, tuple(needle.words), needle.verify


def do(request: Request) -> Answer:
    """Do what is asked."""
    if request.what == "index":
        return Answer(lines=tuple(_index(part) for part in request.parts))
    text, words, verify = request.needle
    needle = Needle(text, words, verify)
    try:
        if request.what == "count":
            return Answer(hits=tuple(_count(part, needle) for part in request.parts))
        return Answer(tuple(_find(part, needle, request.what) for part in request.parts))
    except PatternTooSlow:
        return Answer(slow=True)


def _find(part: Part, needle: Needle, what: str) -> int | None:
    try:
        with line_file.reading(part.path) as handle:
            if what == "before":
                return search.find_before(handle, part.start, needle, Until(), part.bound)
            return search.find_after(handle, part.start, part.bound, needle, Until())
    except OSError:
        return None


def _count(part: Part, needle: Needle) -> tuple[int, int, bytes, bytes, bytes]:
    hits = Hits(needle)
    try:
        with line_file.reading(part.path) as handle:
            hits.extend(handle, part.bound, Until())
    except OSError:
        pass
    return hits.state()


def _index(part: Part) -> tuple[int, bytes, int]:
    index = LineIndex()
    try:
        with line_file.reading(part.path) as handle:
            index.extend(handle, part.bound)
    except OSError:
        pass
    return index.state()


def main(stdin: bytes) -> bytes:
    """One request to one answer."""
    return msgspec.msgpack.encode(do(msgspec.msgpack.decode(stdin, type=Request)))


def run(argv: Sequence[str]) -> int:
    """As a program."""
    del argv
    os.nice(_NICE)
    sys.stdout.buffer.write(main(sys.stdin.buffer.read()))
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv))
