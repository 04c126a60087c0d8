"""Submitting from the form: once, wholly, and whatever else comes over the screen meanwhile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.views.newrun import screen as newrun
from slurmtui.views.newrun import work
from slurmtui.views.newrun.work import Draft, inspect
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from tests.ui.conftest import Make


class Slow:
    """A cluster on which looking and submitting take as long as the test wants."""

    def __init__(self) -> None:
        self.may_look, self.may_submit = asyncio.Event(), asyncio.Event()
        self.begun = self.ended = 0

    async def look(self, _session: object, _draft: object, *, probing: str) -> tuple[list[tuple[str, str]], bool]:
        await self.may_look.wait()
        return [(f"looked {probing}", "")], True

    async def submit(self, _session: object, _draft: object) -> tuple[str, str, str]:
        self.begun += 1
        await self.may_submit.wait()
        self.ended += 1
        return "submitted", "runs", "run:x"


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    made = Slow()
    monkeypatch.setattr(newrun, "look", made.look)
    monkeypatch.setattr(newrun, "submit", made.submit)
    return made


async def form(pilot: Pilot[Any]) -> newrun.NewRunScreen:
    """The form at its last step."""
    await see(pilot, "brave-otter")
    screen = newrun.NewRunScreen()
    await pilot.app.push_screen(screen)
    screen._do("looking", screen._look)
    return screen


async def test_keys_pressed_twice_submit_once(make_console: Make, slow: Slow) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        screen = await form(pilot)
        await pilot.press("enter")
        slow.may_look.set()
        await see(pilot, "looked")
        await pilot.press("y", "y", "enter", "y")
        await until(pilot, lambda: slow.begun)
        slow.may_submit.set()
        await until(pilot, lambda: pilot.app.screen is not screen)
        assert slow.begun == 1


async def test_what_is_half_submitted_is_not_left(make_console: Make, slow: Slow) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        slow.may_look.set()
        screen = await form(pilot)
        await see(pilot, "looked")
        await pilot.press("y", *["escape"] * 4)
        await see(pilot, "one moment")
        slow.may_submit.set()
        await until(pilot, lambda: pilot.app.screen is not screen)
        assert slow.ended == 1


async def test_a_board_over_the_form_stays_and_the_form_goes_after_it(make_console: Make, slow: Slow) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        slow.may_look.set()
        screen = await form(pilot)
        await see(pilot, "looked")
        await pilot.press("y")
        await until(pilot, lambda: slow.begun)
        pilot.app.board("Cancel another run")  # type: ignore[attr-defined]
        slow.may_submit.set()
        await until(pilot, lambda: slow.ended)
        await see(pilot, "Cancel another run")
        await pilot.press("escape")
        await until(pilot, lambda: screen not in pilot.app.screen_stack)
        await see(pilot, "brave-otter")
        assert slow.begun == 1


@pytest.mark.parametrize("path", ["~nosuchuser/x.py", "a" * 300 + ".py"])
async def test_paths_that_cannot_be_are_said_so(make_console: Make, path: str) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("N")
        await until(pilot, lambda: isinstance(pilot.app.screen, newrun.NewRunScreen))
        screen: newrun.NewRunScreen = pilot.app.screen  # type: ignore[assignment]
        screen._path.value = path
        await pilot.press("enter")
        await see(pilot, "There is no file")


@pytest.mark.parametrize("command", ["logs ~nosuchuser/x", "days ²"])
async def test_what_is_typed_at_the_colon_never_ends_the_console(make_console: Make, command: str) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        pilot.app.command(command)  # type: ignore[attr-defined]
        await see(pilot, "is not there" if command.startswith("logs") else "days 30")
        assert pilot.app.is_running


async def test_what_was_entered_for_one_flow_is_not_taken_for_another(make_console: Make, tmp_path: Path) -> None:
    flows = tmp_path / "flows.py"
    flows.write_text(
        "from prefect import flow\n\n@flow\ndef train(lr: float = 0.1):\n    pass\n\n@flow\ndef tidy():\n    pass\n"
    )
    app = make_console()
    train = f"{flows}:train"
    draft = Draft(target=train, given={"lr": 0.5, "gone": 1}, texts={"lr": "0.7"})
    await inspect(app.session, draft, train)
    assert (draft.given["lr"], draft.texts) == (0.5, {"lr": "0.7"})
    draft.emptied = frozenset({"lr"})
    assert work._request(draft).parameters == {}
    await inspect(app.session, draft, f"{flows}:tidy")
    assert (draft.given, draft.texts, draft.emptied) == ({}, {}, frozenset())
