"""SLURM's special values, and the one parser of each kind of value.

Times are seconds since the epoch (asked for as such; where SLURM only writes local time without a zone, this
machine's zone is taken for it), durations whole seconds, memory mebibytes. What SLURM does not know stays ``Special``
or None; it is never zero.
"""

from __future__ import annotations

import enum
import re
import time


class Special(str, enum.Enum):
    """A value of SLURM's that is not a number."""

    UNLIMITED = "unlimited"
    PARTITION_LIMIT = "partition limit"
    UNKNOWN = "unknown"


Seconds = int | Special  # a duration, or why there is none

_UNLIMITED = frozenset({"UNLIMITED", "INFINITE"})
_NOTHING = frozenset(
    {"", "NONE", "N/A", "UNKNOWN", "(NULL)", "NOT_SET", "INVALID", "NONE ASSIGNED", "NOT SET", "NO_VAL", "-"}
)  # fmt: skip

_DURATION = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?(?:\.\d+)?", re.ASCII)
_MEMORY = re.compile(r"(\d+(?:\.\d*)?)([KMGTPEB]?)[nc]?(?:i?B)?", re.ASCII | re.IGNORECASE)
_LOCAL_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)", re.ASCII)
_MEBIBYTES = {"B": 1 / 1024**2, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3, "E": 1024.0**4}
_COUNT = re.compile(r"(\d+(?:\.\d+)?)([KMG]?)(?:\+|-.*)?", re.ASCII)
_THOUSANDS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_LONGEST = 40  # no value of SLURM's is longer; what is, is not one


def known(text: str) -> str:
    """``text``, or nothing where it is one of SLURM's words for nothing (``(null)``, ``N/A`` …)."""
    stripped = text.strip()
    return "" if stripped.upper() in _NOTHING else stripped


def seconds(text: str) -> Seconds:
    """A duration or time limit: ``12:34``, ``1-02:03:04``, ``2-00`` (days-hours), ``30`` (minutes), ``UNLIMITED``."""
    word = text.strip()
    match = _DURATION.fullmatch(word) if len(word) < _LONGEST else None
    if match is None:
        upper = word.upper()
        if upper in _UNLIMITED:
            return Special.UNLIMITED
        return Special.PARTITION_LIMIT if upper == "PARTITION_LIMIT" else Special.UNKNOWN
    days, first, second, third = (None if part is None else int(part) for part in match.groups())
    if days is not None:  # days-hours[:minutes[:seconds]]
        return days * 86400 + (first or 0) * 3600 + (second or 0) * 60 + (third or 0)
    if third is not None:  # hours:minutes:seconds
        return (first or 0) * 3600 + (second or 0) * 60 + third
    return (first or 0) * 60 + (second or 0)  # minutes[:seconds]


def moment(text: str) -> float | None:
    """A point in time: seconds since the epoch as they were asked for, or SLURM's local ISO form; None if unknown."""
    word = text.strip()
    if word.isascii() and word.isdigit() and len(word) < _LONGEST:
        return float(word) if int(word) else None
    match = _LOCAL_TIME.fullmatch(word)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups())
    try:
        return time.mktime((year, month, day, hour, minute, second, -1, -1, -1))
    except (OverflowError, ValueError):
        return None


def memory(text: str, unit: str = "M") -> float | None:
    """Mebibytes from ``4000M``, ``1.5G``, ``4Gn`` (per node), ``4Gc`` (per core); a bare number is in ``unit``."""
    match = _MEMORY.fullmatch(text.strip()) if len(text) < _LONGEST else None
    return None if match is None else float(match[1]) * _MEBIBYTES[match[2].upper() or unit]


def count(text: str) -> int | None:
    """A number: ``8``, ``10K`` (SLURM shortens by 1024), ``2-4`` and ``16+`` (the smallest); None if unknown."""
    match = _COUNT.fullmatch(text.strip()) if len(text) < _LONGEST else None
    return None if match is None else int(float(match[1]) * _THOUSANDS[match[2]])
