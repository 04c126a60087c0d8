"""What an action on marked jobs is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from slurmtui.models.job import Job
    from slurmtui.models.job_group import JobGroup
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
