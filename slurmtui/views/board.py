"""What actions ask of the screen: a board of steps, a choice between several ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.text import visible
from slurmtui.widgets.choice import Way, WaysScreen

if TYPE_CHECKING:
    from slurmtui.actions.model import Choosing
    from slurmtui.control.cancel import Step
    from slurmtui.widgets.steps import StepsScreen


class Board:
    """A board of steps on screen, as actions see it."""

    def __init__(self, screen: StepsScreen) -> None:
        self._screen = screen

    def show(self, step: Step) -> None:
        """Show a step in its newest state."""
        self._screen.show_step(step.key, visible(step.title), step.state, visible(step.detail), step.seconds)

    def finish(self, text: str, *, well: bool) -> None:
        """Say how it ended; in a toast as well when the board was left."""
        shown = "\n".join(visible(line) for line in text.splitlines())
        self._screen.finish(shown, well=well)
        if not self._screen.is_current:
            self._screen.app.notify(shown, severity="information" if well else "error", markup=False)


def choice_screen(choosing: Choosing) -> WaysScreen:
    """The dialog of a choice; what comes from outside is made harmless."""

    async def ask(key: str) -> tuple[str, ...]:
        return tuple(visible(line) for line in await choosing.ask(key))

    return WaysScreen(
        visible(choosing.title),
        [visible(fact) for fact in choosing.facts],
        [
            Way(option.key, option.title, tuple(map(visible, option.columns)), visible(option.why_not))
            for option in choosing.options
        ],
        chosen=choosing.chosen, ask=ask, yes=choosing.yes, no=choosing.no, typed=choosing.typed,
    )  # fmt: skip
