"""The driver's own words with the Prefect server: read the run's state, and set it when the engine could not.

Plain HTTP with httpx: it works also when the import of Prefect itself was interrupted.
"""

from __future__ import annotations

import base64
import os
import time
from typing import Any

import httpx
import msgspec

_TRIES = 6
_TIMEOUT = 10.0


class RunState(msgspec.Struct, frozen=True):
    """A flow run's state as Prefect holds it; ``type`` is empty when the server did not answer."""

    type: str = ""
    name: str = ""
    message: str = ""

    @property
    def final(self) -> bool:
        """Whether the run is over."""
        return self.type in {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


def read_state(run_id: str, *, tries: int = _TRIES) -> RunState:
    """The state Prefect holds now."""
    return _state((_ask("GET", f"/flow_runs/{run_id}", tries=tries) or {}).get("state"))


def set_state(run_id: str, kind: str, message: str, *, force: bool = False) -> RunState:
    """Propose a state; return what Prefect holds afterwards."""
    body = {"state": {"type": kind, "message": message}, "force": force}
    answer = _ask("POST", f"/flow_runs/{run_id}/set_state", body) or {}
    state = _state(answer.get("state"))
    return state if state.type else read_state(run_id)


def failed_task_messages(run_id: str) -> list[str]:
    """What the failed task runs of the newest attempt say; nothing when the server does not answer."""
    body = {
        "limit": 200,
        "task_runs": {"flow_run_id": {"any_": [run_id]}, "state": {"type": {"any_": ["FAILED", "CRASHED"]}}},
    }
    found = _ask("POST", "/task_runs/filter", body)
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    newest = max((row.get("flow_run_run_count") or 0 for row in rows), default=0)
    newer = (row for row in rows if (row.get("flow_run_run_count") or 0) == newest)
    return [(row.get("state") or {}).get("message") or "" for row in newer]


def _state(fields: Any) -> RunState:
    if not isinstance(fields, dict):
        return RunState()
    return RunState(fields.get("type") or "", fields.get("name") or "", fields.get("message") or "")


def _ask(method: str, path: str, body: Any = None, *, tries: int = _TRIES) -> Any:
    """One request, tried again while the server is busy or away (SQLite answers 503 to a few per cent of writes)."""
    headers = {}
    if auth := os.environ.get("PREFECT_API_AUTH_STRING"):
        headers["Authorization"] = "Basic " + base64.b64encode(auth.encode()).decode()
    url = os.environ["PREFECT_API_URL"].rstrip("/") + path
    for attempt in range(tries):
        try:
            answer = httpx.request(method, url, json=body, headers=headers, timeout=_TIMEOUT)
        except httpx.HTTPError:
            answer = None
        if answer is not None and answer.status_code < httpx.codes.INTERNAL_SERVER_ERROR:
            return answer.json() if answer.is_success else None
        if attempt + 1 < tries:
            time.sleep(min(0.2 * 2**attempt, 3))
    return None
