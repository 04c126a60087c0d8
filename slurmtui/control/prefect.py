"""Writes to Prefect: runs created, states asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.errors import PrefectError, PrefectUnreachable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.flow_run import FlowRun
    from slurmtui.sources.prefect.client import PrefectClient

_MEANS = {"CANCELLING": frozenset({"CANCELLING", "CANCELLED"})}
"""States that fulfil a wish: a run that never started goes from SCHEDULED straight to CANCELLED."""


_CREATE_SECONDS = 30.0
"""So long a new run may take: what was typed and checked is not given up for a server that is busy for a moment."""


class StateAnswer(msgspec.Struct, frozen=True):
    """What the server did with a wish for a state.

    ``accepted`` means the run is now in the state that was asked for, or in one that fulfils the wish;
    ``state_type`` is the state it is in; ``reason`` is the server's word when it refused.
    """

    accepted: bool
    state_type: str
    reason: str = ""


async def create_flow_run(  # noqa: PLR0913 - what a run is made of, by keyword
    client: PrefectClient,
    *,
    flow_name: str,
    run_name: str | None,
    parameters: Mapping[str, Any],
    tags: Sequence[str] = (),
    labels: Mapping[str, Any] | None = None,
    idempotency_key: str,
) -> FlowRun:
    """Create a run, PENDING, without a deployment; the same key again gives the same run.

    Labels without a value are left out: one null label would make the server fail on every list with this run.

    Raises:
        PrefectError: refused, or no answer.
    """
    flow = await client.request("POST", "/flows/", {"name": flow_name}, repeat=True, seconds=_CREATE_SECONDS)
    body: dict[str, Any] = {
        "flow_id": flow["id"],
        "parameters": dict(parameters),
        "tags": list(tags),
        "labels": _safe(labels or {}),
        "idempotency_key": idempotency_key,
        "state": {"type": "PENDING", "message": "Submitted by slurmtui"},
    }
    if run_name:
        body["name"] = run_name
    run = await client.request("POST", "/flow_runs/", body, repeat=True, seconds=_CREATE_SECONDS)
    return await client.flow_run(run["id"])


async def set_state(  # noqa: PLR0913, PLR0917 - as the REST API has them
    client: PrefectClient,
    run_id: str,
    state_type: str,
    message: str = "",
    name: str | None = None,
    force: bool = False,  # noqa: FBT001, FBT002 - as the REST API names it
) -> StateAnswer:
    """Ask for a state; a refusal is an answer, not an error.

    When the connection is lost the run is looked at, so that nothing is asked for twice.

    Raises:
        PrefectError: no such run, no answer, or credentials refused.
    """
    body = {
        "state": {"type": state_type, "name": name, "message": message or None, "state_details": {}},
        "force": force,
    }
    try:
        answer = await client.request("POST", f"/flow_runs/{run_id}/set_state", body, repeat=False)
    except PrefectUnreachable:
        run = await client.flow_run(run_id)  # raises the same when the server is really gone
        if run.state_type in _fulfilling(state_type):
            return StateAnswer(accepted=True, state_type=run.state_type)
        raise
    return await _understood(client, run_id, state_type, answer)


async def mark_crashed(client: PrefectClient, run_id: str, what: str, error: BaseException) -> None:
    """Leave no run behind that waits for ever because of ``error``, which says more than a failure to do this would."""
    try:
        await set_state(client, run_id, "CRASHED", f"slurmtui could not {what}: {str(error) or 'it was interrupted'}")
    except PrefectError:
        return


async def add_labels(client: PrefectClient, run_id: str, labels: Mapping[str, Any]) -> None:
    """Add labels to a run, or change their values; the others stay."""
    await client.request("PATCH", f"/flow_runs/{run_id}/labels", _safe(labels), seconds=_CREATE_SECONDS)


async def delete_flow_run(client: PrefectClient, run_id: str) -> None:
    """Delete a run from Prefect; this stops nothing. One that is not there counts as deleted."""
    try:
        await client.request("DELETE", f"/flow_runs/{run_id}")
    except PrefectError as error:
        if error.status != 404:
            raise


async def _understood(client: PrefectClient, run_id: str, wanted: str, answer: object) -> StateAnswer:
    answer = answer if isinstance(answer, dict) else {}
    state = answer.get("state") or {}
    reason = (answer.get("details") or {}).get("reason") or ""
    verdict = answer.get("status")
    now = str(state.get("type") or "")
    if verdict == "ACCEPT":
        return StateAnswer(accepted=True, state_type=now or wanted, reason=reason)
    if verdict != "REJECT" or not now:
        now = (await client.flow_run(run_id)).state_type  # an abort carries the state that was asked for, if any
    accepted = now in _fulfilling(wanted)
    return StateAnswer(accepted=accepted, state_type=now, reason=reason)


def _fulfilling(wanted: str) -> frozenset[str]:
    return _MEANS.get(wanted, frozenset({wanted}))


def _safe(labels: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    """Labels as Prefect stores them: plain values, never null (that poisons the server's lists)."""
    return {
        key: value if isinstance(value, (str, int, float, bool)) else str(value)
        for key, value in labels.items()
        if value is not None
    }
