"""A SLURM of one's own with a queue of a wanted length, and wrappers that write down each call of its commands."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = str(Path(sys.executable).with_name("slurmtui"))
_COMMANDS = ("squeue", "scontrol", "sacct", "sinfo", "sacctmgr", "sprio", "sshare", "sstat", "sdiag")
_RUNNING = 2
_PARTED_AT_ONCE = 5000  # of more, a busy slurmctld does not tell in time that it is done


class Call(NamedTuple):
    """One call of a command: when it began and ended, in seconds since the epoch."""

    name: str
    began: float
    ended: float


class Place(NamedTuple):
    """A sandbox, the environment in which programs find it and its wrapped commands, and the log of those."""

    environment: dict[str, str]
    folder: Path
    calls_file: Path

    def run(self, *argv: str) -> str:
        """What a command says; none of these calls is logged."""
        plain = {**self.environment, "PATH": self.environment["PATH"].partition(":")[2]}
        done = subprocess.run(argv, env=plain, check=True, capture_output=True, text=True, timeout=600)
        return done.stdout

    def calls(self, since: float) -> list[Call]:
        """The calls that have ended and began after ``since``."""
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        found = [Call(name, float(began), float(ended)) for name, began, ended in map(str.split, lines)]
        return [call for call in found if call.began >= since]

    @property
    def slurmctld(self) -> int:
        """The process of the controller."""
        return int((self.folder / "state" / "sandbox" / "slurmctld.pid").read_text())


@contextlib.contextmanager
def sandbox() -> Iterator[Place]:
    """A SLURM and a Prefect server, which end with it."""
    with tempfile.TemporaryDirectory(prefix="slurmtui-bench-") as name:
        folder = Path(name)
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "SLURM"))}
        wrappers = folder / "wrappers"
        environment = {
            **clean,
            "SLURMTUI_STATE": f"{name}/state", "SLURMTUI_CONFIG": f"{name}/config.yaml",
            "PREFECT_HOME": f"{name}/prefect", "PATH": f"{wrappers}:{clean['PATH']}",
        }  # fmt: skip
        place = Place(environment, folder, folder / "calls")
        place.run(COMMAND, "sandbox", "up")
        try:
            environment["SLURM_CONF"] = f"{name}/state/sandbox/slurm.conf"
            _write_wrappers(wrappers, place)
            place.run(COMMAND, "server", "start")
            yield place
        finally:
            place.run(COMMAND, "server", "stop")
            place.run(COMMAND, "sandbox", "down", "--purge")


def _write_wrappers(folder: Path, place: Place) -> None:
    folder.mkdir()
    for name in _COMMANDS:
        real = place.run("sh", "-c", f"command -v {name}").strip()
        wrapper = folder / name
        wrapper.write_text(
            f'#!/bin/bash\nbegan=$EPOCHREALTIME\n{real} "$@"\ncode=$?\n'
            f"echo {name} $began $EPOCHREALTIME >>{place.calls_file}\nexit $code\n"
        )
        wrapper.chmod(0o755)


def fill(place: Place, jobs: int) -> None:
    """Put jobs into the queue until there are so many: two that run, the rest held."""

    def one(number: int) -> None:
        held = ("--hold",) if number >= _RUNNING else ()
        place.run("sbatch", "-Q", "-pdebug", f"-Jbench-{number:06}", "--mem=10", "-o/dev/null", *held,
                  "--wrap=sleep 3600")  # fmt: skip

    have = len(place.run("squeue", "-h").splitlines())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(have, jobs)))


def fill_with_tasks(place: Place, tasks: int) -> None:
    """One array whose held tasks are a record each, as those of an array are that has been changed task by task.

    Squeue tells of tasks that nobody has touched in one line for all; a change of some of them parts those from it.
    """
    fill(place, _RUNNING)
    array = place.run(
        "sbatch", "--parsable", "--hold", "-pdebug", "-Jbench-array", f"--array=0-{tasks - 1}", "--mem=10",
        "-o/dev/null", "--wrap=sleep 3600",
    ).strip()  # fmt: skip
    for first in range(0, tasks, _PARTED_AT_ONCE):
        last = min(first + _PARTED_AT_ONCE - 1, tasks - 2)  # into a rest of several tasks squeue puts all others again
        place.run("scontrol", "update", f"JobId={array}_[{first}-{last}]", "Comment=parted")
