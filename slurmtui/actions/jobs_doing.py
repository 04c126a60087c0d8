"""Does what was agreed to, to many jobs, and tells what became of each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from slurmtui.actions.model import names
from slurmtui.control.jobs_many import act
from slurmtui.models.amounts import counted
from slurmtui.models.steps import Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slurmtui.actions.dialogs import Line
    from slurmtui.actions.jobs_targets import Targets
    from slurmtui.actions.model import Context
    from slurmtui.control.jobs_many import Command
    from slurmtui.models.job_outcome import Outcome

OVERLAY_SECONDS = 15.0
_MOST_OVERLAYS = 100  # rows that say what is being done to them; more than a screen shows are no use
_BOARD_FROM = 200  # ids; fewer are done before a board could be read
_MOST_LINES = 2000


async def do(  # noqa: PLR0913 - what is done, and how it is shown
    context: Context, targets: Targets, command: Command, *, overlay: str, title: str, lasting: bool = False
) -> dict[str, Outcome]:
    """Run a command on the targets: the rows say what is being done, a board tells how far it is when they are many.

    ``lasting``: what was begun goes on after SLURM has answered, so that the rows go on saying it.
    """
    console, ids = context.console, targets.ids
    shown = [row.key for row in targets.rows][:_MOST_OVERLAYS]
    console.store.overlay_all(shown, overlay, OVERLAY_SECONDS)
    board = console.board(title) if len(ids) >= _BOARD_FROM else None

    started = time.monotonic()

    def progress(number: int) -> None:
        if board is not None:
            state, seconds = "done" if number >= len(ids) else "doing", time.monotonic() - started
            detail = f"{number:,} of {len(ids):,}"
            board.show(Step(key="ids", title="SLURM", state=state, detail=detail, seconds=seconds))

    results = await act(console.session.runner, command, ids, progress)
    over = [key for key, one in zip(shown, results.values(), strict=False) if one.kind != "done" or not lasting]
    if over:
        console.store.overlay_all(over, "", 0)
    if board is not None:
        failed = count(results, "failed")
        board.finish(f"{counted(len(ids) - failed, 'job')} done, {failed:,} not", well=not failed)
    console.store.kick("queue")
    return results


def count(results: Mapping[str, Outcome], kind: str) -> int:
    """How many ended so."""
    return sum(1 for outcome in results.values() if outcome.kind == kind)


def done_ids(results: Mapping[str, Outcome]) -> list[str]:
    """The ids on which it succeeded."""
    return [job_id for job_id, outcome in results.items() if outcome.kind == "done"]


def tell(context: Context, targets: Targets, results: Mapping[str, Outcome], past: str) -> None:
    """Say what became of them: one sentence, and a page of every id when something failed. Failures stay marked."""
    console = context.console
    told = [(row.key, results.get(row.id or row.key)) for row in targets.rows]
    kinds = {key: "done" if outcome is None else outcome.kind for key, outcome in told}  # None: it was not concerned
    console.dialogs.unmark([key for key, kind in kinds.items() if kind != "failed"])
    failed, gone = count(results, "failed"), count(results, "gone")
    parts = []
    if len(results) - failed - gone:
        parts.append(f"{past}: {names(done_ids(results))}")
    if gone:
        parts.append(f"{counted(gone, 'job')} had ended meanwhile")
    if failed and len(results) == 1:
        console.tell(f"Not {past}: {next(iter(results.values())).words}", severity="error")
        return
    if failed:
        parts.append(f"{counted(failed, 'job')} not {past}; they stay marked" if context.marked_jobs else
                     f"{counted(failed, 'job')} not {past}")  # fmt: skip
        console.dialogs.page(f"{failed:,} of {len(results):,} not {past}", result_lines(results.values(), past))
    console.tell("; ".join(parts), severity="error" if failed else "information")


def result_lines(results: Iterable[Outcome], past: str) -> Sequence[Line]:
    """A line for each id, what failed first."""
    order = {"failed": 0, "gone": 1, "done": 2}
    styles = {"failed": "$state-failed", "gone": "$text-muted", "done": "$state-done"}
    words = {"failed": "✖", "gone": "-", "done": "✔"}
    ranked = sorted(results, key=lambda outcome: order[outcome.kind])
    lines: list[Line] = []
    for outcome in ranked[:_MOST_LINES]:
        said = outcome.words or past
        if outcome.kind == "gone":
            said = f"had ended meanwhile ({outcome.words})"
        short = outcome.id if len(outcome.id) <= 24 else f"{outcome.id[:22]}…"
        lines.append(((f"{words[outcome.kind]} ", styles[outcome.kind]), (f"{short:<24}  ", "bold"), (said, "")))
    if len(ranked) > _MOST_LINES:
        lines.append(((f"… and {len(ranked) - _MOST_LINES:,} more", "$text-muted"),))
    return lines
