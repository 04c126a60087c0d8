"""The last look of a new run: the probe job is sent only when a person asks for it, never by a read-only console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.views.newrun.screen import NewRunScreen
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from tests.ui.conftest import Make, PaintedApp


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How it was looked, each time."""
    seen: list[str] = []

    async def look(_session: Any, _draft: Any, *, probing: str) -> tuple[list[tuple[str, str]], bool]:
        seen.append(probing)
        return [(f"looked {len(seen)} times", "")], True

    monkeypatch.setattr("slurmtui.views.newrun.screen.look", look)
    return seen


@pytest.mark.parametrize("read_only", [False, True])
async def test_the_probe_is_sent_when_it_is_asked_for(make_console: Make, looks: list[str], *, read_only: bool) -> None:
    async with make_console(read_only=read_only).run_test(size=(80, 24)) as pilot:
        app: PaintedApp = pilot.app  # type: ignore[assignment]
        screen = NewRunScreen()
        await app.push_screen(screen)
        await screen._look()
        await see(pilot, "p try the server from a node")
        await pilot.press("p")
        await see(pilot, "read-only" if read_only else "looked 2 times")
        await until(pilot, lambda: not screen._busy)
        assert looks == (["never"] if read_only else ["never", "always"])
