"""Shared clusters: starts a keeper, in a session of its own, and ends one so that nothing of it is left."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.atomic import write_private
from slurmtui.control import run_folder
from slurmtui.control.detached import start_detached
from slurmtui.control.end_jobs import tied_jobs
from slurmtui.control.log_end import last_lines
from slurmtui.control.plan import check_jobs
from slurmtui.control.run_lock import holding_file
from slurmtui.control.submit import driver_python
from slurmtui.control.unbroken import unbroken
from slurmtui.errors import FlowError, Refused, RunFolderError, UsageError
from slurmtui.models.marks import Marks
from slurmtui.models.profile import SharedPolicy
from slurmtui.models.run_record import DriverStatus
from slurmtui.models.shared_cluster import ClusterRecord, ClusterSpec, KeeperRecord, cluster_id
from slurmtui.models.text import visible
from slurmtui.profiles import pick_profile
from slurmtui.sources.cluster_folder import (
    CLUSTER_FILE,
    KEEPER_FILE,
    KEEPER_LOG,
    START_SECONDS,
    TLS_FOLDER,
    keeper_status,
    newest_of,
    read_cluster,
    read_clusters,
)
from slurmtui.sources.processes import host_name

if TYPE_CHECKING:
    import subprocess

    from slurmtui.models.profile import Profile
    from slurmtui.session import Session

_MODULE = "slurmtui.flows.keeper"
_log = logging.getLogger(__name__)
_LOOK_EVERY = 0.1
_END_SECONDS = 75.0  # a keeper closes its workers and sees its jobs leave the queue
_SHOWN_LINES = 8


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says on the command line instead of the profile; None leaves it to the profile."""

    minimum: int | None = None
    maximum: int | None = None
    idle: float | None = None
    end: float | None = None


async def up(session: Session, profile: str | None, bounds: Bounds | None = None) -> tuple[ClusterRecord, bool]:
    """Start the shared cluster of a profile, and wait until flows can connect; whether it was started now.

    Raises:
        UsageError: there is no such profile, or the bounds do not go together.
        Refused: SLURM would not take its jobs (in SLURM's words), or what is left of an earlier one is in the way.
        FlowError: the keeper ended at once; the message holds the end of its log.
        RunFolderError: its folder cannot be made.
    """
    chosen = pick_profile(session.config, profile)
    spec = new_spec(session, chosen, bounds or Bounds())
    folder = await asyncio.to_thread(paths.private_folder, paths.clusters_folder())
    async with holding_file(folder / f"{spec.name}.lock", "starting", f"the shared cluster {spec.name!r}"):
        there = await _already_there(session, spec.name)
        if there is not None:
            return there, False
        await check_jobs(session, chosen)
        return await _start(session, spec), True


def new_spec(session: Session, profile: Profile, bounds: Bounds) -> ClusterSpec:
    """What a new cluster of the profile is: its bounds are those given, else the profile's.

    Raises:
        UsageError: they do not go together.
    """
    policy = profile.shared or SharedPolicy()
    adapt = profile.adapt
    minimum = bounds.minimum if bounds.minimum is not None else adapt.minimum if adapt is not None else 0
    maximum = bounds.maximum or (adapt.maximum if adapt is not None else profile.workers or 1)
    if not 0 <= minimum <= maximum:
        raise UsageError(f"A cluster of {minimum} to {maximum} jobs cannot be: the minimum is more than the maximum.")
    return ClusterSpec(
        id=cluster_id(profile.name, uuid.uuid4().hex),
        name=profile.name,
        profile=profile,
        minimum=minimum,
        maximum=maximum,
        idle=bounds.idle if bounds.idle is not None else policy.idle,
        end=bounds.end if bounds.end is not None else policy.end,
        python=driver_python(profile),
        created=time.time(),
        user=session.user,
    )


def find(name: str | None) -> ClusterRecord:
    """The cluster that is meant: by the name of its profile, by its id, or the only one that has not ended.

    Raises:
        Refused: there is none, or it is not clear which.
    """
    alive = {key: one for key, one in read_clusters().items() if keeper_status(one) is not DriverStatus.ENDED}
    found = [one for key, one in alive.items() if name is None or name in {key, one.spec.name}]
    if not found:
        names = ", ".join(one.spec.name for one in alive.values())
        there = f"Up: {names}." if names else "None is up."
        raise Refused(f"There is no shared cluster{f' {visible(name)!r}' if name else ''}. {there}")
    if len(found) > 1:
        raise Refused(f"Which one? {', '.join(one.spec.id for one in found)}")
    return found[0]


