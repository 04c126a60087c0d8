"""Work beside the keys that is no longer wanted before its first step: it never begins, and Python has no complaint."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.app import App

from slurmtui.actions import registry
from slurmtui.widgets.beside import start
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from slurmtui.views.runs.screen import RunsScreen
    from tests.ui.conftest import Make, PaintedApp


async def test_of_two_begun_in_one_turn_only_the_second_is_done() -> None:
    done: list[str] = []

    async def work(what: str) -> None:
        done.append(what)

    async with App[None]().run_test() as pilot:
        start(pilot.app, partial(work, "beside"), "other")
        start(pilot.app, partial(work, "first"), "one", exclusive=True)
        worker = start(pilot.app, partial(work, "second"), "one", exclusive=True)
        await worker.wait()
        await until(pilot, lambda: len(done) == 2)
        assert sorted(done) == ["beside", "second"]


async def test_a_run_that_the_cursor_only_touches_leaves_no_trace(make_console: Make) -> None:
    async with make_console().run_test(size=(100, 40), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("d")
        await see(pilot, "timeline")
        screen = cast("RunsScreen", pilot.app.screen)
        screen._look(seen=False)
        screen._look()  # begins
        screen._look(seen=False)  # and is given up in the same turn
        await pilot.pause()
        assert not [worker for worker in pilot.app.workers if worker.group == "detail" and not worker.is_finished]


async def test_an_action_that_is_given_up_before_it_begins_leaves_no_trace(make_console: Make) -> None:
    async with make_console().run_test(size=(100, 40), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        console = cast("PaintedApp", pilot.app)
        console.start(registry.BY_ID["run.cancel"], cast("RunsScreen", console.screen).context())
        given_up = console.workers.cancel_group(console, "action run.cancel")
        assert given_up
        await pilot.pause()
        assert len(console.screen_stack) == 1, "nothing was asked"
