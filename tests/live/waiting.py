"""Waiting for what is to become true, with a limit that a slow machine does not reach."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from slurmtui.control.slurm import cancel_jobs
from slurmtui.models.flow_run import FINAL_STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slurmtui.models.flow_run import TaskRun
    from slurmtui.session import Session
    from slurmtui.sources.exec import Runner

CANCELLED_WITHIN = 60.0
"""Seconds that a cancel may take here. On a machine at rest it is done in 15; here others share two cores with it."""

_T = TypeVar("_T")
_PAUSE = 0.1
_QUIET = {"idle", "planned"}


def wait_for(condition: Callable[[], _T], timeout: float = 20, why: str = "") -> _T:
    """Wait until ``condition()`` is true; return what it returned."""
    deadline = time.monotonic() + timeout
    while not (found := condition()):
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout:g} s in vain: {why or condition}")
        time.sleep(_PAUSE)
    return found


async def eventually_true(
    condition: Callable[[], Any],
    timeout: float = 20,
    why: str = "",
) -> Any:
    """Wait, letting the event loop run, until ``condition()`` (which may be a coroutine function) is true."""
    deadline = time.monotonic() + timeout
    while True:
        answer: Any = condition()
        found = await answer if inspect.isawaitable(answer) else answer
        if found:
            return found
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout:g} s in vain: {why or condition}")
        await asyncio.sleep(_PAUSE)


async def tasks_ended(session: Session, run_id: str, number: int, attempt: int = 1) -> list[TaskRun]:
    """The task runs of an attempt, as soon as so many have ended: Prefect hears of them seconds after the run's end."""
    client = session.prefect
    assert client is not None

    async def ended() -> list[TaskRun]:
        found = [task for task in await client.task_runs(run_id) if task.attempt == attempt]
        over = len(found) == number and all(task.state_type in FINAL_STATES for task in found)
        return found if over else []

    found: list[TaskRun] = await eventually_true(ended, 60, f"{number} task runs of {run_id[:8]} to have ended")
    return found


async def nothing_runs(runner: Runner) -> None:
    """Wait until no job is at work, not even at its end, and every node is idle again."""

    async def lines(*argv: str) -> list[str]:
        return (await runner.run(argv, timeout=30)).stdout.decode().split()

    async def at_rest() -> bool:
        jobs = await lines("squeue", "-h", "-a", "-t", "R,CG,CF,S", "-o", "%i")
        return not jobs and set(await lines("sinfo", "-h", "-a", "-N", "-o", "%T")) <= _QUIET

    await eventually_true(at_rest, 90, "no job to run and every node to be idle")


async def end_jobs(runner: Runner, ids: Sequence[str]) -> None:
    """Cancel these jobs, and wait until nothing of them is left: neither in squeue nor on a node."""
    await cancel_jobs(runner, ids)

    async def gone() -> bool:
        listed = (await runner.run(("squeue", "-h", "-a", "-r", "-o", "%A %F"), timeout=30)).stdout.decode().split()
        return not set(ids) & set(listed)

    await eventually_true(gone, 90, f"the jobs {', '.join(ids)} to leave the queue")
    await nothing_runs(runner)
