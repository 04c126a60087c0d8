"""Which row of the queue is which job, and which rows are parts of one array or het job.

Made on bytes, piece by piece while squeue is still writing its answer, so that nobody waits for it; no step of it keeps
another thread waiting.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from slurmtui.models.ids import base_id, parse_job_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.ids import JobId

_NONE = b"\0"  # no id begins so


class JobNames:
    """Which jobs there are: rows by the id that squeue shows, rows of an array or het job by its number.

    Attributes:
        by_id: the row of each id.
        groups: the rows of each array and het job, also of one that is a single record.
        bases: the numbers of the arrays and het jobs.
        base_numbers: for each row, which of ``bases`` it belongs to; -1 for a job on its own.
        rests: the rows of what still waits of each array (``123_[4-10]``); several where their tasks differ.
        rest_ids: the shown id of each such row.
    """

    __slots__ = (
        "_last",
        "_parsed",
        "_places",
        "_width",
        "base_numbers",
        "bases",
        "by_id",
        "groups",
        "rest_ids",
        "rests",
    )

    def __init__(self, width: int) -> None:
        """No jobs yet; ``width`` is that of squeue's column, an id that fills it may have been cut."""
        self.by_id: dict[bytes, int] = {}
        self.groups: dict[bytes, array[int]] = {}
        self.bases: list[bytes] = []
        self.base_numbers = array("i")
        self.rests: dict[bytes, list[int]] = {}
        self.rest_ids: dict[int, bytes] = {}
        self._width = width
        self._parsed: dict[int, JobId | None] = {}
        self._places: dict[bytes, int] = {}  # of each base in ``bases``
        self._last: tuple[bytes, int, array[int]] = (_NONE, -1, array("i"))

    def extend(self, names: Sequence[bytes]) -> None:
        """Take the ids of the next rows."""
        first = len(self.base_numbers)
        self.by_id.update(zip(names, range(first, first + len(names)), strict=True))
        prefix, number, rows = self._last
        numbers = []
        for row, name in enumerate(names, first):
            if not name.startswith(prefix):  # of an array the tasks mostly follow each other
                prefix, number, rows = self._group(name)
            numbers.append(number)
            if number >= 0:
                rows.append(row)
                if b"[" in name:
                    self.rests.setdefault(self.bases[number], []).append(row)
                    self.rest_ids[row] = name
        self.base_numbers.extend(numbers)
        self._last = (prefix, number, rows)

    def _group(self, name: bytes) -> tuple[bytes, int, array[int]]:
        """What the ids of the same array or het job begin with, its place in ``bases``, and its rows."""
        if name.isdigit():
            return _NONE, -1, array("i")
        base, sign, _ = name.partition(b"_" if b"_" in name else b"+")
        if not sign:
            return _NONE, -1, array("i")
        number = self._places.get(base)
        if number is None:
            number = self._places[base] = len(self.bases)
            self.bases.append(base)
            self.groups[base] = array("i")
        return base + sign, number, self.groups[base]

    def base_of(self, row: int) -> bytes | None:
        """The number of the array or het job to which a row belongs."""
        number = self.base_numbers[row]
        return None if number < 0 else self.bases[number]

    def is_rest(self, row: int) -> bool:
        """Whether a row is the waiting rest of an array (``123_[4-10]``)."""
        return row in self.rest_ids

    def rest(self, row: int) -> JobId | None:
        """The waiting tasks of a rest; None when squeue cut their list."""
        if row not in self._parsed:
            shown_id = self.rest_ids[row]
            whole = len(shown_id) < self._width
            self._parsed[row] = parse_job_id(shown_id.decode("ascii", "replace")) if whole else None
        return self._parsed[row]

    def knows(self, key: str) -> bool:
        """Whether a job, a task (also one that waits in a rest), an array or a het job is in the queue."""
        return key.encode("utf-8", "replace") in self.groups or self.row_of(key) is not None

    def row_of(self, key: str) -> int | None:
        """The row of a job or task; that of the rest for a task which waits in it; None for an array as a whole."""
        row = self.by_id.get(key.encode("utf-8", "replace"))
        if row is not None:
            return row
        task = parse_job_id(key)
        if task is None or task.task is None:
            return None
        for candidate in self.rests.get(base_id(key).encode(), ()):
            rest = self.rest(candidate)
            if rest is not None and rest.holds(task):
                return candidate
        return None

    def rows_of(self, base: bytes) -> list[int]:
        """The rows of a job, or of the parts of an array or het job, by its number."""
        row = self.by_id.get(base)
        return [*([] if row is None else [row]), *self.groups.get(base, ())]
