"""SLURMTUI_ASCII: no sign of the program is left that a terminal without them would show as rubbish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from slurmtui.widgets.letters import letter_for
from tests.ui.seeing import see

if TYPE_CHECKING:
    from tests.ui.conftest import Make

SIGNS = "…·\u2013●○■□▰▱▸▾▴◂▶←→↑↓≤∞✔✖⚠◷⊘•─│╭╮╰╯└├╵█░▒▐▆⣿␛␊␡"
NAMES = set("名前🙂")


def foreign(text: str) -> set[str]:
    return {sign for sign in text if not sign.isascii()}


@pytest.mark.parametrize("sign", SIGNS)
def test_a_letter_is_as_wide_as_the_sign_it_stands_for(sign: str) -> None:
    assert letter_for(sign).isascii()
    assert cell_len(letter_for(sign)) == cell_len(sign) == 1


def test_what_is_not_the_programs_own_stays() -> None:
    assert "".join(map(letter_for, "é名前🙂")) == "é名前🙂"


@pytest.mark.parametrize("view", ["runs", "jobs"])
async def test_nothing_but_names_is_outside_ascii(
    view: str, make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURMTUI_ASCII", "1")
    app = make_console(view=view)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        text = await see(pilot, "brave-otter")
        assert foreign(text) <= NAMES
        app.tell("a toast with a sign …")
        await pilot.press("d")
        text = await see(pilot, "a toast with a sign ~")
        assert foreign(text) <= NAMES
        await pilot.press("X")
        text = await see(pilot, "No, ")
        assert foreign(text) <= NAMES


async def test_signs_are_shown_where_they_can_be(make_console: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURMTUI_ASCII", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    app = make_console(view="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        assert "●" in await see(pilot, "4711")
