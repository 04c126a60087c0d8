"""Short questions to a private server, without a proxy and within a time limit."""

from __future__ import annotations

import base64
import http.client
import json
from urllib.parse import urlsplit

import msgspec


class Probe(msgspec.Struct, frozen=True):
    """One answer: the HTTP status, None without one; the body read as JSON; what was wrong, in words."""

    status: int | None
    body: object = None
    said: str = ""


def ask(api_url: str, path: str, auth: str | None = None, seconds: float = 3.0) -> Probe:
    """GET ``path``; every fault is an answer too."""
    parts = urlsplit(api_url)
    headers = {"Connection": "close"}
    if auth:
        headers["Authorization"] = "Basic " + base64.b64encode(auth.encode()).decode()
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=seconds)
    try:
        connection.request("GET", parts.path + path, headers=headers)
        answer = connection.getresponse()
        return Probe(answer.status, _json(answer.read(100_000)))
    except (OSError, http.client.HTTPException) as error:
        return Probe(None, said=str(error) or type(error).__name__)
    finally:
        connection.close()


def version_of(api_url: str, auth: str | None, seconds: float = 3.0) -> str | None:
    """The version that the server tells to who has its password, None if it does not."""
    answer = ask(api_url, "/admin/version", auth, seconds)
    return answer.body if answer.status == 200 and isinstance(answer.body, str) else None


def _json(content: bytes) -> object:
    try:
        body: object = json.loads(content)
    except ValueError:
        return None
    return body
