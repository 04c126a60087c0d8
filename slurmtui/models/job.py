"""A SLURM job as the queue shows it."""

from __future__ import annotations

import msgspec

from slurmtui.models.values import Seconds, Special

ACTIVE_STATES = frozenset(
    {"PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "RESIZING", "REQUEUED", "REQUEUE_HOLD",
     "REQUEUE_FED", "SIGNALING", "STAGE_OUT", "STOPPED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
)  # fmt: skip
"""States in which a job still holds, waits for or gives back its place in the queue."""


class Job(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One record of squeue: a job, an array task, the pending rest of an array, or a component of a het job.

    ``id`` is what scancel takes (``123``, ``123_4``, ``123_[5-9]``, ``500+1``); ``raw_id`` is SLURM's own number.
    ``state`` is the long name in capitals. Times are seconds since the epoch or None. For a pending job ``start`` is
    an estimate.
    """

    id: str
    raw_id: int
    array_id: int | None = None
    array_tasks: str = ""
    het_id: int | None = None
    het_offset: int | None = None
    name: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    state: str = ""
    reason: str = ""
    nodes: str = ""
    node_count: int = 0
    cpus: int = 0
    memory: str = ""
    gres: str = ""
    elapsed: Seconds = Special.UNKNOWN
    time_limit: Seconds = Special.UNKNOWN
    submit: float | None = None
    start: float | None = None
    end: float | None = None
    priority: int | None = None
    comment: str = ""
    dependency: str = ""
    work_dir: str = ""

    @property
    def active(self) -> bool:
        """Whether the job is still in the queue (an unknown state counts as active: absence of proof is no end)."""
        return self.state in ACTIVE_STATES or self.state not in ENDED_STATES


ENDED_STATES = frozenset(
    {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",
     "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL", "EXPIRED"}
)  # fmt: skip


class EndedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job as accounting (sacct) tells it; ``max_rss`` and ``requested_memory`` are mebibytes."""

    id: str
    name: str = ""
    user: str = ""
    partition: str = ""
    state: str = ""
    exit_code: int = 0
    signal: int = 0
    nodes: str = ""
    submit: float | None = None
    start: float | None = None
    end: float | None = None
    elapsed: Seconds = Special.UNKNOWN
    time_limit: Seconds = Special.UNKNOWN
    cpus: int = 0
    requested_memory: float | None = None
    max_rss: float | None = None
    reason: str = ""


class JobDetail(msgspec.Struct, frozen=True, kw_only=True):
    """``scontrol show job``: the fields the program acts on, and all of them as SLURM wrote them."""

    id: str
    name: str = ""
    user: str = ""
    state: str = ""
    reason: str = ""
    comment: str = ""
    command: str = ""
    work_dir: str = ""
    stdout: str | None = None
    stderr: str | None = None
    nodes: str = ""
    exit_code: str = ""
    fields: tuple[tuple[str, str], ...] = ()
