"""The boxes that actions ask for: pick, form, page, clipboard, another program in the terminal."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from slurmtui import paths
from slurmtui.atomic import write_private
from slurmtui.models.text import visible
from slurmtui.views.base import ViewScreen
from slurmtui.widgets.beside import start
from slurmtui.widgets.columns import Column
from slurmtui.widgets.form_dialog import DialogField, FormDialog
from slurmtui.widgets.listing import ListingScreen
from slurmtui.widgets.picker import Choice, ChoiceScreen

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from slurmtui.actions.dialogs import Entry, Line, Pick
    from slurmtui.app import SlurmtuiApp

LONGEST_COPY = 74_000
"""Bytes in base64 that terminals take at least; longer texts are in the file only."""
_SHOWN_OF_COPY = 60
FAILED_SECONDS = 2.0
"""A program that ends this soon with an error was not used: it could not start."""


class PickScreen(ChoiceScreen):
    """Choose one of a few things; what each means stands beside it."""

    DEFAULT_CSS = """
    PickScreen > Vertical { width: 90; }
    """

    def list_columns(self) -> tuple[Column, ...]:
        """What it is called, and what it means."""
        longest = max((len(choice.title) for choice in self.choices), default=1)
        return (Column("mark", "", 1), Column("title", "", min(longest, 24)), Column("about", "", 0))


class AppDialogs:
    """Dialogs over the console's screen; see ``actions/dialogs.py``."""

    def __init__(self, console: SlurmtuiApp) -> None:
        self._console = console
        self._copied = b""
        self._copying = threading.Lock()

    async def pick(self, title: str, picks: Sequence[Pick]) -> str:
        """Let a person pick one; "" for none."""
        choices = [Choice(pick.key, visible(pick.title), visible(pick.about)) for pick in picks]
        return await self._console.answer(PickScreen(visible(title), choices)) or ""

    async def fill(self, title: str, facts: Sequence[str], entries: Sequence[Entry]) -> dict[str, str] | None:
        """Let a person fill in a form; the texts by name, None when it was left."""
        fields = [DialogField(entry.name, visible(entry.text), entry.help) for entry in entries]
        screen = FormDialog(visible(title), [visible(fact) for fact in facts], fields)
        return await self._console.answer(screen)

    def page(self, title: str, lines: Sequence[Line]) -> None:
        """Show a page that can be scrolled."""
        shown = [[(visible(text), style) for text, style in line] for line in lines]
        self._console.push_screen(ListingScreen(visible(title), shown))

    def copy(self, text: str, what: str) -> None:
        """Send a text to the terminal (OSC 52), which may or may not take it; and keep it in a file."""
        content = text.encode("utf-8", "surrogateescape")
        if fits := len(base64.b64encode(content)) <= LONGEST_COPY:
            self._console.copy_to_clipboard(text)
        short = " ".join(text.split())
        short = short if len(short) <= _SHOWN_OF_COPY else f"{short[:_SHOWN_OF_COPY]}…"
        said = f"{what} sent to the terminal: {short}\n" if fits else f"{what}: too long for a terminal's clipboard; "
        self._copied = content
        # Begun now, and not by a worker: what was copied is written also when the console is left with the next key.
        file = paths.state_folder() / "copied.txt"
        kept = asyncio.get_running_loop().run_in_executor(None, self._keep_copy, file)
        start(self._console, partial(self._tell_copied, said, kept, "information" if fits else "warning"), "copy")

    async def _tell_copied(self, said: str, kept: asyncio.Future[str], severity: str) -> None:
        self._console.tell(f"{said}{await asyncio.shield(kept)}", severity=severity)

    def _keep_copy(self, file: Path) -> str:
        """Write what was copied last; where it is, in words."""
        try:
            with self._copying:
                write_private(file, self._copied)
        except OSError as error:
            return f"it could not be written to {file}: {error.strerror}"
        return f"it is also in {file}"

    async def in_terminal(self, argv: Sequence[str], otherwise: Sequence[str]) -> None:
        """Run a program in the terminal while the console waits; where that is impossible, show ``otherwise``."""
        console = self._console
        if not os.isatty(0):
            self.page("no terminal to lend", [((text, ""),) for text in otherwise])
            return
        try:
            with console.suspend():
                _run(console, argv)
        except SuspendNotSupported:
            self.page("no terminal to lend", [((text, ""),) for text in otherwise])

    def unmark(self, keys: Collection[str]) -> None:
        """Take the marks off these rows of the view that is shown, also when a dialog lies over it."""
        for screen in self._console.screen_stack:
            if isinstance(screen, ViewScreen) and screen.table.marks:
                screen.table.marks -= frozenset(keys)
                screen.paint_lines()


def _run(console: SlurmtuiApp, argv: Sequence[str]) -> None:
    """Run it; what it said when it failed at once would be gone with the next screen, so that is waited for."""
    started = time.monotonic()
    sys.stdout.write(f"$ {' '.join(argv)}\n")
    sys.stdout.flush()
    code = console.session.runner.run_in_terminal(argv)
    if code and time.monotonic() - started < FAILED_SECONDS:
        sys.stdout.write(f"{argv[0]} ended with exit code {code}; enter goes back to slurmtui ")
        sys.stdout.flush()
        sys.stdin.readline()
