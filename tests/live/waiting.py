"""Waiting for what is to become true, with a limit that a slow machine does not reach."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")
_PAUSE = 0.1


def wait_for(condition: Callable[[], _T], timeout: float = 20, why: str = "") -> _T:
    """Wait until ``condition()`` is true; return what it returned."""
    deadline = time.monotonic() + timeout
    while not (found := condition()):
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout:g} s in vain: {why or condition}")
        time.sleep(_PAUSE)
    return found


async def eventually_true(
    condition: Callable[[], Any],
    timeout: float = 20,
    why: str = "",
) -> Any:
    """Wait, letting the event loop run, until ``condition()`` (which may be a coroutine function) is true."""
    deadline = time.monotonic() + timeout
    while True:
        answer: Any = condition()
        found = await answer if inspect.isawaitable(answer) else answer
        if found:
            return found
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout:g} s in vain: {why or condition}")
        await asyncio.sleep(_PAUSE)
