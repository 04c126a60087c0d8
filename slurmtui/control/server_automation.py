"""The automation that lets Prefect itself mark a run crashed when its engine gives no heartbeat any more.

It is off unless a person turns it on: slurmtui has better evidence (the driver's process, the queue), and an outage of
the server can trip it. It helps where runs are looked at without slurmtui.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slurmtui.sources.prefect.client import PrefectClient

NAME = "slurmtui: crash flow runs without a heartbeat"
WITHIN_SECONDS = 540
"""Three of Prefect's usual heartbeats."""

_ENDS = ("Completed", "Failed", "Crashed", "Cancelled")
_HEARTBEAT = "prefect.flow-run.heartbeat"


async def find(client: PrefectClient) -> dict[str, Any] | None:
    """The automation, None when there is none.

    Raises:
        PrefectError: the server refused or did not answer.
    """
    found = await client.request("POST", "/automations/filter", {"automations": {"name": {"any_": [NAME]}}})
    return next((one for one in found if one.get("name") == NAME), None)


async def turn_on(client: PrefectClient) -> bool:
    """Make it, or enable it; whether anything was changed.

    Raises:
        PrefectError: the server refused or did not answer.
    """
    there = await find(client)
    if there is None:
        await client.request("POST", "/automations/", _automation())
        return True
    if there.get("enabled"):
        return False
    await client.request("PATCH", f"/automations/{there['id']}", {"enabled": True})
    return True


async def turn_off(client: PrefectClient) -> bool:
    """Remove it; whether there was one.

    Raises:
        PrefectError: the server refused or did not answer.
    """
    there = await find(client)
    if there is None:
        return False
    await client.request("DELETE", f"/automations/{there['id']}")
    return True


def _automation() -> dict[str, Any]:
    return {
        "name": NAME,
        "description": "Made by `slurmtui server automation on`; `off` removes it.",
        "enabled": True,
        "trigger": {
            "type": "event",
            "posture": "Proactive",
            "match": {"prefect.resource.id": ["prefect.flow-run.*"]},
            "match_related": {},
            "after": [_HEARTBEAT],
            "expect": [_HEARTBEAT, *(f"prefect.flow-run.{end}" for end in _ENDS)],
            "for_each": ["prefect.resource.id"],
            "threshold": 1,
            "within": WITHIN_SECONDS,
        },
        "actions": [
            {
                "type": "change-flow-run-state",
                "state": "CRASHED",
                "message": f"No heartbeat for {WITHIN_SECONDS // 60} minutes (slurmtui server automation)",
            }
        ],
    }
