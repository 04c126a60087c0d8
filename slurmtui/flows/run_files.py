"""The files of a run folder that the driver reads and writes.

Taking a run is one O_EXCL creation of ``attempt-<n>.lock``, which is atomic on local and on shared file systems. A new
attempt is allowed only when the one before it is proved to be over: it said so in ``attempts.jsonl``, its process is
gone from this host, or (on another host) it has not touched its lock for longer than ``SILENCE``.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.atomic import write_private
from slurmtui.errors import RunFolderError
from slurmtui.models.run_record import DriverRecord
from slurmtui.sources.processes import SILENCE, find_process, host_name, is_here, started_at
from slurmtui.sources.run_folder import ATTEMPTS_FILE, DRIVER_FILE, read_attempts

if TYPE_CHECKING:
    from pathlib import Path

TOUCH_EVERY = 20.0
"""How often a driver touches its lock."""

_BEING_WRITTEN = 30.0  # seconds an empty lock is believed to be one that is just being written


def own_record(attempt: int, *, job_id: str | None) -> DriverRecord:
    """The record of this very process."""
    return DriverRecord(
        host=host_name(),
        pid=os.getpid(),
        pid_started=started_at(os.getpid()),
        attempt=attempt,
        started=time.time(),
        job_id=job_id,
    )


def take(folder: Path, *, job_id: str | None = None) -> DriverRecord:
    """Take the run for this process: its next attempt is ours.

    Raises:
        RunFolderError: another driver of the run lives, or took it in this very moment.
    """
    last = max((_attempt_of(lock) for lock in folder.glob("attempt-*.lock")), default=0)
    if last:
        _refuse_if_alive(folder, last)
    record = own_record(last + 1, job_id=job_id)
    try:
        handle = os.open(lock_file(folder, record.attempt), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise RunFolderError(f"another driver took run {folder.name} in this moment") from None
    except OSError as error:
        raise RunFolderError(f"run {folder.name} cannot be taken: {error.strerror}") from error
    with os.fdopen(handle, "wb") as stream:
        stream.write(msgspec.json.encode(record))
    write_record(folder, record)
    return record


def last_end(folder: Path, attempt: int) -> float:
    """When the attempt before this one ended, by its own record; 0 when there is none."""
    return max((record.ended or 0 for record in read_attempts(folder) if record.attempt < attempt), default=0)


def lock_file(folder: Path, attempt: int) -> Path:
    """The file whose creation took that attempt."""
    return folder / f"attempt-{attempt}.lock"


def write_record(folder: Path, record: DriverRecord) -> None:
    """Make ``record`` the run's driver.json."""
    write_private(folder / DRIVER_FILE, msgspec.json.encode(record))


def end_record(folder: Path, record: DriverRecord) -> None:
    """Write down the end of an attempt: in driver.json and as a line of attempts.jsonl.

    When this very process goes on with another attempt, driver.json stays that of a living driver.

    Raises:
        OSError: there is no room for it; what the folder holds is then of before the end.
    """
    if not record.again:
        write_record(folder, record)
    line = msgspec.json.encode(record) + b"\n"
    handle = os.open(folder / ATTEMPTS_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def _attempt_of(lock: Path) -> int:
    number = lock.name.removeprefix("attempt-").removesuffix(".lock")
    return int(number) if number.isdigit() else 0


def _refuse_if_alive(folder: Path, attempt: int) -> None:
    if any(record.attempt == attempt for record in read_attempts(folder)):
        return
    lock = lock_file(folder, attempt)
    age = _now_there(folder) - lock.stat().st_mtime
    try:
        record = msgspec.json.decode(lock.read_bytes(), type=DriverRecord)
    except msgspec.DecodeError:
        if age < _BEING_WRITTEN:
            raise RunFolderError(f"another driver is just taking run {folder.name}") from None
        return
    where = f"pid {record.pid} on {record.host}"
    if is_here(record.host):
        if find_process(record.pid, record.pid_started):
            raise RunFolderError(f"run {folder.name} is held by its living driver, {where}")
    elif age < SILENCE:
        raise RunFolderError(
            f"run {folder.name} is held by its driver, {where}, which gave a sign {age:.0f} s ago "
            f"(it counts as gone after {SILENCE:.0f} s of silence)"
        )


def _now_there(folder: Path) -> float:
    """The file system's own idea of now, so that clocks of hosts need not agree."""
    probe = folder / f".clock-{host_name()}-{os.getpid()}"
    try:
        probe.touch(mode=0o600)
        return probe.stat().st_mtime
    except OSError:
        return time.time()
    finally:
        probe.unlink(missing_ok=True)
