"""When the clusters of a flow have lost all of their jobs while work waits, and nothing will bring new ones.

A plain SLURMCluster of a fixed size never asks for jobs again. In slurmtui's own, jobs that somebody cancelled are not
replaced, and jobs that ended before their workers came up are not either. The flow would wait for ever. It is over when
a scheduler of this process has work and no worker, none of the run's jobs is in the queue, and that stays so for longer
than it takes to ask for new ones.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any

from slurmtui.errors import CommandError
from slurmtui.flows import jobs
from slurmtui.session import user_name
from slurmtui.sources.exec import Runner
from slurmtui.sources.slurm.client import Slurm

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KEPT_UP = "slurmtui-replacement"
"""The scheduler plugin of a cluster whose jobs are replaced."""

GRACE = 45.0
"""Seconds without worker and job where jobs are replaced: that is decided after 25, and done at once."""

GRACE_OF_OTHERS = 120.0
"""The same for a cluster that the flow made by itself: an adaptive one takes its time, or the flow may scale it."""

_ASK_EVERY = 5.0
_TOLD = 3
_UNDONE = frozenset({"waiting", "no-worker", "queued", "processing"})


class Stranded:
    """Looks again and again at one attempt; asks SLURM only while the work waits without a worker."""

    def __init__(self, folder: Path, attempt: int) -> None:
        self._folder, self._attempt = folder, attempt
        self._since: float | None = None
        self._next = 0.0

    def for_good(self) -> str:
        """Why the run can only wait for ever; empty otherwise."""
        waiting = _without_workers()
        if not waiting:
            self._since = None
            return ""
        now = time.monotonic()
        if now < self._next:
            return ""
        self._next = now + _ASK_EVERY
        known = jobs.submitted(self._folder, self._attempt)
        if not known.ids or asyncio.run(jobs.alive(known)) != set():
            self._since = None  # a job lives, none was made yet, or SLURM does not answer
            return ""
        if self._since is None:
            self._since = now
        grace = GRACE if all(KEPT_UP in scheduler.plugins for scheduler in waiting) else GRACE_OF_OTHERS
        return "" if now - self._since < grace else f"no job of its cluster is left{asyncio.run(_ends(known.ids))}"


def _without_workers() -> list[Any]:
    """The schedulers in this process, whoever made them, that have work which nobody does; asked from any thread."""
    known: Any = getattr(sys.modules.get("distributed.scheduler"), "Scheduler", None)  # None while it is imported
    if known is None:
        return []
    try:
        return [scheduler for scheduler in list(known._instances) if _waits(scheduler)]  # noqa: SLF001
    except RuntimeError:  # something changed while it was looked at
        return []


def _waits(scheduler: Any) -> bool:
    if scheduler.status.name != "running" or scheduler.workers:
        return False
    return any(task.state in _UNDONE for task in list(scheduler.tasks.values()))


async def _ends(ids: Sequence[str]) -> str:
    """How the last jobs ended, in brackets, where SLURM tells."""
    try:
        found = await Slurm(Runner(), user_name()).ended_jobs(ids[-_TOLD:])
    except CommandError:
        return ""
    told = ", ".join(f"job {job.id} {job.state}" for job in found.values())
    return f" ({told})" if told else ""
