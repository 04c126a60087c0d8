"""What the HTTP client does when the server refuses, is busy, breaks off or says nothing."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING

import httpx
import pytest

from slurmtui.errors import PrefectError, PrefectUnauthorized, PrefectUnreachable
from slurmtui.models.config import Config
from slurmtui.sources.command_log import CommandLog
from slurmtui.sources.prefect import transport
from slurmtui.sources.prefect.client import PrefectClient
from slurmtui.sources.prefect.connection import Connection, find_connection

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "http://login01:4200/api"
CONNECTION = Connection(
    api_url=URL, auth="alice:s3cret", origin="profile hpc", auth_origin="the password came from profile hpc"
)
Answer = httpx.Response | Exception


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_FIRST_WAIT", 0.001)


class Script:
    """Answers one request after the other as it was told; the last answer stays."""

    def __init__(self, *answers: Answer | Callable[[], Answer]) -> None:
        self.answers = list(answers)
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer = answer() if callable(answer) else answer
        if isinstance(answer, Exception):
            raise answer
        return answer


def client_of(script: Script, connection: Connection = CONNECTION, log: CommandLog | None = None) -> PrefectClient:
    return PrefectClient(connection, log, httpx.MockTransport(script))


def busy() -> httpx.Response:
    return httpx.Response(503, json={"exception_message": "Service Unavailable"})


async def test_the_password_goes_with_every_request_and_no_api_version_is_asked_for() -> None:
    script = Script(httpx.Response(200, json="3.9.1"))
    assert await client_of(script).version() == "3.9.1"
    headers = script.seen[0].headers
    assert headers["Authorization"] == "Basic " + base64.b64encode(b"alice:s3cret").decode()
    assert "X-PREFECT-API-VERSION" not in headers


@pytest.mark.parametrize("status", [401, 403])
async def test_refused_credentials_are_explained_and_never_shown(status: int) -> None:
    script = Script(httpx.Response(status, json={"exception_message": "Unauthorized"}))
    with pytest.raises(PrefectUnauthorized) as caught:
        await client_of(script).version()
    text = str(caught.value)
    assert URL in text
    assert "profile hpc" in text
    assert "PREFECT_API_AUTH_STRING" in text
    assert "s3cret" not in text
    assert len(script.seen) == 1


async def test_a_missing_password_is_called_missing() -> None:
    connection = Connection(api_url=URL, origin="PREFECT_API_URL", auth_origin="no password was found in …")
    with pytest.raises(PrefectUnauthorized, match="wants a password"):
        await client_of(Script(httpx.Response(401, json={})), connection).version()


async def test_a_busy_server_is_asked_again_also_to_write() -> None:
    script = Script(busy, busy, httpx.Response(201, json={"id": "x"}))
    assert await client_of(script).request("POST", "/flow_runs/", {"name": "a"}) == {"id": "x"}
    assert len(script.seen) == 3


async def test_a_server_that_stays_busy_is_given_up() -> None:
    script = Script(busy)
    with pytest.raises(PrefectUnreachable, match="busy") as caught:
        await client_of(script).request("POST", "/flow_runs/filter", {})
    assert caught.value.status == 503
    assert len(script.seen) == transport._TRIES


async def test_a_read_is_repeated_after_a_lost_connection() -> None:
    script = Script(httpx.ReadError("reset"), httpx.RemoteProtocolError("cut"), httpx.Response(200, json=3))
    assert await client_of(script).request("POST", "/flow_runs/count", {}) == 3


async def test_a_write_is_not_repeated_after_a_lost_connection() -> None:
    script = Script(httpx.ReadError("reset"), httpx.Response(201, json={}))
    with pytest.raises(PrefectUnreachable):
        await client_of(script).request("POST", "/flow_runs/", {})
    assert len(script.seen) == 1


async def test_a_write_that_may_be_done_twice_is_repeated() -> None:
    script = Script(httpx.ReadError("reset"), httpx.Response(201, json={"id": "x"}))
    assert await client_of(script).request("POST", "/flow_runs/", {}, repeat=True) == {"id": "x"}


async def test_a_write_that_never_left_is_repeated() -> None:
    script = Script(httpx.ConnectError("refused"), httpx.Response(201, json={"id": "x"}))
    assert await client_of(script).request("POST", "/flow_runs/", {}) == {"id": "x"}


async def test_nobody_listening_is_said_with_the_server_s_name() -> None:
    with pytest.raises(PrefectUnreachable, match=r"login01:4200/api \(profile hpc\) does not answer: refused"):
        await client_of(Script(httpx.ConnectError("refused"))).version()


async def test_a_private_server_that_is_gone_tells_how_to_bring_it_back() -> None:
    connection = Connection(api_url=URL, origin="private server on login01")
    with pytest.raises(PrefectUnreachable, match="slurmtui server start"):
        await client_of(Script(httpx.ConnectError("refused")), connection).version()


async def test_a_silent_server_ends_with_the_time_limit() -> None:
    async def never(_request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(60)
        return httpx.Response(200)

    log = CommandLog()
    client = PrefectClient(CONNECTION, log, httpx.MockTransport(never))
    with pytest.raises(PrefectUnreachable, match=r"did not answer GET /admin/version within 0\.05 s"):
        await client.request("GET", "/admin/version", seconds=0.05)
    (call,) = log
    assert call.code is None
    assert call.seconds < 30


async def test_a_refused_request_says_what_was_wrong_with_it() -> None:
    body = {
        "exception_message": "Invalid request received.",
        "exception_detail": [{"type": "extra_forbidden", "loc": ["body", "flow_runs", "nope"], "msg": "Extra inputs"}],
    }
    with pytest.raises(
        PrefectError, match=r"422 Invalid request received\. body\.flow_runs\.nope: Extra inputs"
    ) as caught:
        await client_of(Script(httpx.Response(422, json=body))).request("POST", "/flow_runs/filter", {})
    assert caught.value.status == 422


async def test_what_a_server_says_brings_no_control_characters_to_the_terminal() -> None:
    script = Script(httpx.Response(409, json={"detail": "bad \x1b]52;c;x\x07 name\nsecond line"}))
    with pytest.raises(PrefectError) as caught:
        await client_of(script).request("POST", "/flow_runs/", {})
    assert str(caught.value).isprintable()


async def test_a_page_that_is_no_api_is_called_so() -> None:
    script = Script(httpx.Response(200, text="<html>Prefect</html>"))
    with pytest.raises(PrefectError, match="JSON"):
        await client_of(script).version()


async def test_every_request_stands_in_the_command_log() -> None:
    log = CommandLog()
    script = Script(busy, httpx.Response(200, json=3))
    await client_of(script, log=log).request("POST", "/flow_runs/count", {})
    assert [(call.text, call.code) for call in log] == [
        ("HTTP POST /flow_runs/count", 503),
        ("HTTP POST /flow_runs/count", 200),
    ]
    assert log.per_minute(next(iter(log)).started) == 0  # requests are not commands of SLURM's


async def test_a_client_that_is_closed_while_it_is_used_is_no_crash() -> None:
    client = client_of(Script(busy, busy))
    transport = client._transport
    opened = await transport._open()
    await opened.aclose()  # the server has moved, and the poller lets go of the old address
    with pytest.raises(PrefectUnreachable, match="the server has moved"):
        await client.version()
    await client.close()


async def test_a_closed_client_can_be_closed_again() -> None:
    client = client_of(Script(httpx.Response(200, json="3.9.1")))
    await client.version()
    await client.close()
    await client.close()


async def test_a_server_on_this_machine_is_reached_whatever_proxy_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\n"3.9.1"')
        await writer.drain()
        writer.close()

    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody is there
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{port}/api")
    connection = find_connection(Config())
    assert connection is not None
    client = PrefectClient(connection)
    assert await client.version() == "3.9.1"
    await client.close()
    server.close()
    await server.wait_closed()


async def test_a_closed_client_opens_no_connections_again() -> None:
    client = client_of(Script(httpx.Response(200, json="3.9.1")))
    await client.close()
    with pytest.raises(PrefectUnreachable, match="the server has moved"):
        await client.version()  # nobody would close them
