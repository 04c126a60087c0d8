"""The first question to SLURM, asked while the console is still being loaded: both take a few tenths of a second."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from slurmtui.models.job_table import JobTable

    Peek = Callable[[JobTable], object]
    """Is given the first jobs of an answer that is still being written."""
    Ask = Callable[[Peek], Coroutine[None, None, JobTable]]

_LEAVE_SECONDS = 1.0


class HeadStart:
    """A queue on its way; ``everyone`` says whose."""

    def __init__(self, ask: Ask, *, everyone: bool) -> None:
        """Ask now, in a thread with an event loop of its own: the console's is not there yet."""
        self.everyone = everyone
        self._table: Future[JobTable] = Future()
        self._first_jobs: Future[JobTable] = Future()
        self._question: tuple[asyncio.AbstractEventLoop, asyncio.Future[JobTable]] | None = None
        self._dropped = False
        self._thread = threading.Thread(target=self._run, args=(ask,), name="first squeue", daemon=True)
        self._thread.start()

    def _run(self, ask: Ask) -> None:
        async def question() -> JobTable:
            asked = asyncio.ensure_future(ask(self._peeked))
            self._question = (asyncio.get_running_loop(), asked)
            if self._dropped:
                asked.cancel()
            return await asked

        try:
            self._table.set_result(asyncio.run(question()))
        except BaseException as error:  # noqa: BLE001 - raised where the queue is waited for
            self._table.set_exception(error)

    def _peeked(self, table: JobTable) -> None:
        if not self._first_jobs.done():  # a question that was put anew, without a column, has an answer of its own
            self._first_jobs.set_result(table)

    def tell_first_jobs(self, loop: asyncio.AbstractEventLoop, told: Peek) -> None:
        """Have ``told`` called in ``loop`` as soon as the first jobs of a long answer are there."""

        def tell(first: Future[JobTable]) -> None:
            with contextlib.suppress(RuntimeError):  # the console has been left
                loop.call_soon_threadsafe(told, first.result())

        self._first_jobs.add_done_callback(tell)

    async def table(self) -> JobTable:
        """The queue; when the wait for it is cancelled, so is the question.

        Raises:
            CommandError: squeue failed, or its answer was not whole.
        """
        try:
            return await asyncio.shield(asyncio.wrap_future(self._table))
        except asyncio.CancelledError:
            self.end()
            raise

    def leave(self) -> None:
        """Leave no squeue behind when the program ends."""
        self.end()
        self._thread.join(_LEAVE_SECONDS)

    def end(self) -> None:
        """Have the question dropped, and squeue with it."""
        self._dropped = True
        if self._question is not None:
            loop, asked = self._question
            with contextlib.suppress(RuntimeError):  # it has been answered, and its loop is closed
                loop.call_soon_threadsafe(asked.cancel)
