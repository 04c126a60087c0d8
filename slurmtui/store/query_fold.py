"""Arrays and het jobs as one row each: a pure function over the queue's columns.

What the list shows is a row of numbers, one a line, so that a hundred thousand lines are less than a megabyte:

* the number of a row of the table: that record;
* the same with ``HEAD``: the array or het job to which that record belongs, as one line;
* the same with a task's number (plus one) above ``TASK_BIT``: that waiting task of the record, an array's rest.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.models.ids import parse_job_id, spans
from slurmtui.models.job_group import RUNNING_STATES, JobGroup
from slurmtui.models.states import normal_state
from slurmtui.models.values import known, moment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.ids import JobId
    from slurmtui.models.job_table import JobTable

HEAD = 1 << 31
ROW = HEAD - 1
TASK_BIT = 32


class Folded(NamedTuple):
    """The lines while everything is closed, in the order of the rows, and the rows behind each head."""

    lines: list[int]
    members: dict[bytes, Sequence[int]]


def fold(table: JobTable, rows: Sequence[int]) -> Folded:
    """Make one line of the rows of each array and het job; a single task or component stays what it is."""
    names = table.names
    if not names.groups:
        return Folded(list(rows), {})
    members: dict[bytes, Sequence[int]] = {}
    members.update(names.groups if len(rows) == len(table) else _members(table, rows))
    for base, found in tuple(members.items()):
        if len(found) == 1 and not names.is_rest(found[0]):
            del members[base]
    numbers = names.base_numbers
    heads = {found[0] for found in members.values()}
    inside = {number for number, base in enumerate(names.bases) if base in members}
    lines = [row | HEAD if row in heads else row for row in rows if row in heads or numbers[row] not in inside]
    return Folded(lines, members)


def _members(table: JobTable, rows: Sequence[int]) -> dict[bytes, Sequence[int]]:
    """The rows among ``rows`` of each array and het job."""
    numbers = table.names.base_numbers
    found: dict[int, array[int]] = {}
    for row in rows:
        number = numbers[row]
        if number >= 0:
            if number not in found:
                found[number] = array("i")
            found[number].append(row)
    return {table.names.bases[number]: members for number, members in found.items()}


def group_of(table: JobTable, base: bytes, rows: Sequence[int], whole_ids: Mapping[str, str]) -> JobGroup:
    """What stands in the line of an array or het job of which ``rows`` are shown.

    ``whole_ids`` has the full lists of waiting tasks that squeue cut, by the cut one.
    """
    names, every = table.names, table.names.groups[base]
    is_array = b"_" in table.raw(rows[0], "id")
    rests = names.rests.get(base, [])
    if len(rows) < len(every):
        shown = set(rows)
        rests = [row for row in rests if row in shown]
    states, starts = _tally(table, rows)
    for row in rests:
        states[normal_state(table.plain(row, "state"))] += _waiting_in(table, row, whole_ids) - 1
    hidden = 0
    if len(rows) < len(every):
        hidden = len(every) - len(rows)
        hidden += sum(_waiting_in(table, row, whole_ids) - 1 for row in names.rests.get(base, ()) if row not in shown)
    waits = rests or [row for row in rows[:1] if table.raw(row, "state") == b"PENDING"]
    return JobGroup(
        id=base.decode("ascii", "replace"),
        kind="array" if is_array else "het",
        states=dict(states.most_common()),
        hidden=hidden,
        whole=all(rest_of(table, row, whole_ids) for row in rests),
        tasks=_task_range(table, rows, [rest_of(table, row, whole_ids) for row in rests]) if is_array else "",
        reason=known(table.plain(waits[0], "reason")) if waits else "",
        start=min(starts) if starts else None,
    )


def rest_of(table: JobTable, row: int, whole_ids: Mapping[str, str]) -> JobId | None:
    """The waiting tasks of a rest, from the list of squeue or, where that was cut, from the whole one."""
    found = table.names.rest(row)
    if found is None:
        whole = whole_ids.get(table.plain(row, "id"))
        return parse_job_id(whole) if whole else None
    return found


def tasks_of(row: int, waiting: JobId, *, reverse: bool) -> array[int]:
    """The lines of the waiting tasks of a rest, one each."""
    lines = array("q")
    for first, last, step in waiting.tasks:
        lines.extend(range(row | first + 1 << TASK_BIT, (row | last + 1 << TASK_BIT) + 1, step << TASK_BIT))
    if reverse:
        lines.reverse()
    return lines


def _tally(table: JobTable, rows: Sequence[int]) -> tuple[Counter[str], list[float]]:
    """Parts by state, and when those that run began."""
    states_of, starts_of = table.part_of("state"), table.part_of("start")
    _, first, last = table.layout.slots["state"]
    _, begin, end = table.layout.slots["start"]
    states: Counter[str] = Counter()
    running = set()
    for raw, count in Counter(map(states_of.__getitem__, rows)).items():  # what parts have in common is one object
        name = normal_state(raw[first:last].decode("ascii", "replace"))
        states[name] += count
        if name in RUNNING_STATES:
            running.add(raw)
    began = {starts_of[row][begin:end] for row in rows if states_of[row] in running} if running else ()
    starts = [start for raw in began if (start := moment(raw.decode("ascii", "replace"))) is not None]
    return states, starts


def _waiting_in(table: JobTable, row: int, whole_ids: Mapping[str, str]) -> int:
    """How many tasks wait in a rest; of a list that was cut, those that are named in it."""
    waiting = rest_of(table, row, whole_ids)
    if waiting is not None:
        return waiting.count()
    listed = table.plain(row, "id").partition("[")[2].rpartition(",")[0]
    return sum((last - first) // step + 1 for first, last, step in spans(listed) or ()) or 1


def _task_range(table: JobTable, rows: Sequence[int], rests: Sequence[JobId | None]) -> str:
    """The lowest and the highest number of a task among the rows."""
    part, start, end = table.layout.slots["id"]
    ids = table.parts[part]
    texts = (ids[row][start:end].strip().partition(b"_")[2] for row in rows)
    numbers = [int(text) for text in texts if text.isdigit()]
    for waiting in rests:
        for first, last, _ in waiting.tasks if waiting else ():
            numbers += (first, last)
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}-{high}"
