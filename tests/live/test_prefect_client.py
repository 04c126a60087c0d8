"""The Prefect client against a real server: runs, task runs, logs, states, and what breaks."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.control import prefect, server, server_process
from slurmtui.errors import PrefectError, PrefectUnreachable
from slurmtui.models.config import Config, ServerConfig
from slurmtui.models.flow_run import FlowRun, TaskCounts
from slurmtui.sources.command_log import CommandLog
from slurmtui.sources.prefect import times
from slurmtui.sources.prefect.client import PrefectClient
from slurmtui.sources.prefect.connection import private_connection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from slurmtui.models.server import ServerRecord

pytestmark = [pytest.mark.live, pytest.mark.timeout(200)]

FLOW = """
import os
from pathlib import Path
from prefect import flow, task

@task
def one(number):
    return number

@task
def check(number):
    if not Path(os.environ["GOOD"]).exists():
        raise ValueError("not yet")
    return number

@flow(log_prints=True)
def demo(n: int = 3):
    total = sum(one(number) for number in range(n))
    print("the total is", total)
    return check(total)
"""


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerRecord]:
    """A server of this module's own: its lists are made faulty and it is stopped for a while."""
    root = tmp_path_factory.mktemp("client")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURMTUI_STATE", str(root / "state"))
        yield server.start(Config(server=ServerConfig(host="127.0.0.1")))
        server.stop()


@pytest.fixture
async def client(own_server: ServerRecord) -> AsyncIterator[PrefectClient]:
    connection = private_connection()
    assert connection is not None
    assert connection.api_url == own_server.api_url
    opened = PrefectClient(connection, CommandLog())
    yield opened
    await opened.close()


async def create(client: PrefectClient, name: str, **more: Any) -> FlowRun:
    settings = {
        "parameters": {"n": 5},
        "tags": ["slurmtui"],
        "labels": {"x": "y"},
        "idempotency_key": str(uuid.uuid4()),
    }
    return await prefect.create_flow_run(client, flow_name="demo", run_name=name, **{**settings, **more})


async def test_a_run_from_its_creation_to_its_end(client: PrefectClient) -> None:
    key = str(uuid.uuid4())
    run = await create(client, "created", idempotency_key=key, labels={"text": "y", "number": 2, "nothing": None})
    assert (await create(client, "created again", idempotency_key=key)).id == run.id
    assert (run.name, run.flow_name, run.state_type) == ("created", "demo", "PENDING")
    assert run.parameters == {"n": 5}
    assert (run.labels["text"], run.labels["number"], "nothing" in run.labels) == ("y", 2, False)
    assert run.created is not None
    assert abs(run.created - time.time()) < 60

    runs, cut = await client.flow_runs(since=time.time() - 3600)
    assert run in runs
    assert not cut
    assert run in await client.find_flow_runs(run.id[:7])

    await prefect.add_labels(client, run.id, {"text": "z", "nothing": None})
    changed = await client.flow_run(run.id)
    assert (changed.labels["text"], changed.labels["number"]) == ("z", 2)

    answers = [
        await prefect.set_state(client, run.id, state)
        for state in ("RUNNING", "CANCELLING", "CANCELLED", "CANCELLING", "CRASHED")
    ]
    assert [(answer.accepted, answer.state_type) for answer in answers] == [
        (True, "RUNNING"), (True, "CANCELLING"), (True, "CANCELLED"), (True, "CANCELLED"), (False, "CANCELLED"),
    ]  # fmt: skip
    assert "terminal" in answers[-1].reason
    runs, _ = await client.flow_runs(since=time.time() - 3600)
    assert [found.state_type for found in runs if found.id == run.id] == ["CANCELLED"]

    await prefect.delete_flow_run(client, run.id)
    await prefect.delete_flow_run(client, run.id)
    with pytest.raises(PrefectError) as caught:
        await client.flow_run(run.id)
    assert caught.value.status == 404


