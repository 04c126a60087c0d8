"""HTTP to a Prefect server: time limits, retries, authentication, and errors in whole sentences.

Every request ends within its time limit, retries included. A read is repeated when the server says that it is busy or
when the connection is lost; a write is repeated when the server says that it did nothing (503: SQLite under load
refuses two or three writes in a hundred) or when it was never sent, and after a lost connection only if doing it twice
is the same as once.

httpx is imported at the first request, in a thread: the console paints first.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import random
import time
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from slurmtui.errors import PrefectError, PrefectUnauthorized, PrefectUnreachable
from slurmtui.sources.command_log import Call, CommandLog
from slurmtui.sources.within import within

if TYPE_CHECKING:
    import httpx

    from slurmtui.sources.prefect.connection import Connection

Answer = TypeVar("Answer")

SECONDS = 10.0
"""The time limit of a request when the caller does not say another."""

_TRIES = 10  # a busy SQLite refuses a write again and again; the time limit comes first where it is short
_TRIES_REFUSED = 3  # where nobody listens, waiting helps little
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0
_KEEP_ALIVE = 3  # the server closes an idle connection after 5 s
_BUSY = frozenset({429, 503})  # nothing was done
_GATEWAY = frozenset({502, 504})  # a proxy between lost the answer: it may have been done


class Transport:
    """One server's connection pool. Made without I/O; used from one event loop; closed at the end."""

    def __init__(
        self,
        connection: Connection,
        log: CommandLog | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.connection = connection
        self.log = log if log is not None else CommandLog()
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._closed = False
        self._opening = asyncio.Lock()

    async def call(
        self, method: str, path: str, body: object = None, *, repeat: bool, seconds: float = SECONDS
    ) -> bytes:
        """Send a request and return the body of its good answer.

        Args:
            method: GET, POST, PATCH, DELETE.
            path: what follows the address, with its slash.
            body: becomes JSON; None sends none.
            repeat: whether the request may be sent again when nobody knows if it was carried out.
            seconds: the time limit for everything, retries included.

        Raises:
            PrefectUnauthorized: the server wants other credentials.
            PrefectUnreachable: no answer in time.
            PrefectError: the server refused, or has a fault.
        """
        client = await self._open()
        import httpx  # noqa: PLC0415 - see the module's words; only now: it was imported in a thread

        content = None if body is None else msgspec.json.encode(body)
        deadline = time.monotonic() + seconds
        for attempt in range(1, _TRIES + 1):
            try:
                response = await self._try(client, method, path, content, deadline)
            except asyncio.TimeoutError:
                raise self._late(method, path, seconds) from None
            except httpx.TransportError as error:
                nothing_sent = isinstance(error, httpx.ConnectError)
                again = attempt < _TRIES_REFUSED if nothing_sent else repeat
                if not (again and await _pause(attempt, deadline)):
                    raise PrefectUnreachable(self._unreachable(error)) from error
                continue
            if response.status_code < 300:
                return response.content
            busy = response.status_code in _BUSY or (repeat and response.status_code in _GATEWAY)
            if not (busy and await _pause(attempt, deadline, response.headers.get("Retry-After"))):
                raise self._refused(method, path, response.status_code, response.content)
        raise AssertionError("the last try returns or raises")  # pragma: no cover

    async def read(self, method: str, path: str, kind: type[Answer], body: object = None) -> Answer:
        """Ask a question that may be repeated; the answer as ``kind``.

        Raises:
            PrefectError: as ``call``, or the answer is of another form.
        """
        content = await self.call(method, path, body, repeat=True)
        try:
            return msgspec.json.decode(content, type=kind)
        except msgspec.MsgspecError as error:
            raise PrefectError(f"{self.connection.where} answered {path} in an unknown form: {error}.") from error

    async def close(self) -> None:
        """Close the connections, for good: whoever asks later is told so."""
        self._closed = True
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _try(
        self, client: httpx.AsyncClient, method: str, path: str, content: bytes | None, deadline: float
    ) -> httpx.Response:
        """One try.

        Raises:
            asyncio.TimeoutError: the time is up, whoever noticed it.
            httpx.TransportError: the connection could not be made, or was lost.
            PrefectUnreachable: the client was closed meanwhile.
        """
        import httpx  # noqa: PLC0415 - see the module's words

        try:
            return await self._send(client, method, path, content, deadline - time.monotonic())
        except httpx.TimeoutException as error:
            raise asyncio.TimeoutError from error
        except RuntimeError:
            if not client.is_closed:
                raise
            raise self._given_up() from None

    async def _send(
        self, client: httpx.AsyncClient, method: str, path: str, content: bytes | None, left: float
    ) -> httpx.Response:
        """What is sent, kept in the command log with its duration and status."""
        started, clock = time.time(), time.perf_counter()
        code: int | None = None
        said = ""
        try:
            request = client.request(method, self.connection.api_url + path, content=content)
            response = await within(request, max(left, 0.05))
            code = response.status_code
            if code >= 400:
                said = _words(response.content)
        except asyncio.CancelledError:
            said = "no longer wanted"
            raise
        except Exception as error:
            said = str(error) or type(error).__name__
            raise
        else:
            return response
        finally:
            self.log.add(Call(started, f"HTTP {method} {path}", time.perf_counter() - clock, code, said))

    async def _open(self) -> httpx.AsyncClient:
        async with self._opening:
            if self._client is None and not self._closed:
                await asyncio.to_thread(importlib.import_module, "httpx")
                self._client = await asyncio.to_thread(self._make)
            client = self._client
            if self._closed or client is None:
                await self.close()  # it came meanwhile: what was just made must not stay open
                raise self._given_up()
            return client

    def _make(self) -> httpx.AsyncClient:
        import httpx  # noqa: PLC0415 - see the module's words

        connection = self.connection
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if connection.auth:
            headers["Authorization"] = "Basic " + base64.b64encode(connection.auth.encode()).decode()
        elif connection.key:
            headers["Authorization"] = f"Bearer {connection.key}"
        return httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(SECONDS * 6, connect=5),  # the limit that counts is the caller's
            limits=httpx.Limits(max_connections=8, max_keepalive_connections=4, keepalive_expiry=_KEEP_ALIVE),
            transport=self._transport,
            trust_env=not connection.direct,
            verify=_trust(connection),
        )

    def _given_up(self) -> PrefectUnreachable:
        return PrefectUnreachable(
            f"Prefect at {self.connection.where}: the connection was given up, for the server has moved."
        )

    def _late(self, method: str, path: str, seconds: float) -> PrefectUnreachable:
        return PrefectUnreachable(
            f"Prefect at {self.connection.where} did not answer {method} {path} within {seconds:g} s."
        )

    def _unreachable(self, error: Exception) -> str:
        reason = str(error) or type(error).__name__
        next_step = "slurmtui server start brings it up" if "private" in self.connection.origin else "is it running?"
        return f"Prefect at {self.connection.where} does not answer: {reason} ({next_step})"

    def _refused(self, method: str, path: str, status: int, content: bytes) -> PrefectError:
        where, words = self.connection.where, _words(content)
        if status in (401, 403):
            return PrefectUnauthorized(self._unauthorized(status), status=status)
        if status in _BUSY | _GATEWAY:
            return PrefectUnreachable(
                f"Prefect at {where} is busy ({status} {words}), also after retries.", status=status
            )
        if 300 <= status < 400:
            return PrefectError(
                f"{where} redirects ({status}): the address must be that of the API itself.", status=status
            )
        if status >= 500:
            return PrefectError(f"Prefect at {where} has a fault at {method} {path}: {status} {words}", status=status)
        return PrefectError(f"Prefect at {where} refused {method} {path}: {status} {words}", status=status)

    def _unauthorized(self, status: int) -> str:
        connection = self.connection
        has = bool(connection.auth or connection.key)
        verdict = "does not accept the credentials" if has else "wants a password"
        cure = (
            "Put user:password in PREFECT_API_AUTH_STRING, in Prefect's profile, or in the file that prefect.auth_file "
            "of slurmtui's configuration names."
        )
        if "private" in connection.origin:
            cure = "slurmtui server stop, then start, makes the server and its password agree again."
        return f"Prefect at {connection.where} {verdict} ({status}): {connection.auth_origin}. {cure}"


