"""The rows of the Jobs view, decoded only where they are shown. Pure."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.values import Special
from slurmtui.views.jobs.cells import CELLS, JobLine, label

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from slurmtui.models.job import Job
    from slurmtui.models.job_group import JobGroup
    from slurmtui.store.query_lines import Line, Listing
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.lines import Cell

_LOOKED_AT = 200


class JobRows:
    """The lines of a listing as cells, for the ``columns`` with these keys."""

    def __init__(  # noqa: PLR0913 - what a row is made from
        self,
        listing: Listing,
        snapshot: Snapshot,
        run_names: Mapping[str, str],
        now: float,
        *,
        ended: Mapping[str, Mapping[str, int]] | None = None,
        terse: bool = False,
    ) -> None:
        self.listing = listing
        self.snapshot, self.run_names, self.terse = snapshot, run_names, terse
        self.ended = ended or {}
        self.columns: Sequence[str] = ()
        self.now, self.ticked = now, 0.0
        self.tick(now)

    def tick(self, now: float) -> None:
        """Let the times go on: those of a queue that SLURM still answers for."""
        self.now, queue = now, self.snapshot.queue
        self.ticked = max(0.0, now - queue.at) if queue.good and queue.at else 0.0

    def __len__(self) -> int:
        return len(self.listing)

    def id_width(self) -> int:
        """Cells that the ids need, with what stands before them (looked at are the first ones)."""
        listing = self.listing
        shown = [listing.key(place) for place in range(min(len(listing), _LOOKED_AT))]
        labels = [label(group) for group in islice(listing.groups.values(), _LOOKED_AT)]
        before = 0 if not labels else 3 if listing.opened else 2
        return before + max(map(len, [*shown, *labels]), default=0)

    def key(self, index: int) -> str:
        """The id of the job in a row."""
        return self.listing.key(index)

    def index_of(self, key: str) -> int | None:
        """Where a job is now; for one in a closed array, where the array is."""
        return self.listing.nearest(key)

    def knows(self, key: str) -> bool:
        """Whether it is in the queue, shown or not."""
        return self.listing.names.knows(key)

    def row_style(self, index: int) -> str | None:
        """No row as a whole is loud."""
        del index
        return None

    def cells(self, index: int) -> Sequence[Cell]:
        """The cells of a row."""
        line = JobLine(self, self.listing.line(index))
        return [CELLS[key](line) for key in self.columns]

    def group(self, key: str | None) -> JobGroup | None:
        """The array or het job that a key stands for as a whole."""
        line = self._line(key)
        return line.group if line is not None and line.depth == 0 else None

    def _line(self, key: str | None) -> Line | None:
        return self.listing.find(key) if key else None

    def job(self, key: str | None) -> Job | None:
        """The job of a key, if it is in the queue; an array or het job as a whole under the number that names it."""
        line = self._line(key)
        if line is None:
            return None
        job = self.listing.table.job(line.row)
        if line.group is not None and line.depth == 0:
            return as_a_whole(job, line.group, self.now)
        if line.task is not None:
            return msgspec.structs.replace(job, id=line.key, array_tasks=str(line.task))
        return job

    def run_of(self, key: str | None) -> str:
        """The id of the run that a job belongs to, "" for none."""
        line = self._line(key)
        if line is None:
            return ""
        return self.snapshot.run_of_job.get(self.listing.table.plain(line.row, "id"), "")

    def marked(self, marks: Collection[str]) -> list[str]:
        """The marked keys that are shown, in their order; no task of an array that is marked as a whole."""
        found = []
        for key in marks:
            line = self.listing.find(key)
            whole = line is not None and line.depth == 1 and line.group is not None and line.group.id in marks
            if line is not None and not whole:
                found.append((self.listing.nearest(key) or 0, line.task or 0, key))
        return [key for _, _, key in sorted(found)]


def as_a_whole(job: Job, group: JobGroup, now: float) -> Job:
    """An array or het job as one job, made from one of its parts."""
    state = next(iter(group.states), job.state)
    return msgspec.structs.replace(
        job,
        id=group.id,
        raw_id=int(group.id) if group.id.isdigit() else job.raw_id,
        array_tasks=group.tasks,
        het_offset=None,
        state="RUNNING" if group.running else state,
        reason=group.reason,
        nodes="",
        elapsed=max(0, int(now - group.start)) if group.start is not None else Special.UNKNOWN,
        start=group.start if group.running else job.start,
    )
