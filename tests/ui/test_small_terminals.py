"""Terminals of a few lines: what is done and how to agree are seen, and nothing lies over them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec
import pytest

from tests.ui.conftest import some_snapshot
from tests.ui.seeing import gone, see, settled

if TYPE_CHECKING:
    from tests.ui.conftest import Make


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 12), (80, 24)])
async def test_a_question_shows_what_is_done_and_how_to_agree(make_console: Make, size: tuple[int, int]) -> None:
    async with make_console(view="jobs").run_test(size=size, notifications=True) as pilot:
        await see(pilot, "? help")
        await pilot.press("X")
        text = await see(pilot, "y cancel")
        words = " ".join(text.split())
        assert "scancel" in words
        assert "-v 4711" in words
        assert "No, leave it" in words


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 12)])
async def test_a_toast_leaves_the_answers_of_a_question(make_console: Make, size: tuple[int, int]) -> None:
    async with make_console(view="jobs").run_test(size=size, notifications=True) as pilot:
        await see(pilot, "? help")
        await pilot.press("X")
        await see(pilot, "y cancel")
        pilot.app.tell("ended")  # type: ignore[attr-defined]
        text = await see(pilot, "ended")
        assert "y  cancel" in text
        assert "No, leave it" in text


async def test_the_facts_above_what_is_done_can_be_read(make_console: Make) -> None:
    async with make_console(view="jobs").run_test(size=(40, 8), notifications=True) as pilot:
        await see(pilot, "4711")
        await pilot.press("X")
        await see(pilot, "scancel -v 4711", "y cancel")
        assert "train-11111111 ·" not in pilot.app.screen_text()  # type: ignore[attr-defined]
        await pilot.press(*["up"] * 6)
        await see(pilot, "train-11111111 ·")
        await pilot.press(*["down"] * 6)
        await see(pilot, "scancel -v 4711")
        await pilot.press("n")
        await gone(pilot, "y cancel")


@pytest.mark.parametrize("size", [(20, 5), (10, 3)])
async def test_the_screen_itself_has_no_scroll_bar(make_console: Make, size: tuple[int, int]) -> None:
    async with make_console(view="jobs").run_test(size=size, notifications=True) as pilot:
        await see(pilot, "? help")
        await pilot.press("d")
        await pilot.pause()
        await pilot.pause()
        assert not pilot.app.screen.show_vertical_scrollbar
        assert not set("▁▂▃▄▅▆▇") & set(pilot.app.screen_text())  # type: ignore[attr-defined]


@pytest.mark.parametrize(("size", "told"), [((20, 5), False), ((40, 9), False), ((40, 10), True)])
async def test_a_complaint_does_not_take_the_last_line_of_the_rows(
    make_console: Make, size: tuple[int, int], *, told: bool
) -> None:
    snapshot = some_snapshot()
    part = msgspec.structs.replace(snapshot.flow_runs, error="nobody answers", failing_since=time.time() - 60)
    silent = msgspec.structs.replace(snapshot, flow_runs=part)
    async with make_console(silent, view="jobs").run_test(size=size, notifications=True) as pilot:
        await see(pilot, "4711")
        await settled(pilot)
        assert ("Prefect: nobody" in pilot.app.screen_text()) is told  # type: ignore[attr-defined]


async def test_a_sentence_is_on_screen_once_and_that_of_a_range_until_it_is_complete(
    make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slurmtui.views.toasts._SECONDS", 600.0)  # nothing goes by itself
    async with make_console(view="jobs").run_test(size=(80, 24), notifications=True) as pilot:
        await see(pilot, "4711")
        await pilot.press("v")
        await see(pilot, "A range begins at 4711")
        await pilot.press("down", "v")
        await see(pilot, "2 marked")
        await gone(pilot, "A range begins")
        await pilot.press("escape", "escape", "escape", "escape")
        await see(pilot, "Nothing is open here")
        await settled(pilot)
        assert pilot.app.screen_text().count("Nothing is open here") == 1  # type: ignore[attr-defined]
