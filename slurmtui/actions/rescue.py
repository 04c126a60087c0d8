"""Actions of the Rescue view. A repair is asked about with its plan, and done step by step on a board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions.model import Action, Choosing, Context, Option, Question, names
from slurmtui.actions.plain import go, perform

if TYPE_CHECKING:
    from slurmtui.models.rescue import Case, Repair

_MOST_LINES = 12
"""Lines of a plan that are shown."""


def _needs_case(context: Context) -> str:
    return "" if context.case is not None else "There is nothing under the cursor"


def _targets(context: Context) -> tuple[Case, ...]:
    return context.marked_cases or ((context.case,) if context.case else ())


def _cannot_repair(context: Context) -> str:
    targets = _targets(context)
    if not targets:
        return "There is nothing to rescue under the cursor"
    return "" if any(case.repairs for case in targets) else "Nothing can be done about this from here"


def _offered(cases: tuple[Case, ...]) -> tuple[Repair, ...]:
    """The repairs that every one of the cases has."""
    first = cases[0].repairs
    return tuple(one for one in first if all(case.repair(one.key) is not None for case in cases[1:]))


def _plan(cases: tuple[Case, ...], key: str) -> tuple[tuple[str, str], ...]:
    """What would be done, of all the cases."""
    plan = [pair for case in cases for one in (case.repair(key),) if one is not None for pair in one.plan]
    more = len(plan) - _MOST_LINES
    return tuple(plan[:_MOST_LINES]) + ((("…", f"and {more:,} more like these"),) if more > 0 else ())


async def _chosen(context: Context, cases: tuple[Case, ...], left_out: int) -> Repair | None:
    """Which repair, after a question with its plan; None for none."""
    repairs = _offered(cases)
    if not repairs:
        context.console.tell("What is marked has no repair in common: mark fewer", severity="warning")
        return None
    title = f"Rescue {cases[0].title}" if len(cases) == 1 else f"Rescue {len(cases)}"
    facts = (cases[0].text, *cases[0].evidence) if len(cases) == 1 else (names([case.title for case in cases]),)
    facts += (f"left out, because nothing can be done about it from here: {left_out}",) if left_out else ()
    typed = str(len(cases)) if len(cases) > 1 else ""
    if len(repairs) == 1:
        one = repairs[0]
        plan = _plan(cases, one.key)
        agreed = await context.console.ask(
            Question(f"{title}: {one.title.lower()}", facts, plan, yes=one.yes, no="No, leave it", typed=typed)
        )
        return one if agreed else None

    async def plan_of(key: str) -> tuple[str, ...]:
        return tuple(f"{part}: {what}" for part, what in _plan(cases, key))

    options = tuple(Option(one.key, one.title) for one in repairs)
    choosing = Choosing(title, facts, options, repairs[0].key, plan_of, yes="do it", no="No, leave it", typed=typed)
    key = await context.console.choose(choosing)
    return next((one for one in repairs if one.key == key), None)


async def _repair(context: Context) -> None:
    from slurmtui.control.rescue import repair  # noqa: PLC0415 - the console starts without paying for it
    from slurmtui.errors import SlurmtuiError  # noqa: PLC0415 - as above

    console = context.console
    targets = _targets(context)
    cases = tuple(case for case in targets if case.repairs)
    one = await _chosen(context, cases, len(targets) - len(cases))
    if one is None:
        return
    for case in cases:
        board = console.board(f"{one.title}: {case.title}")
        try:
            report = await repair(console.session, case, one.key, board.show)
        except (SlurmtuiError, OSError) as error:
            board.finish(str(error), well=False)
        else:
            board.finish(report.text, well=report.ok)
        console.store.kick("queue", "prefect", "records")


ACTIONS = (
    Action("view-rescue", "exclamation_mark", "Rescue",
           "What ended without saying so: lost runs, orphaned jobs, cancels that hang, leftovers; and the repairs.",
           go("rescue")),
    Action("rescue.detail", "enter", "Evidence", "What each source said of it, and the repairs with their plans.",
           perform("detail-pane"), ("rescue",), footer=1, why_not=_needs_case, aliases=("d", "b")),
    Action("rescue.mark", "space", "Mark", "Mark the case; a repair then takes all marked ones.",
           perform("mark"), ("rescue",), footer=30, why_not=_needs_case),
    Action("rescue.repair", "R", "Repair",
           "Do a repair of the case under the cursor or of the marked ones, after a question with its plan.",
           _repair, ("rescue",), touches=True, footer=2, why_not=_cannot_repair),
)  # fmt: skip
