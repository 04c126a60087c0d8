"""Several runs cancelled in one go: at the same time, on one board, and one that fails holds none of the others up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.errors import Refused
from slurmtui.models.steps import CancelReport, Step
from slurmtui.widgets.agreement import DEAF_SECONDS
from tests.ui.conftest import AMBER, BRAVE, some_snapshot
from tests.ui.seeing import see

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.ui.conftest import PaintedApp


async def test_many_are_cancelled_at_once_on_one_board(
    make_console: Callable[..., PaintedApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    together = asyncio.Event()

    async def cancel_run(_session: object, run_id: str, show: Callable[[Step], None]) -> CancelReport:
        show(Step(key="driver", title="driver", state="doing"))
        begun.append(run_id)
        if len(begun) == 2:
            together.set()
        await together.wait()  # in vain, were they cancelled one after the other
        if run_id == AMBER:
            message = "another console is cancelling it"
            raise Refused(message)
        return CancelReport(ok=True, run_id=run_id, state_type="CANCELLED")

    monkeypatch.setattr("slurmtui.control.cancel.cancel_run", cancel_run)
    picture = some_snapshot()
    runs = tuple(
        msgspec.structs.replace(view, run=msgspec.structs.replace(view.run, state_type="RUNNING", end=None))
        for view in picture.runs
    )
    async with make_console(msgspec.structs.replace(picture, runs=runs)).run_test(
        size=(120, 34), notifications=True
    ) as pilot:
        await see(pilot, "brave-otter")
        screen: Any = pilot.app.screen
        screen.table.marks = frozenset({f"run:{BRAVE}", f"run:{AMBER}"})
        await pilot.press("X")
        await see(pilot, "Cancel 2 runs")
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("2", "enter")
        shown = await see(pilot, "1 of 2 cancelled", "another console is cancelling it", "squeue seen empty")
        assert shown.count("Cancel 2 runs") == 1
        assert set(begun) == {BRAVE, AMBER}
