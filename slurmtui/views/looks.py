"""The themes of the console: those that come with it, and the person's own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual.filter import Monochrome, NoColor

from slurmtui.theme import config_folder, glyphs, load_themes, suitable_theme, textual_theme
from slurmtui.widgets.letters import Letters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.filter import LineFilter

    from slurmtui.app import SlurmtuiApp


def wants_no_colours(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the person has asked for no colours; a NO_COLOR with nothing in it asks for nothing (no-color.org)."""
    return bool(environ.get("NO_COLOR"))


def line_filters(filters: Iterable[LineFilter], *, no_colours: bool, letters: bool) -> list[LineFilter]:
    """What a line goes through before it is painted: it ends in the terminal's two colours, in ASCII, or as it is.

    Textual (8.2) chooses once, by the theme the app is made with, between shades of grey and no colours at all; grey of
    a colour that the terminal alone knows is black, and so all is black on black in a theme of such colours.
    """
    others = [one for one in filters if not isinstance(one, (Monochrome, NoColor))]
    return [*others, *([NoColor()] if no_colours else []), *([Letters()] if letters else [])]


class Looks:
    """The themes there are, and the signs of the one in use."""

    def __init__(self, console: SlurmtuiApp) -> None:
        self._console = console
        self._looks, self._problems = load_themes(config_folder(console.session.config))
        self.signs: dict[str, str] = {}

    @property
    def names(self) -> list[str]:
        """What the themes are called."""
        return list(self._looks)

    def start(self, wanted: str | None) -> None:
        """Make the themes known, and use the wanted one, else the one that suits the terminal."""
        for look in self._looks.values():
            self._console.register_theme(textual_theme(look))
        self.use(wanted or suitable_theme())
        for problem in self._problems:
            self._console.tell(problem, severity="warning")

    def use(self, name: str) -> None:
        """Change the theme, or say which there are."""
        if name not in self._looks:
            self._console.tell(f"There is no theme {name}: there are {', '.join(self._looks)}", severity="warning")
            return
        self.signs = glyphs(self._looks[name])
        self._console.theme = name
