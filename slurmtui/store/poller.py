"""One long-lived task a source: asks, rests *after* its work, is woken by a kick, and never stops for an error.

Polling as a timer that starts new work is wrong in two ways (measured): work slower than the interval is started again
and again and never ends, and threads pile up. Here there is one question at a time; kicks while it is under way
coalesce into one more.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from typing import TYPE_CHECKING, Literal

import msgspec

from slurmtui.errors import SlurmtuiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Pace = Literal["fast", "normal", "idle"]

_log = logging.getLogger("slurmtui.store")

JITTER = 0.1
"""Consoles that were opened together do not ask together for ever."""

SLOW_FACTOR = 10.0
"""A source that needs long is asked less often: it is busy nine tenths of the time with others."""


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds between the end of one question and the next.

    ``floor`` is the least between two starts, whoever wishes it; ``fast_for`` is how long an own action quickens.
    """

    floor: float = 2.0
    fast: float = 2.0
    normal: float = 10.0
    idle: float = 60.0
    fast_for: float = 20.0
    longest_backoff: float = 60.0


class Poller:
    """Asks one source again and again.

    ``ask`` fetches and applies the answer; ``failed`` is told an error that it raised.
    """

    def __init__(
        self,
        name: str,
        ask: Callable[[], Awaitable[None]],
        failed: Callable[[str], None],
        timing: Timing,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.timing = timing
        self.failures = 0
        self._ask = ask
        self._failed = failed
        self._clock = clock
        self._pace: Pace = "normal"
        self._fast_until = 0.0
        self._kicked = False
        self._over = False
        self._wake = asyncio.Event()

    def kick(self, *, fast: bool = False) -> None:
        """Ask again now (or as soon as the floor allows); with ``fast`` more often for a while."""
        self._kicked = True
        if fast:
            self._fast_until = self._clock() + self.timing.fast_for
        self._wake.set()

    def set_pace(self, pace: Pace) -> None:
        """Change the pace; ``fast`` holds for a while only and leaves the pace as it was."""
        if pace == "fast":
            self._fast_until = self._clock() + self.timing.fast_for
        else:
            self._pace = pace
        self._wake.set()

    def end(self) -> None:
        """Ask no more. Beside cancelling the task: a cancellation can be lost (``asyncio.wait_for`` before 3.12)."""
        self._over = True
        self._wake.set()

    async def run(self) -> None:
        """Ask until ended or cancelled."""
        while not self._over:
            self._kicked = False
            started = self._clock()
            await self._once()
            await self._rest(started, self._clock())

    async def _once(self) -> None:
        try:
            await self._ask()
        except (SlurmtuiError, OSError) as error:
            self._note(str(error) or type(error).__name__)
        except Exception as error:  # noqa: BLE001 - a fault of the program: logged and shown, and no reason to stop
            _log.exception("the poller %s failed", self.name)
            self._note(f"a fault in slurmtui ({type(error).__name__}: {error}); its log file tells more")
        else:
            self.failures = 0

    def _note(self, error: str) -> None:
        self.failures += 1
        self._failed(error)

    async def _rest(self, started: float, ended: float) -> None:
        jitter = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - no secret
        while not self._over:
            self._wake.clear()
            left = self._due(started, ended, jitter) - self._clock()
            if left <= 0:
                return
            await woken(self._wake, left)

    def _due(self, started: float, ended: float, jitter: float) -> float:
        """When to ask next, as things stand now."""
        earliest = started + self.timing.floor
        return earliest if self._kicked else max(earliest, ended + self._delay(ended - started) * jitter)

    def _delay(self, duration: float) -> float:
        timing = self.timing
        if self.failures:
            usual = timing.idle if self._pace == "idle" else timing.normal
            return max(usual, min(timing.longest_backoff, usual * 2.0 ** min(self.failures - 1, 16)))
        fast = self._clock() < self._fast_until
        usual = timing.fast if fast else timing.idle if self._pace == "idle" else timing.normal
        return max(usual, duration * SLOW_FACTOR)


async def woken(wake: asyncio.Event, seconds: float) -> None:
    """Wait until ``wake`` is set, at most so many seconds. A cancellation always comes through."""
    timer = asyncio.get_running_loop().call_later(seconds, wake.set)
    try:
        await wake.wait()
    finally:
        timer.cancel()
