"""Lets what must not stop half way come to its end, also when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

Result = TypeVar("Result")

SETTLED_SECONDS = 20.0
"""So long the end of the program waits for what is under way: a few requests and one sbatch."""

_under_way: set[asyncio.Task[Any]] = set()


async def unbroken(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of ``work``; a cancel of the caller takes effect when it is done.

    ``work`` must come to its end within limits of its own. A program that ends its event loop waits for ``settled``
    first: a loop ends every task that is left, also this one.
    """
    task = asyncio.ensure_future(work)
    _under_way.add(task)
    task.add_done_callback(_under_way.discard)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait((task,))
        if not task.cancelled():
            task.exception()  # nobody asks for it any more
        raise


def is_settled() -> bool:
    """Whether nothing is under way that must come to its end."""
    return not _under_way


async def settled(seconds: float = SETTLED_SECONDS) -> None:
    """Wait until what is under way has come to its end, at most so many seconds."""
    if _under_way:
        await asyncio.wait(tuple(_under_way), timeout=seconds)
