"""Times, sizes and numbers as verdicts and the command line write them."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from slurmtui.models.text import visible

if TYPE_CHECKING:
    from slurmtui.models.flow_run import FlowRun, TaskCounts
    from slurmtui.models.run_record import MemoryKills

_EXCEPTION_PREFIX = re.compile(
    r"^(?:(?:Flow|Task) run encountered an exception|Crash detected!)[:.]?\s*", re.IGNORECASE
)
_SBATCH_ERROR = re.compile(r"sbatch:\s*(?:error:\s*)?(?:Batch job submission failed:\s*)?", re.IGNORECASE)
_KILLED_WORKER = re.compile(
    r"KilledWorker: Attempted to run task '?(.+?)(?:-[0-9a-f]{32})?'? on (\d+) different workers, but all those .*"
)
_WEEK = 6 * 86400
_GIBIBYTE = 1024.0


def counted(number: int, thing: str) -> str:
    """``1 job``, ``2 jobs``."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def tasks_done(run: FlowRun, counts: TaskCounts) -> str:
    """``12/52``; ``2 done`` where a run ended before its end: task runs that had not begun are unknown to Prefect."""
    if run.final and run.state_type != "COMPLETED" and counts.completed == counts.total:
        return f"{counts.completed} done"
    return f"{counts.completed}/{counts.total}"


def clock(moment: float, now: float) -> str:
    """A moment as local time: ``14:20`` today, ``Tue 14:20`` within a week, else ``28 Nov 14:20``."""
    here, today = time.localtime(moment), time.localtime(now)
    if here[:3] == today[:3]:
        return time.strftime("%H:%M", here)
    return time.strftime("%a %H:%M" if abs(moment - now) < _WEEK else "%d %b %H:%M", here)


def span(seconds: float) -> str:
    """A duration in words: ``48 s``, ``22 min``, ``1 h 02 min``, ``3 d 4 h``."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def used_of(used: float | None, limit: float | None) -> str:
    """Mebibytes used of those asked for: ``15.9 of 16 GB``; what is not known is left out."""
    if limit is None:
        return "" if used is None else _size(used, used)
    return _size(limit, limit) if used is None else f"{_number(used, limit)} of {_size(limit, limit)}"


def too_much(kills: MemoryKills) -> str:
    """``used more than 95 % of its 1 GB``."""
    its = used_of(None, kills.limit)
    return f"used more than {kills.percent} % of its {its or 'memory'}"


def _size(mebibytes: float, scale: float) -> str:
    return f"{_number(mebibytes, scale)} {'GB' if scale >= _GIBIBYTE else 'MB'}"


def _number(mebibytes: float, scale: float) -> str:
    value = mebibytes / _GIBIBYTE if scale >= _GIBIBYTE else mebibytes
    return f"{value:.1f}".removesuffix(".0") if scale >= _GIBIBYTE else f"{value:.0f}"


def last_line(message: str) -> str:
    """What a message of an exception comes to, without what Prefect puts before it.

    That is its first line, where the exception's type stands; of a traceback it is the last.
    """
    lines = [line.strip() for line in _EXCEPTION_PREFIX.sub("", message.strip()).splitlines() if line.strip()]
    if not lines:
        return ""
    return visible(lines[-1] if lines[0].startswith("Traceback") else lines[0])


def without_killed_worker(said: str) -> str:
    """The line with what Dask's four sentences on ``KilledWorker`` come to."""
    return _KILLED_WORKER.sub(r"KilledWorker: \2 workers died while they ran \1", said)


def sbatch_words(said: str) -> str:
    """Why sbatch refused, in its own words, without its name and the words that are always the same."""
    parts = [" ".join(part.split()) for part in _SBATCH_ERROR.split(said)]
    telling = [part for part in parts if part]
    return visible(telling[-1]) if telling else "it gave no reason"


def short_span(seconds: float) -> str:
    """A duration for a column: ``48s``, ``22m``, ``1h02``, ``3d04``."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02}"
    return f"{whole // 86400}d{whole % 86400 // 3600:02}"
