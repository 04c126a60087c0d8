"""The list of flow runs as the console wants it: everything active, and what ended lately.

A poll must be cheap for the server (a page of 200 runs costs it 55 ms), and ended runs do not change: they are all read
once a minute, and in between only the newest page of them is, as long as it joins what is known.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.sources.prefect import times
from slurmtui.sources.prefect.listing import PAGE, Listed, Lister
from slurmtui.sources.prefect.wire import WireFlowRun

if TYPE_CHECKING:
    from slurmtui.sources.prefect.transport import Transport

AT_WORK = ("RUNNING", "PENDING", "CANCELLING", "PAUSED")
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
_ACTIVE_LIMIT = 2_000
_PLANNED_AHEAD_SECONDS = 86_400
_NEWEST = 40
_READ_ALL_AGAIN_SECONDS = 60.0


class _Known(msgspec.Struct, frozen=True):
    """Ended runs, newest end first, and what they were read with."""

    rows: tuple[WireFlowRun, ...]
    since: float
    limit: int
    cut: bool
    unreadable: int
    read_all_at: float


class RunList:
    """Reads the list and remembers the ended part of it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._known: _Known | None = None

    async def read(self, since: float | None, limit: int) -> Listed[WireFlowRun]:
        """Active runs and those that ended after ``since`` (``limit`` of these at most).

        Raises:
            PrefectError: as the transport says.
        """
        # One after the other in the order of a run's life: a run that moves on between two questions is seen twice
        # rather than never; the later row counts.
        planned = await self.query("EXPECTED_START_TIME_ASC", {"state": {"type": {"any_": ["SCHEDULED"]}}}, PAGE)
        at_work = await self.query("START_TIME_DESC", {"state": {"type": {"any_": AT_WORK}}}, _ACTIVE_LIMIT)
        ended = await self._ended(since or 0.0, limit, {row.id for row in (*planned.rows, *at_work.rows)})
        due = [row for row in planned.rows if _is_due(row)]
        # A schedule plans many runs ahead: that those were cut is no news while the last one read is not due itself.
        cut = at_work.cut or ended.cut or (planned.cut and len(due) == len(planned.rows))
        unreadable = planned.unreadable + at_work.unreadable + ended.unreadable
        rows = {row.id: row for row in (*due, *at_work.rows, *ended.rows)}
        return Listed(list(rows.values()), cut, unreadable)

    async def query(self, sort: str, filters: dict[str, Any], limit: int) -> Listed[WireFlowRun]:
        """Runs by a filter of Prefect's."""
        body = {"sort": sort, "flow_runs": filters} if filters else {"sort": sort}
        return await Lister(self._transport, "/flow_runs/filter", WireFlowRun, body).read(limit)

    async def _ended(self, since: float, limit: int, active: set[str]) -> Listed[WireFlowRun]:
        known = self._known
        now = time.monotonic()
        if (
            known is not None
            and known.since <= since
            and known.limit == limit
            and now - known.read_all_at < _READ_ALL_AGAIN_SECONDS
        ):
            newest = await self._query_ended(since, min(_NEWEST, limit))
            seen = {row.id: _version(row) for row in known.rows}
            joins = not newest.cut or any(seen.get(row.id) == _version(row) for row in newest.rows)
            if joins:
                fresh = {row.id for row in newest.rows}
                older = [] if not newest.cut else [row for row in known.rows if row.id not in fresh | active]
                rows = [row for row in (*newest.rows, *older) if _ended_after(row, since)]
                self._known = msgspec.structs.replace(
                    known, rows=tuple(rows[:limit]), cut=known.cut or len(rows) > limit
                )
                return Listed(rows[:limit], self._known.cut, known.unreadable)
        listed = await self._query_ended(since, limit)
        self._known = _Known(tuple(listed.rows), since, limit, listed.cut, listed.unreadable, now)
        return listed

    async def _query_ended(self, since: float, limit: int) -> Listed[WireFlowRun]:
        filters: dict[str, Any] = {"state": {"type": {"any_": ENDED}}}
        if since:
            filters["end_time"] = {"after_": times.to_text(since)}
        return await self.query("END_TIME_DESC", filters, limit)


def _is_due(row: WireFlowRun) -> bool:
    """Whether a planned run is wanted in the list: all but those a schedule planned for later than tomorrow."""
    if not row.auto_scheduled:
        return True
    return (times.to_epoch(row.expected_start_time) or 0) < time.time() + _PLANNED_AHEAD_SECONDS


def _version(row: WireFlowRun) -> tuple[str | None, str | None]:
    return row.state_name, row.state.timestamp if row.state else row.end_time


def _ended_after(row: WireFlowRun, since: float) -> bool:
    end = times.to_epoch(row.end_time)
    return end is None or end >= since
