"""Pollers: when they ask, and that nothing stops them."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from slurmtui.errors import CommandError
from slurmtui.store.poller import Poller, Timing

if TYPE_CHECKING:
    from collections.abc import Callable

TIMING = Timing(floor=2, fast=2, normal=10, idle=60, fast_for=20)


async def eventually(condition: Callable[[], bool]) -> None:
    """Let the event loop turn until ``condition()`` holds."""
    for _ in range(100_000):
        if condition():
            return
        await asyncio.sleep(0)
    pytest.fail("it never came to that")


class World:
    """A clock that jumps to whatever is waited for next, so that hours pass in moments; waits stay in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.asked: list[float] = []
        self.errors: list[str] = []
        self.work = 0.0
        self.fault: BaseException | None = None
        self.kicks: dict[float, Callable[[], None]] = {}
        monkeypatch.setattr("slurmtui.store.poller.woken", self._woken)
        monkeypatch.setattr("slurmtui.store.poller.random.uniform", lambda _low, _high: 1.0)

    async def _woken(self, wake: asyncio.Event, seconds: float) -> None:
        due = [moment for moment in self.kicks if moment <= self.now + seconds]
        await asyncio.sleep(0)
        if due:
            self.now = max(self.now, min(due))
            self.kicks.pop(min(due))()
        elif not wake.is_set():
            self.now += seconds

    async def ask(self) -> None:
        self.asked.append(self.now)
        self.now += self.work
        if self.fault is not None:
            raise self.fault

    def gaps(self) -> list[float]:
        return [round(later - earlier, 3) for earlier, later in zip(self.asked, self.asked[1:], strict=False)]

    async def until_asked(self, poller: Poller, times: int) -> None:
        """Let the poller run until it has asked so many times in all."""
        task = asyncio.create_task(poller.run())
        await eventually(lambda: len(self.asked) >= times)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


@pytest.fixture
def poller(world: World) -> Poller:
    return Poller("test", world.ask, world.errors.append, TIMING, clock=lambda: world.now)


async def test_it_rests_after_its_work(world: World, poller: Poller) -> None:
    world.work = 0.5
    await world.until_asked(poller, 4)
    assert world.gaps() == [10.5, 10.5, 10.5]


async def test_a_slow_source_is_asked_less_often(world: World, poller: Poller) -> None:
    world.work = 15
    await world.until_asked(poller, 3)
    assert world.gaps() == [165, 165]


async def test_a_kick_wakes_but_never_below_the_floor(world: World, poller: Poller) -> None:
    world.kicks = {1000.5: poller.kick, 1007.0: poller.kick}
    await world.until_asked(poller, 4)
    assert world.gaps() == [2, 5, 10]


async def test_an_own_action_quickens_for_a_while(world: World, poller: Poller) -> None:
    world.kicks = {1005.0: lambda: poller.kick(fast=True)}
    await world.until_asked(poller, 14)
    gaps = world.gaps()
    assert gaps[0] == 5
    assert gaps[1:10] == [2] * 9
    assert gaps[-1] == 10
    assert sum(gaps[1:]) - 10 * gaps[1:].count(10) <= 22


async def test_nobody_looking_means_once_a_minute_at_most(world: World, poller: Poller) -> None:
    poller.set_pace("idle")
    await world.until_asked(poller, 3)
    assert world.gaps() == [60, 60]


async def test_coming_back_asks_at_once_when_the_data_is_old(world: World, poller: Poller) -> None:
    poller.set_pace("idle")
    world.kicks = {1030.0: lambda: poller.set_pace("normal")}
    await world.until_asked(poller, 3)
    assert world.gaps() == [30, 10]


async def test_failures_back_off_to_a_minute_and_are_told(world: World, poller: Poller) -> None:
    world.fault = CommandError("Unable to contact slurm controller", argv=("squeue",), code=1)
    await world.until_asked(poller, 7)
    assert world.gaps() == [10, 20, 40, 60, 60, 60]
    assert set(world.errors) == {"Unable to contact slurm controller"}


async def test_after_a_failure_success_brings_the_usual_pace_back(world: World, poller: Poller) -> None:
    world.fault = OSError("gone")
    world.kicks = {1025.0: lambda: setattr(world, "fault", None)}
    await world.until_asked(poller, 5)
    assert world.gaps()[-1] == 10
    assert poller.failures == 0


async def test_a_fault_of_the_program_is_told_and_does_not_stop_it(
    world: World, poller: Poller, caplog: pytest.LogCaptureFixture
) -> None:
    world.fault = ZeroDivisionError("oh")
    await world.until_asked(poller, 2)
    assert "ZeroDivisionError" in world.errors[0]
    assert "Traceback" in caplog.text


async def test_kicks_during_the_work_make_one_more_question() -> None:
    begun, go_on, asked = asyncio.Event(), asyncio.Event(), 0

    async def ask() -> None:
        nonlocal asked
        asked += 1
        begun.set()
        await go_on.wait()

    poller = Poller("test", ask, lambda _error: None, Timing(floor=0, fast=0, normal=30, idle=60))
    task = asyncio.create_task(poller.run())
    await begun.wait()
    for _ in range(20):
        poller.kick()
    go_on.set()
    await eventually(lambda: asked == 2)
    for _ in range(50):
        await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert asked == 2


async def test_the_answer_is_awaited_however_long_it_takes() -> None:
    """A question slower than its interval is neither started twice nor cut off."""
    running = most = done = 0

    async def ask() -> None:
        nonlocal running, most, done
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        done += 1

    poller = Poller("test", ask, lambda _error: None, Timing(floor=0, fast=0, normal=0.001, idle=1))
    task = asyncio.create_task(poller.run())
    while done < 2:
        poller.kick()
        await asyncio.sleep(0.001)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert most == 1


async def test_it_ends_even_when_the_cancellation_was_swallowed() -> None:
    begun = asyncio.Event()

    async def ask() -> None:
        begun.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)

    poller = Poller("test", ask, lambda _error: None, Timing(floor=0, fast=0, normal=0.01, idle=1))
    task = asyncio.create_task(poller.run())
    await begun.wait()
    poller.end()
    task.cancel()
    await asyncio.wait({task}, timeout=30)
    assert task.done()


async def test_a_kick_at_the_moment_of_the_cancellation_does_not_swallow_it() -> None:
    asked = 0

    async def ask() -> None:
        nonlocal asked
        asked += 1

    poller = Poller("test", ask, lambda _error: None, Timing(floor=0, fast=0, normal=60, idle=60))
    task = asyncio.create_task(poller.run())
    await eventually(lambda: asked == 1)
    poller.kick()
    task.cancel()
    await asyncio.wait({task}, timeout=30)
    assert task.cancelled()
