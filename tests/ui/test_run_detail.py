"""The detail of a run as a person sees it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from slurmtui.views.runs import screen as runs
from tests.ui.conftest import BRAVE
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from slurmtui.models.run_view import RunView
    from tests.ui.conftest import Make


@pytest.mark.parametrize("size", [(120, 50), (80, 24)])
async def test_the_whole_page_shows_the_timeline_and_escape_gives_the_list_back(
    make_console: Make, size: tuple[int, int]
) -> None:
    async with make_console().run_test(size=size, notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("d", "v")
        text = await see(pilot, "timeline")
        assert "job 4711 gpu1" in text
        assert "job 4714" in text
        assert "VERDICT" not in text
        assert all(len(line) <= size[0] for line in text.splitlines())
        await pilot.press("G")
        text = await see(pilot, "profile gpu")
        await pilot.press("escape")
        await see(pilot, "VERDICT")
        await pilot.press("escape")
        await pilot.pause()
        assert "timeline" not in pilot.app.screen_text()  # type: ignore[attr-defined]


async def test_task_runs_are_read_only_while_the_detail_is_shown(make_console: Make) -> None:
    async with make_console().run_test(size=(100, 40), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        asked = pilot.app.store.asked  # type: ignore[attr-defined]
        assert ("watch", {BRAVE}) not in asked
        await pilot.press("d")
        await see(pilot, "timeline")
        assert [what for what in asked if what[0] == "watch"][-1] == ("watch", {BRAVE})
        await pilot.press("2")
        await see(pilot, "5122")
        assert [what for what in asked if what[0] == "watch"][-1] == ("watch", set())
        assert not [worker for worker in pilot.app.workers if worker.group == "detail" and worker.is_running]


async def test_a_run_that_the_cursor_leaves_as_news_comes_is_loaded_no_more(
    make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "DetailLoader", lambda _session: SimpleNamespace(load=load))
    loaded: list[str] = []

    async def load(view: RunView, _tasks: object) -> None:
        loaded.append(view.run.id)

    async with make_console().run_test(size=(100, 40), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("d")
        await until(pilot, lambda: loaded)  # and it waits for news now
        (worker,) = [worker for worker in pilot.app.workers if worker.group == "detail"]
        pilot.app.store.paint(pilot.app.store.snapshot)  # type: ignore[attr-defined]
        pilot.app.screen._look(seen=False)  # type: ignore[attr-defined] # in the same turn
        await until(pilot, lambda: worker.is_finished)
