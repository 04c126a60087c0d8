"""Makes something of a command's output while it is still being written, in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Digest = Callable[[Callable[[int], Iterator[bytes]]], object]
"""Makes something of an output, for which it is given pieces of as many bytes as it wishes."""

_LOOK_SECONDS = 0.005
"""So often it is looked whether a command has written more."""


@contextlib.asynccontextmanager
async def digesting(handle: int, digest: Digest | None) -> AsyncIterator[asyncio.Future[object] | None]:
    """Have ``digest`` make something of what is written, until the body is left, by which time all of it is."""
    if digest is None:
        yield None
        return
    over = threading.Event()
    digested = _beside(lambda: digest(lambda size: _growing(handle, size, over)))
    try:
        yield digested
    finally:
        over.set()
        await _ended(digested)


def _beside(work: Callable[[], object]) -> asyncio.Future[object]:
    """``work``, done in a thread of its own: it lasts as long as the command, and those of the pool are few.

    Nobody waits for it when the program ends.
    """
    result: Future[object] = Future()
    result.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is looked at
            result.set_exception(error)

    threading.Thread(target=run, name="digest", daemon=True).start()
    return asyncio.wrap_future(result)


async def _ended(digested: asyncio.Future[object]) -> None:
    """Wait for the end of the thread, whoever cancels the wait: what it reads is closed afterwards."""
    cancelled: asyncio.CancelledError | None = None
    while not digested.done():
        cancelled = await _waited(digested) or cancelled
    digested.exception()  # looked at: of a command that failed nobody else does
    if cancelled is not None:
        raise cancelled


async def _waited(digested: asyncio.Future[object]) -> asyncio.CancelledError | None:
    try:
        await asyncio.wait([digested])
    except asyncio.CancelledError as error:
        return error
    return None


def _growing(handle: int, size: int, over: threading.Event) -> Iterator[bytes]:
    """What is being written, ``size`` bytes at a time as soon as there are so many, until nothing more comes."""
    offset = 0
    while True:
        was_over = over.is_set()  # before the look at the size: whatever was written is then in it
        there = os.fstat(handle).st_size - offset
        if there >= size or (was_over and there > 0):
            piece = os.pread(handle, size, offset)
            if not piece:
                return
            offset += len(piece)
            yield piece
        elif was_over:
            return
        else:
            over.wait(_LOOK_SECONDS)
