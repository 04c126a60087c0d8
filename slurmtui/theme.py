"""Themes for the console: those of ``theme_files``, as Textual wants them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from slurmtui.theme_files import DEFAULT_THEME, PLAIN_THEME, Look, config_folder, load_theme, load_themes, theme_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.theme import Theme

__all__ = [
    "DEFAULT_THEME", "PLAIN_THEME", "Look", "config_folder", "glyphs", "load_theme", "load_themes", "shows_glyphs",
    "suitable_theme", "textual_theme", "theme_names",
]  # fmt: skip


def textual_theme(look: Look) -> Theme:
    """The theme as Textual wants it."""
    from textual.theme import BUILTIN_THEMES, Theme  # noqa: PLC0415 - this module is also used where there is no screen

    variables = look.variables
    if look.ansi:  # the style sheets of Textual name variables that its generator makes for other themes only
        variables = {**BUILTIN_THEMES["ansi-dark" if look.dark else "ansi-light"].variables, **variables}
    return Theme(
        name=look.name,
        dark=look.dark,
        ansi=look.ansi,
        variables=variables,
        **look.palette,  # type: ignore[arg-type]
    )


def glyphs(look: Look, *, letters: bool | None = None) -> dict[str, str]:
    """The sign of each mood; ``letters`` instead of glyphs, by default where the terminal cannot show those."""
    return dict(look.letters if (not shows_glyphs() if letters is None else letters) else look.glyphs)


def shows_glyphs(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal can be expected to show more than ASCII. ``SLURMTUI_ASCII`` says that it cannot."""
    if environ.get("SLURMTUI_ASCII") or environ.get("TERM") == "linux":
        return False
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return locale.upper().replace("-", "").endswith("UTF8")


def suitable_theme(environ: Mapping[str, str] = os.environ) -> str:
    """The theme for a terminal when nobody has chosen one: the plain one where there are only 16 colours."""
    if environ.get("COLORTERM", "").lower() in {"truecolor", "24bit"}:
        return DEFAULT_THEME
    terminal = environ.get("TERM", "")
    many = "256color" in terminal or "direct" in terminal or terminal.startswith(("xterm-kitty", "alacritty", "foot"))
    return DEFAULT_THEME if many else PLAIN_THEME
