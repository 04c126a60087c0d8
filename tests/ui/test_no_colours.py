"""NO_COLOR: the terminal's own two colours in every theme, and a cursor that is seen all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slurmtui.views.looks import wants_no_colours
from tests.ui.seeing import see

if TYPE_CHECKING:
    from rich.segment import Segment
    from rich.style import Style

    from tests.ui.conftest import Make, PaintedApp

SHIPPED = ("midnight", "contrast", "paper", "terminal16")


def painted(app: PaintedApp) -> list[list[Segment]]:
    """The lines as they go to the terminal."""
    return [list(strip) for strip in app.screen._compositor.render_strips(app.size)]


def coloured(app: PaintedApp) -> list[Segment]:
    """What is not in the terminal's own colours."""
    return [segment for line in painted(app) for segment in line if segment.style and _has_colours(segment.style)]


def _has_colours(style: Style) -> bool:
    return any(colour is not None and not colour.is_default for colour in (style.color, style.bgcolor))


def reversed_text(app: PaintedApp) -> str:
    return "".join(segment.text for line in painted(app) for segment in line if segment.style and segment.style.reverse)


@pytest.mark.parametrize("first", SHIPPED)
async def test_no_theme_has_colours_and_the_cursor_is_seen(
    first: str, make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_console(theme=first, view="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await see(pilot, "4711")
        for name in (first, *SHIPPED, first):
            app.command(f"theme {name}")
            await pilot.pause()
            await pilot.pause()
            assert app.theme == name
            assert not coloured(app)
            assert "4714" in reversed_text(app) or "4711" in reversed_text(app)


async def test_what_is_typed_has_a_cursor_without_colours(make_console: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_console(view="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await see(pilot, "4711")
        await pilot.press("slash", "q", "z", "left")
        await pilot.pause()
        last = "".join(segment.text for segment in painted(app)[-1] if segment.style and segment.style.reverse)
        assert last.strip() == "z"


async def test_an_empty_no_color_asks_for_nothing(make_console: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    app = make_console(view="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await see(pilot, "4711")
        assert not app.no_color
        assert coloured(app)


def test_only_a_word_in_no_color_asks_for_no_colours() -> None:
    assert wants_no_colours({"NO_COLOR": "1"})
    assert wants_no_colours({"NO_COLOR": "0"})
    assert not wants_no_colours({"NO_COLOR": ""})
    assert not wants_no_colours({})
