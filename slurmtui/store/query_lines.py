"""The lines of the list of jobs: what stands on which line, and where a job is."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.models.ids import base_id, parse_job_id
from slurmtui.store.query_fold import HEAD, ROW, TASK_BIT, tasks_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from slurmtui.models.ids import JobId
    from slurmtui.models.job_group import JobGroup
    from slurmtui.models.job_names import JobNames
    from slurmtui.models.job_table import JobTable
    from slurmtui.store.query_fold import Folded


class Line(NamedTuple):
    """One line: a record of the table; ``task`` is one of the tasks that wait in it; ``group`` is all it belongs to.

    ``depth`` is 1 for what stands beneath the line of its array or het job.
    """

    key: str
    row: int
    task: int | None = None
    group: JobGroup | None = None
    depth: int = 0


class Rest(NamedTuple):
    """Where the waiting tasks of a row stand, one a line, and in which order."""

    first: int
    waiting: JobId
    reverse: bool


class Listing:
    """Lines in the order of the screen. Made by :class:`~slurmtui.store.arrange.Arranger`; never changed."""

    __slots__ = ("_heads", "_lines", "_members", "_places", "_rests", "count", "groups", "opened", "table")

    def __init__(
        self, table: JobTable, folded: Folded, groups: Mapping[bytes, JobGroup], opened: Collection[str]
    ) -> None:
        self.table = table
        self.groups = groups
        self.opened = opened
        self.count = len(folded.lines) - len(groups) + sum(group.shown for group in groups.values())
        """How many jobs, tasks and components there are, whether their group is open or closed."""
        self._members = folded.members
        self._lines = array("q")
        self._places = array("i")
        self._heads: dict[bytes, int] = {}
        self._rests: dict[int, Rest] = {}

    @property
    def names(self) -> JobNames:
        """Which row of the table is which job."""
        return self.table.names

    def __len__(self) -> int:
        return len(self._lines)

    # --- making it

    def extend(self, lines: Iterable[int]) -> None:
        """Put lines at the end."""
        self._lines.extend(lines)

    def put_rest(self, row: int, waiting: JobId, *, reverse: bool) -> None:
        """Put the waiting tasks of an array at the end, one a line."""
        self._rests[row] = Rest(len(self._lines), waiting, reverse)
        self._lines.extend(tasks_of(row, waiting, reverse=reverse))

    def finish(self) -> Listing:
        """Note where everything stands."""
        places, names = array("i", [-1]) * len(self.table), self.names
        for place, line in enumerate(self._lines):
            if line <= ROW:
                places[line] = place
            elif line & HEAD:
                self._heads[names.bases[names.base_numbers[line & ROW]]] = place
        self._places = places
        return self

    # --- looking

    def key(self, place: int) -> str:
        """What names a line for good: the id of the job, task or component, the number of an array or het job."""
        line = self._lines[place]
        row = line & ROW
        base = self.names.base_of(row)
        if line & HEAD and base is not None:
            return base.decode("ascii", "replace")
        if line >> TASK_BIT and base is not None:
            return f"{base.decode('ascii', 'replace')}_{(line >> TASK_BIT) - 1}"
        return self.table.plain(row, "id")

    def line(self, place: int) -> Line:
        """What stands there."""
        code = self._lines[place]
        row, key = code & ROW, self.key(place)
        base = self.names.base_of(row)
        group = self.groups.get(base) if base is not None else None
        task = (code >> TASK_BIT) - 1 if code >> TASK_BIT else None
        return Line(key, row, task, group, int(group is not None and not code & HEAD))

    def place(self, key: str) -> int | None:
        """The line of a key; None when it is in no line of its own (not there, or in a closed array)."""
        row = self.names.by_id.get(key.encode("utf-8", "replace"))
        if row is not None and self._places[row] >= 0:
            return self._places[row]
        base = base_id(key).encode("utf-8", "replace")
        if base.decode("utf-8", "replace") == key:
            return self._heads.get(base)
        wanted = parse_job_id(key)
        if wanted is None or wanted.task is None:
            return None
        for candidate in self.names.rests.get(base, ()):
            rest = self._rests.get(candidate)
            if rest is not None and rest.waiting.holds(wanted):
                offset = _offset(rest.waiting, wanted.task)
                return rest.first + (rest.waiting.count() - 1 - offset if rest.reverse else offset)
        return None

    def nearest(self, key: str) -> int | None:
        """The line of a key, else that of the array it is in; of an array that is one task by now, that task's."""
        found = self.place(key)
        if found is not None:
            return found
        base = base_id(key).encode("utf-8", "replace")
        if base in self._heads:
            return self._heads[base]
        if base.decode("utf-8", "replace") == key:
            for row in self.names.groups.get(base, ())[:1]:
                if self._places[row] >= 0:
                    return self._places[row]
        return None

    def find(self, key: str) -> Line | None:
        """The job of a key, also when it is in a closed array (then as a line of its own)."""
        place = self.place(key)
        if place is not None:
            return self.line(place)
        row = self.names.row_of(key)
        base = self.names.base_of(row) if row is not None else None
        if row is None or base is None or base not in self.groups or not self._shows(base, row):
            return None
        wanted = parse_job_id(key)
        task = wanted.task if wanted is not None and self.names.is_rest(row) else None
        return Line(key, row, task, self.groups[base], 1)

    def parts(self, group_id: str) -> Iterator[str]:
        """The keys of the parts of an array or het job that are shown, open or closed, each waiting task by itself."""
        base = group_id.encode("utf-8", "replace")
        for row in self._members.get(base, ()):
            waiting = self.names.rest(row) if self.names.is_rest(row) else None
            if waiting is None:
                yield self.table.plain(row, "id")
            else:
                yield from (f"{group_id}_{task}" for task in waiting.each_task())

    def _shows(self, base: bytes, row: int) -> bool:
        """Whether a row of a group is not hidden by a filter."""
        rows = self._members[base]
        place = bisect_left(rows, row)
        return place < len(rows) and rows[place] == row


def _offset(waiting: JobId, task: int) -> int:
    """Which of the waiting tasks it is."""
    offset = 0
    for first, last, step in waiting.tasks:
        if first <= task <= last and not (task - first) % step:
            return offset + (task - first) // step
        offset += (last - first) // step + 1
    return offset
