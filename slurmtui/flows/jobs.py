"""The few questions that a driver, or the keeper of a shared cluster, asks SLURM about its own jobs."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING

import msgspec
import psutil

from slurmtui.control.run_folder import WRAPPER
from slurmtui.control.slurm import cancel_jobs
from slurmtui.errors import CommandError
from slurmtui.models.marks import Marks
from slurmtui.session import user_name
from slurmtui.sources.exec import Runner
from slurmtui.sources.processes import command_line
from slurmtui.sources.run_folder import read_folder
from slurmtui.sources.slurm.client import Slurm

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from slurmtui.models.job import Job
    from slurmtui.models.run_record import Submission
    from slurmtui.models.shared_cluster import ClusterRecord

_log = logging.getLogger("slurmtui.driver")
_SECONDS = 30.0
_LONGEST_SUBMISSION = 5.0
_ENDING = "COMPLETING"  # its processes are gone; only the node tidies up


class Submitted(msgspec.Struct, frozen=True):
    """Jobs that are known to have been made: those of an attempt and the ones before it, or those of a cluster.

    Attributes:
        ids: their numbers, oldest first; of an array the number of the whole.
        own: those of the attempt itself.
        marks: what tells them from jobs that got the same number later: SLURM may count from the start again. None
            where that cannot be, for this very process made them.
    """

    ids: tuple[str, ...]
    own: frozenset[str]
    marks: Marks | None = None

    def among(self, queue: Iterable[Job]) -> set[str]:
        """Those that live in the queue: they, or a task or a component of theirs."""
        known = set(self.ids)
        return {
            number
            for job in (queue if self.marks is None else self.marks.select(queue))
            if job.active and job.state != _ENDING
            for number in map(str, (job.raw_id, job.array_id, job.het_id))
            if number in known
        }


def submitted(folder: Path, attempt: int) -> Submitted:
    """What the run's folder tells of the jobs of this attempt and of those before it.

    Raises:
        RunFolderError: the folder cannot be read.
    """
    record = read_folder(folder)
    until = tuple(entry for entry in record.submissions if entry.attempt <= attempt)
    own = _ids([entry for entry in until if entry.attempt == attempt])
    return Submitted(
        _ids(until), frozenset(own), Marks.of(record.spec, msgspec.structs.replace(record, submissions=until))
    )


def submitted_by_cluster(record: ClusterRecord) -> Submitted:
    """What a shared cluster's folder tells of its jobs."""
    ids = _ids(record.submissions)
    return Submitted(ids, frozenset(ids), Marks(record.spec.id, {record.spec.id}, record.submissions))


def made_here(ids: Iterable[str]) -> Submitted:
    """Jobs that this very process made."""
    found = tuple(ids)
    return Submitted(found, frozenset(found))


def _ids(submissions: Sequence[Submission]) -> tuple[str, ...]:
    return tuple(entry.job_id for entry in submissions if entry.job_id)


async def alive(known: Submitted) -> set[str] | None:
    """Those that are queued or running; None when SLURM does not answer.

    All of the user's jobs are listed: asking for ids fails whole as soon as SLURM has forgotten one of them.
    """
    try:
        table = await Slurm(Runner(), user_name(), _SECONDS).queue(everyone=False)
    except CommandError as error:
        _log.warning("%s", error)
        return None
    return known.among(table.jobs())


async def cancel(ids: Collection[str]) -> None:
    """Cancel jobs; what SLURM says against it goes to the log."""
    for said in dict.fromkeys((await cancel_jobs(Runner(), sorted(ids))).values()):
        if said:
            _log.warning("scancel: %s", said)


async def cancel_leftovers(known: Submitted) -> set[str]:
    """Cancel those that are still in the queue; return them."""
    left = (await alive(known)) if known.ids else set()
    if left is None:
        # No answer. What was submitted just now is its own, and cancelling a job that is gone harms nobody; an older
        # number may be another job's by now.
        left = set(known.own)
    if left:
        await cancel(left)
    return left


def wait_for_submissions(folder: Path) -> None:
    """Let an sbatch that is under way end: the job it makes must be known to be cancelled."""
    until = time.monotonic() + _LONGEST_SUBMISSION
    while time.monotonic() < until:
        children = psutil.Process().children(recursive=True)
        if not any(_is_sbatch(child, folder) for child in children):
            return
        time.sleep(0.05)


def _is_sbatch(process: psutil.Process, folder: Path) -> bool:
    """Whether it is sbatch, or its wrapper: before it has called the real one, or while it writes down the job."""
    with contextlib.suppress(psutil.Error):
        words = command_line(process)  # first: before it is told the name is still that of what began the process
        return process.name() == "sbatch" or str(folder / WRAPPER) in words
    return False
