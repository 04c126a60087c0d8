"""How times, counts and states are written in the lists: coarse, so that a row changes only when it matters."""

from __future__ import annotations

import time

from slurmtui.models.values import Seconds, Special
from slurmtui.models.verdict import Mood
from slurmtui.store.words import short_span

DASH = "–"  # noqa: RUF001 - an en dash is what is meant

coarse = short_span
"""A duration in at most five characters."""

STATE_MOODS = {
    "RUNNING": Mood.RUNNING, "COMPLETING": Mood.RUNNING, "CONFIGURING": Mood.RUNNING,
    "PENDING": Mood.WAITING, "SUSPENDED": Mood.WAITING, "SCHEDULED": Mood.WAITING, "PAUSED": Mood.WAITING,
    "REQUEUED": Mood.WAITING, "REQUEUE_HOLD": Mood.WAITING,
    "COMPLETED": Mood.DONE,
    "FAILED": Mood.FAILED, "TIMEOUT": Mood.FAILED, "OUT_OF_MEMORY": Mood.FAILED, "NODE_FAIL": Mood.FAILED,
    "CRASHED": Mood.FAILED, "BOOT_FAIL": Mood.FAILED, "DEADLINE": Mood.FAILED, "PREEMPTED": Mood.FAILED,
    "CANCELLED": Mood.CANCELLED, "CANCELLING": Mood.CANCELLED,
}  # fmt: skip

_SHORT_STATES = {
    "RUNNING": "R", "PENDING": "PD", "COMPLETING": "CG", "CONFIGURING": "CF", "SUSPENDED": "S", "COMPLETED": "CD",
    "CANCELLED": "CA", "FAILED": "F", "TIMEOUT": "TO", "OUT_OF_MEMORY": "OOM", "NODE_FAIL": "NF", "PREEMPTED": "PR",
    "REQUEUED": "RQ", "REQUEUE_HOLD": "RH", "STOPPED": "ST", "SPECIAL_EXIT": "SE",
}  # fmt: skip


def mood_of(state: str) -> Mood:
    """The mood of a job's or task run's state; one never heard of is unknown, not well."""
    return STATE_MOODS.get(state, Mood.UNKNOWN)


def style_of(mood: Mood) -> str:
    """The style name of a mood; themes define it."""
    return f"state-{mood.value}"


def short_state(state: str) -> str:
    """SLURM's short code for a state; an unknown one stays as it is."""
    return _SHORT_STATES.get(state, state)


def span(value: Seconds) -> str:
    """A duration or limit of SLURM's."""
    if isinstance(value, Special):
        return {Special.UNLIMITED: "∞", Special.PARTITION_LIMIT: "part."}.get(value, DASH)
    return coarse(value)


def clock(moment: float | None, now: float | None = None) -> str:
    """A moment as local time: today ``14:02``, else ``28 Nov``."""
    if moment is None:
        return DASH
    here = time.localtime(moment)
    today = time.localtime(now if now is not None else time.time())
    return time.strftime("%H:%M", here) if here[:3] == today[:3] else time.strftime("%d %b", here)


def moment_words(moment: float | None) -> str:
    """A moment in full, local time with its zone."""
    return DASH if moment is None else time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(moment))


def bar(done: int, total: int, width: int = 6) -> str:
    """A progress bar of ``width`` cells."""
    filled = 0 if total <= 0 else min(width, done * width // total)
    return "▰" * filled + "▱" * (width - filled)


def age(seconds: float) -> str:
    """The age of data, in steps, so that the header does not change every second."""
    if seconds < 15:
        return "now"
    return f"{int(seconds // 15) * 15}s" if seconds < 120 else coarse(seconds // 60 * 60)
