"""One line of differently styled pieces: header, tabs, key line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

if TYPE_CHECKING:
    from collections.abc import Iterable

Piece = tuple[str, str]
"""Text, and the name of a style or theme variable ("" for the plain one)."""


class Bar(Static):
    """A single line that repaints only when what it says has changed."""

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__("", id=id, classes=classes, markup=False)
        self._pieces: tuple[Piece, ...] = ()

    def show(self, pieces: Iterable[Piece], *, layout: bool = False) -> None:
        """Show these pieces; nothing happens when they are the ones already shown.

        With ``layout`` the bar is as wide as its words; a new layout (which paints much anew) is made only when that
        has changed.
        """
        fresh = tuple(pieces)
        if fresh == self._pieces:
            return
        before, self._pieces = self.text, fresh
        layout = layout and cell_len(before) != cell_len(self.text)
        self.update(Content.assemble(*(piece if piece[1] else piece[0] for piece in fresh)), layout=layout)

    @property
    def text(self) -> str:
        """The words alone."""
        return "".join(text for text, _ in self._pieces)
