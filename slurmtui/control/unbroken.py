"""Lets what must not stop half way come to its end, also when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

Result = TypeVar("Result")


async def unbroken(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of ``work``; a cancel of the caller takes effect when it is done.

    ``work`` must come to its end within limits of its own.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait((task,))
        if not task.cancelled():
            task.exception()  # nobody asks for it any more
        raise
