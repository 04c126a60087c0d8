"""Hold and release waiting jobs; requeue jobs that run or have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions.dialogs import Pick
from slurmtui.actions.jobs_doing import do, done_ids, tell
from slurmtui.actions.jobs_targets import freeze, plan_of, question, refusal
from slurmtui.actions.model import Action, Context
from slurmtui.control.jobs_many import HOLD, HOLD_OF_OTHERS, RELEASE, REQUEUE
from slurmtui.control.jobs_waiting import waits
from slurmtui.models.amounts import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slurmtui.actions.jobs_targets import Target, Targets
    from slurmtui.control.jobs_many import Command
    from slurmtui.models.job import Job


def is_held(job: Job) -> bool:
    """Whether somebody has to release the job (or a part of what is left of an array)."""
    return "JobHeld" in job.reason or job.reason in {"JobHoldMaxRequeue", "launch failed requeued held"}


def _can_hold(context: Context) -> Callable[[Job], bool]:
    def can(job: Job) -> bool:
        group = context.groups.get(job.id)
        return waits(job) if group is None else group.waiting > 0

    return can


def _is_not_held(job: Job) -> str:
    return f"Job {job.id} is {job.state.lower()}: only waiting jobs are held and released"


def _cannot_hold(context: Context) -> str:
    return refusal(context, _can_hold(context), _is_not_held)


def _label(context: Context) -> str:
    jobs = context.target_jobs
    return "release" if jobs and is_held(jobs[0]) else "hold"


async def _hold(context: Context) -> None:
    targets = await freeze(context, _can_hold(context), _is_not_held)
    held = [row for row in targets.rows if is_held(row.job)]
    release = bool(held)
    if held and len(held) < len(targets.rows):
        free = len(targets.rows) - len(held)
        picks = [
            Pick("release", "release", f"the {counted(len(held), 'held one')}"),
            Pick("hold", "hold", f"the {counted(free, 'other')}"),
        ]
        picked = await context.console.dialogs.pick(f"Some of {targets.title} are held", picks)
        if not picked:
            return
        release = picked == "release"
        kept = tuple(row for row in targets.rows if is_held(row.job) == release)
        targets = type(targets)(kept, targets.me, len(targets.rows) - len(kept))
    await (_release_them(context, targets) if release else _hold_them(context, targets))


def _hold_command(targets: Targets) -> Command:
    return HOLD_OF_OTHERS if targets.foreign else HOLD


def holds_as_before(rows: Sequence[Target], me: str) -> list[tuple[Command, Sequence[str]]]:
    """What holds these jobs again as they were held: an administrator's hold is not for their user to release."""
    ids: dict[Command, list[str]] = {}
    for row in rows:
        by_user = "JobHeldUser" in row.job.reason or row.job.user == me
        by_admin = "JobHeldAdmin" in row.job.reason or not by_user
        ids.setdefault(HOLD_OF_OTHERS if by_admin else HOLD, []).append(row.id)
    return list(ids.items())


async def _hold_them(context: Context, targets: Targets) -> None:
    command = _hold_command(targets)
    facts = ["while held a job does not start and gathers no priority; H lets it go again"]
    if not await context.console.ask(question(context, targets, "hold", plan_of(command, targets.ids), facts=facts)):
        return
    results = await do(context, targets, command, overlay="holding…", title=f"Hold {targets.title}")
    context.console.journal.note(f"hold {targets.title}", [(RELEASE, done_ids(results))])
    tell(context, targets, results, "held")


async def _release_them(context: Context, targets: Targets) -> None:
    if not await context.console.ask(question(context, targets, "release", plan_of(RELEASE, targets.ids))):
        return
    results = await do(context, targets, RELEASE, overlay="releasing…", title=f"Release {targets.title}")
    released = set(done_ids(results))
    holds = holds_as_before([row for row in targets.rows if row.id in released], targets.me)
    context.console.journal.note(f"release {targets.title}", holds)
    tell(context, targets, results, "released")


def _can_requeue(context: Context) -> Callable[[Job], bool]:
    def can(job: Job) -> bool:
        group = context.groups.get(job.id)
        return job.state not in {"PENDING", "COMPLETING", "REQUEUED"} if group is None else group.running > 0

    return can


def _is_not_requeued(job: Job) -> str:
    return f"Job {job.id} waits already" if job.state == "PENDING" else f"Job {job.id} is just ending"


def _cannot_requeue(context: Context) -> str:
    return refusal(context, _can_requeue(context), _is_not_requeued)


async def _requeue(context: Context) -> None:
    targets = await freeze(context, _can_requeue(context), _is_not_requeued)
    facts = ["each begins again from its start, under the same number; its log may be written over"]
    plan = plan_of(REQUEUE, targets.ids)
    if not await context.console.ask(question(context, targets, "requeue", plan, facts=facts, lost=True)):
        return
    results = await do(context, targets, REQUEUE, overlay="requeueing…", lasting=True, title=f"Requeue {targets.title}")
    why = "a job that began again from its start cannot be brought back to where it was"
    context.console.journal.note(f"requeue {targets.title}", why_not=why)
    tell(context, targets, results, "requeued")


ACTIONS = (
    Action("job.hold", "H", "Hold or release", "Keep waiting jobs from starting, or let held ones go.",
           _hold, ("jobs",), touches=True, footer=13, why_not=_cannot_hold, label=_label),
    Action("job.requeue", "Q", "Requeue", "Stop running jobs and put them back into the queue, under the same number.",
           _requeue, ("jobs",), touches=True, footer=16, why_not=_cannot_requeue),
)  # fmt: skip
