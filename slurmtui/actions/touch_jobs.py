"""Actions on jobs of the queue: those that look closer at one, and those that touch them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions import jobs_copy, jobs_edit, jobs_hold, jobs_look, jobs_resubmit, jobs_signal, jobs_undo
from slurmtui.actions.jobs_doing import do, tell
from slurmtui.actions.jobs_targets import followers, freeze, plan_of, question, refusal
from slurmtui.actions.model import Action, Context
from slurmtui.control.jobs_many import CANCEL
from slurmtui.models.amounts import counted

if TYPE_CHECKING:
    from slurmtui.models.job import Job


def _is_active(job: Job) -> bool:
    return job.active


def _has_ended(job: Job) -> str:
    return f"Job {job.id} has ended ({job.state})"


def _cannot_cancel(context: Context) -> str:
    return refusal(context, _is_active, _has_ended)


async def _cancel(context: Context) -> None:
    targets = await freeze(context, _is_active, _has_ended)
    led, plan = followers(context, targets), plan_of(CANCEL, targets.ids)
    facts = [
        f"with {first} SLURM ends its whole het job: {counted(more, 'other component')}" for first, more in led.items()
    ]
    asked = question(context, targets, "cancel", plan, facts=facts, lost=True, more=sum(led.values()))
    if not await context.console.ask(asked):
        return
    results = await do(context, targets, CANCEL, overlay="cancelling…", lasting=True, title=f"Cancel {targets.title}")
    why = "a cancelled job cannot be brought back; R submits it again while SLURM remembers it"
    context.console.journal.note(f"cancel {targets.title}", why_not=why)
    tell(context, targets, results, "cancelled")


ACTIONS = (
    *jobs_look.ACTIONS,
    *jobs_copy.ACTIONS,
    Action("job.cancel", "X", "Cancel job", "scancel exactly the marked jobs, else the one under the cursor.",
           _cancel, ("jobs",), touches=True, footer=10, why_not=_cannot_cancel),
    *jobs_hold.ACTIONS,
    *jobs_edit.ACTIONS,
    *jobs_resubmit.ACTIONS,
    *jobs_signal.ACTIONS,
    *jobs_undo.ACTIONS,
)  # fmt: skip
