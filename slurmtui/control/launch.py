"""Starts a run's driver so that it outlives the console: in a session of its own, or as a small SLURM job."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.control.detached import start_detached
from slurmtui.control.log_end import last_lines
from slurmtui.control.plan import driver_options
from slurmtui.control.run_folder import LOG_FILE, write_credentials, write_launch
from slurmtui.control.slurm import submit_script
from slurmtui.errors import FlowError
from slurmtui.models.run_record import LaunchRecord, RunSpec
from slurmtui.sources.processes import RUN_VARIABLE, host_name, started_at
from slurmtui.sources.run_folder import read_driver

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

    from slurmtui.session import Session

FOLDER_VARIABLE = "SLURMTUI_RUN_FOLDER"
_WATCHED_SECONDS = 3.0
_LOOK_EVERY = 0.05
_SHOWN_LINES = 12
_MODULE = "slurmtui.flows.driver"


async def launch(session: Session, spec: RunSpec, folder: Path, attempt: int) -> LaunchRecord:
    """Start the driver of ``spec`` and watch it for a moment.

    Raises:
        FlowError: it ended at once; the message holds the end of its log.
        CommandError: sbatch refused the driver's job.
        RunFolderError: the run folder cannot be written.
    """
    auth = session.connection.auth if session.connection else None
    await asyncio.to_thread(_make_ready, folder, attempt, auth)
    if spec.driver_kind == "slurm":
        return await _launch_job(session, spec, folder, attempt)
    return await _launch_process(session, spec, folder, attempt)


def driver_environment(session: Session, spec: RunSpec, folder: Path) -> dict[str, str]:
    """What the driver gets on top of the environment it is started in; no secret, those are in the run folder."""
    added = {**session.environment(), RUN_VARIABLE: spec.id, FOLDER_VARIABLE: str(folder)}
    if state := os.environ.get("SLURMTUI_STATE"):
        added["SLURMTUI_STATE"] = state
    return added


def log_end(folder: Path, lines: int = _SHOWN_LINES) -> str:
    """The last lines of the driver's log, fit for a terminal; empty when there is none."""
    return last_lines(folder / LOG_FILE, lines) or ""


def _make_ready(folder: Path, attempt: int, auth: str | None) -> None:
    write_credentials(folder, auth)
    _begin_log(folder, attempt)


def _begin_log(folder: Path, attempt: int) -> None:
    handle = os.open(folder / LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(handle, "ab") as stream:
        if attempt > 1:
            when = time.strftime("%Y-%m-%d %H:%M:%S")
            stream.write(f"\n──── attempt {attempt}, {when} ────\n".encode())


def _working_folder(spec: RunSpec) -> Path:
    """Where the user was at the submission; when that folder is gone, where the flow's file is."""
    named = Path(spec.directory) if spec.directory else None
    return named if named is not None and named.is_dir() else Path(spec.entrypoint.rpartition(":")[0]).parent


async def _launch_process(session: Session, spec: RunSpec, folder: Path, attempt: int) -> LaunchRecord:
    words = [spec.python or sys.executable, "-m", _MODULE, str(folder)]
    environment = {**os.environ, **driver_environment(session, spec, folder)}
    with (folder / LOG_FILE).open("ab") as log:
        try:
            process = start_detached(words, folder=_working_folder(spec), environment=environment, log=log)
        except OSError as error:
            raise FlowError(f"The driver could not be started with {spec.python}: {error.strerror}.") from error
    record = LaunchRecord(
        host=host_name(), time=time.time(), attempt=attempt, pid=process.pid, pid_started=started_at(process.pid)
    )
    await asyncio.to_thread(write_launch, folder, record)
    await _watch_start(process, folder, record)
    return record


async def _watch_start(process: subprocess.Popen[bytes], folder: Path, record: LaunchRecord) -> None:
    """Wait until the driver has taken the run; from then on it tells Prefect itself what goes wrong."""
    until = time.monotonic() + _WATCHED_SECONDS
    while time.monotonic() < until and not await _has_begun(folder, record):
        if process.returncode is not None and not await _has_begun(folder, record):
            said = await asyncio.to_thread(log_end, folder) or "it wrote nothing"
            raise FlowError(f"The driver ended at once (exit code {process.returncode}). {folder / LOG_FILE}:\n{said}")
        await asyncio.sleep(_LOOK_EVERY)


async def _has_begun(folder: Path, record: LaunchRecord) -> bool:
    driver = await asyncio.to_thread(read_driver, folder)
    return driver is not None and driver.pid == record.pid


async def _launch_job(session: Session, spec: RunSpec, folder: Path, attempt: int) -> LaunchRecord:
    options, prologue = await driver_options(session, spec)
    output = str(folder / LOG_FILE).replace("%", "%%")
    job_id = await submit_script(
        session.runner,
        driver_script(session, spec, folder, prologue),
        [*options, f"--output={output}", "--open-mode=append"],
        chdir=_working_folder(spec),
    )
    record = LaunchRecord(host=host_name(), time=time.time(), attempt=attempt, job_id=job_id)
    await asyncio.to_thread(write_launch, folder, record)
    return record


def driver_script(session: Session, spec: RunSpec, folder: Path, prologue: Sequence[str] = ()) -> bytes:
    """The batch script of a driver that is a job."""
    exports = [
        f"export {name}={shlex.quote(value)}" for name, value in driver_environment(session, spec, folder).items()
    ]
    call = shlex.join([spec.python or sys.executable, "-m", _MODULE, str(folder)])
    return "\n".join(["#!/bin/sh", *exports, *prologue, f"exec {call}", ""]).encode()
