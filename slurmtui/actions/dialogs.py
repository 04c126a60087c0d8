"""What an action may ask of the screen beside a plain question: a pick, a form, a page, the clipboard, the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Line = tuple[tuple[str, str], ...]
"""One line of a page: pieces of text, each with the name of a style ("" for the plain one)."""


@dataclass(frozen=True)
class Pick:
    """One thing to pick: what is answered, what it is called, what it means."""

    key: str
    title: str
    about: str = ""


@dataclass(frozen=True)
class Entry:
    """One field of a form: its name, what stands in it, what may be written into it."""

    name: str
    text: str = ""
    help: str = ""


class Dialogs(Protocol):
    """Boxes over the screen, as an action sees them. Texts may hold anything: they are made harmless."""

    async def pick(self, title: str, picks: Sequence[Pick]) -> str:
        """Let a person pick one; "" for none."""

    async def fill(self, title: str, facts: Sequence[str], entries: Sequence[Entry]) -> dict[str, str] | None:
        """Let a person fill in a form; the texts by name, None when it was left."""

    def page(self, title: str, lines: Sequence[Line]) -> None:
        """Show a page that can be scrolled."""

    def copy(self, text: str, what: str) -> None:
        """Send a text to the terminal's clipboard and into a file, and say so."""

    async def in_terminal(self, argv: Sequence[str], otherwise: Sequence[str]) -> None:
        """Run a program in the terminal while the console waits; where that is impossible, show ``otherwise``."""

    def unmark(self, keys: Collection[str]) -> None:
        """Take the marks off these rows."""
