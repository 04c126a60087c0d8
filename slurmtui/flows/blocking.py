"""Runs a coroutine from a flow's synchronous code, whether or not an event loop is running there."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

Result = TypeVar("Result")


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The coroutine's result; in an asynchronous flow it is run in a thread of its own, for this one has a loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1, thread_name_prefix="slurmtui") as pool:
        return pool.submit(asyncio.run, coroutine).result()
