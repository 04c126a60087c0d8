"""Keys in the form of a new run: each reaches the field it was typed for, however fast it came."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from textual import events
from textual.keys import _character_to_key

from slurmtui.models.flow_info import FlowInfo, ParameterInfo
from slurmtui.views.newrun import screen as newrun
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from slurmtui.views.newrun.work import Draft
    from tests.ui.conftest import Make

PARAMETERS: tuple[ParameterInfo, ...] = (
    ParameterInfo(name="lr", type="number", default=0.1, help="the learning rate, above 0 and below 1."),
    ParameterInfo(name="epochs", type="integer", default=4, help="how often each training sees its data."),
    ParameterInfo(name="note", type="string", default="none"),
)


class Flow:
    """A flow file that is read, and looked at, as slowly as the test wants."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parameters = PARAMETERS
        self.may_read, self.may_look = asyncio.Event(), asyncio.Event()
        self.error: Exception | None = None
        self.submitted: list[dict[str, str]] = []

    async def inspect(self, _session: object, draft: Draft, target: str) -> tuple[FlowInfo, ...]:
        await self.may_read.wait()
        if self.error is not None:
            raise self.error
        draft.target = target
        draft.flow = FlowInfo(name="train", function="train", entrypoint=f"{target}:train", parameters=self.parameters)
        return ()

    async def look(self, _session: object, draft: Draft, *, probing: str) -> tuple[list[tuple[str, str]], bool]:
        await self.may_look.wait()
        return [(f"looked {probing} at {draft.texts}", "")], True

    async def submit(self, _session: object, draft: Draft) -> tuple[str, str, str]:
        self.submitted.append(draft.texts)
        return "submitted", "runs", "run:x"


@pytest.fixture
def flow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Flow:
    path = tmp_path / "train.py"
    path.write_text("# read by no one\n")
    made = Flow(path)
    for name in ("inspect", "look", "submit"):
        monkeypatch.setattr(newrun, name, getattr(made, name))
    return made


async def opened(pilot: Pilot[Any]) -> newrun.NewRunScreen:
    """The form at its first step."""
    await see(pilot, "brave-otter")
    screen = newrun.NewRunScreen()
    await pilot.app.push_screen(screen)
    return screen


def type_at_once(pilot: Pilot[Any], *typed: str) -> None:
    """All keys arrive before the first of them is understood: a word letter by letter, or the name of a key."""
    for part in typed:
        for key in [part] if part in {"enter", "tab", "ctrl+u", "backspace", "escape"} else list(part):
            character = key if len(key) == 1 else None
            pilot.app.post_message(events.Key(_character_to_key(key) if character else key, character))


async def test_enter_goes_from_field_to_field_and_on_at_the_last(make_console: Make, flow: Flow) -> None:
    flow.may_read.set()
    async with make_console().run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        screen._path.value = str(flow.path)
        await pilot.press("enter")
        await until(pilot, lambda: screen._step == "profile")
        await pilot.press("enter")
        await until(pilot, lambda: screen._step == "parameters" and not screen._busy)
        entries = [entry for _, entry, _ in screen._form._rows]
        for entry in entries:
            assert (screen.focused, screen._step, screen._busy) == (entry, "parameters", False)
            await pilot.press("enter")
        assert screen._busy
        flow.may_look.set()
        await see(pilot, "looked never at {}")


async def test_a_whole_line_typed_ahead_reaches_the_fields_in_order(make_console: Make, flow: Flow) -> None:
    async with make_console().run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        type_at_once(pilot, str(flow.path), "enter", "enter", "ctrl+u", "0.25", "enter", "backspace", "16", "enter")
        type_at_once(pilot, "ctrl+u", "two", "backspace", "backspace", "ry it", "enter")
        await see(pilot, "reading the file")
        flow.may_read.set()
        flow.may_look.set()
        await until(pilot, lambda: screen._step == "submit")
        assert screen.draft.texts == {"lr": "0.25", "epochs": "16", "note": "try it"}


async def test_tab_typed_ahead_moves_in_its_turn(make_console: Make, flow: Flow) -> None:
    flow.may_read.set()
    async with make_console().run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        type_at_once(pilot, str(flow.path), "enter", "enter", "5", "tab", "6", "tab", "7")
        await until(pilot, lambda: screen._form.texts == {"lr": "0.15", "epochs": "46", "note": "none7"})


@pytest.mark.parametrize("parameters", [PARAMETERS, ()], ids=["three", "none"])
async def test_what_was_not_seen_is_not_submitted(
    make_console: Make, flow: Flow, parameters: tuple[ParameterInfo, ...]
) -> None:
    flow.parameters = parameters
    flow.may_read.set()
    async with make_console().run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        type_at_once(pilot, str(flow.path), *["enter"] * (2 + len(parameters)))
        await see(pilot, "rendering the job script")
        type_at_once(pilot, "y")
        await until(pilot, lambda: screen._waiting)
        flow.may_look.set()
        await see(pilot, "looked never")
        await until(pilot, lambda: not screen._busy)
        await pilot.pause()
        assert not flow.submitted
        assert screen.draft.texts == {}
        await pilot.press("y")
        await until(pilot, lambda: flow.submitted)


async def test_what_was_typed_for_a_step_that_does_not_come_is_forgotten(make_console: Make, flow: Flow) -> None:
    flow.error = OSError("it does not import")
    async with make_console().run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        type_at_once(pilot, str(flow.path), "enter", "enter", "0.25", "enter")
        await see(pilot, "reading the file")
        flow.may_read.set()
        await see(pilot, "it does not import")
        await until(pilot, lambda: not screen._busy)
        await pilot.press("!")
        assert (screen._step, screen._path.value) == ("what", f"{flow.path}!")


async def test_escape_does_not_wait_and_what_was_left_does_not_come_back(make_console: Make, flow: Flow) -> None:
    flow.may_read.set()
    async with make_console().run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        type_at_once(pilot, str(flow.path), "enter", "enter", *["enter"] * 3)
        await see(pilot, "rendering the job script")
        await pilot.press("escape")
        await until(pilot, lambda: screen._step == "profile")
        flow.may_look.set()
        await until(pilot, lambda: not screen._busy)
        assert screen._step == "profile"
        await pilot.press("enter")
        await until(pilot, lambda: screen._step == "parameters")


async def test_escape_while_the_file_is_read_leaves(make_console: Make, flow: Flow) -> None:
    async with make_console().run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        type_at_once(pilot, str(flow.path), "enter", "X")
        await see(pilot, "reading the file")
        type_at_once(pilot, "escape")
        await until(pilot, lambda: screen not in pilot.app.screen_stack)
        await see(pilot, "brave-otter")
        assert len(pilot.app.screen_stack) == 1