async def _pause(attempt: int, deadline: float, retry_after: str | None = None) -> bool:
    """Wait before the next try, longer each time and never quite the same; False when no try or no time is left."""
    wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1)) * random.uniform(0.5, 1)  # noqa: S311 - only jitter
    if retry_after and retry_after.strip().isdigit():
        wait = max(wait, float(retry_after))
    if attempt >= _TRIES or time.monotonic() + wait >= deadline:
        return False
    await asyncio.sleep(wait)
    return True


def _trust(connection: Connection) -> Any:
    """What httpx checks certificates with; for plain http a context without the costly list of authorities."""
    if not connection.verify or connection.api_url.startswith("http://"):
        return False
    if connection.certificates:
        import ssl  # noqa: PLC0415 - only where a site has its own authorities

        return ssl.create_default_context(cafile=connection.certificates)
    return True


def _words(content: bytes) -> str:
    """What an error's body says, on one line and without control characters."""
    try:
        body = msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        text = content[:200].decode("utf-8", "replace")
    else:
        text = _said(body)
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:400]


def _said(body: object) -> str:
    """The sentence in an error body of Prefect's (``detail`` or ``exception_message``, with FastAPI's list)."""
    if not isinstance(body, dict):
        return str(body)
    message = body.get("exception_message") or ""
    detail = body.get("detail") or body.get("exception_detail") or ""
    if isinstance(detail, list):
        parts = [part for part in detail if isinstance(part, dict)]
        detail = "; ".join(
            f"{'.'.join(str(name) for name in part.get('loc', ()))}: {part.get('msg') or part.get('type', '')}"
            for part in parts
        )
    return " ".join(str(part) for part in (message, detail) if part) or str(body)
