"""Reading files in a thread, so that closing them meanwhile is safe; asking servers without waiting for them."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Result = TypeVar("Result")

PATIENCE_SECONDS = 0.3
"""How long the files wait for a server's answer before they are shown without it."""


class Asking(Generic[Result]):
    """A question that may take long: asked once at a time, and looked at now and then."""

    def __init__(self, ask: Callable[[], Coroutine[None, None, Result]]) -> None:
        self._ask = ask
        self._task: asyncio.Task[Result] | None = None

    async def answer(self, patience: float | None = PATIENCE_SECONDS) -> Result | None:
        """The answer, or None while it is not there; ``patience`` None waits for it."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._ask())
        task = self._task
        await asyncio.wait([task], timeout=patience)
        if not task.done():
            return None
        self._task = None
        return task.result()

    def close(self) -> None:
        """Give the question up."""
        if self._task is not None:
            self._task.cancel()


class Reading:
    """One reader at a time; what is to be closed while it reads is closed when it is done.

    A task that is cancelled leaves its thread behind, and a handle closed under a reading thread may by then belong to
    another file.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closing: Callable[[], None] | None = None

    async def run(self, read: Callable[[], Result]) -> Result:
        """Call ``read`` in a thread."""
        return await asyncio.to_thread(self._read, read)

    def close(self, close: Callable[[], None]) -> None:
        """Call ``close`` now, or when the reader is done; never waits."""
        self._closing = close
        self._close_if_idle()

    def _read(self, read: Callable[[], Result]) -> Result:
        try:
            with self._lock:
                return read()
        finally:
            self._close_if_idle()

    def _close_if_idle(self) -> None:
        if self._closing is not None and self._lock.acquire(blocking=False):
            try:
                close, self._closing = self._closing, None
                if close is not None:
                    close()
            finally:
                self._lock.release()
