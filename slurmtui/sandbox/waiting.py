"""Waiting for conditions, each with a deadline."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_PAUSE = 0.05


async def until(
    condition: Callable[[], Awaitable[bool]], seconds: float, *, given_up: Callable[[], bool] = lambda: False
) -> bool:
    """Wait until ``condition`` holds; False when it did not within ``seconds`` or ``given_up`` said so before."""
    deadline = time.monotonic() + seconds
    while True:
        if await condition():
            return True
        if given_up() or time.monotonic() > deadline:
            return False
        await asyncio.sleep(_PAUSE)


async def together(*works: Awaitable[Any]) -> None:
    """Do all ``works`` at the same time, each to its end; then raise the first error there was."""
    for outcome in await asyncio.gather(*works, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