async def test_attempts_results_counts_and_logs_of_a_retried_run(
    client: PrefectClient, tmp_path: Path, eventually: Callable[..., Awaitable[Any]]
) -> None:
    flow, good = tmp_path / "flow.py", tmp_path / "good"
    flow.write_text(FLOW)
    run = await create(client, "retried")
    execute(client, run, flow, good, tmp_path)
    first = await counts_when(client, run, eventually, total=6)
    assert first == TaskCounts(completed=5, failed=1)

    good.touch()
    execute(client, run, flow, good, tmp_path)
    second = await counts_when(client, run, eventually, total=6, run_count=2)
    assert second == TaskCounts(completed=6, cached=5)

    tasks = await client.task_runs(run.id)
    assert [task.attempt for task in tasks] == [1] * 6 + [2] * 6
    assert [task.state_name for task in tasks[:6]] == ["Completed"] * 5 + ["Failed"]
    assert "not yet" in tasks[5].state_message
    kept = {str(path) for path in (tmp_path / "prefect" / "storage").iterdir()}
    assert {task.result_file for task in tasks} <= kept

    await eventually(lambda: ended_in_log(client, run), 60, "the last lines of both attempts")
    lines = await client.log_tail(run.id)
    assert [line.timestamp for line in lines] == sorted(line.timestamp for line in lines)
    assert any(line.message == "the total is 10" and line.level == 20 for line in lines)
    assert {line.task_run_id for line in lines} >= {task.id for task in tasks[:6]}
    assert [line.id for line in await client.log_tail(run.id, 3)] == [line.id for line in lines[-3:]]
    middle = lines[len(lines) // 2]
    later = await client.logs_after(run.id, middle.timestamp)
    assert {line.id for line in lines if line.timestamp >= middle.timestamp} <= {line.id for line in later}


async def test_more_log_lines_than_a_page(client: PrefectClient) -> None:
    run = await create(client, "talkative")
    now = time.time()
    for first in range(0, 1000, 250):
        common = {"name": "t", "level": 20, "flow_run_id": run.id}
        lines = [
            {**common, "message": f"{n} \x1b[31m[/x]", "timestamp": times.to_text(now + n / 1000)}
            for n in range(first, first + 250)
        ]
        await client.request("POST", "/logs/", lines)
    got = await client.logs_after(run.id, now)
    assert [line.message for line in got] == [f"{n} \x1b[31m[/x]" for n in range(1000)]
    assert [line.message for line in await client.log_tail(run.id, 250)] == [line.message for line in got[-250:]]


async def test_a_run_that_the_server_cannot_show_hides_only_itself(client: PrefectClient) -> None:
    good = [await create(client, f"good-{number}") for number in range(5)]
    bad = await create(client, "poisoned")
    try:
        await client.request("PATCH", f"/flow_runs/{bad.id}/labels", {"nothing": None})
        with pytest.raises(PrefectError):
            await client.flow_run(bad.id)  # the fault is really there
        runs, _ = await client.flow_runs()
        assert {run.id for run in good} <= {run.id for run in runs}
        assert bad.id not in {run.id for run in runs}
        assert client.unreadable == 1
    finally:
        await prefect.delete_flow_run(client, bad.id)
    await client.flow_runs()
    assert client.unreadable == 0


async def make_run(client: PrefectClient, body: dict[str, Any]) -> None:
    """Make a flow run; once more where nobody knows whether it was made, for a lost connection is no matter here."""
    try:
        await client.request("POST", "/flow_runs/", body)
    except PrefectUnreachable:
        await client.request("POST", "/flow_runs/", body)


async def test_more_runs_than_a_page_come_over_pages(client: PrefectClient) -> None:
    flow_id = (await create(client, "first")).flow_id
    common = {"flow_id": flow_id, "tags": ["many"], "state": {"type": "PENDING"}}
    for first in range(0, 210, 10):  # at once: SQLite answers some of them with 503, which the client repeats
        some = ({**common, "name": f"many-{number}"} for number in range(first, first + 10))
        await asyncio.gather(*(make_run(client, body) for body in some))
    runs, cut = await client.flow_runs()
    assert {run.name for run in runs if run.tags == ("many",)} == {f"many-{number}" for number in range(210)}
    assert not cut
    body = {"flow_runs": {"tags": {"all_": ["many"]}}, "state": {"type": "CANCELLED"}, "limit": 50}
    for _ in range(2):
        body["flow_runs"] = {"tags": {"all_": ["many"]}, "state": {"type": {"any_": ["PENDING"]}}}
        await client.request("POST", "/flow_runs/bulk_set_state", body)
    runs, cut = await client.flow_runs(limit=90)
    assert sum(run.state_type == "CANCELLED" for run in runs) == 90
    assert cut


async def test_a_server_that_hangs_and_comes_back(client: PrefectClient, own_server: ServerRecord) -> None:
    process = server_process.find_server(own_server)
    assert process is not None
    await client.version()
    process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(PrefectUnreachable, match="did not answer"):
            await client.request("GET", "/admin/version", seconds=1)
        assert time.monotonic() - began < 5
    finally:
        process.send_signal(signal.SIGCONT)
    assert await client.version() == own_server.version


def execute(client: PrefectClient, run: FlowRun, flow: Path, good: Path, home: Path) -> None:
    """Run the flow as a driver would, to its end."""
    environment = {
        **os.environ,
        "PREFECT__FLOW_RUN_ID": run.id,
        "PREFECT_API_URL": client.connection.api_url,
        "PREFECT_API_AUTH_STRING": client.connection.auth or "",
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "true",
        "GOOD": str(good),
    }
    argv = [sys.executable, "-m", "prefect.flow_engine", f"{flow}:demo"]
    subprocess.run(argv, env=environment, check=True, capture_output=True, timeout=90)


async def counts_when(
    client: PrefectClient, run: FlowRun, eventually: Callable[..., Awaitable[Any]], *, total: int, run_count: int = 1
) -> TaskCounts:
    """The counts as soon as all task runs have their last state (they come in a moment after the run's end)."""

    async def complete() -> TaskCounts | None:
        now = await client.flow_run(run.id)
        counts = (await client.task_counts([now]))[run.id]
        done = counts.total == total and not counts.running + counts.pending
        return counts if now.run_count == run_count and done else None

    found: TaskCounts = await eventually(complete, 60, "the task runs of the attempt")
    return found


async def ended_in_log(client: PrefectClient, run: FlowRun) -> bool:
    lines = await client.log_tail(run.id)
    return (
        sum(line.logger == "prefect.flow_runs" and line.message.startswith("Finished in state") for line in lines) == 2
    )
