"""Writes to Prefect: what is sent, and how its four kinds of answer to a wish are understood."""

from __future__ import annotations

import json
import uuid
from typing import Any

import httpx
import pytest

from slurmtui.control import prefect
from slurmtui.errors import PrefectError, PrefectUnreachable
from slurmtui.sources.prefect import transport
from slurmtui.sources.prefect.client import PrefectClient
from slurmtui.sources.prefect.connection import Connection

RUN = str(uuid.UUID(int=1))
Answer = dict[str, Any]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_FIRST_WAIT", 0.001)


class Server:
    """A run in a state, and the answer to the next wish."""

    def __init__(self, state: str = "RUNNING", answer: Answer | Exception | None = None) -> None:
        self.state = state
        self.answer = answer
        self.sent: list[tuple[str, str, Any]] = []

    def client(self) -> PrefectClient:
        return PrefectClient(Connection(api_url="http://p/api", origin="test"), None, httpx.MockTransport(self))

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api")
        self.sent.append((request.method, path, json.loads(request.content) if request.content else None))
        if path.endswith("/set_state"):
            if isinstance(self.answer, Exception):
                raise self.answer
            return httpx.Response(200, json=self.answer)
        if path in ("/flows/", "/flow_runs/"):
            return httpx.Response(201, json={"id": RUN})
        if path == "/flows/filter":
            return httpx.Response(200, json=[{"id": RUN, "name": "train"}])
        if request.method != "GET":
            return httpx.Response(204)
        return httpx.Response(200, json={"id": RUN, "flow_id": RUN, "state_type": self.state})


def answer(status: str, state: str | None, reason: str | None = None) -> Answer:
    return {"status": status, "state": {"type": state} if state else None, "details": {"reason": reason}}


@pytest.mark.parametrize(
    ("wanted", "given", "accepted", "state", "reason"),
    [
        ("CANCELLING", answer("ACCEPT", "CANCELLING"), True, "CANCELLING", ""),
        ("CANCELLING", answer("REJECT", "CANCELLED", "not started"), True, "CANCELLED", "not started"),
        ("CANCELLED", answer("ABORT", None, "terminal"), False, "COMPLETED", "terminal"),
        ("CANCELLED", answer("ABORT", "CANCELLED", "terminal"), False, "COMPLETED", "terminal"),
        ("COMPLETED", answer("ABORT", None, "terminal"), True, "COMPLETED", "terminal"),
        ("PENDING", answer("WAIT", None, "later"), False, "COMPLETED", "later"),
        ("PENDING", {}, False, "COMPLETED", ""),
    ],
)
async def test_the_answer_to_a_wish(wanted: str, given: Answer, accepted: bool, state: str, reason: str) -> None:  # noqa: FBT001
    got = await prefect.set_state(Server("COMPLETED", given).client(), RUN, wanted)
    assert got == prefect.StateAnswer(accepted=accepted, state_type=state, reason=reason)


async def test_after_a_lost_connection_the_run_is_looked_at_instead_of_asking_twice() -> None:
    server = Server("CANCELLING", httpx.ReadError("cut"))
    assert (await prefect.set_state(server.client(), RUN, "CANCELLING")).accepted
    assert sum(path.endswith("set_state") for _, path, _ in server.sent) == 1


async def test_a_wish_that_was_lost_is_reported() -> None:
    with pytest.raises(PrefectUnreachable):
        await prefect.set_state(Server("RUNNING", httpx.ReadError("cut")).client(), RUN, "CANCELLING")


async def test_a_run_is_created_pending_with_a_key_and_without_null_labels() -> None:
    server = Server()
    run = await prefect.create_flow_run(
        server.client(),
        flow_name="train",
        run_name="brave-otter",
        parameters={"lr": 0.1, "none": None},
        tags=["slurmtui"],
        labels={"host": "login01", "job": None, "path": ["x"], "n": 3},
        idempotency_key="key",
    )
    assert (run.id, run.flow_name) == (RUN, "train")
    body = next(body for method, path, body in server.sent if (method, path) == ("POST", "/flow_runs/"))
    assert body["state"]["type"] == "PENDING"
    assert body["parameters"] == {"lr": 0.1, "none": None}
    assert body["labels"] == {"host": "login01", "path": "['x']", "n": 3}
    assert body["idempotency_key"] == "key"
    assert body["name"] == "brave-otter"


async def test_labels_are_changed_without_null() -> None:
    server = Server()
    client = server.client()
    await prefect.add_labels(client, RUN, {"a": 1, "b": None})
    assert [body for _, _, body in server.sent] == [{"a": 1}]


async def test_deleting_what_is_not_there_is_no_error_but_a_refusal_is() -> None:
    def status(code: int) -> PrefectClient:
        handler = httpx.MockTransport(lambda _request: httpx.Response(code, json={"detail": "no"}))
        return PrefectClient(Connection(api_url="http://p/api"), None, handler)

    await prefect.delete_flow_run(status(404), RUN)
    with pytest.raises(PrefectError):
        await prefect.delete_flow_run(status(409), RUN)
