"""Processes on this host: is that one still there, and is it the same?

A pid alone proves nothing, it is used again; a pid with the time its process began does. Of another host nothing can
be said from here, unless the process is a SLURM job.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import psutil

from slurmtui.models.run_record import DriverRecord, DriverStatus, LaunchRecord, RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_Told = TypeVar("_Told", list[str], dict[str, str])

_SAME_START_SECONDS = 2.0  # the kernel's boot time, from which the start is counted, moves when the clock is set
RUN_VARIABLE = "SLURMTUI_RUN_ID"
"""Stands in the environment of a driver and of all it starts."""

SILENCE = 180.0
"""Seconds without a sign after which a driver on another host is taken for gone; a living one gives one every 20 s."""

_START_SECONDS = 60.0  # so long a driver may take from its launch to its first record

_BEGIN_SECONDS = 0.25  # a process on a busy machine was seen to show nothing of itself for 68 ms while it began
_BEGIN_PAUSE = 0.002


def host_name() -> str:
    """This host's name, as it is written into records."""
    return socket.gethostname()


def same_host(one: str, other: str) -> bool:
    """Whether two names mean one host: ``login01`` and ``login01.cluster.example`` do."""
    left, right = one.strip().lower().rstrip("."), other.strip().lower().rstrip(".")
    if not left or not right:
        return False
    if left == right:
        return True
    # Only one of the two may be short: two different full names are two hosts.
    return ("." not in left or "." not in right) and left.split(".")[0] == right.split(".")[0]


def is_here(host: str) -> bool:
    """Whether ``host`` is this one."""
    return same_host(host, host_name())


def started_at(pid: int) -> float:
    """When the process with this pid began (seconds since the epoch); 0 when there is none."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return 0.0


def find_process(pid: int, pid_started: float) -> psutil.Process | None:
    """The living process that has this pid and began then, and is this user's; a zombie does not live."""
    if pid <= 0:
        return None
    try:
        process = psutil.Process(pid)
        if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD) or process.uids().real != os.getuid():
            return None
        return process if abs(process.create_time() - pid_started) < _SAME_START_SECONDS else None
    except psutil.Error:
        return None


def command_line(process: psutil.Process) -> list[str]:
    """The process' command line; when it is just beginning, awaited for a moment, which blocks.

    Raises:
        psutil.Error: it is gone, a zombie, or another user's.
    """
    return _begun(process, process.cmdline)


def environment_of(process: psutil.Process) -> dict[str, str]:
    """The environment that the process began with, awaited like its command line.

    Raises:
        psutil.Error: it is gone, a zombie, or another user's.
    """
    return _begun(process, process.environ)


def _begun(process: psutil.Process, told: Callable[[], _Told]) -> _Told:
    """What a process tells of itself.

    The kernel gives a process that calls ``execve`` its new memory first and says afterwards where its command line
    and its environment are: in between both are empty, and who started it is running on already. A process that shows
    one of them has begun, and a process of the kernel has no program.
    """
    until = time.monotonic() + _BEGIN_SECONDS
    while not (found := told()) and not process.cmdline() and _has_program(process) and time.monotonic() < until:
        time.sleep(_BEGIN_PAUSE)
    return found or told()


def _has_program(process: psutil.Process) -> bool:
    try:
        return bool(process.exe())
    except psutil.AccessDenied:  # the kernel's own, for anybody but root, or another user's
        return False


def driver_process(record: RunRecord) -> psutil.Process | None:
    """The living process of the run's newest driver, when it runs on this host."""
    newest = newest_start(record)
    if newest is None or not is_here(newest.host):
        return None
    return find_process(newest.pid, newest.pid_started)


def newest_start(record: RunRecord) -> DriverRecord | LaunchRecord | None:
    """What tells most about the newest driver: its own record, or that of its launch while it has written none."""
    driver, launch = record.driver, record.launch
    if driver is None or launch is None:
        return driver or launch
    return driver if _is_of(driver, launch) else launch


