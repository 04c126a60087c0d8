"""An array or a het job as one row: how many of its parts do what."""

from __future__ import annotations

from typing import Literal

import msgspec

RUNNING_STATES = frozenset({"RUNNING", "COMPLETING", "CONFIGURING", "STAGE_OUT", "SIGNALING", "RESIZING"})
"""States in which a job holds its nodes."""


class JobGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of an array or het job that are in the queue.

    Attributes:
        id: the number that stands for all of it, as scancel and scontrol take it.
        kind: what it is.
        states: how many parts are in each state (long names); a waiting rest counts with all its tasks.
        hidden: how many parts are in the queue beside these, because a filter hides them.
        whole: whether all waiting tasks are counted; else squeue cut their list, and there are more.
        tasks: the lowest and the highest number of a task in the queue (``0-9999``); empty for a het job.
        reason: why the first waiting part waits, in SLURM's word.
        start: when the earliest of the running parts began.
    """

    id: str
    kind: Literal["array", "het"]
    states: dict[str, int] = {}
    hidden: int = 0
    whole: bool = True
    tasks: str = ""
    reason: str = ""
    start: float | None = None

    @property
    def shown(self) -> int:
        """How many parts are shown."""
        return sum(self.states.values())

    @property
    def running(self) -> int:
        """How many parts hold nodes."""
        return sum(count for state, count in self.states.items() if state in RUNNING_STATES)

    @property
    def waiting(self) -> int:
        """How many parts wait for their first start."""
        return self.states.get("PENDING", 0)

    @property
    def part(self) -> str:
        """What one part of it is called."""
        return "task" if self.kind == "array" else "component"
