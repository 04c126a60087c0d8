"""The lines of a run's log that Prefect's server has.

Lines arrive late and out of order, so each question overlaps the last one; ids tell what is known already.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from slurmtui.errors import PrefectError
from slurmtui.store.log_entry import LogEntry, note
from slurmtui.store.log_merge import FLOW, Found
from slurmtui.store.log_parse import without_colours

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.models.flow_run import LogLine
    from slurmtui.session import Session

PLACE = "prefect"
_ALL = 100_000
_KEPT_SECONDS = 120.0
_WIDE_LOOK = 50.0  # beyond the client's own overlap, now and then: a worker that lost its connection delivers late
_WIDE_EVERY = 15.0
_SHARE = 0.2  # of the time at most, the server is kept busy by us
_NAMES_AT_ONCE = 200


_NO_SERVER = "No Prefect server is known, so its part of the log is missing."


class PrefectCursor(NamedTuple):
    """A place among a run's lines: a time, and which lines of that very time lie on this side of it."""

    time: float
    seen: frozenset[str] = frozenset()

    @property
    def order(self) -> float:
        """When what stands there was written."""
        return self.time


class PrefectPortion(NamedTuple):
    """Lines that were read in one direction, where to go on, and whether there is nothing more."""

    found: list[Found]
    cursor: PrefectCursor
    done: bool


class _Named(msgspec.Struct):
    id: str
    name: str = ""
    state_type: str | None = None

    @property
    def settled(self) -> bool:
        """A task run may be given a name of its own when it begins; until then it has that of its task and a number."""
        return self.state_type != "PENDING"


