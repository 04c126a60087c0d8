"""From the queue to the lines of the list: filter, fold, sort, open. Meant to run in a thread when the queue is large.

Each step is kept until what it was made from has changed, so that opening an array or turning the order round does not
filter again, and a poll that brought nothing costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.store.query import filter_jobs
from slurmtui.store.query_fold import HEAD, ROW, Folded, fold, group_of, rest_of
from slurmtui.store.query_lines import Listing
from slurmtui.store.query_order import SORTABLE, key_of_many, ordered, sort_keys
from slurmtui.store.query_wrong import wrong_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slurmtui.models.job_group import JobGroup
    from slurmtui.models.job_table import JobTable
    from slurmtui.store.query_order import Keys


class Superseded(Exception):
    """Something newer is wanted: the work was left undone."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be shown of the queue.

    Attributes:
        filter: a filter that can be understood.
        user: only the jobs of this user; None for everybody's.
        wrong: only jobs with which something is wrong.
        sort: the column to sort by, and whether the largest comes first; None for SLURM's order.
        opened: the numbers of the arrays and het jobs whose parts are shown.
        runs: name and id of the run by job id.
        whole_ids: by the id of an array's rest whose list squeue cut, the whole one.
    """

    filter: str = ""
    user: str | None = None
    wrong: bool = False
    sort: tuple[str, bool] | None = None
    opened: frozenset[str] = frozenset()
    runs: dict[str, str] = {}
    whole_ids: dict[str, str] = {}


class Arranger:
    """Makes listings, and keeps what the next one can be made from. One call at a time."""

    def __init__(self) -> None:
        self._rows: tuple[JobTable, tuple[object, ...], Sequence[int]] | None = None
        self._folded: tuple[Sequence[int], dict[str, str], Folded, dict[bytes, JobGroup]] | None = None
        self._keys: tuple[JobTable, str, dict[str, str], Keys] | None = None

    def arrange(self, table: JobTable, wanted: Wanted, stop: Callable[[], bool] = lambda: False) -> Listing:
        """The lines for ``wanted``.

        Raises:
            Superseded: ``stop`` said that something newer is wanted.
        """
        if self._keys is not None and self._keys[0] is not table:
            self._keys = None  # nobody may want an order for long, and it holds a table of many bytes
        rows = self._filtered(table, wanted)
        _unless(stop)
        folded, groups = self._fold(table, rows, wanted)
        _unless(stop)
        keys = self._sort_keys(table, wanted)
        _unless(stop)
        return _Layout(table, folded, groups, wanted, keys).made()

    def _filtered(self, table: JobTable, wanted: Wanted) -> Sequence[int]:
        runs = wanted.runs if wanted.filter else {}
        asked = (wanted.filter, wanted.user, wanted.wrong, runs)
        if self._rows is None or self._rows[0] is not table or self._rows[1] != asked:
            rows: Sequence[int] = range(len(table))
            if wanted.filter or wanted.user is not None:
                rows = filter_jobs(table, wanted.filter, wanted.user, runs)
            if wanted.wrong:
                rows = wrong_rows(table, rows)
            self._rows = (table, asked, rows)
        return self._rows[2]

    def _fold(self, table: JobTable, rows: Sequence[int], wanted: Wanted) -> tuple[Folded, dict[bytes, JobGroup]]:
        kept = self._folded
        if kept is None or kept[0] is not rows or kept[1] != wanted.whole_ids:
            folded = fold(table, rows)
            groups = {base: group_of(table, base, found, wanted.whole_ids) for base, found in folded.members.items()}
            kept = self._folded = (rows, wanted.whole_ids, folded, groups)
        return kept[2], kept[3]

    def _sort_keys(self, table: JobTable, wanted: Wanted) -> Keys | None:
        if wanted.sort is None or wanted.sort[0] not in SORTABLE:
            return None
        column, runs = wanted.sort[0], wanted.runs if wanted.sort[0] == "run" else {}
        kept = self._keys
        if kept is None or kept[0] is not table or kept[1] != column or kept[2] != runs:
            kept = self._keys = (table, column, runs, sort_keys(table, column, runs))
        return kept[3]


def _unless(stop: Callable[[], bool]) -> None:
    if stop():
        raise Superseded


class _Layout:
    """Puts lines in order and opens what is open."""

    def __init__(
        self,
        table: JobTable,
        folded: Folded,
        groups: Mapping[bytes, JobGroup],
        wanted: Wanted,
        keys: Keys | None,
    ) -> None:
        self._table, self._folded, self._wanted, self._keys = table, folded, wanted, keys
        self._reverse = wanted.sort is not None and wanted.sort[1]
        self._bases = {base: base.decode("ascii", "replace") in wanted.opened for base in groups}
        self._listing = Listing(table, folded, groups, wanted.opened)

    def made(self) -> Listing:
        lines = self._sorted(self._folded.lines)
        if not any(self._bases.values()):
            self._listing.extend(lines)
            return self._listing.finish()
        names, opened = self._table.names, self._bases
        begin = 0
        for place, line in enumerate(lines):
            if line & HEAD and opened[base := names.bases[names.base_numbers[line & ROW]]]:
                self._listing.extend(lines[begin : place + 1])
                self._open(base)
                begin = place + 1
        self._listing.extend(lines[begin:])
        return self._listing.finish()

    def _sorted(self, lines: list[int]) -> list[int]:
        keys, members = self._keys, self._folded.members
        if keys is None or self._wanted.sort is None:
            return lines
        if not members:
            return ordered(lines, keys.__getitem__, reverse=self._reverse)
        column = self._wanted.sort[0]
        heads = {rows[0] | HEAD: key_of_many(column, keys, rows) for rows in members.values()}
        return ordered(lines, lambda line: heads[line] if line & HEAD else keys[line], reverse=self._reverse)

    def _open(self, base: bytes) -> None:
        """The parts of an array or het job: in the order that is chosen, else by their numbers."""
        table, wanted = self._table, self._wanted
        rests = set(table.names.rests.get(base, ()))
        by_number = wanted.sort is None or wanted.sort[0] == "job"
        numbers = {row: _part(table, row) for row in self._folded.members[base]}
        rows = ordered(list(numbers), numbers.__getitem__, reverse=by_number and self._reverse)
        if not by_number and self._keys is not None:
            rows = ordered(rows, self._keys.__getitem__, reverse=self._reverse)
        for row in rows:
            waiting = rest_of(table, row, wanted.whole_ids) if row in rests else None
            if waiting is None:
                self._listing.extend((row,))
            else:
                self._listing.put_rest(row, waiting, reverse=by_number and self._reverse)


def _part(table: JobTable, row: int) -> int:
    """The number of a task or component; the first of those that wait in a rest."""
    text = table.raw(row, "id").replace(b"+", b"_").partition(b"_")[2]
    digits = text.lstrip(b"[").replace(b"-", b",").partition(b",")[0].partition(b"%")[0].rstrip(b"]")
    return int(digits) if digits.isdigit() else 0
