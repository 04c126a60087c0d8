"""Which processes are the sandbox's own, proved from what the kernel says about each, and how they are ended.

A pid in a file proves nothing: the process may be gone and its number given to another. A process is ours when it
belongs to this user, runs one of the sandbox's programs and names, stands in or has open a place in the sandbox's
folder; a job's process when it carries this sandbox's SLURM_CONF and the name of the node it was started on.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from slurmtui.sandbox.layout import base_of
from slurmtui.sources.processes import command_line, environment_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_PROGRAMS = ("slurm", "munged", "mariadbd", "mysqld")
_PAUSE = 0.05
_STEP_TITLE = re.compile(r"slurmstepd: \[(\d+)[.\]]")


class OwnProcesses:
    """The sandbox's processes at one moment.

    Attributes:
        daemons: by name (``slurmctld``, ``slurmd-n1`` …).
        others: their helpers, the steps of jobs, and what those started.
    """

    def __init__(self, daemons: dict[str, psutil.Process], others: list[psutil.Process]) -> None:
        self.daemons = daemons
        self.others = others

    def all(self) -> list[psutil.Process]:
        """Every one of them."""
        return [*self.daemons.values(), *self.others]


def find_own(folder: Path) -> OwnProcesses:
    """Look through the machine's processes for those of the sandbox in ``folder``."""
    folder = folder.resolve()
    places = (f"{folder}/", f"{base_of(folder)}/")
    spared = {os.getpid(), *(process.pid for process in psutil.Process().parents())}
    daemons: dict[str, psutil.Process] = {}
    others: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        if process.pid in spared:
            continue
        with contextlib.suppress(psutil.Error, OSError):
            if process.uids().real != os.getuid() or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if _is_daemon(process, places):
                name = _daemon_name(process)
                if name and name not in daemons:
                    daemons[name] = process
                    continue
                others[process.pid] = process
                others.update({child.pid: child for child in process.children(recursive=True)})
            elif _is_of_a_job(process, places):
                others[process.pid] = process
    taken = {process.pid for process in daemons.values()} | spared
    return OwnProcesses(daemons, [process for pid, process in others.items() if pid not in taken])


def _is_daemon(process: psutil.Process, places: tuple[str, ...]) -> bool:
    if not Path(process.exe()).name.startswith(_PROGRAMS):
        return False
    if any(place in argument for argument in command_line(process) for place in places):
        return True
    # slurmdbd takes no path as an argument; slurmscriptd and slurmstepd write over theirs.
    if f"{process.cwd()}/".startswith(places):
        return True
    return any(file.path.startswith(places) for file in process.open_files())


def _daemon_name(process: psutil.Process) -> str | None:
    """The daemon's name, None for a helper or a step."""
    argv = command_line(process)
    program = Path(argv[0]).name if argv else ""
    if program == "slurmd" and "-N" in argv[:-1]:
        return f"slurmd-{argv[argv.index('-N') + 1]}"
    return program if program in {"munged", "mariadbd", "slurmdbd", "slurmctld"} else None


def _is_of_a_job(process: psutil.Process, places: tuple[str, ...]) -> bool:
    environment = environment_of(process)
    return "SLURMD_NODENAME" in environment and environment.get("SLURM_CONF", "").startswith(places)


def jobs_with_processes(own: OwnProcesses) -> set[str] | None:
    """The ids of the jobs that have a step running; None when a step does not tell its job."""
    found = set()
    for process in own.others:
        with contextlib.suppress(psutil.Error):
            title = " ".join(command_line(process)).strip()
            if title.startswith("slurmstepd"):
                job = _STEP_TITLE.match(title)
                if job is None:
                    return None
                found.add(job.group(1))
    return found


def is_alive(process: psutil.Process) -> bool:
    """Whether this very process (not another with its number) still runs."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


async def wait_gone(processes: Iterable[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Wait for the end of ``processes``; return those that are left after ``seconds``."""
    left, deadline = [process for process in processes if is_alive(process)], time.monotonic() + seconds
    while left and time.monotonic() < deadline:
        await asyncio.sleep(_PAUSE)
        left = [process for process in left if is_alive(process)]
    return left


async def end(processes: Iterable[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Ask ``processes`` to end, kill those that have not after ``seconds``; return what even that did not end."""
    asked = list(processes)
    for process in asked:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    left = await wait_gone(asked, seconds)
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    return await wait_gone(left, 5)
