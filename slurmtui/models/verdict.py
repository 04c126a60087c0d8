"""A verdict: what is really going on with a run, and why the program thinks so."""

from __future__ import annotations

import enum

import msgspec

KINDS = (
    "scheduled", "starting", "waiting", "running", "driver-elsewhere", "paused", "sbatch-refused", "lost",
    "driver-gone", "cancelling", "cancel-stuck", "cancelled", "cancelled-jobs-alive", "cancelled-driver-alive",
    "done", "failed", "crashed", "cluster-lost", "out-of-memory", "time-limit", "node-failed", "preempted", "unknown",
)  # fmt: skip
"""Every kind of a verdict; docs/verdicts.md says what each means."""


class Mood(str, enum.Enum):
    """How a verdict wants to be seen; themes give each a colour and a glyph."""

    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"  # a person is needed
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """``kind`` is a stable word for scripts (``waiting``, ``running``, ``lost``, ``driver-gone``, ``done`` …)."""

    kind: str
    text: str
    mood: Mood
    evidence: tuple[str, ...] = ()
    needs_you: bool = False

    @property
    def wrong(self) -> bool:
        """Whether something went or goes wrong: it needs a person, or it has failed."""
        return self.needs_you or self.mood in (Mood.FAILED, Mood.LOST)
