"""Where the output of many jobs goes: one question for a hundred of them, not one each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.models.ids import parse_job_id
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm.ask import ask, knows_no_such_job, records_of
from slurmtui.sources.slurm.detail import WIDE, make_detail
from slurmtui.sources.slurm.past_output import past_outputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job import JobDetail
    from slurmtui.session import Session

BEGUN = "R,CG,CF,S,ST"
"""States of jobs that have begun and not ended."""
_AT_ONCE = 100
_ONE_BY_ONE = 20


async def outputs_of(session: Session, ids: Sequence[str], states: str = "all") -> dict[str, JobDetail]:
    """The jobs among these that SLURM knows in these states; an array's number means all of its tasks.

    Raises:
        CommandError: SLURM does not answer.
    """
    found: dict[str, JobDetail] = {}
    wanted = list(dict.fromkeys(filter(None, map(_askable, ids))))
    for first in range(0, len(wanted), _AT_ONCE):
        found.update(await _some(session, wanted[first : first + _AT_ONCE], states))
    return found


async def is_array(session: Session, job_id: str) -> bool:
    """Whether this is the number of an array, as squeue tells it, or accounting for one that is forgotten.

    Raises:
        CommandError: neither answers.
    """
    if not job_id.isdigit():
        return False
    slurm = session.slurm
    known = await outputs_of(session, [job_id])
    ids = known or await past_outputs(slurm, job_id)
    return any(one.startswith(f"{job_id}_") for one in ids)


def _askable(job_id: str) -> str:
    parsed = parse_job_id(job_id)
    if parsed is None:
        return ""
    return f"{parsed.base}_{parsed.task}" if parsed.task is not None else str(parsed.base)


async def _some(session: Session, ids: Sequence[str], states: str) -> dict[str, JobDetail]:
    argv = ("squeue", "-h", "-a", "-t", states, "-j", ",".join(ids), "-O", WIDE.asked())
    finished = await ask(session.runner, argv, session.slurm.timeout, check=False)
    if finished.code:
        if not knows_no_such_job(finished.stderr):
            raise failure(finished)
        found: dict[str, JobDetail] = {}
        if len(ids) > 1:
            for job_id in ids[-_ONE_BY_ONE:]:  # one that SLURM has forgotten fails the call for all on some versions
                found.update(await _some(session, [job_id], states))
        return found
    records = records_of(WIDE, finished)
    details = (make_detail(records, row, "") for row in range(len(records)))
    return {detail.id: detail for detail in details}


def files_of(detail: JobDetail) -> list[tuple[Path, str]]:
    """Path and source of each output of a job; one that holds both stdout and stderr once."""
    found = []
    if detail.stdout:
        found.append((Path(detail.stdout), "out"))
    if detail.stderr and detail.stderr != detail.stdout:
        found.append((Path(detail.stderr), "err"))
    return found


def family(path: Path, job_id: str) -> tuple[str, str, str] | None:
    """An array's number, and how its tasks' files are named before and after the task's; None when it does not show."""
    parsed = parse_job_id(job_id)
    if parsed is None or parsed.task is None:
        return None
    head, found, tail = path.name.rpartition(f"{parsed.base}_{parsed.task}")
    if not found or tail[:1].isdigit():
        return None
    return str(parsed.base), f"{head}{parsed.base}_", tail
