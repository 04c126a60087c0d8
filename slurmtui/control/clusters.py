"""Shared clusters: starts a keeper, in a session of its own, and ends one so that nothing of it is left."""

from __future__ import annotations

import asyncio
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
from slurmtui.control.run_lock import hold_file
from slurmtui.control.submit import driver_python
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
_LOOK_EVERY = 0.1
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
    folder = paths.private_folder(paths.clusters_folder())
    with hold_file(folder / f"{spec.name}.lock", "starting", f"the shared cluster {spec.name!r}"):
        there = await _already_there(session, spec.name)
        if there is not None:
            return there, False
        await check_jobs(session, chosen)
        made = _create(spec)
        try:
            return await _start(session, spec, made), True
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise


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
    found = newest_of(name)
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
    settle(record, "its keeper was gone")
    return None


def _create(spec: ClusterSpec) -> Path:
    folder = paths.clusters_folder() / spec.id
    try:
        folder.mkdir(mode=0o700)
        run_folder.install_wrapper(folder, spec.python)
        write_private(folder / CLUSTER_FILE, msgspec.json.format(msgspec.json.encode(spec)))  # last: it makes it one
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise RunFolderError(f"The folder {folder} cannot be made: {error.strerror}.") from error
    return folder


async def _start(session: Session, spec: ClusterSpec, folder: Path) -> ClusterRecord:
    words = [spec.python, "-m", _MODULE, str(folder)]
    environment = {**os.environ, **session.environment()}
    handle = os.open(folder / KEEPER_LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(handle, "ab") as log:
        try:
            process = start_detached(words, folder=folder, environment=environment, log=log)
        except OSError as error:
            raise FlowError(f"The keeper could not be started with {spec.python}: {error.strerror}.") from error
    found = read_cluster(folder)
    assert found is not None  # noqa: S101 - it was written just now
    try:
        return await _until_up(found, process)
    except BaseException:
        if process.poll() is None:
            process.terminate()
        raise


async def _until_up(record: ClusterRecord, process: subprocess.Popen[bytes] | None) -> ClusterRecord:
    """Wait until the keeper has an address."""
    folder, until = Path(record.folder), time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        ended = process is not None and process.poll() is not None
        found = read_cluster(folder)
        if found is not None and keeper_status(found) is DriverStatus.ALIVE:
            return found
        if ended or found is None or not keeper_status(found).lives:
            raise FlowError(f"The keeper of the cluster ended at once. It said:\n{log_end(folder)}")
        await asyncio.sleep(_LOOK_EVERY)
    raise FlowError(f"The keeper of the cluster does not listen after {START_SECONDS:.0f} s:\n{log_end(folder)}")


def log_end(folder: Path) -> str:
    """The last lines of the keeper's log, fit for a terminal."""
    return last_lines(folder / KEEPER_LOG, _SHOWN_LINES) or "nothing"
