"""Actions that look closer at a job: why it waits, its batch script. None of them touches anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions.model import Action, Context
from slurmtui.actions.plain import perform
from slurmtui.sources.slurm.scripts import NO_SCRIPTS, live_script, stored_script

if TYPE_CHECKING:
    from slurmtui.actions.dialogs import Line

_MOST_LINES = 5000


def _cannot_ask_why(context: Context) -> str:
    if context.place == "runs" and context.row_kind == "run":
        return ""
    if context.job is None:
        return context.no_job or "There is no job under the cursor"
    group = context.groups.get(context.job.id)
    waits = group.waiting > 0 if group is not None else context.job.state == "PENDING"
    return "" if waits else f"Job {context.job.id} does not wait: it is {context.job.state.lower()}"


def _why(context: Context) -> None:
    # A run has its verdict, with the evidence, in its detail.
    context.console.perform("why" if context.job is not None else "detail-pane")


def _cannot_show_script(context: Context) -> str:
    return "" if context.job or context.past else "There is no job under the cursor"


async def _script(context: Context) -> None:
    job, slurm = context.job or context.past, context.console.session.slurm
    if job is None:
        return
    origin, text = "as SLURM keeps it", await live_script(slurm, job.id)
    if text is None:
        origin, text = "as accounting keeps it", await stored_script(slurm, job.id)
    if text is None:
        why = slurm.lacks.get(NO_SCRIPTS, "it was started by srun or salloc, or nothing keeps it any more")
        context.console.tell(f"There is no script of job {job.id}: {why}", severity="warning")
        return
    lines = text.decode("utf-8", "replace").splitlines()
    shown: list[Line] = [((line.expandtabs(4), _style(line)),) for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        shown.append(((f"… and {len(lines) - _MOST_LINES:,} more lines", "$text-muted"),))
    context.console.dialogs.page(f"script of {job.id}, {origin}", shown)


def _style(line: str) -> str:
    if line.startswith("#SBATCH"):
        return "bold $accent"
    return "$text-muted" if line.lstrip().startswith("#") else ""


ACTIONS = (
    Action("mark-range", "v", "Mark a range", "Once at one end, once at the other: all rows between are marked.",
           perform("mark-range"), ("jobs",)),
    Action("mark-all", "asterisk", "Mark all", "Mark every row that is shown, also those off the screen; again: none.",
           perform("mark-all"), ("jobs",)),
    Action("why", "b", "Why is it waiting",
           "The reason in plain words, what has to happen, whether it can ever start, when, the limits and the order.",
           _why, ("runs", "jobs"), footer=5, why_not=_cannot_ask_why, label=lambda _: "why"),
    Action("job.script", "t", "Batch script", "The job's own script, as SLURM or accounting keeps it.",
           _script, ("runs", "jobs", "history"), why_not=_cannot_show_script),
)  # fmt: skip
