"""Many runs at once: every one ends in the state that was asked for, and nothing is left of any.

``make soak`` does it with 200 of them.
"""

from __future__ import annotations

import asyncio
import os
import random
from typing import TYPE_CHECKING

import pytest

from slurmtui.control.cancel import cancel_run
from slurmtui.control.rescue import repair
from slurmtui.control.retry import retry_run
from slurmtui.store.once import gather

if TYPE_CHECKING:
    from tests.live.staging import Stage

RUNS = int(os.environ.get("SLURMTUI_SOAK_RUNS", "20"))
_AT_A_TIME = 4

pytestmark = [pytest.mark.live, pytest.mark.timeout(300 + 40 * RUNS)]


async def cancelled(stage: Stage, run_id: str) -> None:
    """At any moment of its life."""
    await asyncio.sleep(random.uniform(0, 6))  # noqa: S311 - any moment will do
    await cancel_run(stage.session, run_id)
    await stage.ended(run_id, "CANCELLED")


async def killed_and_rescued(stage: Stage, run_id: str, number: int) -> None:
    """Its driver is killed; rescue runs it again."""
    await stage.working(run_id)
    stage.driver(run_id).kill()
    await stage.verdict(run_id, "driver-gone")
    case = await stage.case(run_id)
    opened(stage, number)
    assert (await repair(stage.session, case, "retry")).ok


async def failed_and_retried(stage: Stage, run_id: str, number: int) -> None:
    (stage.folder / f"until-{number}").touch()
    assert "not yet" in await stage.ended(run_id, "FAILED")
    (stage.folder / f"path-{number}").touch()
    await retry_run(stage.session, run_id)


def opened(stage: Stage, number: int) -> None:
    """Let the run go on to its end."""
    (stage.folder / f"until-{number}").touch()
    (stage.folder / f"path-{number}").touch()


async def one(stage: Stage, number: int, gate: asyncio.Semaphore) -> None:
    """A third is cancelled, a third fails and is retried, some drivers are killed; the others are left alone."""
    async with gate:
        files = {"until": str(stage.folder / f"until-{number}"), "path": str(stage.folder / f"path-{number}")}
        run_id = await stage.start("once_more", **files)
        if number % 3 == 0:
            await cancelled(stage, run_id)
            return
        if number % 7 == 1:
            await killed_and_rescued(stage, run_id, number)
        elif number % 3 == 1:
            await failed_and_retried(stage, run_id, number)
        opened(stage, number)
        await stage.ended_again(run_id)


async def test_many_runs_end_in_the_state_that_was_asked_for(stage: Stage) -> None:
    gate = asyncio.Semaphore(_AT_A_TIME)
    outcomes = await asyncio.gather(*(one(stage, number, gate) for number in range(RUNS)), return_exceptions=True)
    wrong = {number: repr(outcome) for number, outcome in enumerate(outcomes) if isinstance(outcome, BaseException)}
    assert not wrong
    mine = set(stage.made)
    assert len(mine) == RUNS
    await stage.assert_nothing_left()
    snapshot = await gather(stage.session, since=0, ids=list(mine))
    states = [view.run.state_type for view in snapshot.runs if view.run.id in mine]
    assert len(states) == RUNS
    assert states.count("CANCELLED") == len(range(0, RUNS, 3))
    assert states.count("COMPLETED") == RUNS - states.count("CANCELLED")
    assert not [case for case in await stage.cases() if case.run_id in mine]
