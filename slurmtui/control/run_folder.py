"""Writes the run folders. Each file has one writer, see ``models.run_record``."""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import slurmtui
from slurmtui import paths
from slurmtui.atomic import write_private
from slurmtui.errors import RunFolderError
from slurmtui.models.run_record import AttemptProfile, CancelRequest, LaunchRecord, RunSpec
from slurmtui.sources.processes import host_name
from slurmtui.sources.run_folder import CANCEL_FILE, LAUNCH_FILE, OVERRIDES_FILE, RUN_FILE, folder_of, read_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG_FILE = "driver.log"
CREDENTIALS_FILE = "credentials"
JOBS_FOLDER = "jobs"
WRAPPER = Path("bin") / "sbatch.py"


def create(spec: RunSpec) -> Path:
    """Make the folder of a new run, with its run.json and the wrapper of sbatch.

    Raises:
        RunFolderError: it exists already, or there is no room or no permission; nothing half-made is left.
    """
    folder = folder_of(spec.id)
    try:
        paths.private_folder(folder.parent)
        folder.mkdir(mode=0o700)
    except FileExistsError:
        raise RunFolderError(f"{folder} exists already; it is left as it is.") from None
    except OSError as error:
        raise RunFolderError(f"The run folder {folder} cannot be made: {error.strerror}.") from error
    try:
        (folder / JOBS_FOLDER).mkdir(mode=0o700)
        install_wrapper(folder, spec.python)
        write_private(folder / RUN_FILE, msgspec.json.format(msgspec.json.encode(spec)))  # last: it makes it a run
    except OSError as error:
        _remove(folder)
        raise RunFolderError(f"The run folder {folder} cannot be written: {error.strerror}.") from error
    return folder


def install_wrapper(folder: Path, python: str) -> None:
    """Put the wrapper of sbatch into ``folder/bin``, to be run by ``python``.

    Raises:
        OSError: it cannot be written.
    """
    source = Path(slurmtui.__file__).with_name("flows") / "sbatch_wrapper.py"
    script = folder / WRAPPER
    write_private(script, source.read_bytes())
    # By way of sh: a script's first line can name neither a path with blanks nor a long one.
    # -I -S: nothing of the user's site or environment reaches it, and it starts in a hundredth of a second.
    call = f'#!/bin/sh\nexec {shlex.quote(python)} -I -S {shlex.quote(str(script))} "$@"\n'
    write_private(folder / "bin" / "sbatch", call, mode=0o700)


def write_launch(folder: Path, launch: LaunchRecord) -> None:
    """Record the start of a driver."""
    _write(folder / LAUNCH_FILE, launch)


def write_credentials(folder: Path, auth: str | None) -> None:
    """Leave the driver the server's ``user:password``: it may stand neither in an argv nor in a job's environment."""
    path = folder / CREDENTIALS_FILE
    with _named(path):
        if auth:
            write_private(path, auth)
        else:
            path.unlink(missing_ok=True)


def ask_cancel(run_id: str, *, after: float = 0) -> CancelRequest:
    """Ask the run's driver, wherever it is, to end the run.

    Args:
        run_id: the run.
        after: when the driver began by its own clock. It takes an older request for one to an earlier attempt, and
            the clocks of two hosts may differ.
    """
    request = CancelRequest(time=max(time.time(), after + 0.001), host=host_name(), pid=os.getpid())
    _write(folder_of(run_id) / CANCEL_FILE, request)
    return request


def put_cancel_aside(folder: Path, attempt: int) -> None:
    """Take an old request to end the run out of the way of the next attempt, and keep it."""
    with _named(folder / CANCEL_FILE), contextlib.suppress(FileNotFoundError):
        (folder / CANCEL_FILE).rename(folder / f"cancel.{attempt}.json")


def add_override(folder: Path, override: AttemptProfile) -> None:
    """Let the jobs of the coming attempts ask for something else; only who starts an attempt may say so."""
    path = folder / OVERRIDES_FILE
    with _named(path):
        write_private(path, msgspec.json.format(msgspec.json.encode([*read_folder(folder).overrides, override])))


def _write(path: Path, facts: msgspec.Struct) -> None:
    with _named(path):
        write_private(path, msgspec.json.format(msgspec.json.encode(facts)))


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written: {error.strerror}.") from error


def _remove(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        with contextlib.suppress(OSError):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()
