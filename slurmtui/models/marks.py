"""The marks that tie a SLURM job to its flow run: the job's name, its comment, and its id in the run folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from slurmtui.models.job import Job
    from slurmtui.models.run_record import LaunchRecord, RunRecord, RunSpec, Submission

COMMENT_PREFIX = "slurmtui:"
_NAME_LIMIT = 40  # of the flow's part: well under what squeue is asked for, so that the mark is never cut
_SHORT_ID = 8
_SAME_JOB_SECONDS = 3600.0  # a recorded id whose job was submitted at another time is a reused number
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def job_name(flow_name: str, run_id: str) -> str:
    """The name of the run's jobs: the flow's name in safe characters and the first 8 digits of the run id."""
    safe = _UNSAFE.sub("-", flow_name).strip("-.")[:_NAME_LIMIT].rstrip("-.")
    return f"{safe or 'flow'}-{run_id[:_SHORT_ID]}"


def comment(run_id: str) -> str:
    """The comment of the run's jobs."""
    return f"{COMMENT_PREFIX}{run_id}"


def run_id_of(text: str) -> str | None:
    """The run a job's comment names, None when it carries no mark of slurmtui."""
    found = text.strip()
    return found.removeprefix(COMMENT_PREFIX) if found.startswith(COMMENT_PREFIX) else None


class Marks:
    """What tells a run's jobs from all others.

    A job's user is not looked at here: whoever acts asks SLURM for the user's own jobs only.
    """

    def __init__(self, run_id: str, names: Iterable[str], recorded: Iterable[Submission | LaunchRecord] = ()) -> None:
        self.run_id = run_id
        self._names = frozenset(name for name in names if name)
        self._recorded = {
            raw: entry.time for entry in recorded if entry.job_id and (raw := _leading_number(entry.job_id)) is not None
        }

    @classmethod
    def of(cls, spec: RunSpec, record: RunRecord | None = None) -> Marks:
        """The marks of a run that slurmtui submitted."""
        recorded = () if record is None else (*record.submissions, *([record.launch] if record.launch else ()))
        return cls(spec.id, {spec.job_name, job_name(spec.flow_name, spec.id)}, recorded)

    def tied(self, job: Job) -> bool:
        """Whether the job is the run's by at least one mark, and carries no mark of another run."""
        marked = run_id_of(job.comment)
        if marked is not None:
            return marked == self.run_id
        if job.name in self._names:
            return True
        return any(
            job.submit is None or abs(job.submit - self._recorded[number]) < _SAME_JOB_SECONDS
            for number in (job.raw_id, job.array_id, job.het_id)
            if number is not None and number in self._recorded
        )

    def select(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """The run's jobs among ``jobs``."""
        return (job for job in jobs if self.tied(job))


def _leading_number(job_id: str) -> int | None:
    found = re.match(r"\d+", job_id)
    return int(found.group()) if found else None
