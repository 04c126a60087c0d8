"""How many task runs of a flow run are in which state, without reading the task runs.

``/task_runs/history`` with one interval of a hundred years is a count by state type and name (``Cached`` is a name):
one small answer a run, made by the database. Task runs of earlier attempts of a retried run stay in Prefect and must
not be counted; history has no filter on the attempt, but it has a start: the moment of the newest task run of an
earlier attempt, which is found once an attempt by reading task runs from the newest back.

Counts of ended runs are kept; they are asked for again only if the run is.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import PrefectError
from slurmtui.models.flow_run import TaskCounts
from slurmtui.sources.prefect import times, wire
from slurmtui.sources.prefect.listing import PAGE, Lister

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.models.flow_run import FlowRun
    from slurmtui.sources.prefect.transport import Transport

_BEGINNING, _END = "2000-01-01T00:00:00Z", "2099-12-07T00:00:00Z"
_INTERVAL = 3_200_000_000  # longer than from the one to the other: one interval
_AT_ONCE = 4
_SETTLED_SECONDS = 60
"""Task runs follow their run's end by some seconds (the server cancels them within 20): only then are counts kept."""

_KEPT = 5_000
_ROWS_COUNTED = 20_000
_NOT_THERE = frozenset({404, 405, 422})


class _States(msgspec.Struct):
    state_type: str | None = None
    state_name: str | None = None
    count_runs: int = 0


class _Interval(msgspec.Struct):
    states: list[_States] = []


class TaskCounter:
    """Counts task runs and remembers what cannot change."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._kept: dict[tuple[str, int, str], TaskCounts] = {}
        self._starts: dict[tuple[str, int], str] = {}  # where a retried run's newest attempt begins

    async def count(self, runs: Sequence[FlowRun], limit: int | None = None) -> dict[str, TaskCounts]:
        """The counts of ``runs``; with ``limit``, at most so many requests: runs left out are missing from the answer.

        Raises:
            PrefectError: as the transport says.
        """
        answer = {run.id: self._kept[_key(run)] for run in runs if _key(run) in self._kept}
        missing = sorted((run for run in runs if run.id not in answer), key=lambda run: run.final)
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(run: FlowRun) -> None:
            async with gate:
                answer[run.id] = await self._count(run)

        await asyncio.gather(*(one(run) for run in missing[:limit]))
        return answer

    async def _count(self, run: FlowRun) -> TaskCounts:
        start = _BEGINNING if run.run_count <= 1 else await self._attempt_start(run)
        body = {
            "history_start": start,
            "history_end": _END,
            "history_interval_seconds": _INTERVAL,
            "task_runs": {"flow_run_id": {"any_": [run.id]}},
        }
        try:
            intervals = await self._transport.read("POST", "/task_runs/history", list[_Interval], body)
        except PrefectError as error:
            if error.status not in _NOT_THERE:
                raise
            counts = await self._count_rows(run)
        else:
            counts = summed(
                (states.state_type or "", states.state_name or "", states.count_runs)
                for interval in intervals
                for states in interval.states
            )
        settled = run.final and time.time() - (run.state_since or run.end or 0) > _SETTLED_SECONDS
        if settled:
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[_key(run)] = counts
        return counts

    async def _count_rows(self, run: FlowRun) -> TaskCounts:
        """The costly way, for a server that has no history of this kind."""
        body = {"sort": "EXPECTED_START_TIME_DESC", "task_runs": {"flow_run_id": {"any_": [run.id]}}}
        listed = await Lister(self._transport, "/task_runs/filter", wire.WireTaskRun, body).read(_ROWS_COUNTED)
        newest = (row for row in listed.rows if (row.flow_run_run_count or run.run_count) >= run.run_count)
        return summed((row.state_type or "", row.state_name or "", 1) for row in newest)

    async def _attempt_start(self, run: FlowRun) -> str:
        """The first moment after every task run of earlier attempts."""
        key = run.id, run.run_count
        if key in self._starts:
            return self._starts[key]
        offset, begun = 0, False
        while True:
            body = {
                "sort": "EXPECTED_START_TIME_DESC",
                "task_runs": {"flow_run_id": {"any_": [run.id]}},
                "limit": PAGE,
                "offset": offset,
            }
            rows = await self._transport.read("POST", "/task_runs/filter", list[wire.WireTaskRun], body)
            for row in rows:
                moment = times.to_epoch(row.expected_start_time)
                if not row.flow_run_run_count:
                    continue  # not started: it does not tell its attempt
                if row.flow_run_run_count >= run.run_count:
                    begun = True
                elif moment is not None:
                    start = times.to_text(moment + 1e-6)
                    break
            else:
                offset += len(rows)
                if len(rows) == PAGE:
                    continue
                start = _BEGINNING
            if begun:  # until then task runs of the last attempt may still come in
                self._starts[key] = start
            return start


def summed(states: Iterable[tuple[str, str, int]]) -> TaskCounts:
    """Counts from (state type, state name, number) triples."""
    totals = dict.fromkeys(TaskCounts.__struct_fields__, 0)
    names = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED", "RUNNING", "PENDING"}
    for state_type, state_name, number in states:
        totals[state_type.lower() if state_type in names else "other"] += number
        if state_type == "COMPLETED" and state_name == "Cached":
            totals["cached"] += number
    return TaskCounts(**totals)


def _key(run: FlowRun) -> tuple[str, int, str]:
    return run.id, run.run_count, run.state_type
