"""How many tasks of an array have ended, and how: the queue does not know any more, accounting does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from slurmtui.models.ids import base_id
from slurmtui.models.job import ENDED_STATES
from slurmtui.models.records import Field, Layout
from slurmtui.models.states import normal_state
from slurmtui.sources.slurm.ask import ask, records_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.records import Records
    from slurmtui.sources.exec import Runner

STATES = Layout(Field("id", "JobID", 48), Field("state", "State", 32, normal_state), gap=1)


async def ended_tallies(runner: Runner, arrays: Sequence[str], timeout: float) -> dict[str, dict[str, int]]:
    """By the number of each array: how many tasks have ended in each state.

    Raises:
        CommandError: accounting is off or does not answer.
    """
    argv = ("sacct", "-n", "-X", "-j", ",".join(arrays), "-o", STATES.asked_left())
    records = records_of(STATES, await ask(runner, argv, timeout))
    return await asyncio.to_thread(collect, records)  # an array may have a hundred thousand tasks


def collect(records: Records) -> dict[str, dict[str, int]]:
    """Count the records of tasks that have ended; the newest life of each task counts."""
    states = dict(zip(records.column("id"), records.values("state"), strict=True))
    answer: dict[str, dict[str, int]] = {}
    for raw, state in states.items():
        text = raw.rstrip().decode("ascii", "replace")
        if state in ENDED_STATES and "_" in text:
            counts = answer.setdefault(base_id(text), {})
            counts[state] = counts.get(state, 0) + 1
    return answer
