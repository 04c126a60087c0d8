"""The Logs view: what was open the last time stays, and more panes than can be read are not opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from slurmtui.views.logs.screen import LogsScreen
from tests.ui.conftest import job_line, job_table, some_snapshot
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from tests.ui.conftest import PaintedApp

LEFT = (
    b'{"type":"split","across":true,"parts":[{"type":"pane","number":1,"key":"job:4711"},'
    b'{"type":"pane","number":2,"key":"job:4714"}],"shares":[1.0,1.0]}'
)


def keys(pilot: Pilot[Any]) -> list[str | None]:
    screen = pilot.app.screen
    return [pane.name for pane in screen.area.panes.values()] if isinstance(screen, LogsScreen) else []


async def test_a_log_is_opened_beside_those_of_the_last_time(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console(view="jobs").run_test(size=(140, 30), notifications=True) as pilot:
        await see(pilot, "5122")
        app = cast("PaintedApp", pilot.app)
        file = app.keeper.memory.path.with_suffix(".panes")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(LEFT)
        await pilot.press("G", "vertical_line")
        await until(pilot, lambda: len(keys(pilot)) == 3)
        assert keys(pilot) == ["job:4711", "job:4714", "job:5122"]
        await until(pilot, lambda: b"5122" in file.read_bytes() and b"4714" in file.read_bytes())


async def test_dozens_of_marked_jobs_do_not_open_dozens_of_panes(make_console: Callable[..., PaintedApp]) -> None:
    jobs = job_table([job_line(id=str(100 + number), raw_id=str(100 + number), name="x") for number in range(60)])
    picture = some_snapshot()
    picture = msgspec.structs.replace(picture, queue=msgspec.structs.replace(picture.queue, data=jobs))
    async with make_console(picture, view="jobs").run_test(size=(140, 30), notifications=True) as pilot:
        await see(pilot, "100")
        await pilot.press("asterisk", "vertical_line")
        await see(pilot, "60 panes do not fit on this screen")
        assert 1 <= len(keys(pilot)) <= 8
