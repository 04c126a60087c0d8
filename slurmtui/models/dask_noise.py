"""What Dask's workers log while they are shut down: connections that break then are nobody's failure.

A worker's log ends in tracebacks of ``distributed``, ``tornado`` and ``asyncio``, also after a run that went well. They
are told from failures by who speaks, by what was raised, by where (no line of a traceback lies in anybody else's code),
and by what was said before: that the worker closes, or that SLURM cancelled its job.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTEXT = 16 * 1024
"""How many bytes before and behind a line may tell what it is."""

_SPEAKER = rb"(?:distributed|tornado|asyncio)(?:\.[\w.]+)?"
_SIGNS = tuple(sign + name for sign in (b" - ", b"| ") for name in (b"distributed", b"tornado", b"asyncio"))
_MESSAGE = re.compile(
    rb"^(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]\d+ - " + _SPEAKER + rb" - ([A-Z]+) - "
    rb"|\d\d:\d\d:\d\d\.\d{3} \| ([A-Z]+) *\| " + _SPEAKER + rb" - )[^\n]*(?:\n|\Z)"
    rb"(?:(?:future|task|handle|protocol|transport|source_traceback): [^\n]*\n)*"
    rb"((?:(?:\n(?:During handling of|The above exception)[^\n]*\n\n)?Traceback \(most recent call last\):\n"
    rb"(?:[ \t][^\n]*\n)+[\w.]+(?::[^\n]*)?(?:\n|\Z))*)",
    re.MULTILINE,
)
_BROKEN = re.compile(
    rb"\b(?:CommClosedError|ConnectionResetError|StreamClosedError|BrokenPipeError|non-started TCPListener)\b"
)
_CLOSES = (
    b" - Stopping worker at ", b" - Closing Nanny at ", b" - Nanny asking worker to close",
    b" - Received signal SIGTERM", b" - Closing scheduler", b" CANCELLED AT ",
)  # fmt: skip
_OPENS = (b"Start worker at:", b"Scheduler at:")
_FRAME = re.compile(rb'^[ \t]+File "', re.MULTILINE)
_OWN_FRAME = re.compile(
    rb'^[ \t]+File "(?:<frozen |[^"]*/(?:site|dist)-packages/(?:distributed|tornado|dask|dask_jobqueue)/'
    rb'|[^"]*/lib(?:64)?/python3[.\d]*/(?!(?:site|dist)-packages/))',
    re.MULTILINE,
)
_BAD = frozenset({b"WARNING", b"ERROR", b"CRITICAL"})


def noise(data: bytes, begin: int, end: int) -> list[tuple[int, int]]:
    """Where messages that are noise begin and end in ``data``, whole lines of a log, of those between two places."""
    heads = [place for sign in _SIGNS if (place := data.rfind(sign, 0, begin)) >= 0]
    if not heads and not any(data.find(sign, begin, end) >= 0 for sign in _SIGNS):
        return []
    start = data.rfind(b"\n", 0, max(heads)) + 1 if heads else 0  # of the message that may go on at the first place
    found = []
    for message in _MESSAGE.finditer(data, start):
        if message.start() >= end:
            break
        if _is_noise(data, message):
            found.append(message.span())
    return found


def noise_among(lines: Sequence[bytes], before: bytes = b"", behind: bytes = b"") -> Sequence[bool]:
    """For each of these lines, which follow each other, whether it is noise; empty when none is."""
    data = b"".join([before, *(line + b"\n" for line in lines), behind])
    spans = noise(data, len(before), len(data) - len(behind))
    if not spans:
        return ()
    flags, at, number = [], len(before), 0
    for line in lines:
        while number < len(spans) and spans[number][1] <= at:
            number += 1
        flags.append(number < len(spans) and spans[number][0] <= at)
        at += len(line) + 1
    return flags


def _is_noise(data: bytes, found: re.Match[bytes]) -> bool:
    level, trace = found[1] or found[2], found[3]
    if not trace:
        return level in _BAD and _closing(data, found.start())
    if len(_FRAME.findall(trace)) != len(_OWN_FRAME.findall(trace)):
        return False
    return _BROKEN.search(found[0]) is not None or _closing(data, found.start())


def _closing(data: bytes, at: int) -> bool:
    """Whether the worker, its job or the scheduler was said to end before, and none has started since."""
    begin = max(0, at - CONTEXT)
    closed = max(data.rfind(said, begin, at) for said in _CLOSES)
    return closed >= 0 and all(data.find(said, closed, at) < 0 for said in _OPENS)
