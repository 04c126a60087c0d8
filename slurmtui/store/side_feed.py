"""A source that is asked only while a view that needs it is on screen.

Hidden views poll nothing: the last answer stays, with its age, and the first thing a view that comes back does is to
ask again, unless the answer is still fresh.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from slurmtui.store.poller import Pace, Poller, Timing
from slurmtui.store.snapshot import Part

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Data = TypeVar("Data")

_log = logging.getLogger("slurmtui.store")


class SideFeed(Generic[Data]):
    """One source of one kind of data.

    ``ask`` fetches; ``part`` holds its last good answer and what is wrong now. Whoever shows it is told of a change.
    """

    def __init__(self, name: str, ask: Callable[[], Awaitable[Data]], empty: Data, timing: Timing) -> None:
        self.name = name
        self.part: Part[Data] = Part(empty)
        self._ask = ask
        self._timing = timing
        self._pace: Pace = "normal"
        self._poller: Poller | None = None  # one for each time that the questions begin: an ended one never asks again
        self._viewers: dict[str, Callable[[], None]] = {}
        self._task: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._resting = False

    @property
    def shown(self) -> bool:
        """Whether somebody looks."""
        return bool(self._viewers)

    def show(self, viewer: str, changed: Callable[[], None]) -> None:
        """A view came on screen: ask as long as it is there, and call ``changed`` after each answer."""
        self._viewers[viewer] = changed
        if self._task is None:
            self._start(self._fresh_for())

    def hide(self, viewer: str) -> None:
        """The view has left the screen; with the last one the questions end, also the one under way."""
        self._viewers.pop(viewer, None)
        if not self._viewers:
            self._cancel()

    def kick(self) -> None:
        """Ask again now, if anybody looks."""
        if self._task is None:
            return
        if self._resting:
            self._cancel()
            self._start(0)
        elif self._poller is not None:
            self._poller.kick()

    def set_pace(self, pace: Pace) -> None:
        """As for every poller."""
        self._pace = pace
        if self._poller is not None:
            self._poller.set_pace(pace)

    async def stop(self) -> None:
        """End for good, and wait for every question that was still under way."""
        self._viewers.clear()
        self._cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)

    def publish(self, data: Data, seconds: float = 0.0) -> None:
        """Take an answer, or a part of one that takes longer, and tell the views."""
        same = data == self.part.data
        self.part = Part(self.part.data if same else data, at=time.time(), seconds=seconds)
        self._tell()

    def _fresh_for(self) -> float:
        """How long the last answer is still good enough."""
        if self.part.at is None or self.part.error:
            return 0.0
        return max(0.0, self._timing.normal - (time.time() - self.part.at))

    def _start(self, after: float) -> None:
        self._poller = Poller(self.name, self._once, self._failed, self._timing)
        self._poller.set_pace(self._pace)
        self._resting = after > 0
        self._task = asyncio.create_task(self._run(self._poller, after), name=f"store {self.name}")

    def _cancel(self) -> None:
        task, poller, self._task, self._poller = self._task, self._poller, None, None
        if task is None or poller is None:
            return
        poller.end()  # beside cancelling the task: a cancellation can be lost in the question under way
        task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _run(self, poller: Poller, after: float) -> None:
        await asyncio.sleep(after)
        self._resting = False
        await poller.run()

    async def _once(self) -> None:
        started = time.time()
        data = await self._ask()
        self.publish(data, time.time() - started)

    def _failed(self, error: str) -> None:
        since = self.part.failing_since if self.part.failing_since is not None else time.time()
        self.part = msgspec.structs.replace(self.part, error=error, failing_since=since)
        self._tell()

    def _tell(self) -> None:
        for changed in tuple(self._viewers.values()):
            _tell_one(changed, self.name)


def _tell_one(changed: Callable[[], None], name: str) -> None:
    try:
        changed()
    except Exception:  # noqa: BLE001 - logged; one view's fault must not end the source
        _log.exception("a view of %s failed", name)
