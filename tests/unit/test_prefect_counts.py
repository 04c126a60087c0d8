"""Task runs are counted a state, of the newest attempt only, and no oftener than needed."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

import httpx

from slurmtui.models.flow_run import FlowRun, TaskCounts
from slurmtui.sources.prefect import counts, times
from slurmtui.sources.prefect.client import PrefectClient
from slurmtui.sources.prefect.connection import Connection

NOW = time.time()
Row = dict[str, Any]


class FakeTasks:
    """Task runs behind /task_runs/history and /task_runs/filter."""

    def __init__(self) -> None:
        self.tasks: list[Row] = []
        self.history_status = 200
        self.asked: list[str] = []

    def client(self) -> PrefectClient:
        return PrefectClient(Connection(api_url="http://p/api"), None, httpx.MockTransport(self))

    def requests(self, path: str) -> int:
        return self.asked.count(path)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api")
        self.asked.append(path)
        body = json.loads(request.content)
        return self._history(body) if path == "/task_runs/history" else self._task_runs(body)

    def _history(self, body: Row) -> httpx.Response:
        if self.history_status != 200:
            return httpx.Response(self.history_status, json={"detail": "Not Found"})
        (run_id,) = body["task_runs"]["flow_run_id"]["any_"]
        totals: dict[tuple[str, str], int] = {}
        for task in self.tasks:
            if task["flow_run_id"] == run_id and task["expected_start_time"] >= body["history_start"]:
                key = task["state_type"], task["state_name"]
                totals[key] = totals.get(key, 0) + 1
        states = [{"state_type": kind, "state_name": name, "count_runs": n} for (kind, name), n in totals.items()]
        return httpx.Response(200, json=[{"interval_start": "2000-01-01T00:00:00Z", "states": states}])

    def _task_runs(self, body: Row) -> httpx.Response:
        (run_id,) = body["task_runs"]["flow_run_id"]["any_"]
        found = [task for task in self.tasks if task["flow_run_id"] == run_id]
        found.sort(key=lambda task: task["expected_start_time"], reverse=body["sort"].endswith("DESC"))
        return httpx.Response(200, json=found[body["offset"] : body["offset"] + body["limit"]])


def task(run_id: str, number: int, state: str = "COMPLETED", name: str | None = None, attempt: int = 1) -> Row:
    return {
        "id": f"task-{attempt}-{number}",
        "flow_run_id": run_id,
        "state_type": state,
        "state_name": name or state.title(),
        "flow_run_run_count": attempt,
        "expected_start_time": times.to_text(NOW + 1000 * attempt + number),
    }


def run_of(number: int, state: str = "RUNNING", run_count: int = 1, since: float = NOW - 3600) -> FlowRun:
    return FlowRun(id=str(uuid.UUID(int=number)), name="r", state_type=state, run_count=run_count, state_since=since)


async def test_counts_are_of_the_newest_attempt_and_know_what_was_reused() -> None:
    server = FakeTasks()
    run = run_of(1, run_count=2)
    server.tasks = [task(run.id, n) for n in range(420)] + [task(run.id, 500, "FAILED")]
    server.tasks += [task(run.id, n, "COMPLETED", "Cached", attempt=2) for n in range(300)]
    server.tasks += [task(run.id, 600, "RUNNING", attempt=2), task(run.id, 601, "ODD", attempt=2)]
    client = server.client()
    expected = TaskCounts(completed=300, cached=300, running=1, other=1)
    assert await client.task_counts([run]) == {run.id: expected}
    pages = server.requests("/task_runs/filter")
    assert await client.task_counts([run]) == {run.id: expected}
    assert server.requests("/task_runs/filter") == pages  # where the attempt begins is known by now


async def test_an_attempt_without_task_runs_counts_none_of_the_last() -> None:
    server = FakeTasks()
    run = run_of(1, run_count=2)
    server.tasks = [task(run.id, n) for n in range(3)]
    client = server.client()
    assert await client.task_counts([run]) == {run.id: TaskCounts()}
    server.tasks += [task(run.id, 10), task(run.id, 11, "RUNNING", attempt=2)]  # one of the first comes in late
    assert await client.task_counts([run]) == {run.id: TaskCounts(running=1)}


async def test_a_task_run_that_has_not_started_does_not_hide_the_others() -> None:
    server = FakeTasks()
    run = run_of(1, run_count=2)
    server.tasks = [task(run.id, 1, "FAILED"), task(run.id, 1, attempt=2)]
    server.tasks.append({**task(run.id, 2, "PENDING", attempt=2), "flow_run_run_count": 0})  # as Prefect sends it
    expected = {run.id: TaskCounts(completed=1, pending=1)}
    assert await server.client().task_counts([run]) == expected
    server.history_status = 404
    assert await server.client().task_counts([run]) == expected


async def test_counts_of_ended_runs_are_asked_for_once_when_they_have_settled() -> None:
    server = FakeTasks()
    settled, fresh = run_of(1, "FAILED"), run_of(2, "FAILED", since=time.time())
    client = server.client()
    for _ in range(3):
        await client.task_counts([settled, fresh])
    assert server.requests("/task_runs/history") == 1 + 3
    await client.task_counts([run_of(1, "RUNNING", run_count=2)])  # retried
    assert server.requests("/task_runs/history") == 5


async def test_with_a_limit_active_runs_are_counted_first() -> None:
    client = FakeTasks().client()
    wanted = [run_of(n, "COMPLETED") for n in range(5)] + [run_of(9)]
    first = await client.task_counts(wanted, limit=2)
    assert len(first) == 2
    assert run_of(9).id in first


async def test_a_server_without_history_has_its_rows_counted() -> None:
    server = FakeTasks()
    server.history_status = 404
    run = run_of(1, run_count=2)
    server.tasks = [task(run.id, n) for n in range(250)] + [task(run.id, n, "FAILED", attempt=2) for n in range(3)]
    assert await server.client().task_counts([run]) == {run.id: TaskCounts(failed=3)}


def test_every_state_is_counted_somewhere() -> None:
    states = ["COMPLETED", "FAILED", "CRASHED", "CANCELLED", "RUNNING", "PENDING", "SCHEDULED", "PAUSED", "NEW"]
    assert counts.summed((state, state.title(), 2) for state in states).total == 2 * len(states)