class PrefectLines:
    """Asks for new lines, not more often than the server answers with ease.

    It begins with the last ``lines`` of the log, None for all of it; any part of the log can be had by itself.

    Attributes:
        problem: why there is no answer, "" when all is well.
        quiet: the run has ended; ask rarely.
        returned: the server has answered for the first time, after it did not when it was first asked (with no lines to
            begin with, whoever shows the log has then to read it again).
    """

    def __init__(self, session: Session, run_id: str, lines: int | None) -> None:
        self.problem = ""
        self.quiet = False
        self.returned = False
        self._session = session
        self._run_id = run_id
        self._lines = _ALL if lines is None else lines
        self._newest: float | None = None
        self._floor = -math.inf  # older lines were left out of the tail, so they are not new when they are seen again
        self._ids: dict[str, float] = {}
        self._names: dict[str, str] = {}
        self._next = 0.0
        self._next_wide = 0.0

    def begin_at_end(self) -> None:
        """Begin without any line."""
        self._lines = 0

    async def read(self, *, at_once: bool = False) -> list[Found]:
        """New lines, if it is time to ask (or ``at_once``); never raises, see ``problem``."""
        started = time.monotonic()
        client = self._session.prefect
        if client is None:
            self.problem = _NO_SERVER
            return []
        if started < self._next and not at_once:
            return []
        if self._newest is None and not self._lines and not self.problem:
            return []  # whoever shows the log reads its end
        lines: Sequence[LogLine] = ()
        try:
            if self._newest is None and not self._lines:
                await self.before(None, 1)
                self.returned = True
            elif self._newest is None:
                lines = await client.log_tail(self._run_id, self._lines)
            else:
                lines = await client.logs_after(self._run_id, self._since(started, wide=at_once))
            new = [line for line in lines if line.id not in self._ids and line.timestamp > self._floor]
            await self._learn_names(new)
        except PrefectError as error:
            self._next = time.monotonic() + 5
            return self._failed(str(error))
        if self._newest is None and len(lines) >= self._lines and lines:
            self._floor = lines[0].timestamp
        self.problem = ""
        new = [line for line in new if line.id not in self._ids]  # what was learnt while names were asked for
        self._remember(lines)
        took = time.monotonic() - started
        self._next = time.monotonic() + max(10.0 if self.quiet else 0.0, took / _SHARE - took)
        return self._lines_of(new)

    # --- any part of the log

    def frontier(self) -> PrefectCursor:
        """Where lines will be that are not known yet; they come late and out of order."""
        start = (self._newest or 0.0) - _WIDE_LOOK
        return PrefectCursor(start, frozenset(one for one, moment in self._ids.items() if moment >= start))

    async def before(self, cursor: PrefectCursor | None, count: int) -> PrefectPortion:
        """The lines before a place (None: before the end), which then are known here.

        Raises:
            PrefectError: the server does not answer.
        """
        client = self._session.prefect
        if client is None:
            raise PrefectError(_NO_SERVER)
        seen = frozenset[str]() if cursor is None else cursor.seen
        lines = await client.logs_before(self._run_id, None if cursor is None else cursor.time, count + len(seen))
        new = [line for line in lines if line.id not in seen]
        await self._learn_names(new)
        done = len(lines) < count + len(seen)
        self._know(new, cursor, whole=done)
        return PrefectPortion(self._lines_of(new), _next(new, cursor, -1), done)

    async def after(self, cursor: PrefectCursor, count: int) -> PrefectPortion:
        """The lines from a place on.

        Raises:
            PrefectError: the server does not answer.
        """
        client = self._session.prefect
        if client is None:
            raise PrefectError(_NO_SERVER)
        lines = await client.logs_from(self._run_id, cursor.time, count + len(cursor.seen))
        new = [line for line in lines if line.id not in cursor.seen]
        await self._learn_names(new)
        done = len(lines) < count + len(cursor.seen)
        if done:
            self._remember(new)
        return PrefectPortion(self._lines_of(new), _next(new, cursor, 1), done)

    def _know(self, lines: list[LogLine], cursor: PrefectCursor | None, *, whole: bool) -> None:
        """These lines before ``cursor`` are shown, so they are not new; what is older still was left out."""
        self.problem = ""
        joins = cursor is None or cursor.time <= self._floor
        self._remember(lines)
        if joins:
            self._floor = -math.inf if whole or not lines else lines[0].timestamp

    def _since(self, now: float, *, wide: bool) -> float:
        newest = self._newest or 0.0
        if wide or (now >= self._next_wide and len(self._ids) < 2_000):
            self._next_wide = now + _WIDE_EVERY
            return newest - _WIDE_LOOK
        return newest

    def _remember(self, lines: Iterable[LogLine]) -> None:
        newest = self._newest or 0.0
        for line in lines:
            self._ids[line.id] = line.timestamp
            newest = max(newest, line.timestamp)
        self._newest = min(newest, time.time())
        oldest = self._newest - _KEPT_SECONDS
        self._ids = {line_id: moment for line_id, moment in self._ids.items() if moment >= oldest}

    def _lines_of(self, lines: Iterable[LogLine]) -> list[Found]:
        return [found for line in lines for found in lines_of(line, self._names.get(line.task_run_id or "", ""))]

    async def _learn_names(self, lines: Iterable[LogLine]) -> None:
        """Task runs' names; one that the server does not know for good yet is asked for again with its next line."""
        client = self._session.prefect
        wanted = sorted({line.task_run_id for line in lines if line.task_run_id} - self._names.keys())
        for first in range(0, len(wanted) if client is not None else 0, _NAMES_AT_ONCE):
            some = wanted[first : first + _NAMES_AT_ONCE]
            body = {"task_runs": {"id": {"any_": some}}, "limit": _NAMES_AT_ONCE}
            answer = await client.request("POST", "/task_runs/filter", body) if client is not None else []
            try:
                named = msgspec.convert(answer, list[_Named])
            except msgspec.ValidationError as error:
                raise PrefectError(f"Prefect's answer about task runs is not understood: {error}") from error
            self._names.update({one.id: one.name for one in named if one.settled})

    def _failed(self, words: str) -> list[Found]:
        before, self.problem = self.problem, words
        if before or self._newest is None:
            return []  # said once, or to be said by the empty log
        now = time.time()
        return [Found(now, note(f"Prefect's part of the log has stopped: {words}", now), PLACE)]


def lines_of(line: LogLine, task: str) -> list[Found]:
    """The lines of one message."""
    first, *rest = line.message.split("\n") or [""]
    return [
        Found(
            line.timestamp,
            LogEntry(text=text, source=PLACE, time=line.timestamp, task=task, level=line.level),
            PLACE,
            without_colours(first) if not number else None,
            _speaker(line, task),
            tuple(rest),
            mark=line.id,
        )
        for number, text in enumerate([first, *rest])
    ]


def _speaker(line: LogLine, task: str) -> str:
    """Who speaks, as the printed line names them; not known for a task run without a name."""
    if line.task_run_id:
        return f"task {task}" if task else ""
    return FLOW if line.logger == "prefect.flow_runs" else line.logger


def _next(new: list[LogLine], before: PrefectCursor | None, step: int) -> PrefectCursor:
    """Where to go on after these lines."""
    if not new:
        return before or PrefectCursor(time.time())
    edge = new[0 if step < 0 else -1].timestamp
    seen = {line.id for line in new if line.timestamp == edge}
    if before is not None and before.time == edge:
        seen |= before.seen
    return PrefectCursor(edge, frozenset(seen))
