"""The order of the queue: one key a row for whatever column is sorted by, and a sort that never holds others up.

Python sorts a hundred thousand rows in one call, during which no other thread runs; here they are dealt into many
small heaps first, so that the console goes on painting. Rows of which the column says nothing come last, whichever way
the rest is sorted; equal rows keep SLURM's order.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from slurmtui.models.records import unpadded
from slurmtui.models.states import normal_state
from slurmtui.models.values import known
from slurmtui.store.query_values import WAITING, duration, each, gpu_reader, instant, memory_in, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slurmtui.models.job_table import JobTable

SORTABLE = frozenset(
    {
        "job", "name", "user", "account", "partition", "qos", "state", "reason", "where", "time", "limit", "left",
        "wait", "submit", "start", "end", "nodes", "cpus", "memory", "gres", "priority", "comment", "dependency", "dir",
        "run",
    }
)  # fmt: skip
LARGEST_FIRST = frozenset({"time", "wait", "nodes", "cpus", "memory", "gres", "priority", "submit"})
"""Columns in which people look for the largest first."""

_SMALL = 2048  # rows that are sorted in one call
_HEAPS = 256
_FIELDS = {"dir": "work_dir"}
_STATE_ORDER = (
    "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "REQUEUED", "PENDING", "REQUEUE_HOLD",
    "SPECIAL_EXIT",
)  # fmt: skip
_FIRST_OF_MANY: dict[str, Callable[[Any], Any]] = {"time": max, "priority": max, "wait": max, "left": min, "start": min}
_DIGITS = re.compile(r"\d+", re.ASCII)

Keys = list[Any]
"""One key a row of the table; None where the column says nothing."""


def sort_keys(table: JobTable, column: str, run_names: Mapping[str, str] | None = None) -> Keys:
    """The keys of all rows for sorting by ``column``; ``run_names`` is by job id."""
    make = _MAKERS.get(column)
    if make is not None:
        return make(table)
    if column == "run":
        names = run_names or {}
        return [names.get(raw.strip().decode("ascii", "replace")) for raw in table.column("id")]
    return each(table, _FIELDS.get(column, column), _text)


def key_of_many(column: str, keys: Keys, rows: Sequence[int]) -> Any:
    """The key of a row that stands for many: that of the longest, the earliest, or of the first."""
    choose = _FIRST_OF_MANY.get(column)
    if choose is None:
        return keys[rows[0]]
    found = [keys[row] for row in rows if keys[row] is not None]
    return choose(found) if found else None


def ordered(items: Sequence[int], key: Callable[[int], Any], *, reverse: bool) -> list[int]:
    """``items`` sorted by ``key``, those without a key at the end; a stable sort of many small steps."""
    unknown: list[int] = []
    heaps: list[list[int]] = []
    sample = {key(item) for item in items[:: max(1, len(items) // _HEAPS)]} - {None}
    if len(items) <= _SMALL or not sample:
        heaps.append([])
        for item in items:
            (unknown if key(item) is None else heaps[0]).append(item)
    else:
        edges = sorted(sample)
        heaps += ([] for _ in range(len(edges) + 1))
        for item in items:
            value = key(item)
            (unknown if value is None else heaps[bisect_right(edges, value)]).append(item)
    answer: list[int] = []
    for heap in reversed(heaps) if reverse else heaps:
        heap.sort(key=key, reverse=reverse)
        answer += heap
    answer += unknown
    return answer


def _text(raw: bytes) -> Any:
    return natural(known(unpadded(raw)))


def natural(text: str) -> str | None:
    """A key by which ``n2`` comes before ``n10``; None for no text."""
    if not text:
        return None
    return _DIGITS.sub(_padded, text.casefold())


def _padded(digits: re.Match[str]) -> str:
    return digits[0].rjust(12, "0")


def _state(raw: bytes) -> Any:
    name = normal_state(raw.decode("ascii", "replace"))
    return (_STATE_ORDER.index(name) if name in _STATE_ORDER else len(_STATE_ORDER), name)


def _ids(table: JobTable) -> Keys:
    keys: Keys = []
    for raw in table.column("id"):
        text = raw.strip()
        if text.isdigit():
            keys.append(int(text) << 32)
            continue
        base, _, task = text.partition(b"_")
        keys.append((int(base) << 32) + int(task) + 1 if base.isdigit() and task.isdigit() else _odd_id(text))
    return keys


def _odd_id(text: bytes) -> int | None:
    """The key of the waiting rest of an array (its first task), of a component, of a list that was cut."""
    base, first = re.match(rb"(\d*)\D*(\d*)", text).groups()  # type: ignore[union-attr]  # it matches anything
    return (int(base) << 32) + int(first or 0) + 1 if base else None


def _elapsed(table: JobTable) -> Keys:
    """How long each job has run; None while it waits. Padded on the left, the bytes are in the order of the times."""
    answer: Keys = []
    for raw, state in zip(table.column("elapsed"), table.column("state"), strict=True):
        text = raw.strip()
        answer.append(text.rjust(len(raw)) if text[:1].isdigit() and state.strip() != WAITING else None)
    return answer


def _left(table: JobTable) -> Keys:
    limits, times = each(table, "time_limit", duration), each(table, "elapsed", duration)
    return [None if limit is None else limit - (used or 0) for limit, used in zip(limits, times, strict=True)]


def _wait(table: JobTable) -> Keys:
    now, submits = time.time(), each(table, "submit", instant)
    return [
        now - submit if submit is not None and state.strip() == WAITING else None
        for submit, state in zip(submits, table.column("state"), strict=True)
    ]


def _where(table: JobTable) -> Keys:
    """Nodes first, as people count them; then reasons by their first letter."""
    nodes, reasons = each(table, "nodes", _text), each(table, "reason", _text)
    answer: Keys = []
    for node, reason in zip(nodes, reasons, strict=True):
        answer.append((0, node) if node is not None else (1, reason) if reason is not None else None)
    return answer


_MAKERS: dict[str, Callable[[JobTable], Keys]] = {
    "job": _ids,
    "state": lambda table: each(table, "state", _state),
    "where": _where,
    "time": _elapsed,
    "limit": lambda table: each(table, "time_limit", duration),
    "left": _left,
    "wait": _wait,
    "submit": lambda table: each(table, "submit", instant),
    "start": lambda table: each(table, "start", instant),
    "end": lambda table: each(table, "end", instant),
    "nodes": lambda table: each(table, "node_count", number),
    "cpus": lambda table: each(table, "cpus", number),
    "memory": lambda table: each(table, "tres", memory_in),
    "gres": lambda table: [found or None for found in map(gpu_reader(table), range(len(table)))],
    "priority": lambda table: each(table, "priority", number),
}
