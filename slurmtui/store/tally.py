"""How many jobs of a user run and wait: counted once a poll, in the thread that joins it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.models.states import normal_state
from slurmtui.store.job_marks import own_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job_table import JobTable


class Tally(NamedTuple):
    """Jobs and tasks of arrays, those that wait in the rest of an array as well."""

    running: int
    waiting: int


_last: tuple[JobTable, str | None, Tally] | None = None


def tally(table: JobTable, user: str | None) -> Tally:
    """The jobs of ``user`` in ``table`` (None: all of them); asked again for the same table it answers at once."""
    global _last  # noqa: PLW0603 - one answer is kept, for the console shows one queue
    kept = _last
    if kept is not None and kept[0] is table and kept[1] == user:
        return kept[2]
    found = _count(table, range(len(table)) if user is None else own_rows(table, user))
    _last = (table, user, found)
    return found


def _count(table: JobTable, rows: Sequence[int]) -> Tally:
    states = counted_states(table, rows)
    return Tally(states["RUNNING"], states["PENDING"])


def counted_states(table: JobTable, rows: Sequence[int]) -> Counter[str]:
    """How many jobs are in each state: tasks of arrays one by one, those that wait in the rest of one as well."""
    _, start, end = table.layout.slots["state"]
    states, names = table.part_of("state"), table.names
    counts: Counter[str] = Counter()
    for raw, number in Counter(map(states.__getitem__, rows)).items():  # what jobs have in common is one object
        counts[normal_state(raw[start:end].decode("ascii", "replace"))] += number
    inside = rows if isinstance(rows, range) else frozenset(rows) if names.rest_ids else frozenset()
    for row in names.rest_ids:
        waiting = names.rest(row) if row in inside else None
        if waiting is not None:
            counts[normal_state(table.plain(row, "state"))] += waiting.count() - 1
    return counts
