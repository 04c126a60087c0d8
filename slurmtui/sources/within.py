"""A time limit for a coroutine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

Result = TypeVar("Result")


async def within(work: Coroutine[Any, Any, Result], seconds: float) -> Result:
    """The result of ``work``; as ``asyncio.wait_for``, but a cancellation of the caller always comes through.

    Before Python 3.12 ``wait_for`` loses it when ``work`` ends in the same turn of the event loop: a view that went on
    with another row would then be painted with the answer for the row before.

    Raises:
        asyncio.TimeoutError: ``work`` did not end in time; it was cancelled and has ended.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait((task,), timeout=seconds)
    finally:
        late = not task.done()
        if late:
            task.cancel()
            await asyncio.wait((task,))
    if late and task.cancelled():
        raise asyncio.TimeoutError
    return task.result()
