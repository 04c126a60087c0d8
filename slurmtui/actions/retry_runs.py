"""Retry: what is reused, what runs again, what it costs at most, and with which profile; of many runs at once too."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from slurmtui.actions.model import Action, Choosing, Context, Option
from slurmtui.actions.retry_many import again_words, cause_of_view, reason_of, retry_many
from slurmtui.models.flow_run import RETRYABLE_STATES
from slurmtui.models.retry import best_way
from slurmtui.models.run_record import DriverStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.actions.model import Console
    from slurmtui.control.retry import RetryPlan
    from slurmtui.models.profile import Profile
    from slurmtui.models.retry import Way
    from slurmtui.models.run_view import RunView

_OVERLAY_SECONDS = 20.0
EDIT = "edit"


def retry_refusal(view: RunView) -> str:
    """Why this run cannot be retried, "" when it may be asked for."""
    if view.driver is DriverStatus.ALIVE and view.run.final:
        return f"{view.run.name} has just ended and its driver is still clearing up: try again in a moment"
    if view.driver.lives:
        return f"{view.run.name} has a living driver: cancel it first (X)"
    if view.record is None:
        return f"{view.run.name} was not started by slurmtui: it cannot be started again from here"
    stuck = not view.run.final and view.driver is DriverStatus.GONE
    if view.run.state_type not in RETRYABLE_STATES and not stuck:
        return f"Retry needs a failed, crashed or cancelled run; this one is {view.run.state_name}"
    return ""


def failed_lately(views: Iterable[RunView], now: float) -> tuple[RunView, ...]:
    """The runs that failed since yesterday's midnight and may be retried; a cancelled one was meant to end."""
    yesterday = time.localtime(now - 86400)
    since = time.mktime((*yesterday[:3], 0, 0, 0, 0, 0, -1))
    return tuple(
        view
        for view in views
        if view.run.state_type in {"FAILED", "CRASHED"}
        and (view.run.end or view.run.state_since or 0) >= since
        and not retry_refusal(view)
    )


def _cannot_retry(context: Context) -> str:
    targets = context.target_runs
    if not targets:
        return "Put the cursor on a run to retry it"
    reasons = [retry_refusal(view) for view in targets]
    return reasons[0] if all(reasons) else ""


def _label(context: Context) -> str:
    """What a retry would begin from, as far as the row tells."""
    if len(context.marked_runs) > 1:
        return f"retry {len(context.marked_runs)} runs"
    tasks = next((view.tasks for view in context.target_runs), None)
    return f"retry: {tasks.completed} of {tasks.total} done" if tasks is not None and tasks.total else "retry"


async def _retry(context: Context) -> None:
    views = tuple(view for view in context.target_runs if not retry_refusal(view))
    if len(views) == 1 and len(context.marked_runs) <= 1:
        await _retry_one(context.console, views[0])
    elif views:
        await retry_many(context.console, views, len(context.target_runs) - len(views))


async def _retry_one(console: Console, view: RunView) -> None:
    from slurmtui.control.retry import plan_retry, retry_run  # noqa: PLC0415 - the console starts without paying for it
    from slurmtui.control.retry_change import ways_for  # noqa: PLC0415 - as above

    if view.record is None:
        return
    plan, found = await asyncio.gather(plan_retry(console.session, view.run.id), ways_for(console.session, view.record))
    if plan.refused:
        console.tell(plan.refused, severity="warning")
        return
    chosen = await console.choose(_choosing(console, view, plan, found))
    if not chosen:
        return
    if chosen == EDIT:
        spec = view.record.spec
        console.new_run_from(spec.entrypoint, spec.profile.name if spec.profile else "", spec.parameters)
        return
    way = next(way for way in found if way.key == chosen)
    profile = None if way.key == "same" else way.profile
    console.store.overlay(view.run.id, "starting again…", _OVERLAY_SECONDS)
    try:
        spec = await retry_run(console.session, view.run.id, profile, reason_of(view))
    finally:
        console.store.overlay(view.run.id, "", 0)
    console.tell(f"{spec.name} runs again ({way.title}); {plan.reused} tasks are reused")
    console.store.kick("queue", "prefect", "records")


def _choosing(console: Console, view: RunView, plan: RetryPlan, found: Sequence[Way]) -> Choosing:
    from slurmtui.control.cost import cost_of, cost_words  # noqa: PLC0415 - as above
    from slurmtui.control.retry_change import slurm_says  # noqa: PLC0415 - as above

    profiles = {way.key: way.profile for way in found}

    async def ask(key: str) -> tuple[str, ...]:
        profile = profiles.get(key)
        if key == EDIT:
            return ("opens the form of a new run with this run's parameters; this run stays as it is", "")
        if profile is None:
            return ("its cost is not known: what its jobs ask for stands in the flow's file", "")
        well, said = await slurm_says(console.session, profile)
        return (cost_words(cost_of(profile)), f"SLURM {'says' if well else 'would refuse it'}: {said}")

    facts = [
        f"why it ended   {view.verdict.text}",
        f"reused         {plan.reused} of {plan.total} tasks have their results",
        again_words(plan.again),
    ]
    if plan.repair:
        facts.append(f"put right      {plan.repair}")
    if plan.fixed:
        facts.append(f"jobs           {plan.fixed}")
    options = [Option(way.key, way.title, columns_of(way.profile), way.why_not) for way in found]
    return Choosing(
        title=f"Retry {view.run.name}",
        facts=tuple(facts),
        options=(*options, Option(EDIT, "edit parameters")),
        chosen=best_way(found, cause_of_view(view)),
        ask=ask,
        yes="retry",
    )


def columns_of(profile: Profile | None) -> tuple[str, ...]:
    """What tells profiles apart: memory, time, partition, GPUs, jobs."""
    if profile is None:
        return ()
    jobs = f"≤{profile.adapt.maximum} jobs" if profile.adapt is not None else f"{profile.workers or 1} jobs"
    where = profile.partition or "default"
    return (profile.memory, profile.walltime, where, profile.gres or "", jobs.replace("1 jobs", "1 job"))


ACTION = Action(
    "run.retry", "R", "Retry",
    "Run it, or all marked runs, again under the same id; finished tasks with kept results are reused. Says first what "
    "it costs at most, and offers more memory, more time, another partition or profile. `:retry failed` takes all that "
    "failed since yesterday.",
    _retry, ("runs",), touches=True, footer=11, why_not=_cannot_retry, label=_label,
)  # fmt: skip
