"""Following a log until its run or job has ended and everything has been given out."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from slurmtui.control.wait import wait_for_run
from slurmtui.errors import RunFolderError
from slurmtui.models.run_record import DriverStatus
from slurmtui.sources.processes import driver_status
from slurmtui.sources.run_folder import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slurmtui.models.run_view import RunView
    from slurmtui.session import Session
    from slurmtui.store.log_entry import LogEntry
    from slurmtui.store.log_job_stream import JobStream
    from slurmtui.store.log_stream import RunLog

    Give = Callable[[Sequence[LogEntry]], None]

_POLL_SECONDS = 1.0
_LATE_SECONDS = 3.0  # Prefect's last lines come so long after they were written
_DRIVER_SECONDS = 15.0  # a driver takes down its workers after its run has ended
_STATE_SECONDS = 5.0  # how often SLURM is asked whether a job has ended


async def follow_run(session: Session, view: RunView, log: RunLog, give: Give) -> None:
    """Give out what is written until the run has ended (or nothing is left that could end it), and the rest.

    Raises:
        SlurmtuiError: the run's end cannot be known, for instance because Prefect refuses.
    """
    end = asyncio.ensure_future(_end_of(session, view.run.id))
    try:
        while not end.done():
            give(await log.read_new())
            await asyncio.wait([end], timeout=_POLL_SECONDS)
        end.result()
        deadline = time.monotonic() + _DRIVER_SECONDS
        while _driver(view.run.id).lives and time.monotonic() < deadline:
            give(await log.read_new())
            await asyncio.sleep(_POLL_SECONDS)
    finally:
        end.cancel()
    give(await log.read_new())
    await asyncio.sleep(_LATE_SECONDS)
    give(await log.read_rest())


async def _end_of(session: Session, run_id: str) -> None:
    """Wait for the run's end; without a Prefect server its driver's has to do."""
    if session.prefect is not None:
        await wait_for_run(session, run_id, lambda _sentence: None)
        return
    while (await asyncio.to_thread(_driver, run_id)).lives:  # noqa: ASYNC110 - another process tells us nothing
        await asyncio.sleep(_POLL_SECONDS)


def _driver(run_id: str) -> DriverStatus:
    try:
        return driver_status(read_run(run_id), None)
    except RunFolderError:
        return DriverStatus.NONE


async def follow_job(log: JobStream, give: Give) -> None:
    """Give out what is written until SLURM says that the job (or all of an array) has ended, and the rest."""
    log.ask_every(_STATE_SECONDS)
    while not log.ended:
        give(await log.read_new())
        if not log.behind:
            await asyncio.sleep(_POLL_SECONDS)
    await give_rest(log, give)


async def give_rest(log: JobStream, give: Give) -> None:
    """Give out what is left, piece by piece, and at last an unfinished line."""
    while log.behind:
        give(await log.read_new())
    give(await log.read_rest())
