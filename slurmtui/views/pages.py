"""What opens over a view: help, the command log, the prompt for a command, a new run, the way out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from slurmtui.actions import registry
from slurmtui.models.text import visible
from slurmtui.views.base import ViewScreen
from slurmtui.widgets.listing import ListingScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slurmtui.app import SlurmtuiApp
    from slurmtui.widgets.bar import Piece

_MOVES = (
    ("j k ↑ ↓", "move"), ("g G", "first, last"), ("pgup pgdn", "page"), ("in a log", "G or f follows, w wraps"),
)  # fmt: skip

_HELPS = ("job.hold", "job.edit", "job.resubmit", "job.cancel")
"""Actions that can be started from the page that says why a job waits."""


def perform(console: SlurmtuiApp, what: str) -> None:
    """Do it."""
    doing: dict[str, Callable[[], object]] = {
        "help": lambda: _help(console),
        "command-log": lambda: _command_log(console),
        "command": lambda: _command(console),
        "palette": console.action_command_palette,
        "refresh": lambda: _refresh(console),
        "new-run": lambda: _new_run(console),
        "why": lambda: _why(console),
        "quit": lambda: console.exit(0),
    }
    doing[what]()


def _new_run(console: SlurmtuiApp) -> None:
    from slurmtui.views.newrun.screen import NewRunScreen  # noqa: PLC0415 - the console starts without paying for it

    console.push_screen(NewRunScreen())


def new_run(console: SlurmtuiApp, target: str, profile: str, parameters: Mapping[str, Any]) -> None:
    """Open the form of a new run with these values in it."""
    from slurmtui.views.newrun.screen import NewRunScreen  # noqa: PLC0415 - as above
    from slurmtui.views.newrun.work import Draft  # noqa: PLC0415

    console.push_screen(NewRunScreen(Draft(target=target, profile=profile, given=dict(parameters))))


def _why(console: SlurmtuiApp) -> None:
    from slurmtui.views.why_page import WhyScreen  # noqa: PLC0415 - as above

    screen = console.screen
    context = screen.context_at_cursor() if isinstance(screen, ViewScreen) else None
    if context is not None and context.job is not None:
        # What is done from the page concerns the job that it is about, whatever is under the cursor or marked by then.
        helps = [registry.BY_ID[name] for name in _HELPS]
        keys = {key: action for action in helps for key in registry.keys_of(action, console.own_keys)}
        act = lambda action: console.start(action, context)  # noqa: E731 - used here only
        console.push_screen(WhyScreen(console.session.slurm, context.job, act, keys))


def _refresh(console: SlurmtuiApp) -> None:
    console.store.refresh()
    console.tell("asked again")


def _command(console: SlurmtuiApp) -> None:
    if isinstance(console.screen, ViewScreen):
        console.screen.prompt.open("command", ": ", "", console.command_names)


def _help(console: SlurmtuiApp) -> None:
    screen = console.screen
    if not isinstance(screen, ViewScreen):
        return
    context = screen.context()
    lines: list[list[Piece]] = [[(screen.HELP or "", "")], [("", "")]]
    lines += [[(f"{keys:>12}  ", "bold $accent"), (text, "")] for keys, text in _MOVES]
    for action in registry.at(screen.PLACE):
        keys = registry.keys_of(action, console.own_keys)
        refusal = action.refusal(context)
        line: list[Piece] = [
            (
                f"{' '.join(registry.key_label(key) for key in keys):>12}  ",
                "bold $accent" if not refusal else "$text-muted",
            ),
            (f"{action.title}. ", "bold" if not refusal else "$text-muted"),
            (action.help, "" if not refusal else "$text-muted"),
        ]
        lines.append(line)
        if refusal:
            lines.append([(f"{'':>12}  ", ""), (f"not now: {visible(refusal)}", "$state-waiting")])
    console.push_screen(ListingScreen(f"help · {screen.PLACE}", lines, hanging=14))


def _command_log(console: SlurmtuiApp) -> None:
    lines: list[list[Piece]] = []
    for call in console.session.log:
        ended = "–" if call.code is None else str(call.code)  # noqa: RUF001 - an en dash is what is meant
        style = "$state-done" if call.code in {0, 200, 201, 204} else "$state-failed"
        stamp = time.strftime("%H:%M:%S", time.localtime(call.started))
        lines.append([
            (f"{stamp} ", "$text-muted"), (f"{call.seconds * 1000:6.0f} ms ", ""), (f"{ended:>3} ", style),
            (visible(call.text), ""), (f"  {visible(call.said)}" if call.said else "", "$state-failed"),
        ])  # fmt: skip
    lacks = console.session.slurm.lacks
    if lacks:
        lines += [[], [("off with this SLURM", "bold")]]
        lines += [[(f"  {visible(sentence)}", "$text-muted")] for sentence in lacks.values()]
    console.push_screen(ListingScreen("every command and request of this console", lines, at_end=True))
