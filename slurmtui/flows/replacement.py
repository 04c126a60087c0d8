"""Puts new jobs in the place of those that ended under a cluster of a fixed size.

dask-jobqueue submits the jobs of such a cluster once. A walltime, a lifetime or a failed node would leave the flow with
fewer workers, and in the end waiting for ever without any. A job that somebody cancelled is not replaced: it was meant.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin
from prefect.logging import get_logger

from slurmtui.errors import CommandError
from slurmtui.flows import stranded
from slurmtui.session import user_name
from slurmtui.sources.exec import Runner
from slurmtui.sources.slurm.client import Slurm

PATIENCE = 20.0
"""Seconds a job without workers is given: Dask restarts a worker that died within its job."""

DASK_CLOSES = 14.0
"""Seconds after which Dask itself cancels the job of a lost worker, also one that SLURM has queued again after its node
failed: only an end by scancel that is seen before was meant by somebody."""

_LOOK_EVERY = 5.0
_QUICK = 120.0  # seconds: a job that loses its workers sooner than this has failed, not served its time
_log = get_logger("slurmtui")


class Replacement(SchedulerPlugin):
    """Watches the workers of a cluster that shall have ``jobs`` jobs.

    Only a job whose workers had come up is replaced: one that fails before that would fail again. After several quick
    failures in a row nothing is replaced any more.
    """

    name = stranded.KEPT_UP

    def __init__(self, cluster: Any, jobs: int) -> None:
        self._cluster, self._jobs = cluster, jobs
        self._came_up: dict[str, float] = {}
        self._gone: dict[str, tuple[float, str]] = {}  # since when, and SLURM's id, which Dask forgets before us
        self._early: dict[
            str, str
        ] = {}  # how SLURM ended a job ("": not yet), seen before Dask could have a hand in it
        self._quick_failures = 0
        self._planned: asyncio.Task[None] | None = None

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """Called by the scheduler when a worker has come up."""
        name = str(scheduler.workers[worker].name)
        for job in self._cluster.worker_spec:
            if name in self._workers_of(job):
                self._came_up.setdefault(job, time.monotonic())
                self._gone.pop(job, None)
                self._early.pop(job, None)

    def remove_worker(self, scheduler: Any, worker: str, **_more: Any) -> None:
        """Called by the scheduler when a worker is gone."""
        del worker
        if self._cluster.status is not Status.running:
            return
        alive = {str(one.name) for one in scheduler.workers.values()}
        for job in self._came_up:
            if not self._workers_of(job) & alive:
                process = self._cluster.workers.get(job)
                self._gone.setdefault(job, (time.monotonic(), str(process.job_id) if process is not None else ""))
        if self._gone and (self._planned is None or self._planned.done()):
            self._planned = asyncio.get_running_loop().create_task(self._look_after_them())

    async def _look_after_them(self) -> None:
        """As long as there are jobs without workers, see what became of those that have been so for long enough."""
        while self._gone:
            await asyncio.sleep(_LOOK_EVERY)
            if self._cluster.status is not Status.running:
                return
            for job, (since, job_id) in list(self._gone.items()):
                age = time.monotonic() - since
                if age < DASK_CLOSES and not self._early.get(job):
                    self._early[job] = await _end_of(job_id)
                if age < PATIENCE:
                    continue
                early = self._early.get(job)  # None: there was no time to look, so the benefit of the doubt
                state = early or await _end_of(job_id)
                if state and job in self._gone:
                    self._early.pop(job, None)
                    self._replace(job, job_id, state, meant=state == "CANCELLED" and early != "")

    def _replace(self, job: str, job_id: str, state: str, *, meant: bool) -> None:
        quick = self._gone.pop(job)[0] - self._came_up.pop(job) < _QUICK
        self._quick_failures = self._quick_failures + 1 if quick else 0
        if meant:
            _log.warning("SLURM job %s was cancelled; it is not replaced", job_id)
        elif self._quick_failures > 3 * self._jobs:
            _log.error("%d jobs in a row ended within minutes; no more are submitted", self._quick_failures)
        else:
            _log.warning("SLURM job %s ended (%s); a new one is submitted in its place", job_id, state)
            self._cluster.worker_spec.pop(job, None)
            self._cluster.workers.pop(job, None)
            self._cluster.scale(jobs=len(self._cluster.worker_spec) + 1)

    def _workers_of(self, job: str) -> set[str]:
        spec = self._cluster.worker_spec.get(job) or {}
        return {f"{job}{suffix}" for suffix in spec.get("group") or [""]}


async def _end_of(job_id: str) -> str:
    """The state in which the job ended; empty when it has not, or SLURM does not tell."""
    if not job_id:
        return "FORGOTTEN"
    slurm = Slurm(Runner(), user_name())
    try:
        if await slurm.jobs_by_id([job_id]):
            return ""
        detail = await slurm.job_detail(job_id)
        ended = None if detail else (await slurm.ended_jobs([job_id])).get(job_id)
    except CommandError as error:
        _log.warning("%s", error)
        return ""
    return detail.state if detail else ended.state if ended else "FORGOTTEN"
