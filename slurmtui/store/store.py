"""The store: owns the pollers, joins what they bring, publishes a snapshot whenever something changed."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Literal

import msgspec

from slurmtui.store import reduce
from slurmtui.store.feeds import Feeds
from slurmtui.store.link import Memory, join
from slurmtui.store.poller import Pace, Poller, Timing
from slurmtui.store.prefect_feed import PrefectFeed
from slurmtui.store.snapshot import Snapshot
from slurmtui.store.tally import tally
from slurmtui.store.timeline import Timeline
from slurmtui.store.wanted import ended_job_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from slurmtui.models.config import SlurmConfig
    from slurmtui.models.job_table import JobTable
    from slurmtui.models.run_record import DriverStatus
    from slurmtui.session import Session
    from slurmtui.store.side_feeds import SideFeeds

Source = Literal["queue", "prefect", "records"]

DAY = 86400.0
DEFAULT_DAYS = 2.0

_log = logging.getLogger("slurmtui.store")


class Store:
    """Keeps one ``Snapshot`` up to date and tells the subscribers (in the event loop's thread) of each new one."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.snapshot = Snapshot(user=session.user, since=time.time() - DEFAULT_DAYS * DAY)
        self.feeds = Feeds(session)
        self.everyone = False
        self.days: float | None = DEFAULT_DAYS
        self._parts = self.snapshot  # as the pollers left it; ``snapshot`` is joined and published
        self._memory = Memory()
        self._subscribers: list[Callable[[Snapshot], None]] = []
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._expiry: asyncio.TimerHandle | None = None
        self._prefect = PrefectFeed(self)
        self.timeline = Timeline()
        self._side: SideFeeds | None = None
        self._pollers = self._make_pollers(session.config.slurm)

    def _make_pollers(self, config: SlurmConfig) -> dict[str, Poller]:
        floor, normal = config.floor_seconds, max(config.poll_seconds, config.floor_seconds)
        slurm = Timing(floor=floor, fast=floor, normal=normal, idle=max(60.0, normal))
        local = Timing(floor=0.5, fast=1.0, normal=2.0, idle=10.0)
        accounting = Timing(floor=floor, fast=normal, normal=normal, idle=max(60.0, normal), longest_backoff=600.0)
        return {
            "queue": Poller("queue", self._ask_queue, lambda error: self._fail("queue", error), slurm),
            "prefect": Poller("prefect", self._prefect.ask, lambda error: self._fail("flow_runs", error), slurm),
            "records": Poller("records", self._ask_records, lambda error: self._fail("records", error), local),
            "ended": Poller("ended", self._ask_ended, lambda error: self._fail("ended", error), accounting),
        }

    @property
    def side(self) -> SideFeeds:
        """What only some views show, asked only while one of them is on screen; made when it is first wanted."""
        if self._side is None:
            from slurmtui.store.side_feeds import SideFeeds  # noqa: PLC0415 - the console starts without paying for it

            self._side = SideFeeds(self.session)
        return self._side

    def subscribe(self, callback: Callable[[Snapshot], None]) -> Callable[[], None]:
        """Call ``callback`` with every new snapshot; returns the function that ends that."""
        self._subscribers.append(callback)

        def end() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return end

    def start(self) -> None:
        """Start all pollers at once (needs a running event loop)."""
        if self._tasks:
            return
        named = [(poller.name, poller.run()) for poller in self._pollers.values()]
        self._tasks = [asyncio.create_task(work, name=f"store {name}") for name, work in named]
        self._tasks.append(asyncio.create_task(self._publish_changes(), name="store publisher"))

    async def stop(self) -> None:
        """End all pollers and wait for them."""
        tasks, self._tasks = self._tasks, []
        for poller in self._pollers.values():
            poller.end()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._side is not None:
            await self._side.stop()
        if self._expiry is not None:
            self._expiry.cancel()

    def show_first_jobs(self, table: JobTable, *, everyone: bool) -> None:
        """Show the first jobs of a long answer, unless it has been read to its end by now."""
        if self._parts.queue.at is None:
            self._parts = msgspec.structs.replace(self._parts, first_jobs=table, everyone=everyone)
            self.snapshot = msgspec.structs.replace(self.snapshot, first_jobs=table, everyone=everyone)
            self._tell()

    def kick(self, *names: Source) -> None:
        """Ask sources (all, when none is named) again now, and faster for a while: something was just done."""
        for name in names or ("queue", "prefect", "records"):
            self._pollers[name].kick(fast=True)

    def refresh(self) -> None:
        """Ask all sources once, now, at a person's wish; the pace stays."""
        for poller in self._pollers.values():
            poller.kick()
        if self._side is not None:
            self._side.refresh()

    def watch_runs(self, ids: Iterable[str]) -> None:
        """Load the task runs of these runs as well (and of no others any more)."""
        if self._prefect.watch(ids):
            self._pollers["prefect"].kick()

    def show_runs(self, ids: Iterable[str]) -> None:
        """Load the task counts of these ended runs as well (the visible rows; active runs always have theirs)."""
        if self._prefect.show(ids):
            self._pollers["prefect"].kick()
            self._pollers["ended"].kick()

    def set_everyone(self, everyone: bool) -> None:  # noqa: FBT001 - the one thing it sets
        """Whether the queue of all users is read, or the user's own."""
        if everyone != self.everyone:
            self.everyone = everyone
            self._pollers["queue"].kick()

    def set_pace(self, pace: Pace) -> None:
        """``normal``; ``idle`` when nobody looks; ``fast`` for a while after an action of one's own."""
        for poller in self._pollers.values():
            poller.set_pace(pace)
        if self._side is not None:
            self._side.set_pace(pace)

    def overlay(self, identifier: str, text: str, seconds: float) -> None:
        """Show ``text`` over the row of this run or job id for some seconds, or until ``text`` is empty."""
        self.overlay_all((identifier,), text, seconds)

    def overlay_all(self, identifiers: Collection[str], text: str, seconds: float) -> None:
        """The same over many rows, shown at once."""
        until, rows = time.time() + seconds, frozenset(identifiers)
        self._parts = reduce.overlaid(self._parts, rows, text, until)
        self.snapshot = reduce.overlaid(self.snapshot, rows, text, until)
        self._tell()
        self._expire_later()

    # The pollers' side: questions, and what their answers change.

    @property
    def parts(self) -> Snapshot:
        """The newest answers; ``runs`` in it are those of the last join."""
        return self._parts

    def apply(self, parts: Snapshot) -> None:
        """Take changed parts; they are joined and published soon, together with what else comes until then."""
        self._parts = parts
        self._changed.set()

    def _fail(self, name: str, error: str) -> None:
        self.apply(reduce.failed(self._parts, name, error, at=time.time()))

    async def _ask_queue(self) -> None:
        everyone, started = self.everyone, time.time()
        table = await self.feeds.queue(everyone=everyone)
        now = time.time()
        self.apply(reduce.queue_answered(self._parts, table, everyone=everyone, at=now, seconds=now - started))

    async def _ask_records(self) -> None:
        started, before = time.time(), self._parts
        clusters, keepers = await self.feeds.clusters()
        records, drivers, problems = await self.feeds.records(before.queue)
        now = time.time()
        parts = reduce.clusters_answered(self._parts, clusters, keepers, at=now)
        parts = reduce.records_answered(parts, records, drivers, at=now, seconds=now - started)
        if problems:
            parts = reduce.failed(parts, "records", "; ".join(problems), at=now)
        if _is_over_since(before.drivers, drivers):
            self._pollers["prefect"].kick()  # what became of the run is known there
        same = parts.records.data is self._parts.records.data and parts.drivers is self._parts.drivers
        same = same and parts.clusters.data is self._parts.clusters.data and parts.keepers is self._parts.keepers
        if same and parts.records.error == self._parts.records.error and before.records.at is not None:
            self._parts = parts  # nothing to show: not worth a new snapshot every two seconds
        else:
            self.apply(parts)

    async def _ask_ended(self) -> None:
        lacking = await asyncio.to_thread(ended_job_ids, self.snapshot, self._prefect.shown, time.time())
        ids = self.feeds.due(lacking)
        if not ids:
            return
        started = time.time()
        ended = await self.feeds.ended(ids)
        now = time.time()
        self.apply(reduce.ended_answered(self._parts, ended, at=now, seconds=now - started))

    async def _publish_changes(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._publish()

    async def _publish(self) -> None:
        self._parts = reduce.without_expired(self._parts, time.time())
        try:
            joined, lacking = await asyncio.to_thread(self._join, self._parts)
        except Exception as error:  # noqa: BLE001 - a fault of the program: logged and shown; the next answer is tried
            _log.exception("the join failed")
            fault = f"a fault in slurmtui ({type(error).__name__}: {error}); its log file tells more"
            self.snapshot = reduce.failed(self.snapshot, "records", fault, at=time.time())
            self._tell()
            return
        self._parts = reduce.with_join(self._parts, joined)
        self.snapshot = reduce.with_overlays(joined, self._parts)
        accounting = self._pollers["ended"]
        if not accounting.failures and self.feeds.due(lacking):
            accounting.kick()
        self._tell()

    def _join(self, parts: Snapshot) -> tuple[Snapshot, list[str]]:
        """The joined snapshot, and the jobs of which accounting could say more; run in a thread."""
        joined = join(parts, time.time(), self._memory)
        tally(joined.queue.data, joined.user if joined.everyone else None)  # kept for whoever shows it
        self.timeline.note(joined)
        return joined, ended_job_ids(joined, self._prefect.shown, time.time())

    def _tell(self) -> None:
        for callback in tuple(self._subscribers):
            _tell_one(callback, self.snapshot)

    def _expire_later(self) -> None:
        """Publish again when the next overlay's time is over."""
        if self._expiry is not None:
            self._expiry.cancel()

        def over() -> None:
            self._changed.set()
            self._expire_later()

        now = time.time()
        ends = [overlay.until for overlay in self._parts.overlays.values() if overlay.until > now]
        if ends:
            self._expiry = asyncio.get_running_loop().call_later(min(ends) - now + 0.01, over)


def _is_over_since(before: dict[str, DriverStatus], after: dict[str, DriverStatus]) -> bool:
    """Whether a driver was seen to end."""
    return any(before.get(run_id, status) is not status and status.dead for run_id, status in after.items())


def _tell_one(callback: Callable[[Snapshot], None], snapshot: Snapshot) -> None:
    try:
        callback(snapshot)
    except Exception:  # noqa: BLE001 - logged; one view's fault must not take the picture from the others
        _log.exception("a subscriber failed")
