"""What Prefect knows: flow runs, task runs and log lines. Times are seconds since the epoch (UTC)."""

from __future__ import annotations

from typing import Any

import msgspec

FINAL_STATES = frozenset({"COMPLETED", "FAILED", "CRASHED", "CANCELLED"})
STATE_TYPES = FINAL_STATES | {"SCHEDULED", "PENDING", "RUNNING", "CANCELLING", "PAUSED"}
STATE_NAMES = frozenset(
    {"AwaitingConcurrencySlot", "AwaitingRetry", "InfrastructurePending", "Late", "Retrying", "Submitting", "Suspended"}
)
"""Names that Prefect gives states of these types beside the types' own."""

RETRYABLE_STATES = frozenset({"FAILED", "CRASHED", "CANCELLED"})


class FlowRun(msgspec.Struct, frozen=True, kw_only=True):
    """A flow run. ``state_type`` is Prefect's (RUNNING …), ``state_name`` the name a person sees (``Retrying``).

    ``run_time`` are the seconds it has been Running, in all attempts, up to its present state. A run that is known from
    its folder alone has no state: ``run_time`` is then that of its ended drivers, None when one of them never told its
    end, and ``running_since`` is when the living one began.
    """

    id: str
    name: str
    flow_id: str = ""
    flow_name: str = ""
    state_type: str = ""
    state_name: str = ""
    state_message: str = ""
    state_since: float | None = None
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    tags: tuple[str, ...] = ()
    labels: dict[str, Any] = msgspec.field(default_factory=dict)
    run_count: int = 0
    created: float | None = None
    expected_start: float | None = None
    start: float | None = None
    end: float | None = None
    run_time: float | None = None
    running_since: float | None = None
    deployment_id: str | None = None
    parent_task_run_id: str | None = None

    @property
    def final(self) -> bool:
        """Whether Prefect holds the run for ended."""
        return self.state_type in FINAL_STATES

    @property
    def over(self) -> bool:
        """Whether it has ended: by Prefect's word or, where Prefect tells nothing, by that of its last driver."""
        return self.final or self.end is not None

    def lasted(self, now: float) -> float | None:
        """Seconds that its attempts took together, without what lay between them; None when nobody can tell."""
        if self.start is None:
            return None
        if not self.state_type:
            going_on = now - self.running_since if self.running_since is not None else 0
            return None if self.run_time is None else self.run_time + going_on
        again = self.run_count > 1 or self.state_type in {"PENDING", "SCHEDULED"}  # the next attempt is on its way
        if again and self.run_time is not None:
            return self.run_time + (now - self.state_since if self.state_type == "RUNNING" and self.state_since else 0)
        return (self.end if self.final and self.end is not None else now) - self.start

    def until(self, now: float) -> float | None:
        """When it ended, ``now`` while it goes on; None when nobody can tell."""
        goes_on = not self.final if self.state_type else self.running_since is not None
        return now if goes_on else self.end


class TaskRun(msgspec.Struct, frozen=True, kw_only=True):
    """A task run. ``attempt`` is the flow run's attempt it belongs to; ``result_file`` its kept result."""

    id: str
    name: str
    flow_run_id: str = ""
    task_key: str = ""
    state_type: str = ""
    state_name: str = ""
    state_message: str = ""
    run_count: int = 0
    attempt: int = 0
    start: float | None = None
    end: float | None = None
    result_file: str | None = None


class TaskCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many task runs of the newest attempt are in which state; ``cached`` are those reused (within completed)."""

    completed: int = 0
    cached: int = 0
    failed: int = 0
    crashed: int = 0
    cancelled: int = 0
    running: int = 0
    pending: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """All task runs Prefect knows of in this attempt."""
        return self.completed + self.failed + self.crashed + self.cancelled + self.running + self.pending + self.other


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a flow run's log; ``level`` as in Python's logging."""

    id: str
    timestamp: float
    level: int
    message: str
    logger: str = ""
    task_run_id: str | None = None
