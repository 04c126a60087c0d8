"""What the views beside runs and jobs show: nodes, partitions, ended jobs, shares. Asked only while they are shown."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from slurmtui.models.job_table import EMPTY, JobTable
from slurmtui.models.partition_use import ClusterUse, JobCounts
from slurmtui.models.share import Shares
from slurmtui.sources.slurm.history import ended_between
from slurmtui.sources.slurm.nodes_reader import NodesReader
from slurmtui.sources.slurm.shares import read_shares
from slurmtui.store.history_book import MOST_DAYS, History, HistoryBook
from slurmtui.store.history_cache import HistoryCache
from slurmtui.store.poller import Pace, Timing
from slurmtui.store.side_feed import SideFeed
from slurmtui.store.view_state import cluster_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slurmtui.models.history import PastJob
    from slurmtui.session import Session

_IDLE = 60.0
_FRESH = 10.0


class OnNodes(NamedTuple):
    """The jobs on some nodes, and which nodes these are."""

    nodes: frozenset[str] = frozenset()
    jobs: JobTable = EMPTY


class SideFeeds:
    """One feed a kind of data."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._reader = NodesReader(session.runner, session.config.slurm.timeout_seconds)
        self._open_nodes: tuple[str, ...] = ()
        self.book = HistoryBook(self._ended, self._cache())
        slow, slower = self._timing(2), self._timing(6)
        self.nodes: SideFeed[ClusterUse] = SideFeed("nodes", self._reader.read, ClusterUse(), slow)
        self.counts: SideFeed[dict[str, JobCounts]] = SideFeed("counts", self._reader.counts, {}, slow)
        self.on_nodes: SideFeed[OnNodes] = SideFeed("on_nodes", self._on_nodes, OnNodes(), slow)
        self.history: SideFeed[History] = SideFeed("history", self._history, History(), slower)
        self.shares: SideFeed[Shares] = SideFeed("shares", self._shares, Shares(), slower)

    def _timing(self, factor: float) -> Timing:
        config = self.session.config.slurm
        normal = max(config.poll_seconds, config.floor_seconds) * factor
        return Timing(
            floor=config.floor_seconds, fast=normal, normal=normal, idle=max(_IDLE, normal), longest_backoff=600.0
        )

    def _cache(self) -> HistoryCache | None:
        """None for the sandbox: it may be made anew at any time under the same name."""
        place = self.session.place
        if place.sandbox:
            return None
        return HistoryCache(cluster_name(place.environment, place.label), self.session.user)

    @property
    def all(self) -> tuple[SideFeed[Any], ...]:
        """Every feed."""
        return (self.nodes, self.counts, self.on_nodes, self.history, self.shares)

    def open_nodes(self, names: Iterable[str]) -> None:
        """Tell the jobs on these nodes (and on no others any more)."""
        wanted = tuple(sorted(set(names)))
        if wanted != self._open_nodes:
            self._open_nodes = wanted
            self.on_nodes.kick()

    def set_days(self, days: int) -> None:
        """How many days of ended jobs are shown."""
        self.book.days = min(max(1, days), MOST_DAYS)
        self.history.kick()

    def set_pace(self, pace: Pace) -> None:
        """As the store's."""
        for feed in self.all:
            feed.set_pace(pace)

    def refresh(self) -> None:
        """Ask again, at a person's wish, whatever is shown."""
        if self.history.shown:
            self.book.again()
        for feed in self.all:
            feed.kick()

    async def stop(self) -> None:
        """End all questions."""
        await asyncio.gather(*(feed.stop() for feed in self.all))

    async def now(self) -> ClusterUse:
        """Nodes and partitions as they are now: what is shown, or was read a moment ago, else asked for.

        Raises:
            CommandError: SLURM does not answer.
        """
        part = self.nodes.part
        if part.good and part.at is not None and time.time() - part.at < _FRESH:
            return part.data
        data = await self._reader.read()
        self.nodes.publish(data)
        return data

    async def _on_nodes(self) -> OnNodes:
        names = self._open_nodes
        return OnNodes(frozenset(names), await self._reader.jobs_on(names) if names else EMPTY)

    async def _ended(self, start: float, end: float) -> list[PastJob]:
        session = self.session
        return await ended_between(session.runner, session.user, start, end, session.config.slurm.timeout_seconds)

    async def _history(self) -> History:
        return await self.book.update(self.history.publish)

    async def _shares(self) -> Shares:
        session = self.session
        cluster = await session.slurm.cluster_name()
        return await read_shares(session.runner, session.user, cluster, session.config.slurm.timeout_seconds)
