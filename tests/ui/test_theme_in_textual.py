"""Themes and keys as Textual takes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.app import App
from textual.color import Color
from textual.keys import _character_to_key

from slurmtui.keymap import _SIGNS
from slurmtui.models.verdict import Mood
from slurmtui.theme import load_theme, textual_theme
from slurmtui.theme_files import PARTS

SHIPPED = ("midnight", "contrast", "paper", "terminal16")
NOWHERE = Path("/nonexistent")


@pytest.mark.parametrize("name", SHIPPED)
async def test_the_style_sheets_know_every_variable_of_a_theme(name: str) -> None:
    look = load_theme(name, NOWHERE)
    app: App[None] = App()
    async with app.run_test():
        app.register_theme(textual_theme(look))
        app.theme = name
        known = app.get_css_variables()
        for mood in Mood:
            assert Color.parse(known[f"state-{mood.value}"]) == Color.parse(look.states[mood.value])
        for part, variables in PARTS.items():
            for variable in variables:
                assert Color.parse(known[variable]) == Color.parse(look.parts[part])
        assert app.current_theme.dark is look.dark


def test_every_variable_of_the_program_is_one_of_a_theme() -> None:
    """A style sheet that names a variable of ours which no theme has would stop the console."""
    known = load_theme("midnight", NOWHERE).variables
    root = Path(__file__).parent.parent.parent / "slurmtui"
    named = re.compile(r"\$(state-[a-z]+|mark|match|dim|header[a-z-]*|log-[a-z]+)\b")
    for file in (*root.rglob("*.tcss"), *(root / "views").rglob("*.py"), *(root / "widgets").rglob("*.py")):
        for name in named.findall(file.read_text("utf-8")):
            assert name in known, f"{file}: ${name}"


def test_signs_have_the_names_that_textual_gives_them() -> None:
    for sign, name in _SIGNS.items():
        assert _character_to_key(sign) == name
