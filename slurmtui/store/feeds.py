"""Asks each source and brings its answer into the form that ``reduce`` takes. Nothing here blocks the event loop."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from slurmtui.errors import PrefectError, PrefectUnauthorized, PrefectUnreachable
from slurmtui.models.run_record import DriverStatus
from slurmtui.sources.cluster_folder import ClusterFolders, keeper_status
from slurmtui.sources.prefect.connection import find_connection
from slurmtui.sources.processes import driver_status
from slurmtui.sources.run_folder import RunFolders
from slurmtui.store.facts import driver_job_ids
from slurmtui.store.reduce import PrefectAnswer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from slurmtui.models.flow_run import FlowRun, TaskCounts, TaskRun
    from slurmtui.models.job import EndedJob
    from slurmtui.models.job_table import JobTable
    from slurmtui.models.run_record import RunRecord
    from slurmtui.models.shared_cluster import ClusterRecord
    from slurmtui.session import Session
    from slurmtui.sources.prefect.client import PrefectClient
    from slurmtui.store.snapshot import Part

NO_SERVER = (
    "No Prefect server is set up here. `slurmtui server start` starts a private one; PREFECT_API_URL or a Prefect "
    "profile names one that is there."
)
_SOUGHT_AT_ONCE = 20
_SEEK_AGAIN_SECONDS = 300.0
_COUNTED_AT_ONCE = 200
_ACCOUNTED_AT_ONCE = 500
_PATIENCE = 6
"""So often accounting is asked for a job that it does not know (yet)."""

_FIRST_WAIT = 5.0


class Feeds:
    """The sources of one session, and what was asked before."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._folders = RunFolders()
        self._clusters = ClusterFolders()
        self._sought: dict[str, tuple[float, FlowRun | None]] = {}
        self._asked: dict[str, tuple[int, float]] = {}
        self._read: dict[str, tuple[str, int, float | None]] = {}

    async def queue(self, *, everyone: bool) -> JobTable:
        """The queue, by one squeue."""
        return await self.session.slurm.queue(everyone=everyone)

    async def records(
        self, queue: Part[JobTable]
    ) -> tuple[dict[str, RunRecord], dict[str, DriverStatus], tuple[str, ...]]:
        """The run folders, what can be proved of each driver, and what is wrong with folders."""
        return await asyncio.to_thread(self._read_records, queue)

    def _read_records(
        self, queue: Part[JobTable]
    ) -> tuple[dict[str, RunRecord], dict[str, DriverStatus], tuple[str, ...]]:
        records = self._folders.read_all()
        drivers = {run_id: _status(record, queue) for run_id, record in records.items()}
        return dict(records), drivers, records.problems

    async def clusters(self) -> tuple[dict[str, ClusterRecord], dict[str, DriverStatus]]:
        """The shared clusters, and what can be proved of each keeper."""
        return await asyncio.to_thread(self._read_clusters)

    def _read_clusters(self) -> tuple[dict[str, ClusterRecord], dict[str, DriverStatus]]:
        clusters = self._clusters.read_all()
        return clusters, {cluster_id: keeper_status(record) for cluster_id, record in clusters.items()}

    async def client(self) -> PrefectClient:
        """The client of the Prefect server.

        Raises:
            PrefectError: there is no server to ask.
        """
        # Looking it up reads files, and making it imports httpx: neither belongs into the event loop.
        client = await asyncio.to_thread(lambda: self.session.prefect)
        if client is None:
            raise PrefectUnreachable(NO_SERVER)
        return client

    async def prefect(
        self,
        since: float | None,
        records: Mapping[str, RunRecord],
        drivers: Mapping[str, DriverStatus],
        jobs_of: Collection[str] = (),
    ) -> PrefectAnswer:
        """The flow runs; recorded runs that are not listed though something of them lives are sought by id.

        Raises:
            PrefectError: there is no server, or it does not answer.
        """
        client = await self.client()
        try:
            runs, cut = await client.flow_runs(since=since)
        except (PrefectUnreachable, PrefectUnauthorized):
            await self._forget_moved_server()
            raise
        listed = {run.id for run in runs}
        living = [
            run_id
            for run_id in records
            if run_id not in listed and (drivers.get(run_id, DriverStatus.NONE).may_live or run_id in jobs_of)
        ]
        found, unknown = await self._seek(client, living)
        return PrefectAnswer(
            runs=(*runs, *found), cut=cut, unknown=frozenset(unknown), api_url=client.connection.api_url
        )

    async def _forget_moved_server(self) -> None:
        """When another server is named by now (the private one was started again), take that one next time."""
        found = await asyncio.to_thread(find_connection, self.session.config)
        if found is not None and found != self.session.connection:
            await self.session.forget_prefect()

    async def _seek(self, client: PrefectClient, ids: Iterable[str]) -> tuple[list[FlowRun], list[str]]:
        """Runs asked for one by one: those found, and ids that Prefect does not know."""
        found, unknown, asked, now = [], [], 0, time.monotonic()
        for run_id in ids:
            when, run = self._sought.get(run_id, (0.0, None))
            again = run_id not in self._sought or not (run is None or run.final) or now - when > _SEEK_AGAIN_SECONDS
            if again and asked < _SOUGHT_AT_ONCE:
                asked += 1
                run = await _one_run(client, run_id)
                self._sought[run_id] = (now, run)
            if run is not None:
                found.append(run)
            elif run_id in self._sought:
                unknown.append(run_id)
        return found, unknown

    async def counts(self, runs: Sequence[FlowRun], limit: int = _COUNTED_AT_ONCE) -> dict[str, TaskCounts]:
        """How the task runs of these runs stand; at most ``limit`` of them are asked for.

        Raises:
            PrefectError: no answer.
        """
        return await (await self.client()).task_counts(runs, limit)

    async def task_runs(self, runs: Iterable[FlowRun]) -> dict[str, tuple[TaskRun, ...]]:
        """The task runs of those runs in which they may have changed since they were last read.

        Raises:
            PrefectError: no answer.
        """
        client = await self.client()
        answer = {}
        for run in runs:
            version = (run.state_type, run.run_count, run.state_since)
            if run.final and self._read.get(run.id) == version:
                continue
            answer[run.id] = await client.task_runs(run.id)
            # Task runs follow the end of their run by some seconds.
            if time.time() - (run.state_since or 0) > _SEEK_AGAIN_SECONDS / 5:
                self._read[run.id] = version
        return answer

    def forget_task_runs(self, kept: Collection[str]) -> None:
        """Task runs of other runs than these are no longer held, so they must be read again when they are wanted."""
        self._read = {run_id: version for run_id, version in self._read.items() if run_id in kept}

    def due(self, ids: Iterable[str]) -> list[str]:
        """Those ids of jobs of which accounting should be asked now: it learns of an end some seconds late."""
        now = time.monotonic()
        found = []
        for job_id in ids:
            times, last = self._asked.get(job_id, (0, 0.0))
            if times == 0 or (times < _PATIENCE and now - last > _FIRST_WAIT * 2.0**times):
                found.append(job_id)
        return found[:_ACCOUNTED_AT_ONCE]

    async def ended(self, ids: Sequence[str]) -> dict[str, EndedJob]:
        """What accounting says of these jobs.

        Raises:
            CommandError: accounting does not answer.
        """
        answer = await self.session.slurm.ended_jobs(ids)
        now = time.monotonic()
        for job_id in ids:
            self._asked[job_id] = (self._asked.get(job_id, (0, 0.0))[0] + 1, now)
        return answer


async def _one_run(client: PrefectClient, run_id: str) -> FlowRun | None:
    try:
        return await client.flow_run(run_id)
    except PrefectError as error:
        if error.status == 404:
            return None
        raise


def _status(record: RunRecord, queue: Part[JobTable]) -> DriverStatus:
    """What can be proved of a driver; the queue counts only if it was asked after the driver was started."""
    ids: set[str] | None = None
    started = max(
        record.launch.time if record.launch is not None else record.spec.created,
        record.driver.started if record.driver is not None else 0,
    )
    if not queue.error and queue.asked is not None and queue.asked > started:
        ids = {job_id for job_id in driver_job_ids(record) if queue.data.index(job_id) is not None}
    return driver_status(record, ids, asked_at=None if ids is None else queue.asked)
