"""Every source asked once, for the command line."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import CommandError, PrefectError
from slurmtui.store import reduce
from slurmtui.store.feeds import Feeds
from slurmtui.store.link import Memory, join
from slurmtui.store.snapshot import Snapshot
from slurmtui.store.wanted import ended_job_ids, task_runs_to_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.flow_run import FlowRun
    from slurmtui.session import Session

_COUNTED = 1000


async def gather(
    session: Session, *, everyone: bool = False, since: float | None = None, ids: Sequence[str] = ()
) -> Snapshot:
    """Ask all sources once; what does not answer leaves its error in its part of the snapshot.

    Args:
        session: whom to ask.
        everyone: the queue of all users, not only the user's own.
        since: ended runs from this moment on; None for all.
        ids: beginnings of ids of runs that are wanted in any case.
    """
    return await Gathering(session, Snapshot(user=session.user, since=since)).all(everyone=everyone, ids=ids)


class Gathering:
    """One round of questions, in the order in which the answers need each other.

    Prefect is asked after the drivers were looked at: a driver that ends between the two is then seen alive with a run
    that has ended, and never gone with a run that goes on.
    """

    def __init__(self, session: Session, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._feeds = Feeds(session)
        self._memory = Memory()

    async def all(self, *, everyone: bool, ids: Sequence[str]) -> Snapshot:
        """Ask everything."""
        await self._queue(everyone=everyone)
        await self._records()
        self._join()  # tells which recorded runs have jobs
        if await self._prefect(ids):
            await self._counts()
        self._join()
        shown = (
            frozenset(view.run.id for view in self.snapshot.runs if view.run.id.startswith(tuple(ids))) if ids else ()
        )
        await self._ended(shown)
        await self._task_runs(shown)
        self._join()
        return self.snapshot

    def _join(self) -> None:
        self.snapshot = join(self.snapshot, time.time(), self._memory)

    def _failed(self, name: str, error: Exception) -> None:
        self.snapshot = reduce.failed(self.snapshot, name, str(error), at=time.time())

    async def _queue(self, *, everyone: bool) -> None:
        started = time.time()
        try:
            table = await self._feeds.queue(everyone=everyone)
        except CommandError as error:
            self._failed("queue", error)
            return
        now = time.time()
        self.snapshot = reduce.queue_answered(self.snapshot, table, everyone=everyone, at=now, seconds=now - started)

    async def _records(self) -> None:
        started = time.time()
        clusters, keepers = await self._feeds.clusters()
        records, drivers, problems = await self._feeds.records(self.snapshot.queue)
        now = time.time()
        self.snapshot = reduce.clusters_answered(self.snapshot, clusters, keepers, at=now)
        self.snapshot = reduce.records_answered(self.snapshot, records, drivers, at=now, seconds=now - started)
        if problems:
            self.snapshot = reduce.failed(self.snapshot, "records", "; ".join(problems), at=now)

    async def _prefect(self, ids: Sequence[str]) -> bool:
        started, parts = time.time(), self.snapshot
        with_jobs = frozenset(parts.run_of_job.values())
        try:
            answer = await self._feeds.prefect(parts.since, parts.records.data, parts.drivers, with_jobs)
            answer = await self._with_named(answer, ids)
        except PrefectError as error:
            self._failed("flow_runs", error)
            return False
        now = time.time()
        self.snapshot = reduce.prefect_answered(parts, answer, since=parts.since, at=now, seconds=now - started)
        return True

    async def _with_named(self, answer: reduce.PrefectAnswer, ids: Sequence[str]) -> reduce.PrefectAnswer:
        """The answer with older runs that were asked for by id."""
        runs: dict[str, FlowRun] = {run.id: run for run in answer.runs}
        for prefix in ids:
            if not any(run_id.startswith(prefix) for run_id in runs):
                found = await (await self._feeds.client()).find_flow_runs(prefix)
                runs.update({run.id: run for run in found})
        return msgspec.structs.replace(answer, runs=tuple(runs.values()))

    async def _counts(self) -> None:
        started = time.time()
        try:
            counts = await self._feeds.counts(self.snapshot.flow_runs.data, _COUNTED)
        except PrefectError as error:
            self._failed("counts", error)
            return
        now = time.time()
        self.snapshot = reduce.counts_answered(self.snapshot, counts, at=now, seconds=now - started)

    async def _ended(self, shown: Sequence[str] | frozenset[str]) -> None:
        started = time.time()
        wanted = self._feeds.due(ended_job_ids(self.snapshot, shown, started))
        if not wanted:
            return
        try:
            ended = await self._feeds.ended(wanted)
        except CommandError as error:
            self._failed("ended", error)
            return
        now = time.time()
        self.snapshot = reduce.ended_answered(self.snapshot, ended, at=now, seconds=now - started)

    async def _task_runs(self, shown: Sequence[str] | frozenset[str]) -> None:
        if not self.snapshot.flow_runs.good:
            return
        started = time.time()
        wanted = frozenset(task_runs_to_read(self.snapshot, (), shown, started))
        try:
            task_runs = await self._feeds.task_runs([run for run in self.snapshot.flow_runs.data if run.id in wanted])
        except PrefectError as error:
            self._failed("task_runs", error)
            return
        now = time.time()
        self.snapshot = reduce.task_runs_answered(self.snapshot, task_runs, at=now, seconds=now - started)
