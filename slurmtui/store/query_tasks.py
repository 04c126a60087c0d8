"""Finds the tasks that wait in the rest of an array (``44_[0-199%3]``), which have no row of their own in the queue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from slurmtui.models.job_table import JobTable
    from slurmtui.store.query_terms import Term

MOST_TRIED = 5_000
"""So many waiting tasks are tried one by one by a regular expression with each key, in some 15 ms; more are not."""
_TASK = re.compile(r"(?P<base>\d*)_(?P<task>\d+)", re.ASCII)


def rows_with_task(table: JobTable, term: Term, rows: Iterable[int]) -> set[int]:
    """The rests in which a task waits that is meant.

    A term that is negated means none: the other tasks of the row are not to be hidden with the one.
    """
    if term.negated or not table.names.rest_ids:
        return set()
    if term.kind == "word":
        return _named(table, term.values[0], whole_base=False)
    if term.field == "id" and term.pattern is not None:
        return _tried(table, term.pattern, rows)
    if term.field == "id" and not term.exact:
        return {row for value in term.values for row in _named(table, value, whole_base=True)}
    if term.kind == "regex" and "_" in term.values[0]:
        return _tried(table, term.pattern, rows)
    return set()


def _named(table: JobTable, text: str, *, whole_base: bool) -> set[int]:
    """Where a task waits whose id has ``text`` in it, or (``whole_base``) begins with it; no task is written out."""
    match = _TASK.fullmatch(text)
    if match is None:
        return set()
    base, names, found = match["base"].encode(), table.names, set()
    for row, shown in names.rest_ids.items():
        own = shown.partition(b"_")[0]
        if own == base or (not whole_base and own.endswith(base)):
            waiting = names.rest(row)
            if waiting is not None and any(_begins(match["task"], *span) for span in waiting.tasks):
                found.add(row)
    return found


def _begins(digits: str, first: int, last: int, step: int) -> bool:
    """Whether one of these numbers begins with ``digits``."""
    low = high = int(digits)
    if str(low) != digits:
        return False
    while low <= last:
        number = max(first, low + (first - low) % step)
        if number <= min(high, last):
            return True
        if not low:
            return False  # no other number begins with a nought
        low, high = low * 10, high * 10 + 9
    return False


def _tried(table: JobTable, holds: Callable[[str], bool], rows: Iterable[int]) -> set[int]:
    rests, count = {}, 0
    for row in rows:
        waiting = table.names.rest(row) if table.names.is_rest(row) else None
        if waiting is not None:
            rests[row] = waiting
            count += waiting.count()
        if count > MOST_TRIED:
            return set()
    return {
        row for row, waiting in rests.items() if any(holds(f"{waiting.base}_{task}") for task in waiting.each_task())
    }
