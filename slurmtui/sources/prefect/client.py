"""A Prefect server's answers as facts."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.errors import PrefectError
from slurmtui.models.text import visible
from slurmtui.sources.prefect import times, wire
from slurmtui.sources.prefect.counts import TaskCounter
from slurmtui.sources.prefect.listing import PAGE, Lister
from slurmtui.sources.prefect.runs import RunList
from slurmtui.sources.prefect.transport import SECONDS, Transport

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import httpx

    from slurmtui.models.flow_run import FlowRun, LogLine, TaskCounts, TaskRun
    from slurmtui.sources.command_log import CommandLog
    from slurmtui.sources.prefect.connection import Connection

LOG_OVERLAP_SECONDS = 10.0
"""Log lines arrive up to seconds after their time and out of order: so much is asked for again, ids tell them apart."""

_ROUNDING = 2e-6  # seconds: a time is kept as a float, and sent in microseconds
_READING = ("/filter", "/count", "/history", "/paginate", "/count-task-runs")
_SEARCHED = 2_000
_NAMED = 20
_OF_AN_ID = frozenset("0123456789abcdef-")
_DIGITS_OF_AN_ID = 32
_LOG_LIMIT = 100_000
_TASK_RUN_LIMIT = 20_000


class PrefectClient:
    """Reads one server. Making it costs nothing; nothing is sent before the first question."""

    def __init__(
        self,
        connection: Connection,
        log: CommandLog | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.connection = connection
        self.unreadable = 0  # runs of the last list that the server could not show
        self._transport = Transport(connection, log, transport)
        self._runs = RunList(self._transport)
        self._counter = TaskCounter(self._transport)
        self._flow_names: dict[str, str] = {}

    async def version(self) -> str:
        """The server's version; the question needs the right credentials, so the answer proves them.

        Raises:
            PrefectUnauthorized: they are not right.
            PrefectError: no answer, or no Prefect there.
        """
        answer = await self.request("GET", "/admin/version")
        if not isinstance(answer, str):
            raise PrefectError(f"{self.connection.where} is no Prefect API: it does not tell a version.")
        return answer

    async def flow_runs(self, *, since: float | None = None, limit: int = 1000) -> tuple[tuple[FlowRun, ...], bool]:
        """Active runs, however old, and those that ended after ``since``; newest first.

        Runs that a deployment's schedule planned are there from a day before they are due.

        Args:
            since: seconds since the epoch; None for no bound.
            limit: so many ended runs at most.

        Returns:
            The runs, and whether there are more than were read.
        """
        listed = await self._runs.read(since, limit)
        self.unreadable = listed.unreadable
        return await self._facts(listed.rows), listed.cut

    async def flow_run(self, run_id: str) -> FlowRun:
        """One run.

        Raises:
            PrefectError: with status 404 when there is none of that id.
        """
        try:
            path = f"/flow_runs/{uuid.UUID(run_id)}"
        except ValueError:
            raise PrefectError(f"{visible(run_id)} is no id of a flow run.", status=404) from None
        row = await self._transport.read("GET", path, wire.WireFlowRun)
        return (await self._facts([row]))[0]

    async def find_flow_runs(self, id_prefix: str) -> tuple[FlowRun, ...]:
        """Runs whose id begins with ``id_prefix``. A whole id is asked for; a part is sought in the newest runs."""
        prefix = id_prefix.strip().lower()
        if not prefix or not set(prefix) <= _OF_AN_ID:
            return ()
        if len(prefix.replace("-", "")) >= _DIGITS_OF_AN_ID:
            try:
                return (await self.flow_run(prefix),)
            except PrefectError as error:
                if error.status == 404:
                    return ()
                raise
        listed = await self._runs.query("START_TIME_DESC", {}, _SEARCHED)
        return await self._facts([row for row in listed.rows if row.id.startswith(prefix)])

    async def named_flow_runs(self, name: str) -> tuple[FlowRun, ...]:
        """The newest runs of exactly this name."""
        listed = await self._runs.query("START_TIME_DESC", {"name": {"any_": [name]}}, _NAMED)
        return await self._facts(listed.rows)

    async def task_runs(self, run_id: str) -> tuple[TaskRun, ...]:
        """All task runs of a run, every attempt's, oldest first."""
        body = {"sort": "EXPECTED_START_TIME_ASC", "task_runs": {"flow_run_id": {"any_": [run_id]}}}
        listed = await Lister(self._transport, "/task_runs/filter", wire.WireTaskRun, body).read(_TASK_RUN_LIMIT)
        return tuple(row.fact() for row in listed.rows)

    async def task_counts(self, runs: Sequence[FlowRun], limit: int | None = None) -> dict[str, TaskCounts]:
        """How the task runs of each run's newest attempt stand.

        A request a run, except for ended ones counted before. With ``limit``, at most so many runs are asked about,
        active ones first; the others are missing from the answer.
        """
        return await self._counter.count(runs, limit)

    async def log_tail(self, run_id: str, limit: int = 200) -> tuple[LogLine, ...]:
        """The last lines of a run's log, oldest first."""
        listed = await self._list_logs(run_id, "TIMESTAMP_DESC", {}, limit)
        return _ordered(listed)

    async def logs_after(self, run_id: str, after: float) -> tuple[LogLine, ...]:
        """Lines with a time from ten seconds *before* ``after`` on, oldest first.

        The overlap is on purpose (lines come late); the caller keeps the ids it has seen and shows the others.
        """
        start = max(0.0, min(after, time.time()) - LOG_OVERLAP_SECONDS)  # a worker's clock may be in the future
        bound = {"timestamp": {"after_": times.to_text(start)}}
        return _ordered(await self._list_logs(run_id, "TIMESTAMP_ASC", bound, _LOG_LIMIT))

    async def logs_before(self, run_id: str, before: float | None, limit: int) -> tuple[LogLine, ...]:
        """The last lines of a run's log with a time up to ``before`` (None: to its end), oldest first.

        Lines of that very time are among them: the caller keeps the ids it has seen.
        """
        bound = {} if before is None else {"timestamp": {"before_": times.to_text(before + _ROUNDING)}}
        return _ordered(await self._list_logs(run_id, "TIMESTAMP_DESC", bound, limit))

    async def logs_from(self, run_id: str, start: float, limit: int) -> tuple[LogLine, ...]:
        """The first lines of a run's log with a time of ``start`` or later, oldest first."""
        bound = {"timestamp": {"after_": times.to_text(max(0.0, start - _ROUNDING))}}
        return _ordered(await self._list_logs(run_id, "TIMESTAMP_ASC", bound, limit))

    async def request(
        self, method: str, path: str, body: object = None, *, repeat: bool | None = None, seconds: float = SECONDS
    ) -> Any:
        """Ask anything; the answer's JSON, None without a body.

        ``repeat`` says whether the request may be sent twice when the connection was lost; by default reads, PATCH and
        DELETE may.
        """
        if repeat is None:
            repeat = method != "POST" or path.endswith(_READING)
        content = await self._transport.call(method, path, body, repeat=repeat, seconds=seconds)
        if not content:
            return None
        try:
            return msgspec.json.decode(content)
        except msgspec.MsgspecError as error:
            raise PrefectError(
                f"{self.connection.where} did not answer {path} in JSON: is it a Prefect API?"
            ) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def _list_logs(self, run_id: str, sort: str, filters: dict[str, Any], limit: int) -> list[wire.WireLog]:
        body = {"sort": sort, "logs": {"flow_run_id": {"any_": [run_id]}, **filters}}
        return (await Lister(self._transport, "/logs/filter", wire.WireLog, body).read(limit)).rows

    async def _facts(self, rows: Iterable[wire.WireFlowRun]) -> tuple[FlowRun, ...]:
        """The rows as facts, each once (a run may end between two lists: its later row counts), newest first."""
        unique = {row.id: row for row in rows}
        await self._learn_names({row.flow_id for row in unique.values() if row.flow_id} - self._flow_names.keys())
        runs = [row.fact(self._flow_names) for row in unique.values()]
        runs.sort(key=lambda run: run.start or run.expected_start or run.created or 0, reverse=True)
        return tuple(runs)

    async def _learn_names(self, flow_ids: set[str]) -> None:
        wanted = sorted(flow_ids)
        for first in range(0, len(wanted), PAGE):
            body = {"flows": {"id": {"any_": wanted[first : first + PAGE]}}, "limit": PAGE}
            content = await self._transport.call("POST", "/flows/filter", body, repeat=True)
            flows, _, _ = wire.decode_rows(content, wire.WireFlow)
            self._flow_names.update({flow.id: flow.name or "" for flow in flows})


def _ordered(rows: list[wire.WireLog]) -> tuple[LogLine, ...]:
    return tuple(sorted((row.fact() for row in rows), key=lambda line: (line.timestamp, line.id)))
