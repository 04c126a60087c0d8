"""Waiting for what a person would see.

The time limits only end a test that has failed: a busy machine may take long.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.pilot import Pilot

SECONDS = 60.0


async def until(pilot: Pilot[Any], condition: Callable[[], object], seconds: float = SECONDS) -> None:
    """Wait until ``condition`` holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"this did not come about; the screen:\n{_screen(pilot)}"
        await pilot.pause(0.02)


async def see(pilot: Pilot[Any], *texts: str, seconds: float = SECONDS) -> str:
    """Wait until every text is on screen, wherever its lines are broken; the screen."""
    deadline = time.monotonic() + seconds
    while missing := [text for text in texts if not _shown(text, _screen(pilot))]:
        assert time.monotonic() < deadline, f"{missing!r} is not on screen:\n{_screen(pilot)}"
        await pilot.pause(0.02)
    return _screen(pilot)


async def gone(pilot: Pilot[Any], text: str, seconds: float = SECONDS) -> None:
    """Wait until ``text`` is not on screen any more."""
    deadline = time.monotonic() + seconds
    while _shown(text, _screen(pilot)):
        assert time.monotonic() < deadline, f"{text!r} is still on screen:\n{_screen(pilot)}"
        await pilot.pause(0.02)


def screen_text(app: App[Any]) -> str:
    """What a person sees, line by line."""
    width, height = app.size
    return "\n".join(
        "".join(segment.text for segment in strip).rstrip()
        for strip in app.screen._compositor.render_strips(app.size)[:height]
    )[: (width + 1) * height]


async def settled(pilot: Pilot[Any], looks: int = 25) -> None:
    """Wait until what is read beside the screen is on it as well: until so many looks show the same."""
    before, same = "", 0
    while same < looks:
        await pilot.pause(0.02)
        now = _screen(pilot)
        before, same = now, same + 1 if now == before else 0


def _screen(pilot: Pilot[Any]) -> str:
    return screen_text(pilot.app)


def _shown(text: str, screen: str) -> bool:
    return text in screen or text in " ".join(screen.split())
