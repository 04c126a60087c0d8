"""Keys that arrive together, as over a slow line: what they do is done in the order in which they were typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from textual.events import Key, Paste
from textual.keys import key_to_character

from slurmtui.widgets.form_dialog import DialogField, FormDialog
from slurmtui.widgets.line_input import LineInput
from slurmtui.widgets.question import QuestionScreen
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from tests.ui.conftest import PaintedApp


def burst(pilot: Pilot[Any], *keys: str) -> None:
    """All of these keys, before the first of them is heard."""
    for key in keys:
        pilot.app.post_message(Key(key, key_to_character(key) if len(key) > 1 else key))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ((*"ab", "backspace", *"cd", "backspace", *"ef"), "acef"),
        ((*"abc", "ctrl+a", *"def"), "defabc"),
        ((*"abc", "left", *"def"), "abdefc"),
        ((*"abc", "space", *"foo", "ctrl+w", *"def"), "abc def"),
        ((*"abc", "ctrl+u", *"plain"), "plain"),
        ((*"abc", "home", "delete", *"d", "end", *"e"), "dbce"),
    ],
)
async def test_what_is_typed_behind_an_editing_key_does_not_overtake_it(
    make_console: Callable[..., PaintedApp], keys: tuple[str, ...], text: str
) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        burst(pilot, "slash", *keys, "enter")
        await until(pilot, lambda: pilot.app.screen.filter.text == text)  # type: ignore[attr-defined]
        await see(pilot, f"/ {text}")


async def test_what_is_typed_behind_enter_and_escape_belongs_to_what_has_the_focus_then(
    make_console: Callable[..., PaintedApp],
) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        burst(
            pilot, "slash", *"amber", "enter", "slash", *"zzz", "escape", "slash", *"-", "backspace", *"-wolf", "enter"
        )
        await until(pilot, lambda: pilot.app.screen.filter.text == "amber-wolf")  # type: ignore[attr-defined]
        burst(pilot, "slash", *"x", "escape", "colon", *"jobx", "backspace", *"s", "enter", "slash", *"471", "enter")
        await until(pilot, lambda: pilot.app.current_mode == "jobs")
        await see(pilot, "4714", "/ 471")


async def test_a_paste_comes_before_the_enter_typed_behind_it(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        burst(pilot, "slash")
        pilot.app.post_message(Paste("amber"))
        burst(pilot, *"xy", "backspace", "enter")
        await until(pilot, lambda: pilot.app.screen.filter.text == "amberx")  # type: ignore[attr-defined]


async def test_the_fields_of_a_dialog_are_filled_in_order(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        answers: list[Any] = []
        dialog = FormDialog("change", [], [DialogField("one"), DialogField("two", "2")])
        pilot.app.push_screen(dialog, answers.append)
        await until(pilot, lambda: isinstance(pilot.app.focused, LineInput))
        dialog._opened = 0
        burst(pilot, *"ab", "backspace", *"c", "tab", *"3", "home", *"1", "enter", "slash", *"wolf", "enter")
        await until(pilot, lambda: answers)
        assert answers == [{"one": "ac", "two": "123"}]
        await until(pilot, lambda: pilot.app.screen.filter.text == "wolf")  # type: ignore[attr-defined]


async def test_a_number_that_a_question_wants_typed_is_typed_in_order(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        answers: list[Any] = []
        question = QuestionScreen("Cancel?", [], [], yes="cancel", no="keep", typed="12")
        pilot.app.push_screen(question, answers.append)
        await until(pilot, lambda: isinstance(pilot.app.focused, LineInput))
        question._opened = 0
        burst(pilot, *"13", "enter", *"13", "backspace", *"2", "enter")
        await until(pilot, lambda: answers)
        assert answers == [True]
