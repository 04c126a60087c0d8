"""The console as a person uses it, on a painted picture."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.errors import CommandMissing, Refused
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.store.snapshot import Part
from slurmtui.widgets.agreement import DEAF_SECONDS
from slurmtui.widgets.question import QuestionScreen
from tests.ui.conftest import BRAVE
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import PaintedApp

SIZES = [(120, 34), (80, 24), (40, 10)]


@pytest.mark.parametrize("size", SIZES)
async def test_runs_and_their_verdicts_are_seen_at_every_size(
    make_console: Callable[..., PaintedApp], size: tuple[int, int]
) -> None:
    async with make_console().run_test(size=size, notifications=True) as pilot:
        text = await see(pilot, "brave")
        assert "running, 1 of 2" in text
        assert "out of mem" in text
        assert all(len(line) <= size[0] for line in text.splitlines())


async def test_a_painted_console_runs_no_program_of_this_machine(make_console: Callable[..., PaintedApp]) -> None:
    with pytest.raises(CommandMissing):
        await make_console().session.runner.run(("true",))


async def test_header_counts_runs_and_jobs(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(120, 34), notifications=True) as pilot:
        text = await see(pilot, "brave-otter")
        first = text.splitlines()[0]
        assert "sandbox · alice" in first
        assert "1 active" in first
        assert "1 need you" in first
        assert "2 R 101 PD" in first


async def test_enter_opens_a_run_to_its_jobs_and_tasks(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(120, 34), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("enter")
        text = await see(pilot, "fit-2")
        assert "running on gpu1" in text
        assert "waiting: Resources" in text
        assert ("watch", {BRAVE}) in pilot.app.store.asked  # type: ignore[attr-defined]
        await pilot.press("enter")
        await pilot.pause()
        assert "fit-2" not in pilot.app.screen_text()  # type: ignore[attr-defined]


async def test_hostile_names_are_shown_as_typed_and_harmless(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(160, 34), notifications=True) as pilot:
        await pilot.press("2")
        text = await see(pilot, "5122")
        assert "x[/y] [red]z" in text
        assert "␛]52;" in text
        assert "\x1b" not in text
        assert "\x07" not in text


async def test_a_filter_narrows_as_typed_enter_keeps_it_escape_gives_it_up(
    make_console: Callable[..., PaintedApp],
) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("slash", *"amber")
        await pilot.pause()
        assert "brave-otter" not in pilot.app.screen_text()  # type: ignore[attr-defined]
        await pilot.press("enter")
        assert "/ amber" in await see(pilot, "amber-wolf")
        await pilot.press("slash", *"zzz", "escape")
        await see(pilot, "amber-wolf")
        await pilot.press("escape")
        await see(pilot, "brave-otter")


async def test_a_key_that_cannot_be_used_says_why(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("R")
        await see(pilot, "living driver")
        await pilot.press("down", "X")
        await see(pilot, "has ended")
        await pilot.press("Z")
        await see(pilot, "Z does nothing here")


async def test_help_names_the_keys_of_this_place_and_why_some_cannot_be_used(
    make_console: Callable[..., PaintedApp],
) -> None:
    async with make_console().run_test(size=(120, 50), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("question_mark")
        text = await see(pilot, "help · runs")
        assert "Cancel" in text
        assert "not now: brave-otter has a living driver" in " ".join(text.split())


async def test_read_only_refuses_every_touch(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console(read_only=True).run_test(size=(100, 30), notifications=True) as pilot:
        assert " RO" in (await see(pilot, "brave-otter")).splitlines()[0]
        for key in ("X", "R", "N"):
            await pilot.press(key)
            await see(pilot, "read-only")
            assert not isinstance(pilot.app.screen, QuestionScreen)


async def test_cancel_asks_first_and_no_is_the_default(
    make_console: Callable[..., PaintedApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = cancels(monkeypatch)
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("X")
        text = await see(pilot, "Cancel brave-otter")
        assert "scancel 4711 4714" in text
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, QuestionScreen))
        await pilot.press("X")
        await see(pilot, "Cancel brave-otter")
        assert asked == []
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("y")
        await see(pilot, "as painted")
        assert asked == [BRAVE], "only the yes was followed"


async def test_a_yes_that_comes_too_soon_is_not_heard(
    make_console: Callable[..., PaintedApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = cancels(monkeypatch)
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("X")
        await see(pilot, "Cancel brave-otter")
        screen = pilot.app.screen
        assert isinstance(screen, QuestionScreen)
        screen._opened = time.monotonic() + 60  # as if it had just been opened, however long the key takes
        await pilot.press("y")
        assert isinstance(pilot.app.screen, QuestionScreen)
        screen._opened = 0.0
        await pilot.press("y")
        await see(pilot, "as painted")
        assert asked == [BRAVE], "only the later yes was followed"


def cancels(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that were to be cancelled, in place of SLURM and Prefect: it is refused."""
    asked: list[str] = []

    async def cancel_run(_session: Any, run_id: str, *_: Any) -> None:
        asked.append(run_id)
        message = "as painted"
        raise Refused(message)

    monkeypatch.setattr("slurmtui.control.cancel.cancel_run", cancel_run)
    return asked


async def test_the_target_is_the_run_that_was_seen_when_rows_change_places(
    make_console: Callable[..., PaintedApp],
) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("down")
        store = pilot.app.store  # type: ignore[attr-defined]
        brave, amber = store.snapshot.runs
        alive = Verdict(kind="running", text="running", mood=Mood.RUNNING)
        amber = msgspec.structs.replace(
            amber, verdict=alive, run=msgspec.structs.replace(amber.run, state_type="RUNNING", state_name="Running")
        )
        store.paint(msgspec.structs.replace(store.snapshot, runs=(amber, brave)))
        await pilot.pause()
        await pilot.press("X")
        await see(pilot, "Cancel amber-wolf")


async def test_a_source_that_fails_keeps_its_data_and_says_so(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(120, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        store = pilot.app.store  # type: ignore[attr-defined]
        now = time.time()
        old = Part(
            store.snapshot.queue.data,
            at=now - 3 * 86400 - 1800,
            failing_since=now - 60,
            error="squeue: Unable to contact slurm",
        )
        store.paint(msgspec.structs.replace(store.snapshot, queue=old))
        text = await see(pilot, "Unable to contact slurm")
        assert "data 3d00 old" in text
        await pilot.press("2")
        await see(pilot, "4711")


async def test_from_a_job_to_its_run_and_back(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(140, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("2")
        await see(pilot, "5122")
        await pilot.press("down", "o")
        await see(pilot, "VERDICT")
        assert pilot.app.screen.table.cursor_key == f"run:{BRAVE}"  # type: ignore[attr-defined]


async def test_commands_are_completed_and_wrong_ones_are_told(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("colon", *"jbos", "enter")
        await see(pilot, "did you mean jobs?")
        await pilot.press("colon", *"jobs", "enter")
        await see(pilot, "5122")
        await pilot.press("colon", *"theme terminal16", "enter")
        await pilot.pause()
        assert pilot.app.theme == "terminal16"