def settle(record: ClusterRecord, why: str) -> None:
    """Write down the end of a cluster whose keeper could not, and remove its keys.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    folder = Path(record.folder)
    keeper = record.keeper or KeeperRecord(host=host_name(), pid=0, pid_started=0)
    shutil.rmtree(folder / TLS_FOLDER, ignore_errors=True)
    try:
        ended = msgspec.structs.replace(keeper, ended=time.time(), message=why)
        write_private(folder / KEEPER_FILE, msgspec.json.encode(ended))
    except OSError as error:
        raise RunFolderError(f"{folder / KEEPER_FILE} cannot be written: {error.strerror}.") from error


async def _already_there(session: Session, name: str) -> ClusterRecord | None:
    """The cluster of that name that is up; one that is dead without a job is settled."""
    found = await asyncio.to_thread(newest_of, name)
    if found is None or found[1] is DriverStatus.ENDED:
        return None
    record, status = found
    if status is DriverStatus.ALIVE:
        return record
    if status is DriverStatus.STARTING:
        return await _until_up(record, None)
    if await tied_jobs(session, Marks(record.spec.id, ())):
        raise Refused(
            f"The keeper of an earlier cluster {name!r} is gone ({record.where}), and jobs of it are left. "
            f"`slurmtui cluster down {name}` ends them; `slurmtui rescue` shows them."
        )
    await asyncio.to_thread(settle, record, "its keeper was gone")
    return None


def _create(spec: ClusterSpec, folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
        run_folder.install_wrapper(folder, spec.python)
        write_private(folder / CLUSTER_FILE, msgspec.json.format(msgspec.json.encode(spec)))  # last: it makes it one
    except OSError as error:
        raise RunFolderError(f"The folder {folder} cannot be made: {error.strerror}.") from error


async def _start(session: Session, spec: ClusterSpec) -> ClusterRecord:
    """Make its folder, start its keeper and wait for that; of a start that fails nothing is left."""
    folder, process = paths.clusters_folder() / spec.id, None
    try:
        await unbroken(asyncio.to_thread(_create, spec, folder))
        process = _start_keeper(session, spec, folder)
        found = await asyncio.to_thread(read_cluster, folder)
        assert found is not None  # noqa: S101 - it was written just now
        return await _until_up(found, process)
    except BaseException as error:
        left = await unbroken(_take_back(spec, folder, process))
        if left and isinstance(error, FlowError):
            raise FlowError(f"{error}\n{left}") from error
        raise


def _start_keeper(session: Session, spec: ClusterSpec, folder: Path) -> subprocess.Popen[bytes]:
    words = [spec.python, "-m", _MODULE, str(folder)]
    environment = {**os.environ, **session.environment()}
    handle = os.open(folder / KEEPER_LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(handle, "ab") as log:
        try:
            return start_detached(words, folder=folder, environment=environment, log=log)
        except OSError as error:
            raise FlowError(f"The keeper could not be started with {spec.python}: {error.strerror}.") from error


async def _take_back(spec: ClusterSpec, folder: Path, process: subprocess.Popen[bytes] | None) -> str:
    """End the keeper, then remove the folder, from which it knows its jobs; what is left to be ended, in words."""
    left = ""
    if process is not None:
        process.terminate()
        until = time.monotonic() + _END_SECONDS
        while process.poll() is None and time.monotonic() < until:  # noqa: ASYNC110 - a thread waits for it, and tells nobody
            await asyncio.sleep(_LOOK_EVERY)
        if process.poll() is None:
            left = f"Its keeper (process {process.pid}) is still ending its jobs"
        elif await asyncio.to_thread(_has_jobs, folder):
            left = "Jobs of it may be left"
    if not left:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        return ""
    _log.warning("%s; %s stays", left, folder)
    return f"{left}; `slurmtui cluster down {spec.name}` makes sure that they end."


def _has_jobs(folder: Path) -> bool:
    """Whether a keeper that is gone has made jobs and has not written down that it ended them."""
    found = read_cluster(folder)
    return (
        found is not None
        and keeper_status(found) is not DriverStatus.ENDED
        and any(entry.job_id for entry in found.submissions)
    )


async def _until_up(record: ClusterRecord, process: subprocess.Popen[bytes] | None) -> ClusterRecord:
    """Wait until the keeper has an address."""
    folder, until = Path(record.folder), time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        ended = process is not None and process.poll() is not None
        found, status = await asyncio.to_thread(_look, folder)
        if found is not None and status is DriverStatus.ALIVE:
            return found
        if ended or not status.lives:
            said = await asyncio.to_thread(log_end, folder)
            raise FlowError(f"The keeper of the cluster ended at once. It said:\n{said}")
        await asyncio.sleep(_LOOK_EVERY)
    said = await asyncio.to_thread(log_end, folder)
    raise FlowError(f"The keeper of the cluster does not listen after {START_SECONDS:.0f} s:\n{said}")


def _look(folder: Path) -> tuple[ClusterRecord | None, DriverStatus]:
    found = read_cluster(folder)
    return found, DriverStatus.NONE if found is None else keeper_status(found)


def log_end(folder: Path) -> str:
    """The last lines of the keeper's log, fit for a terminal."""
    return last_lines(folder / KEEPER_LOG, _SHOWN_LINES) or "nothing"
