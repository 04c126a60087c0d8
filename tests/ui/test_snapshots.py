"""What the console looks like, kept as pictures: the views people live in, wide and narrow, in both themes.

After a change that is wanted: ``pytest tests/ui/test_snapshots.py --snapshot-update``, and look at the pictures.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.ui.seeing import see, settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from tests.ui.conftest import PaintedApp

NOON = 1_764_504_000.0  # 2025-11-30 12:00:00 UTC

WIDE, NARROW = (160, 48), (80, 24)


@pytest.fixture(autouse=True)
def _noon(monkeypatch: pytest.MonkeyPatch) -> object:
    """It is noon in Greenwich, and stays so."""
    monkeypatch.setattr(time, "time", lambda: NOON)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("keys", "sign"),
    [
        ((), "brave-otter"),
        (("enter",), "fit-0"),
        (("d",), "timeline"),
        (("2",), "4714"),
        (("2", "a"), "5122"),
        (("question_mark",), "Open or close a run"),
    ],
    ids=["runs", "runs-open", "runs-detail", "jobs", "jobs-all", "help"],
)
@pytest.mark.parametrize("look", [(WIDE, "midnight"), (NARROW, "terminal16")], ids=["wide", "narrow"])
def test_views(
    snap_compare: Callable[..., bool], make_console: Callable[..., PaintedApp], keys: tuple[str, ...], sign: str,
    look: tuple[tuple[int, int], str],
) -> None:  # fmt: skip
    async def go_there(pilot: Pilot[Any]) -> None:
        await see(pilot, "brave-otter")
        await pilot.press(*keys)
        await see(pilot, sign)
        await settled(pilot)

    size, theme = look
    assert snap_compare(make_console(theme=theme), terminal_size=size, run_before=go_there)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_question_before_a_cancel(
    snap_compare: Callable[..., bool], make_console: Callable[..., PaintedApp], size: tuple[int, int]
) -> None:
    async def look(pilot: Pilot[Any]) -> None:
        await see(pilot, "brave-otter")
        await pilot.press("X")
        await see(pilot, "No, keep it")
        await settled(pilot)

    assert snap_compare(make_console(), terminal_size=size, run_before=look)
