"""Ends a run's driver: asked first, then SIGTERM, then SIGKILL, and only a process that is proved to be the driver."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from slurmtui.control.run_folder import ask_cancel
from slurmtui.control.slurm import cancel_jobs
from slurmtui.errors import CommandError, PrefectError, RunFolderError
from slurmtui.models.run_record import DriverRecord, DriverStatus, RunRecord
from slurmtui.sources.processes import SILENCE, driver_process, driver_status, newest_start, orphans, silence
from slurmtui.sources.run_folder import read_folder

if TYPE_CHECKING:
    from slurmtui.control.steps import Steps
    from slurmtui.session import Session

TERM_AFTER = 3.5
KILL_AFTER = 7.0
_PATIENCE = 3.0  # times as long for a driver that is seen to be ending the run itself
_ELSEWHERE_SECONDS = 75.0  # a file made here may be seen on another host a minute later
_SETTLE_SECONDS = 2.0
_LOOK_EVERY = 0.2
_ASK_OTHERS_EVERY = 1.0
KEY = "driver"


class EndDriver:
    """One attempt to end the driver of ``record``.

    Attributes:
        forced: whether it was killed, so that an sbatch of its may still be under way.
    """

    def __init__(
        self, session: Session, record: RunRecord, steps: Steps, active: frozenset[str] | None, asked_at: float
    ) -> None:
        self.forced = False
        self._squeue_asked_at = asked_at
        self._session, self._record, self._steps, self._active = session, record, steps, active
        self._asked_at = 0.0
        self._termed = False
        self._patience = 1.0
        self._next_question = 0.0

    async def lives(self) -> bool:
        """Whether something of the driver is, or may be, alive."""
        return await asyncio.to_thread(self._lives)

    def _lives(self) -> bool:
        status = self._status()
        if status is DriverStatus.ELSEWHERE:
            return silence(self._record) < SILENCE
        return status.lives or bool(orphans(self._record))

    async def end(self) -> None:
        """End it and say in the step ``driver`` what came of it."""
        steps = self._steps
        if not await self.lives():
            steps.skip(KEY, self._why_none())
            return
        steps.begin(KEY, f"asked to end, {self._where()}")
        begun = time.monotonic()
        try:
            await self._ask()
        except RunFolderError as error:
            steps.say(KEY, f"{error} It is signalled instead.")
        while await self.lives():
            waited = (time.monotonic() - begun) / self._patience
            if self._status() is DriverStatus.ELSEWHERE and self._record.driver_job_id is None:
                if waited > _ELSEWHERE_SECONDS:
                    steps.failed_with(KEY, self._out_of_reach())
                    return
            elif waited > KILL_AFTER:
                await self._kill()
                return
            elif (waited > TERM_AFTER or self._waits_in_queue()) and not self._termed:
                await self._terminate()
            await asyncio.sleep(_LOOK_EVERY)
            await self._look()
        how = "by itself" if not self._termed else "by SIGTERM" if self._record.driver_job_id is None else "by scancel"
        steps.done(KEY, f"ended {how}, {self._where()}")

    def _status(self) -> DriverStatus:
        return driver_status(self._record, self._active, asked_at=self._squeue_asked_at)

    async def _ask(self) -> None:
        newest = newest_start(self._record)
        began = newest.started if isinstance(newest, DriverRecord) else 0.0
        self._asked_at = (await asyncio.to_thread(ask_cancel, self._record.spec.id, after=began)).time

    async def _look(self) -> None:
        """See how the driver stands; ask again if it has begun only now."""
        try:
            self._record = await asyncio.to_thread(read_folder, Path(self._record.folder))
        except RunFolderError:
            return  # as it was; the process can still be looked at
        newest = newest_start(self._record)
        if isinstance(newest, DriverRecord) and newest.started > self._asked_at > 0:
            await self._ask()
        if time.monotonic() < self._next_question:
            return
        self._next_question = time.monotonic() + _ASK_OTHERS_EVERY
        if self._record.driver_job_id is not None:
            self._squeue_asked_at = time.time()
            try:
                found = await self._session.slurm.jobs_by_id([self._record.driver_job_id])
                self._active = frozenset(job_id for job_id, job in found.items() if job.active)
            except CommandError:
                self._active = None
        if self._patience == 1.0 and self._session.prefect is not None:
            try:
                run = await self._session.prefect.flow_run(self._record.spec.id)
            except PrefectError:
                return
            if run.state_type == "CANCELLED":
                self._patience = _PATIENCE
                self._steps.say(KEY, f"ending its jobs, {self._where()}")

    def _waits_in_queue(self) -> bool:
        """Whether it is a job that has not begun: nobody is there to be asked."""
        launch = self._record.launch
        return launch is not None and launch.job_id is not None and newest_start(self._record) is launch

    async def _terminate(self) -> None:
        self._termed = True
        if self._record.driver_job_id is not None:
            self._steps.say(KEY, f"scancel {self._record.driver_job_id}")
            await cancel_jobs(self._session.runner, [self._record.driver_job_id])
            return
        process = driver_process(self._record)
        if process is not None:
            self._steps.say(KEY, f"SIGTERM {process.pid}")
            _signal(process, kill=False)

    async def _kill(self) -> None:
        self.forced = True
        job_id = self._record.driver_job_id
        if job_id is not None:
            self._steps.say(KEY, f"scancel --signal=KILL {job_id}")
            await self._session.runner.run(("scancel", "--signal=KILL", "--full", job_id), check=False)
        process = driver_process(self._record)
        ended = [*([process] if process else []), *await asyncio.to_thread(orphans, self._record)]
        for one in ended:
            _signal(one, kill=True)
        until = time.monotonic() + _SETTLE_SECONDS
        while await self.lives() and time.monotonic() < until:
            await asyncio.sleep(_LOOK_EVERY)
            await self._look()
        if await self.lives():
            self._steps.failed_with(KEY, f"it did not end, not even by SIGKILL, {self._where()}")
        else:
            self._steps.done(KEY, f"ended by SIGKILL, {self._where()}")

    def _where(self) -> str:
        newest = newest_start(self._record)
        if self._record.driver_job_id is not None:
            return f"job {self._record.driver_job_id}"
        return f"process {newest.pid} on {newest.host}" if newest is not None else "not yet recorded"

    def _why_none(self) -> str:
        status = self._status()
        if status is DriverStatus.ENDED:
            return "it had ended by itself"
        if status is DriverStatus.ELSEWHERE:
            return f"it gave no sign for {silence(self._record) / 60:.0f} min, {self._where()}: taken for gone"
        return f"it was gone, {self._where()}"

    def _out_of_reach(self) -> str:
        newest = newest_start(self._record)
        host = newest.host if newest is not None else "its host"
        return (
            f"it was asked to end but has not, {self._where()}. It cannot be signalled from here: "
            f"run `slurmtui cancel {self._record.spec.id}` on {host}."
        )


def _signal(process: psutil.Process, *, kill: bool) -> None:
    try:
        process.kill() if kill else process.terminate()  # psutil looks once more whether it is the same process
    except psutil.Error:
        return
