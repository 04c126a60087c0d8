"""Undo the last action on jobs that has an inverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions.jobs_doing import count, result_lines
from slurmtui.actions.jobs_targets import plan_of
from slurmtui.actions.model import Action, Context, Question
from slurmtui.control.jobs_many import act
from slurmtui.models.amounts import counted

if TYPE_CHECKING:
    from slurmtui.models.job_outcome import Outcome


def _cannot_undo(context: Context) -> str:
    last = context.console.journal.last
    if last is None:
        return "Nothing was done to jobs from this console that could be undone"
    if not last.undo:
        return f"The last action ({last.words}) cannot be undone: {last.why_not or 'nothing of it was done'}"
    return ""


async def _undo(context: Context) -> None:
    console, last = context.console, context.console.journal.last
    if last is None:
        return
    plan = [line for command, ids in last.undo for line in plan_of(command, ids)]
    total = len({job_id for _, ids in last.undo for job_id in ids})
    asked = Question(
        f"Undo: {last.words}", (f"brings back what was before, for {counted(total, 'row')}",), tuple(plan[:8]),
        yes="undo", no="No, leave it", typed=str(total) if total > 1 else "",
    )  # fmt: skip
    if not await console.ask(asked):
        return
    results: dict[str, Outcome] = {}
    for command, ids in last.undo:
        for job_id, outcome in (await act(console.session.runner, command, ids)).items():
            before = results.get(job_id)
            results[job_id] = before if before is not None and before.kind == "failed" else outcome
    console.journal.undone(last)
    console.store.kick("queue")
    failed = count(results, "failed")
    if failed:
        console.dialogs.page(f"{failed:,} of {len(results):,} not undone", result_lines(results.values(), "undone"))
        console.tell(f"{counted(failed, 'job')} not as before", severity="error")
    else:
        console.tell(f"Undone: {last.words}")


ACTIONS = (
    Action("job.undo", "U", "Undo", "Undo the last hold, release or edit; says of what has no way back.",
           _undo, ("jobs",), touches=True, footer=36, why_not=_cannot_undo, of_rows=False),
)  # fmt: skip
