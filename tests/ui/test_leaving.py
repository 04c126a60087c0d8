"""Leaving the console: what was begun is finished first, and only then the connections are let go of."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

from slurmtui.control.unbroken import is_settled, unbroken

if TYPE_CHECKING:
    import pytest
    from textual.worker import Worker

    from slurmtui.app import SlurmtuiApp
    from tests.ui.conftest import Make


class Work:
    """A submission that can be held up."""

    def __init__(self) -> None:
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()
        self.happened: list[str] = []

    async def submit(self) -> None:
        self.begun.set()
        await self.may_end.wait()
        self.happened.append("submitted")

    async def wanted(self) -> None:
        await unbroken(self.submit())

    def start(self, app: SlurmtuiApp) -> None:
        worker: Worker[None] = app.run_worker(self.wanted)
        assert not worker.is_finished


async def test_a_submission_is_finished_before_the_connections_are_let_go_of(
    make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, work = make_console(), Work()

    async def close() -> None:
        work.happened.append("closed")

    monkeypatch.setattr(app.session, "close", close)
    async with app.run_test() as pilot:
        work.start(app)
        await work.begun.wait()
        asyncio.get_running_loop().call_later(0.3, work.may_end.set)
        await pilot.press("ctrl+q")
    assert work.happened == ["submitted", "closed"]


async def test_a_lost_line_does_not_leave_a_run_half_made(make_console: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    app, work, exits = make_console(), Work(), asyncio.Event()

    def leave(code: int) -> None:
        work.happened.append(f"left {code}")
        exits.set()

    monkeypatch.setattr(os, "_exit", leave)
    async with app.run_test():
        work.start(app)
        await work.begun.wait()
        os.kill(os.getpid(), signal.SIGHUP)
        asyncio.get_running_loop().call_later(0.3, work.may_end.set)
        await exits.wait()
        assert work.happened == ["submitted", "left 129"]
        assert is_settled()
