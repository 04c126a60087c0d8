"""What is meant: by marks, by the cursor, by a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from slurmtui.models.ids import parse_job_id
from slurmtui.models.text import visible

if TYPE_CHECKING:
    from slurmtui.models.job import Job
    from slurmtui.models.job_group import JobGroup
    from slurmtui.session import Session
    from slurmtui.store.log_live import Live as LogSource
    from slurmtui.views.jobs.rows import JobRows


class LazyJobs(Sequence["Job"]):
    """The jobs of some keys in a queue that does not change any more, decoded when they are looked at.

    Thousands of jobs may be marked while the key line only wants to know whether there are any.
    """

    def __init__(self, rows: JobRows | None, keys: Sequence[str]) -> None:
        self._rows = rows
        self.keys = keys

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> Job: ...

    @overload
    def __getitem__(self, index: slice) -> LazyJobs: ...

    def __getitem__(self, index: int | slice) -> Job | LazyJobs:
        if isinstance(index, slice):
            return LazyJobs(self._rows, self.keys[index])
        job = self._rows.job(self.keys[index]) if self._rows is not None else None
        if job is None:
            raise IndexError(index)
        return job

    def groups(self) -> dict[str, JobGroup]:
        """The arrays and het jobs among them that are meant as a whole, by their number."""
        if self._rows is None:
            return {}
        found = ((key, self._rows.group(key)) for key in self.keys if key.isdigit())
        return {key: group for key, group in found if group is not None}


def log_of(session: Session, job: Job | None, group: JobGroup | None) -> tuple[str, str, LogSource] | None:
    """Key, name and source of the log of a job, or of all parts of an array or het job as one log."""
    from slurmtui.store.ended_log import EndedJobLog  # noqa: PLC0415 - the console starts without paying for it
    from slurmtui.store.log_jobs import JobsLog  # noqa: PLC0415 - as above
    from slurmtui.store.log_open import jobs_key  # noqa: PLC0415 - as above

    if group is not None:
        return jobs_key([group.id]), f"{group.kind} {group.id}", JobsLog(session, [group.id])
    if job is None:
        return None
    return f"job:{job.id}", f"job {job.id} {visible(job.name)}", EndedJobLog(session, job.id)


def named_task(text: str) -> str:
    """The id of the one task that a filter is about, "" for any other filter."""
    key = text.strip().removeprefix("id:").removeprefix("id=")
    wanted = parse_job_id(key)
    return key if wanted is not None and wanted.task is not None else ""
