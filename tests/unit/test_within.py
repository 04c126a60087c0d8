"""A time limit that loses neither results nor cancellations."""

from __future__ import annotations

import asyncio

import pytest

from slurmtui.sources.within import within


async def test_a_result_and_an_error_come_through() -> None:
    async def work(*, well: bool) -> str:
        await asyncio.sleep(0)
        if not well:
            raise ValueError("no")
        return "well"

    assert await within(work(well=True), 60) == "well"
    with pytest.raises(ValueError, match="no"):
        await within(work(well=False), 60)


async def test_what_takes_too_long_has_ended_when_that_is_said() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(1)

    with pytest.raises(asyncio.TimeoutError):
        await within(work(), 0.01)
    assert ended == [1]


async def test_a_cancellation_in_the_turn_in_which_the_work_ends_is_not_lost() -> None:
    answered = asyncio.Event()

    async def caller() -> str:
        await within(answered.wait(), 60)
        return "went on as if nobody had cancelled it"

    for turns in range(5):
        answered.clear()
        task = asyncio.ensure_future(caller())
        await asyncio.sleep(0.01)
        answered.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        if not task.done():
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


async def test_a_cancelled_caller_leaves_no_work_behind() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(1)

    task = asyncio.ensure_future(within(work(), 60))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [1]
