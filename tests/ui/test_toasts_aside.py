"""A message over a dialog leaves the dialog's keys to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from textual.screen import ModalScreen

from slurmtui.widgets.form_dialog import DialogField, FormDialog
from slurmtui.widgets.listing import ListingScreen
from tests.ui.seeing import see, settled, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Make

LINES = [[(f"line {number}", "")] for number in range(60)]
DIALOGS: dict[str, Callable[[], ModalScreen[Any]]] = {
    "form": lambda: FormDialog("Edit", [], [DialogField(f"field{number}", "x", "help") for number in range(30)]),
    "listing": lambda: ListingScreen("Script", LINES),
}


@pytest.mark.parametrize("dialog", ["help", "columns", *DIALOGS])
async def test_messages_hide_no_keys_of_a_dialog(make_console: Make, dialog: str) -> None:
    async with make_console().run_test(size=(80, 24), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        if dialog in DIALOGS:
            pilot.app.push_screen(DIALOGS[dialog]())
        else:
            await pilot.press(*(["question_mark"] if dialog == "help" else ["2", "c"]))
        await until(pilot, lambda: isinstance(pilot.app.screen, ModalScreen))
        await settled(pilot)
        before = (await see(pilot, "")).splitlines()
        pilot.app.tell("a message, and a longer one as well, that needs\ntwo lines or three")  # type: ignore[attr-defined]
        after = (await see(pilot, "a message, and")).splitlines()
        assert after[-6:] == before[-6:]
        assert after[:6] != before[:6]
