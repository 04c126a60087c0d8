"""Lines of log files: when they were written, and by whom, as far as they tell.

Known are Prefect's console lines (``13:12:02.123 | INFO    | Task run 'fit-3' - message``) and lines that begin with a
date and a time (Dask, Python's logging, most programs). A time of day without a date is dated from the end backwards.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLOURS = re.compile(r"\x1b\[[0-9;:]*[mK]")
_CONSOLE = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d{3}))? \| (\w+) *\| ((?:Flow|Task) run )?(.*)", re.DOTALL)
_RUN = re.compile(r"""(['"])(.*?)\1 - (.*)""", re.DOTALL)  # a run's name, quoted, and the message
_DATED = re.compile(
    r"[\[(<]?(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?"
    r"[\])>]?(?:.{0,60}?\b(DEBUG|INFO|WARNING|ERROR|CRITICAL)\b)?"
)
_LIBRARY = re.compile(r" - (?:distributed|dask|dask_jobqueue|tornado|bokeh)\.[\w.]+ - (?:DEBUG|INFO) - ")
_LIBRARIES = ("distributed.", "dask.", "dask_jobqueue.", "tornado.", "bokeh.")
_LEVELS = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}
_DAY = 86_400
_SLACK = 120  # clocks of nodes differ, lines of several processes are not in order


class Parsed(NamedTuple):
    """What a line tells.

    Attributes:
        text: the line, without what the other attributes tell when it is one of Prefect's console lines.
        time: seconds since the epoch, None when it does not tell.
        level: as in Python's logging, or None.
        logger: who speaks, of a console line of Prefect: a task run's name, a flow run's name, or a logger's.
        message: a console line's message, None for any other line.
        task: whether ``logger`` is a task run's name.
        flow: whether it is a flow run's.
        library: one of Dask's own lines that tell of nothing wrong.
    """

    text: str
    time: float | None = None
    level: int | None = None
    logger: str = ""
    message: str | None = None
    task: bool = False
    flow: bool = False
    library: bool = False


def parse_lines(lines: Sequence[bytes], latest: float) -> list[Parsed]:
    """Parse lines that follow each other; ``latest`` (seconds since the epoch) is when the last one can be written."""
    parsed: list[Parsed] = []
    reference = latest
    for line in reversed(lines):
        one = parse_line(line.decode("utf-8", "replace"), reference)
        if one.time is not None and one.time < reference:
            reference = one.time
        parsed.append(one)
    parsed.reverse()
    return parsed


def parse_after(lines: Sequence[bytes], earliest: float) -> list[Parsed]:
    """Parse lines that follow each other; ``earliest`` (seconds since the epoch) is when the first can be written."""
    parsed: list[Parsed] = []
    reference = earliest
    for line in lines:
        one = parse_line(line.decode("utf-8", "replace"), reference + _DAY - 2 * _SLACK)
        if one.time is not None and one.time > reference:
            reference = one.time
        parsed.append(one)
    return parsed


def parse_line(line: str, reference: float) -> Parsed:
    """Parse one line that was written at ``reference`` or within the day before it."""
    line = line.removesuffix("\r")
    if "\r" in line or not line[:1] or line[:1].isspace():
        return Parsed(line)
    plain = without_colours(line)
    console = _CONSOLE.match(plain)
    if console:
        return _console_line(console, line, reference)
    dated = _DATED.match(plain)
    if dated:
        library = _LIBRARY.match(plain, max(dated.end(6), dated.end(7), dated.end(8))) is not None
        return Parsed(line, _dated(dated), _LEVELS.get(dated[9] or ""), library=library)
    return Parsed(line)


def _console_line(match: re.Match[str], line: str, reference: float) -> Parsed:
    """A console line; ``match`` is of the line without its colours."""
    hour, minute, second, millisecond = (int(match[group] or 0) for group in range(1, 5))
    time = None
    if hour < 24 and minute < 60 and second < 61:
        time = _time_of_day(hour * 3600 + minute * 60 + second + millisecond / 1000, reference)
    if match[5] not in _LEVELS or match[4] is None:  # like Prefect's, but not Prefect's
        return Parsed(line.split(" | ", 1)[1], time)
    kind, rest = match[6] or "", match[7]
    text = line.split(" | ", 2)[2]
    run = _RUN.match(rest) if kind else None
    if run is None:
        logger, dash, message = rest.partition(" - ")
        library = _LEVELS[match[5]] <= _LEVELS["INFO"] and logger.startswith(_LIBRARIES)
        said = (logger, message) if dash else ("", rest)
        return Parsed(text, time, _LEVELS[match[5]], *said, library=library)
    shown = _RUN.search(text)
    words = text if shown is None else shown[3]  # with its colours
    return Parsed(words, time, _LEVELS[match[5]], run[2], run[3], "Task" in kind, "Flow" in kind)


def without_colours(text: str) -> str:
    """``text`` without the sequences that colour it."""
    return _COLOURS.sub("", text) if "\x1b" in text else text


def _time_of_day(seconds: float, reference: float) -> float:
    """The last moment with this local time of day that is not after ``reference``."""
    midnight = dt.datetime.fromtimestamp(reference).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    moment = midnight.timestamp() + seconds
    if moment > reference + _SLACK:
        return moment - _DAY
    return moment + _DAY if moment + _DAY <= reference + _SLACK else moment


def _dated(match: re.Match[str]) -> float | None:
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    microsecond = int((match[7] or "0")[:6].ljust(6, "0"))
    zone: dt.tzinfo | None = None
    if match[8]:
        zone = dt.timezone.utc
        if match[8] != "Z":
            sign = -1 if match[8][0] == "-" else 1
            minutes = int(match[8][1:3]) * 60 + int(match[8][-2:])
            zone = dt.timezone(sign * dt.timedelta(minutes=min(minutes, 1439)))
    try:
        return dt.datetime(year, month, day, hour, minute, min(second, 59), microsecond, tzinfo=zone).timestamp()
    except (ValueError, OverflowError, OSError):  # no such date
        return None
