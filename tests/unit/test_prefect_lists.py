"""Lists, counts and logs as the console reads them, from a server that behaves as Prefect 3.9 was seen to behave."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from slurmtui.errors import PrefectError
from slurmtui.sources.prefect import runs, times, transport
from slurmtui.sources.prefect.client import PrefectClient
from slurmtui.sources.prefect.connection import Connection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

NOW = time.time()
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_FIRST_WAIT", 0.001)


def row(
    number: int, state: str = "COMPLETED", *, end: float | None = None, start: float | None = None, **more: Any
) -> Row:
    """A flow run as the server sends it; the higher the number, the longer ago."""
    began = NOW - 60 * number - 30 if start is None else start
    ended = (NOW - 60 * number if end is None else end) if state in runs.ENDED else None
    return {
        "id": str(uuid.UUID(int=number)),
        "name": f"run-{number}",
        "flow_id": str(uuid.UUID(int=10**9 + number % 2)),
        "state_type": state,
        "state_name": state.title(),
        "state": {"type": state, "name": state.title(), "timestamp": times.to_text(ended or began)},
        "expected_start_time": times.to_text(began),
        "start_time": None if state == "SCHEDULED" else times.to_text(began),
        "end_time": times.to_text(ended) if ended else None,
        "run_count": 1,
        **more,
    }


class FakePrefect:
    """Flow runs behind /flow_runs/filter, with its sorting, its pages of 200 and its faults."""

    def __init__(self, *rows: Row) -> None:
        self.rows = {entry["id"]: entry for entry in rows}
        self.poisoned: set[str] = set()
        self.asked: list[tuple[str, Any]] = []
        self.before_answer: Callable[[int], None] = lambda _number: None

    def client(self) -> PrefectClient:
        return PrefectClient(Connection(api_url="http://p/api", origin="test"), None, httpx.MockTransport(self))

    def requests(self, path: str) -> int:
        return sum(1 for asked, _ in self.asked if asked == path)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api")
        body = json.loads(request.content) if request.content else {}
        self.asked.append((path, body))
        self.before_answer(len(self.asked))
        if body.get("limit", 0) > 200:
            return httpx.Response(422, json={"detail": "Invalid limit: must be less than or equal to 200."})
        if path == "/flow_runs/filter":
            return self._flow_runs(body)
        if path == "/flows/filter":
            return httpx.Response(
                200, json=[{"id": key, "name": f"flow {key[-1]}"} for key in body["flows"]["id"]["any_"]]
            )
        if path.startswith("/flow_runs/"):
            found = self.rows.get(path.removeprefix("/flow_runs/"))
            return (
                httpx.Response(200, json=found) if found else httpx.Response(404, json={"detail": "Flow run not found"})
            )
        return httpx.Response(404, json={"detail": "Not Found"})

    def _flow_runs(self, body: Row) -> httpx.Response:
        filters = body.get("flow_runs", {})
        states = filters.get("state", {}).get("type", {}).get("any_")
        after = filters.get("end_time", {}).get("after_")
        found = [
            entry
            for entry in self.rows.values()
            if (states is None or entry["state_type"] in states)
            and (after is None or (entry["end_time"] and entry["end_time"] >= after))
        ]
        column, _, direction = body["sort"].rpartition("_")
        found.sort(key=lambda entry: entry[column.lower()] or entry["expected_start_time"], reverse=direction == "DESC")
        page = found[body["offset"] : body["offset"] + body["limit"]]
        if any(entry["id"] in self.poisoned for entry in page):
            return httpx.Response(500, json={"exception_message": "Internal Server Error"})
        return httpx.Response(200, json=page)


async def test_five_thousand_runs_come_over_pages_of_two_hundred() -> None:
    server = FakePrefect(*(row(number) for number in range(5000)))
    found, cut = await server.client().flow_runs(limit=5000)
    assert [run.name for run in found] == [f"run-{number}" for number in range(5000)]
    assert not cut
    assert {run.flow_name for run in found} == {"flow 0", "flow 1"}
    assert server.requests("/flows/filter") == 1


async def test_a_list_that_was_cut_says_so() -> None:
    server = FakePrefect(*(row(number) for number in range(301)))
    found, cut = await server.client().flow_runs(limit=300)
    assert (len(found), cut) == (300, True)
    found, cut = await server.client().flow_runs(limit=301)
    assert (len(found), cut) == (301, False)


async def test_active_runs_are_there_however_old_and_ended_ones_only_since() -> None:
    server = FakePrefect(
        row(1, "RUNNING", start=NOW - 40 * 86400),
        row(2, "PAUSED", start=NOW - 30 * 86400),
        row(3, "FAILED", start=NOW - 9 * 86400, end=NOW - 60),
        row(4, "COMPLETED", end=NOW - 3 * 86400),
    )
    found, _ = await server.client().flow_runs(since=NOW - 2 * 86400)
    assert [run.name for run in found] == ["run-3", "run-2", "run-1"]


async def test_runs_that_a_schedule_plans_for_next_week_do_not_crowd_the_list() -> None:
    planned = [
        row(n, "SCHEDULED", start=NOW + 86400 * (n - 1000) + 3600, auto_scheduled=True) for n in range(1000, 1250)
    ]
    by_hand = row(2, "SCHEDULED", start=NOW + 5 * 86400)
    late = row(3, "SCHEDULED", start=NOW - 500)
    server = FakePrefect(*planned, by_hand, late, row(4, "RUNNING"))
    found, cut = await server.client().flow_runs()
    assert [run.name for run in found] == ["run-2", "run-1000", "run-4", "run-3"]
    assert not cut


async def test_one_poisoned_run_hides_only_itself() -> None:
    server = FakePrefect(*(row(number) for number in range(450)))
    server.poisoned = {row(123)["id"], row(333)["id"]}
    client = server.client()
    found, _ = await client.flow_runs()
    assert len(found) == 448
    assert {f"run-{number}" for number in range(450)} - {run.name for run in found} == {"run-123", "run-333"}
    assert client.unreadable == 2


async def test_a_server_that_fails_for_every_run_is_reported_and_not_hammered() -> None:
    server = FakePrefect(*(row(number) for number in range(450)))
    server.poisoned = set(server.rows)
    with pytest.raises(PrefectError, match="500"):
        await server.client().flow_runs()
    assert len(server.asked) < 60


async def test_a_run_that_comes_between_two_pages_loses_nobody() -> None:
    server = FakePrefect(*(row(number) for number in range(10, 450)))

    def another(number: int) -> None:
        if number == 4:  # planned, active, first page of the ended ones; now before the second
            server.rows[row(1)["id"]] = row(1)

    server.before_answer = another
    found, _ = await server.client().flow_runs()
    assert {f"run-{number}" for number in range(10, 450)} <= {run.name for run in found}
    assert len({run.id for run in found}) == len(found)


async def test_a_run_that_goes_between_two_pages_loses_nobody() -> None:
    server = FakePrefect(*(row(number) for number in range(450)))

    def one_less(number: int) -> None:
        if number == 4:
            del server.rows[row(7)["id"]]

    server.before_answer = one_less
    found, _ = await server.client().flow_runs()
    assert {f"run-{number}" for number in range(450) if number != 7} <= {run.name for run in found}


async def test_a_run_that_ends_while_the_list_is_read_is_there_once_and_ended() -> None:
    server = FakePrefect(row(1, "RUNNING"), row(2))

    def end(number: int) -> None:
        if number == 3:
            server.rows[row(1)["id"]] = row(1, "COMPLETED")

    server.before_answer = end
    found, _ = await server.client().flow_runs()
    assert [(run.name, run.state_type) for run in found] == [("run-1", "COMPLETED"), ("run-2", "COMPLETED")]


async def test_the_second_poll_asks_for_the_newest_page_only_and_sees_what_changed() -> None:
    server = FakePrefect(*(row(number) for number in range(10, 800)), row(2, "RUNNING"))
    client = server.client()
    await client.flow_runs()
    before = server.requests("/flow_runs/filter")
    server.rows[row(2)["id"]] = row(2, "FAILED")
    server.rows[row(500)["id"]] = row(500, "RUNNING")  # retried
    found, cut = await client.flow_runs()
    assert server.requests("/flow_runs/filter") - before == 3
    states = {run.name: run.state_type for run in found}
    assert len(found) == 791
    assert (states["run-2"], states["run-500"], states["run-10"]) == ("FAILED", "RUNNING", "COMPLETED")
    assert not cut


async def test_more_new_ends_than_a_page_are_all_read() -> None:
    server = FakePrefect(*(row(number) for number in range(200, 500)))
    client = server.client()
    await client.flow_runs()
    server.rows.update({row(number)["id"]: row(number) for number in range(150)})
    found, _ = await client.flow_runs()
    assert len(found) == 450


async def test_a_deleted_run_goes_when_all_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    server = FakePrefect(*(row(number) for number in range(300)))
    client = server.client()
    await client.flow_runs()
    del server.rows[row(222)["id"]]
    monkeypatch.setattr(runs, "_READ_ALL_AGAIN_SECONDS", 0.0)
    found, _ = await client.flow_runs()
    assert "run-222" not in {run.name for run in found}


async def test_the_window_moves_with_since() -> None:
    server = FakePrefect(*(row(number) for number in range(300)))
    client = server.client()
    first, _ = await client.flow_runs(since=NOW - 60 * 200.5)
    later, _ = await client.flow_runs(since=NOW - 60 * 100.5)
    assert (len(first), len(later)) == (201, 101)
    wider, _ = await client.flow_runs(since=NOW - 60 * 250.5)
    assert len(wider) == 251


async def test_a_page_cut_in_the_middle_is_read_again() -> None:
    server = FakePrefect(*(row(number) for number in range(10)))
    cuts = [2]

    async def half(content: bytes) -> AsyncIterator[bytes]:
        yield content[: len(content) // 2]
        raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")

    def handler(request: httpx.Request) -> httpx.Response:
        answer = server(request)
        if request.url.path.endswith("/flow_runs/filter") and answer.content != b"[]" and cuts[0]:
            cuts[0] -= 1
            return httpx.Response(200, content=half(answer.content))
        return answer

    client = PrefectClient(Connection(api_url="http://p/api"), None, httpx.MockTransport(handler))
    found, _ = await client.flow_runs()
    assert (len(found), cuts) == (10, [0])


async def test_a_whole_id_is_asked_for_and_a_part_is_sought() -> None:
    server = FakePrefect(*(row(number) for number in range(0x1000, 0x1000 + 300)))
    client = server.client()
    whole = row(0x1010)["id"]
    assert [run.id for run in await client.find_flow_runs(whole)] == [whole]
    assert [run.id for run in await client.find_flow_runs(whole.replace("-", "").upper())] == [whole]
    assert server.requests("/flow_runs/filter") == 0
    assert len(await client.find_flow_runs(whole[:-1])) == 16
    assert await client.find_flow_runs(str(uuid.UUID(int=5))) == ()


@pytest.mark.parametrize("prefix", ["", "  ", "xyz", "run-1", "../flow_runs", "%"])
async def test_what_is_no_part_of_an_id_is_not_sent(prefix: str) -> None:
    server = FakePrefect(row(1))
    assert await server.client().find_flow_runs(prefix) == ()
    assert server.asked == []


async def test_a_run_that_is_not_there_and_an_id_that_is_none_are_404() -> None:
    client = FakePrefect().client()
    for run_id in (str(uuid.uuid4()), "no id"):
        with pytest.raises(PrefectError) as caught:
            await client.flow_run(run_id)
        assert caught.value.status == 404


async def test_logs_are_asked_for_with_an_overlap_and_come_in_order() -> None:
    asked: list[Row] = []

    def handler(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        asked.append(body)
        lines = [
            {"id": f"l{n}", "level": 20, "message": str(n), "timestamp": times.to_text(1000.0 + n)} for n in (3, 1, 2)
        ]
        return httpx.Response(200, json=lines)

    client = PrefectClient(Connection(api_url="http://p/api"), None, httpx.MockTransport(handler))
    assert [line.message for line in await client.log_tail("r", 3)] == ["1", "2", "3"]
    assert asked[0]["sort"] == "TIMESTAMP_DESC"
    assert [line.message for line in await client.logs_after("r", 1000.0)] == ["1", "2", "3"]
    assert asked[1]["logs"]["timestamp"]["after_"] == times.to_text(990.0)
    await client.logs_after("r", NOW + 9e6)  # a worker's clock in the future must not hide the lines of the others
    assert (times.to_epoch(asked[2]["logs"]["timestamp"]["after_"]) or 0) < time.time()
