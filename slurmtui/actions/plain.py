"""The two plainest things an action can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.actions.model import Context


def perform(what: str) -> Callable[[Context], None]:
    """An action that concerns the screen alone."""

    def run(context: Context) -> None:
        context.console.perform(what)

    return run


def go(view: str) -> Callable[[Context], None]:
    """An action that opens a view."""

    def run(context: Context) -> None:
        context.console.go(view)

    return run