def driver_status(
    record: RunRecord | None,
    active_job_ids: Collection[str] | None,
    *,
    asked_at: float | None = None,
    now: float | None = None,
) -> DriverStatus:
    """What can be proved about the run's driver from here.

    Args:
        record: the run's folder, None when there is none.
        active_job_ids: the ids of the user's jobs in squeue, None when squeue did not answer.
        asked_at: when squeue was asked for them (seconds since the epoch), if that is known: an answer from before
            the launch of a driver that is a job says nothing about it.
        now: seconds since the epoch, for tests.
    """
    if record is None:
        return DriverStatus.NONE
    newest = newest_start(record)
    clock = time.time() if now is None else now
    if newest is None:
        return DriverStatus.STARTING if clock - record.spec.created < _START_SECONDS else DriverStatus.GONE
    if isinstance(newest, LaunchRecord):
        return _launch_status(newest, active_job_ids, clock, asked_at)
    return _driver_status(newest, record.driver_job_id, active_job_ids)


def silence(record: RunRecord) -> float:
    """Seconds since the run's newest driver gave a sign of life: it touches its lock file while it lives."""
    newest = newest_start(record)
    if newest is None:
        return time.time() - record.spec.created
    last = newest.started if isinstance(newest, DriverRecord) else newest.time
    with contextlib.suppress(OSError):
        last = max(last, (Path(record.folder) / f"attempt-{newest.attempt}.lock").stat().st_mtime)
    return time.time() - last


def orphans(record: RunRecord) -> tuple[psutil.Process, ...]:
    """Processes that the run's driver left behind on this host when it was killed.

    Proved by two things: they belong to the driver's session, and their environment names the run.
    """
    newest = newest_start(record)
    if newest is None or newest.pid <= 0 or not is_here(newest.host):
        return ()
    members = (pid for pid in psutil.pids() if pid != newest.pid and _session_of(pid) == newest.pid)
    return tuple(process for process in map(_process, members) if process and _belongs(process, record.spec.id))


def _session_of(pid: int) -> int:
    """A process' session, 0 for one that is gone: one call, where a Process reads files."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None


def _belongs(process: psutil.Process, run_id: str) -> bool:
    try:
        return (
            process.uids().real == os.getuid()
            and process.status() != psutil.STATUS_ZOMBIE
            and environment_of(process).get(RUN_VARIABLE) == run_id
        )
    except (psutil.Error, OSError):  # it ended while it was looked at
        return False


def _is_of(driver: DriverRecord, launch: LaunchRecord) -> bool:
    """Whether the driver's record was written by the driver that ``launch`` started."""
    if launch.job_id is not None:
        # A requeued driver job writes a newer record under the same id.
        return driver.job_id == launch.job_id
    if driver.pid == launch.pid and same_host(driver.host, launch.host):
        return abs(driver.pid_started - launch.pid_started) < _SAME_START_SECONDS
    return driver.started > launch.time + _SAME_START_SECONDS  # started by hand since


def _driver_status(driver: DriverRecord, job_id: str | None, active_job_ids: Collection[str] | None) -> DriverStatus:
    if driver.ended is not None:
        return DriverStatus.ENDED
    if is_here(driver.host):
        return DriverStatus.ALIVE if find_process(driver.pid, driver.pid_started) else DriverStatus.GONE
    if job_id is None or active_job_ids is None:
        return DriverStatus.ELSEWHERE
    return DriverStatus.ALIVE if job_id in active_job_ids else DriverStatus.GONE


def _launch_status(
    launch: LaunchRecord, active_job_ids: Collection[str] | None, now: float, asked_at: float | None
) -> DriverStatus:
    young = now - launch.time < _START_SECONDS
    if launch.job_id is not None:
        if active_job_ids is None:
            return DriverStatus.STARTING if young else DriverStatus.ELSEWHERE
        listed_before = young if asked_at is None else asked_at <= launch.time
        return DriverStatus.STARTING if listed_before or launch.job_id in active_job_ids else DriverStatus.GONE
    if is_here(launch.host):
        return DriverStatus.STARTING if find_process(launch.pid, launch.pid_started) else DriverStatus.GONE
    return DriverStatus.STARTING if young else DriverStatus.ELSEWHERE
