"""Undo the last action on jobs that has an inverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions.jobs_doing import count, result_lines
from slurmtui.actions.jobs_targets import plan_of
from slurmtui.actions.model import Action, Context, Question
from slurmtui.control.jobs_many import HOLD, HOLD_OF_OTHERS, act
from slurmtui.control.jobs_waiting import still_waiting
from slurmtui.errors import CommandError
from slurmtui.models.amounts import counted
from slurmtui.models.job_outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.control.jobs_many import Command
    from slurmtui.session import Session


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
        for job_id, outcome in (await _bring_back(console.session, command, ids)).items():
            before = results.get(job_id)
            results[job_id] = before if before is not None and before.kind == "failed" else outcome
    console.journal.undone(last)
    console.store.kick("queue")
    _tell(context, last.words, results)


async def _bring_back(session: Session, command: Command, ids: Sequence[str]) -> dict[str, Outcome]:
    """One of the commands; only what waits still is held, for SLURM would call a running job held and let it run."""
    if command not in {HOLD, HOLD_OF_OTHERS}:
        return await act(session.runner, command, ids)
    try:
        waiting, others = await still_waiting(session.slurm, ids)
    except CommandError as error:
        return {job_id: Outcome(job_id, "failed", str(error)) for job_id in ids}
    return {**others, **(await act(session.runner, command, waiting) if waiting else {})}


def _tell(context: Context, words: str, results: Mapping[str, Outcome]) -> None:
    console, failed, gone = context.console, count(results, "failed"), count(results, "gone")
    if failed == len(results) == 1:
        (outcome,) = results.values()
        console.tell(f"Not undone: {words}: {outcome.words}", severity="error")
    elif failed:
        console.dialogs.page(f"{failed:,} of {len(results):,} not undone", result_lines(results.values(), "undone"))
        console.tell(f"{counted(failed, 'job')} not as before", severity="error")
    else:
        ended = f"; {counted(gone, 'job')} had ended meanwhile" if gone else ""
        console.tell(f"Undone: {words}{ended}" if gone < len(results) else f"Nothing to undo{ended}")


ACTIONS = (
    Action("job.undo", "U", "Undo", "Undo the last hold, release or edit; says of what has no way back.",
           _undo, ("jobs",), touches=True, footer=36, why_not=_cannot_undo, of_rows=False),
)  # fmt: skip
