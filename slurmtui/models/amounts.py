"""Sizes, durations and counts in the words of a sentence."""

from __future__ import annotations

import math

from slurmtui.models.values import Seconds, Special

_GIBIBYTE = 1024.0
_TEBIBYTE = 1024.0**2


def size_words(mebibytes: float) -> str:
    """``512 MB``, ``15.9 GB``, ``2 TB``."""
    if mebibytes >= _TEBIBYTE:
        return f"{_short(mebibytes / _TEBIBYTE)} TB"
    return f"{_short(mebibytes / _GIBIBYTE)} GB" if mebibytes >= _GIBIBYTE else f"{_short(mebibytes)} MB"


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0") if value < 100 else f"{value:,.0f}"


def limit_words(value: Seconds) -> str:
    """A time limit as SLURM writes it: ``2:00:00``, ``1-12:00:00``, ``no limit``."""
    if isinstance(value, Special):
        return {Special.UNLIMITED: "no limit", Special.PARTITION_LIMIT: "the partition's limit"}.get(value, "unknown")
    days, rest = divmod(value, 86400)
    hours, rest = divmod(rest, 3600)
    clock = f"{hours}:{rest // 60:02}:{rest % 60:02}"
    return f"{days}-{hours:02}:{rest // 60:02}:{rest % 60:02}" if days else clock


def counted(number: int, thing: str) -> str:
    """``1 job``, ``2 jobs``, ``1,200 jobs``."""
    return f"{number:,} {thing}{'' if number == 1 or thing.endswith('s') else 's'}"


def counted_of(shown: int, number: int, thing: str) -> str:
    """``8 nodes``; ``0 of 8 nodes`` where some of them are not shown."""
    return counted(number, thing) if shown == number else f"{shown:,} of {counted(number, thing)}"


def rounded_up(mebibytes: float) -> float:
    """A size that a person would ask for when ``mebibytes`` are needed: whole hundreds of MB, then whole GB."""
    step = 100.0 if mebibytes < _GIBIBYTE else _GIBIBYTE
    return math.ceil(mebibytes / step) * step


def memory_option(mebibytes: float) -> str:
    """A size as ``sbatch --mem`` takes it."""
    whole = math.ceil(mebibytes)
    return f"{whole // 1024}G" if whole >= 1024 and whole % 1024 == 0 else f"{whole}M"
