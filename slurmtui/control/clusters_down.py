"""Ends a shared cluster: its keeper is asked, then signalled; then squeue is looked at until no job of it is left."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import psutil

from slurmtui.atomic import write_private
from slurmtui.control.clusters import settle
from slurmtui.control.end_jobs import EMPTY, JOBS, EndJobs
from slurmtui.control.steps import Steps
from slurmtui.errors import RunFolderError
from slurmtui.models.marks import Marks
from slurmtui.models.run_record import CancelRequest, DriverStatus
from slurmtui.models.steps import CancelReport
from slurmtui.sources.cluster_folder import DOWN_FILE, TLS_FOLDER, keeper_process, keeper_status, read_cluster
from slurmtui.sources.processes import host_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.models.shared_cluster import ClusterRecord
    from slurmtui.models.steps import Step
    from slurmtui.session import Session

KEEPER, KEYS = "keeper", "keys"
_TITLES = {KEEPER: "keeper", JOBS: "jobs: scancel", EMPTY: "squeue seen empty", KEYS: "keys removed"}
_TERM_AFTER = 20.0  # it closes its workers and sees its jobs end first
_KILL_AFTER = 45.0
_ELSEWHERE_SECONDS = 90.0  # a file made here may be seen on another host a minute later
_LOOK_EVERY = 0.2


async def down(session: Session, record: ClusterRecord, progress: Callable[[Step], None] | None = None) -> CancelReport:
    """End the cluster, tell ``progress`` about every step, and report what is left (``run_id`` is the cluster's id).

    Raises:
        RunFolderError: its folder cannot be written.
    """
    steps = Steps(_TITLES, progress)
    forced = await _end_keeper(record, steps)
    ending = EndJobs(session, Marks(record.spec.id, ()), steps, of="this cluster")
    await ending.end(twice=forced)
    steps.begin(KEYS)
    now, keys = await asyncio.to_thread(_settled, record, well=not steps.failed)
    if keys:
        steps.failed_with(KEYS, f"{record.folder}/{TLS_FOLDER} is still there")
    else:
        steps.done(KEYS)
    left = ending.left or (tuple(e.job_id for e in now.submissions if e.job_id) if ending.unknown else ())
    return CancelReport(ok=not steps.failed, run_id=record.spec.id, steps=steps.all, left_jobs=left)


def _settled(record: ClusterRecord, *, well: bool) -> tuple[ClusterRecord, bool]:
    """The cluster as it is now, its end written down if all went ``well``; whether there are still keys."""
    now = _read(record)
    if well and keeper_status(now) is not DriverStatus.ENDED:
        settle(now, "its keeper was gone")
    return now, (Path(record.folder) / TLS_FOLDER).exists()


def _read(record: ClusterRecord) -> ClusterRecord:
    return read_cluster(Path(record.folder)) or record


def _lives(record: ClusterRecord) -> bool:
    return keeper_status(record).lives or keeper_process(record) is not None


async def _end_keeper(record: ClusterRecord, steps: Steps) -> bool:
    """End it; whether it was killed or had been, so that a job of it may still be on its way."""
    if not (await asyncio.to_thread(keeper_status, record)).lives:
        steps.skip(KEEPER, f"it was gone, {record.where}")
        return True
    steps.begin(KEEPER, f"asked to end, {record.where}")
    await asyncio.to_thread(_ask, record)
    begun, termed, elsewhere = time.monotonic(), False, keeper_process(record) is None
    while await asyncio.to_thread(_lives, record):
        waited = time.monotonic() - begun
        if waited > (_ELSEWHERE_SECONDS if elsewhere else _KILL_AFTER):
            return await _give_up(record, steps, elsewhere=elsewhere)
        if waited > _TERM_AFTER and not termed and not elsewhere:
            termed = True
            steps.say(KEEPER, f"SIGTERM, {record.where}")
            _signal(record, kill=False)
        await asyncio.sleep(_LOOK_EVERY)
        record = await asyncio.to_thread(_read, record)
    steps.done(KEEPER, f"ended {'by SIGTERM' if termed else 'by itself'}, {record.where}")
    return False


def _ask(record: ClusterRecord) -> None:
    path = Path(record.folder) / DOWN_FILE
    try:
        write_private(path, msgspec.json.encode(CancelRequest(time=time.time(), host=host_name())))
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written: {error.strerror}.") from error


async def _give_up(record: ClusterRecord, steps: Steps, *, elsewhere: bool) -> bool:
    if elsewhere:
        steps.failed_with(
            KEEPER, f"asked, but it has not ended, {record.where}; run `slurmtui cluster down` on that host"
        )
        return True
    process = _signal(record, kill=True)
    if process is not None:
        await asyncio.to_thread(psutil.wait_procs, [process], 3)
    steps.done(KEEPER, f"ended by SIGKILL, {record.where}")
    return True


def _signal(record: ClusterRecord, *, kill: bool) -> psutil.Process | None:
    process = keeper_process(record)
    if process is not None:
        with contextlib.suppress(psutil.Error):  # it ended in this moment
            process.kill() if kill else process.terminate()
    return process
