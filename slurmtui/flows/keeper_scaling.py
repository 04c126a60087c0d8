"""How many jobs a shared cluster has: as many as its tasks can fill, and none that has been idle for long.

It is Dask's own adaptive scaling with two things changed. The number follows the tasks that can run now, one thread
for each: Prefect's tasks are long, and Dask's guess of half a second each would ask for one job where ten are wanted.
And what dask-jobqueue takes for a worker that is on its way, though its job was refused, cancelled or has ended, is
forgotten, so that it is asked for again when there is work, and not before.
"""

from __future__ import annotations

import itertools
import logging
import math
import time
from typing import Any

from dask_jobqueue.slurm import SLURMCluster
from distributed.deploy.adaptive import Adaptive

from slurmtui.flows import jobs

_log = logging.getLogger("slurmtui.keeper")
_LOOK_EVERY = 10.0  # seconds between two questions to SLURM, asked only while a job has no worker
_FIRST_PAUSE = 15.0  # seconds without a submission after SLURM has refused one
_LONGEST_PAUSE = 300.0
_ABANDONED = 4.0  # seconds: a worker reports what it does every second or so


class SharedCluster(SLURMCluster):
    """dask-jobqueue's cluster, whose jobs never get a name that another has had.

    Fifteen seconds after the end of a worker Dask cancels the job of its name, and that may be a new one by then.
    """

    _numbers = itertools.count()

    def _new_worker_name(self, worker_number: int) -> str:
        del worker_number
        return f"{self.name}-{next(self._numbers)}"


def job_of_worker(worker: Any) -> str:
    """The job's name of a worker that shares it with others: ``cluster-3-1`` is of ``cluster-3``."""
    return str(worker.name).rpartition("-")[0]


class Following(Adaptive):
    """Adaptive scaling for tasks that are long; see the module.

    Set after its making, on ``cluster.adapt(Adaptive=Following, …)``'s result: ``threads``, of one worker.
    """

    cluster: Any

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.threads = 1
        self._seen: set[Any] = set()
        self._missing: set[Any] = set()
        self._next_look = 0.0
        self._pause = _FIRST_PAUSE
        self._not_before = 0.0

    async def target(self) -> int:
        """Workers for the tasks that can run now; those that work stay, idle ones may go."""
        scheduler = self.cluster.scheduler
        ready = len(scheduler.queued) + len(scheduler.unrunnable)
        ready += sum(len(worker.processing) for worker in scheduler.workers.values())
        wanted = math.ceil(ready / self.threads)
        there = len(scheduler.workers)
        if wanted < there:
            wanted = there - len(scheduler.workers_to_close(key=self.worker_key, attribute="name"))
        if time.monotonic() < self._not_before:
            wanted = min(wanted, len(self.plan))
        return int(wanted)

    async def recommendations(self, target: int) -> dict[str, Any]:
        """As Dask's, after jobs that will never bring workers are forgotten."""
        await self._forget()
        if time.monotonic() < self._not_before:
            target = min(target, len(self.plan))
        found: dict[str, Any] = await super().recommendations(target)
        return found

    async def _forget(self) -> None:
        cluster = self.cluster
        self._seen |= set(cluster.workers)
        gone = {name for name in cluster.worker_spec if name in self._seen and name not in cluster.workers}
        refused = {name for name, job in cluster.workers.items() if job.job_id is None}
        if refused:
            self._not_before = time.monotonic() + self._pause
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)
            _log.warning("sbatch refused; it is tried again after %.0f s", self._not_before - time.monotonic())
        elif cluster.scheduler.workers:
            self._pause = _FIRST_PAUSE
        for name in gone | refused | await self._vanished():
            cluster.worker_spec.pop(name, None)
            cluster.workers.pop(name, None)

    async def _vanished(self) -> set[Any]:
        """Jobs without a worker that SLURM does not list, seen twice so."""
        cluster, now = self.cluster, time.monotonic()
        if now < self._next_look:
            return set()
        present = {str(worker.name) for worker in cluster.scheduler.workers.values()}
        silent = {
            name: str(job.job_id)
            for name, job in cluster.workers.items()
            if job.job_id is not None and not _workers_of(cluster, name) & present
        }
        self._next_look = now + _LOOK_EVERY
        alive = await jobs.alive(jobs.made_here(silent.values())) if silent else set()
        if alive is None:  # SLURM does not answer: nothing is known
            return set()
        missing = {name for name, job_id in silent.items() if job_id not in alive}
        twice, self._missing = missing & self._missing, missing - self._missing
        for name in twice:
            _log.warning("SLURM job %s is gone; it is not waited for any more", silent[name])
        return twice


def _workers_of(cluster: Any, name: Any) -> set[str]:
    spec = cluster.worker_spec.get(name) or {}
    return {f"{name}{suffix}" for suffix in spec.get("group") or [""]}


class Abandoned:
    """Ends work that nobody waits for any more.

    A task that runs in a worker's thread cannot be interrupted: when its run is cancelled, Dask forgets it, and the
    thread works on. Such a worker is started again within its job, as soon as it does nothing else.
    """

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._since: dict[str, float] = {}

    async def end(self) -> None:
        """Look at every worker; to be called again and again."""
        now, found = time.monotonic(), {}
        for address, worker in self._scheduler.workers.items():
            counts = (worker.metrics or {}).get("task_counts") or {}
            if counts.get("cancelled") and not counts.get("executing"):
                found[address] = self._since.get(address, now)
        over = [address for address, since in found.items() if now - since > _ABANDONED]
        self._since = {address: since for address, since in found.items() if address not in over}
        if over:
            _log.info("workers are started again, for their run was cancelled: %s", ", ".join(over))
            await self._scheduler.restart_workers(
                over, wait_for_workers=False, on_error="return", stimulus_id=f"slurmtui-{now}"
            )
