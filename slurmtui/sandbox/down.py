"""``slurmtui sandbox down``: end every process of the sandbox; with ``--purge`` its files too."""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.errors import SandboxError
from slurmtui.sandbox import lock, prepare, processes
from slurmtui.sandbox.cluster import Cluster
from slurmtui.sandbox.daemons import slurmd_names
from slurmtui.sandbox.layout import jobs_to_cancel, remove_base
from slurmtui.sandbox.packages import missing_programs
from slurmtui.sandbox.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psutil

_JOB_SECONDS = 12
_SLOW_SECONDS = 15
_GRACE = 5
_REAP_SECONDS = 3


class DownReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``down`` ended: jobs that were cancelled, processes that ran."""

    jobs: int
    processes: int
    purged: bool


async def down(say: Callable[[str], None], *, purge: bool = False) -> DownReport:
    """End the sandbox: cancel its jobs, stop its daemons, and prove that no process of it is left.

    Args:
        say: is told, in short sentences, what takes time.
        purge: remove the data (jobs' history, logs, the choice of ports) as well.

    Raises:
        SandboxError: a process could not be ended, or the files could not be removed.
    """
    folder = paths.sandbox_folder()
    if not folder.exists():
        return DownReport(jobs=0, processes=0, purged=purge)
    async with lock.hold(folder, say):
        found = processes.find_own(folder)
        count = len(found.all())
        jobs = await _end_jobs(folder) if "slurmctld" in found.daemons else 0
        if found.others and "slurmctld" not in found.daemons:
            jobs_to_cancel(folder).touch()
        await _end_daemons(found.daemons)
        await _end_the_rest(folder)
        # Whose parent is init is listed as a zombie until init looks; the next `ps` should show nothing.
        await until(partial(_none_listed, found.all()), _REAP_SECONDS)
        (folder / "sandbox.json").unlink(missing_ok=True)
        remove_base(folder)
        if purge:
            _purge(folder)
    return DownReport(jobs=jobs, processes=count, purged=purge)


async def _none_listed(ended: list[psutil.Process]) -> bool:
    return not any(process.is_running() for process in ended)


async def _end_jobs(folder: Path) -> int:
    """Let SLURM end its jobs itself, so that accounting knows how they ended."""
    if missing_programs({"squeue": "", "scancel": "", "sinfo": ""}):
        return 0
    cluster = Cluster(prepare.load_layout(folder))
    jobs = await cluster.cancel_everything()

    async def queue_is_empty() -> bool:
        return await cluster.job_count() == 0

    if jobs:
        await until(queue_is_empty, _JOB_SECONDS)
    return jobs


async def _end_daemons(daemons: dict[str, psutil.Process]) -> None:
    """Stop the daemons in the order in which they need each other."""
    for names in (("slurmctld",), slurmd_names(), ("slurmdbd",), ("mariadbd",), ("munged",)):
        await processes.end([daemons[name] for name in names if name in daemons], _SLOW_SECONDS)


async def _end_the_rest(folder: Path) -> None:
    """End what is left of jobs and of daemons that nobody recorded.

    Raises:
        SandboxError: something cannot be ended.
    """
    for _ in range(3):  # a step that ends may have started another process just before
        rest = processes.find_own(folder).all()
        if not rest:
            return
        await processes.end(rest, _GRACE)
    names = ", ".join(f"{process.pid}" for process in processes.find_own(folder).all())
    if names:
        message = f"these processes of the sandbox could not be ended: {names}; look at them with `ps`"
        raise SandboxError(message)


def _purge(folder: Path) -> None:
    try:
        for part in folder.iterdir():
            if part.name == "lock":
                continue
            if part.is_dir() and not part.is_symlink():
                shutil.rmtree(part)
            else:
                part.unlink()
        (folder / "lock").unlink(missing_ok=True)
        folder.rmdir()
    except OSError as error:
        message = f"the sandbox is down, but not all of its files could be removed: {error.strerror} ({error.filename})"
        raise SandboxError(message) from error
