"""Where the attempts of a retried run begin: sentences that stand between their lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import PrefectError
from slurmtui.models.run_record import DriverRecord
from slurmtui.sources.prefect.times import to_epoch
from slurmtui.store.log_entry import note
from slurmtui.store.log_merge import Found

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.sources.prefect.client import PrefectClient

PLACE = "attempts"
_LARGEST = 1 << 16
_BEFORE = 0.5  # seconds: the sentence stands before the attempt's first line


class _State(msgspec.Struct):
    type: str = ""
    timestamp: str | None = None


def attempts_of(folder: Path) -> dict[int, float]:
    """When each attempt of a run began (seconds since the epoch), as the drivers recorded it."""
    found: dict[int, float] = {}
    for path in sorted(folder.glob("attempt-*.lock")):
        try:
            with path.open("rb") as stream:
                record = msgspec.json.decode(stream.read(_LARGEST), type=DriverRecord)
        except (OSError, msgspec.MsgspecError):  # being written, or damaged: the lines are there without it
            continue
        found[record.attempt] = record.started or record.pid_started
    return found


async def attempts_at_prefect(client: PrefectClient, run_id: str) -> dict[int, float]:
    """The same for a run that slurmtui did not start: when Prefect saw it begin to run.

    Raises:
        PrefectError: the server does not answer.
    """
    answer = await client.request("GET", f"/flow_run_states/?flow_run_id={run_id}")
    try:
        states = msgspec.convert(answer, list[_State])
    except msgspec.ValidationError as error:
        raise PrefectError(f"Prefect's answer about the states of a run is not understood: {error}") from error
    begun = [
        moment for state in states if state.type == "RUNNING" and (moment := to_epoch(state.timestamp)) is not None
    ]
    return dict(enumerate(sorted(begun), 1))


def separators(begun: dict[int, float], told: frozenset[int] = frozenset()) -> list[Found]:
    """A sentence for each attempt that is not ``told``, once there are two."""
    if len(begun) < 2:
        return []
    return [
        Found(moment - _BEFORE, note(_sentence(number, moment), moment), PLACE)
        for number, moment in sorted(begun.items())
        if number not in told
    ]


def _sentence(number: int, moment: float) -> str:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))
    return f"──────── attempt {number} · began {stamp} ────────"
