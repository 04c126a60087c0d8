"""Sources of single views: asked while they are shown, and not otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.store.poller import Timing
from slurmtui.store.side_feed import SideFeed

if TYPE_CHECKING:
    from collections.abc import Callable

FAST = Timing(floor=0.001, fast=0.01, normal=0.02, idle=0.02)
SLOW = Timing(floor=0.001, fast=60, normal=60, idle=60)


async def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        await asyncio.sleep(0.002)


async def others_ask() -> None:
    """Wait until a feed that is shown has asked several times: one that were still asking would have asked too."""
    source = Source()
    feed = SideFeed("another", source.ask, 0, FAST)
    feed.show("view", source.changed)
    await until(lambda: source.asked >= 5)
    await feed.stop()


class Source:
    """Counts, and answers or fails."""

    def __init__(self) -> None:
        self.asked = 0
        self.error = ""
        self.gate = asyncio.Event()
        self.gate.set()
        self.told = 0

    async def ask(self) -> int:
        self.asked += 1
        await self.gate.wait()
        if self.error:
            raise CommandError(self.error, argv=("sinfo",), code=1)
        return self.asked

    def changed(self) -> None:
        self.told += 1


async def test_nothing_is_asked_before_it_is_shown_and_after_it_is_hidden() -> None:
    source = Source()
    feed = SideFeed("x", source.ask, 0, FAST)
    await others_ask()
    assert source.asked == 0
    feed.show("view", source.changed)
    await until(lambda: source.asked >= 3)
    feed.hide("view")
    asked = source.asked
    await others_ask()
    assert source.asked == asked
    assert feed.part.data >= 2
    assert source.told >= 2


async def test_two_views_share_a_feed_and_the_last_one_ends_it() -> None:
    source = Source()
    feed = SideFeed("x", source.ask, 0, FAST)
    feed.show("one", source.changed)
    feed.show("two", source.changed)
    feed.hide("one")
    asked = source.asked
    await until(lambda: source.asked > asked + 1)
    feed.hide("two")
    assert not feed.shown


async def test_a_view_that_comes_back_soon_asks_nothing_new() -> None:
    source = Source()
    feed = SideFeed("x", source.ask, 0, SLOW)
    feed.show("view", source.changed)
    await until(lambda: feed.part.at is not None)
    feed.hide("view")
    feed.show("view", source.changed)
    await others_ask()
    assert source.asked == 1
    feed.kick()  # but a person's wish counts
    await until(lambda: source.asked == 2)
    await feed.stop()


async def test_hiding_ends_the_question_under_way() -> None:
    source = Source()
    source.gate.clear()
    feed = SideFeed("x", source.ask, 0, FAST)
    feed.show("view", source.changed)
    await until(lambda: source.asked == 1)
    feed.hide("view")
    source.gate.set()
    await others_ask()
    assert (source.told, feed.part.at) == (0, None)


async def test_a_failure_keeps_the_data_and_says_since_when() -> None:
    source = Source()
    feed = SideFeed("x", source.ask, 0, FAST)
    feed.show("view", source.changed)
    await until(lambda: feed.part.at is not None)
    data = feed.part.data
    source.error = "Unable to contact slurm controller"
    await until(lambda: bool(feed.part.error))
    assert feed.part.data >= data
    since = feed.part.failing_since
    assert since is not None
    source.error = ""
    feed.kick()
    await until(lambda: not feed.part.error)
    assert feed.part.failing_since is None
    await feed.stop()


async def test_a_fault_of_a_view_does_not_end_the_source() -> None:
    source = Source()
    feed = SideFeed("x", source.ask, 0, FAST)

    def broken() -> None:
        raise ZeroDivisionError

    feed.show("broken", broken)
    feed.show("view", source.changed)
    await until(lambda: source.told >= 2)
    await feed.stop()
    await asyncio.sleep(0)
    assert not feed.shown


async def test_equal_answers_stay_the_same_object() -> None:
    async def ask() -> list[int]:
        return [1, 2]

    feed: SideFeed[list[int]] = SideFeed("x", ask, [], FAST)
    told: list[list[int]] = []
    feed.show("view", lambda: told.append(feed.part.data))
    await until(lambda: len(told) >= 3)
    assert told[0] is told[1] is told[2]
    await feed.stop()


async def test_a_question_that_misses_its_cancellation_is_the_last_one() -> None:
    source = Source()

    async def deaf() -> int:
        source.asked += 1
        with contextlib.suppress(asyncio.CancelledError):  # as asyncio.wait_for may before Python 3.12
            await source.gate.wait()
        return source.asked

    feed = SideFeed("x", deaf, 0, FAST)
    source.gate.clear()
    feed.show("view", source.changed)
    await until(lambda: source.asked == 1)
    feed.hide("view")
    await until(lambda: not feed._ending)
    feed.show("view", source.changed)
    await until(lambda: source.asked == 2)
    await feed.stop()
    source.gate.set()
    assert (source.asked, feed._ending) == (2, set())


async def test_the_end_waits_for_the_question_of_a_view_that_was_just_hidden() -> None:
    ended = []

    async def slow() -> int:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.02)  # as long as it takes to reap a command
            ended.append(1)
        return 1

    feed = SideFeed("x", slow, 0, FAST)
    feed.show("view", lambda: None)
    await asyncio.sleep(0.01)
    feed.hide("view")
    await feed.stop()
    assert ended == [1]
