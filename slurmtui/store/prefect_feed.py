"""What the Prefect poller asks, one after the other: the flow runs first, since they are the list; then the rest."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from slurmtui.errors import PrefectError
from slurmtui.store import reduce
from slurmtui.store.wanted import runs_to_count, task_runs_to_read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slurmtui.store.store import Store

DAY = 86400.0


class PrefectFeed:
    """Asks Prefect for a store; knows which runs somebody looks at."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.watched: frozenset[str] = frozenset()
        self.shown: frozenset[str] = frozenset()

    def watch(self, ids: Iterable[str]) -> bool:
        """Read the task runs of these runs; whether there is one among them that was not read before."""
        watched = frozenset(ids)
        new = not watched <= self.watched
        self.watched = watched
        return new

    def show(self, ids: Iterable[str]) -> bool:
        """These rows are visible; whether the counts of one of them were not asked for before."""
        shown = frozenset(ids)
        self.shown = shown
        return not shown <= self._store.snapshot.counts.data.keys()

    async def ask(self) -> None:
        """One round of questions.

        Raises:
            PrefectError: the list could not be read; the rest has errors of its own.
        """
        store, started = self._store, time.time()
        since = None if store.days is None else started - store.days * DAY
        parts = store.parts
        answer = await store.feeds.prefect(
            since, parts.records.data, parts.drivers, frozenset(parts.run_of_job.values())
        )
        now = time.time()
        store.apply(reduce.prefect_answered(store.parts, answer, since=since, at=now, seconds=now - started))
        await self._ask_counts()
        await self._ask_task_runs()

    async def _ask_counts(self) -> None:
        store, started = self._store, time.time()
        try:
            counts = await store.feeds.counts(runs_to_count(store.parts, self.shown))
        except PrefectError as error:
            store.apply(reduce.failed(store.parts, "counts", str(error), at=time.time()))
            return
        now = time.time()
        if counts:
            store.apply(reduce.counts_answered(store.parts, counts, at=now, seconds=now - started))

    async def _ask_task_runs(self) -> None:
        store, started = self._store, time.time()
        wanted = frozenset(task_runs_to_read(store.snapshot, self.watched, self.shown, started))
        parts = reduce.task_runs_kept(store.parts, wanted)
        store.feeds.forget_task_runs(parts.task_runs.data)
        if parts is not store.parts:
            store.apply(parts)
        runs = [run for run in parts.flow_runs.data if run.id in wanted]
        try:
            task_runs = await store.feeds.task_runs(runs)
        except PrefectError as error:
            store.apply(reduce.failed(store.parts, "task_runs", str(error), at=time.time()))
            return
        now = time.time()
        if task_runs:
            store.apply(reduce.task_runs_answered(store.parts, task_runs, at=now, seconds=now - started))
