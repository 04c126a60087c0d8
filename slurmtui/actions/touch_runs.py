"""Actions that touch flow runs: new run, cancel, retry."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

from slurmtui.actions import retry_runs
from slurmtui.actions.model import Action, Context, Question, names
from slurmtui.errors import SlurmtuiError
from slurmtui.models.amounts import counted
from slurmtui.models.run_record import DriverStatus
from slurmtui.models.steps import Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.actions.model import Console, StepsBoard
    from slurmtui.models.run_view import RunView

CANCEL_OVERLAY_SECONDS = 30.0
AT_A_TIME = 5
"""How many runs are cancelled at once: each asks SLURM a few times."""


def _new_run(context: Context) -> None:
    context.console.perform("new-run")


def _cannot_start(context: Context) -> str:
    if not context.console.session.has_prefect:
        return "No Prefect server is configured: start one with  slurmtui server start"
    return ""


def cancel_refusal(view: RunView) -> str:
    """Why this run cannot be cancelled, "" when it can."""
    if view.run.final and not view.jobs and view.driver is not DriverStatus.ALIVE:
        return f"{view.run.name} has ended ({view.run.state_name}); nothing of it is alive"
    return ""


def _cannot_cancel(context: Context) -> str:
    targets = context.target_runs
    if not targets:
        if context.row_kind == "task":
            return "A task run is not cancelled by itself: put the cursor on its run"
        return "There is no run under the cursor"
    reasons = [cancel_refusal(view) for view in targets]
    return "" if not all(reasons) else reasons[0]


def _plan_of(view: RunView) -> list[tuple[str, str]]:
    plan = [] if view.run.final else [("Prefect", "CANCELLING")]
    driver = view.record.driver if view.record else None
    if driver and view.driver is DriverStatus.ALIVE:
        plan.append(("driver", f"asked to end, then SIGTERM {driver.pid} on {driver.host}"))
    elif driver and view.driver is DriverStatus.ELSEWHERE:
        plan.append(("driver", f"asked to end through the run folder (it is on {driver.host})"))
    if view.jobs:
        plan.append(("SLURM", f"scancel {names([job.id for job in view.jobs], 8)}"))
    plan.append(("then", "look: squeue empty, CANCELLED"))
    return plan


def _facts_of(view: RunView) -> tuple[str, ...]:
    facts = [f"{view.run.flow_name}: {view.verdict.text}"]
    if view.tasks and view.tasks.total:
        facts.append(f"{view.tasks.completed} of {view.tasks.total} known tasks done, {view.tasks.running} running")
    running = sum(1 for job in view.jobs if job.state == "RUNNING")
    facts.append(f"{counted(running, 'job')} running, {len(view.jobs) - running} waiting")
    return tuple(facts)


def _question(views: tuple[RunView, ...]) -> Question:
    if len(views) == 1:
        view = views[0]
        return Question(
            f"Cancel {view.run.name}", _facts_of(view), tuple(_plan_of(view)), yes="cancel it", no="No, keep it"
        )
    jobs = sum(len(view.jobs) for view in views)
    return Question(
        f"Cancel {len(views)} runs",
        (f"{names([view.run.name for view in views])}", f"{jobs} jobs of theirs in the queue"),
        (("each", "CANCELLING, driver ended, scancel, look: squeue empty, CANCELLED"),),
        yes="cancel them",
        typed=str(len(views)),
    )


async def _cancel(context: Context) -> None:
    console = context.console
    views = tuple(view for view in context.target_runs if not cancel_refusal(view))
    if not await console.ask(_question(views)):
        return
    one = len(views) == 1
    board = console.board(f"Cancel {views[0].run.name}" if one else f"Cancel {len(views)} runs")
    gate = asyncio.Semaphore(AT_A_TIME)

    async def cancel(view: RunView) -> tuple[bool, str]:
        if one:
            return await _cancel_one(console, view, board.show)
        line = partial(_show_line, board, view, time.monotonic())
        async with gate:
            well, text = await _cancel_one(console, view, lambda step: line("doing", step.title))
        line("done" if well else "failed", text)
        return well, text

    for view in () if one else views:
        board.show(Step(key=view.run.id, title=view.run.name))
    ended = await asyncio.gather(*map(cancel, views))
    failed = sum(1 for well, _ in ended if not well)
    text = ended[0][1] if one else f"{len(views) - failed} of {len(views)} cancelled: squeue seen empty of them"
    board.finish(text, well=not failed)


async def _cancel_one(console: Console, view: RunView, show: Callable[[Step], None]) -> tuple[bool, str]:
    """Cancel a run; whether nothing of it is left, in words."""
    from slurmtui.control.cancel import cancel_run  # noqa: PLC0415 - the console starts without paying for it

    console.store.overlay(view.run.id, "cancelling…", CANCEL_OVERLAY_SECONDS)
    console.store.kick("queue", "prefect", "records")
    try:
        report = await cancel_run(console.session, view.run.id, show)
    except (SlurmtuiError, OSError) as error:  # another console is at it, say: the board is where the person looks
        well, text = False, str(error)
    else:
        left = f"; still there: {names(report.left_jobs)}" if report.left_jobs else ""
        well, text = report.ok, ("cancelled: squeue seen empty" if report.ok else "not wholly cancelled") + left
    console.store.overlay(view.run.id, "", 0)
    console.store.kick("queue", "prefect", "records")
    return well, text


def _show_line(board: StepsBoard, view: RunView, began: float, state: str, detail: str) -> None:
    """One line for a run of several: the step it is at, or its end."""
    seconds = time.monotonic() - began
    board.show(Step(key=view.run.id, title=view.run.name, state=state, detail=detail, seconds=seconds))


ACTIONS = (
    Action("run.new", "N", "New run", "Choose a flow, a profile and parameters; see the job script; submit.",
           _new_run, touches=True, footer=12, why_not=_cannot_start, of_rows=False),
    Action("run.cancel", "X", "Cancel",
           "End the run: driver, jobs, state. It looks afterwards whether squeue is empty.",
           _cancel, ("runs",), touches=True, footer=10, why_not=_cannot_cancel),
    retry_runs.ACTION,
)  # fmt: skip
