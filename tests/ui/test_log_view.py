"""The log pane as a person sees it: follows, stays, keeps colours, finds, and never lets a control through."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len
from textual import on
from textual._compositor import CompositorUpdate
from textual.app import App, ComposeResult

from slurmtui.models.pattern import Pattern
from slurmtui.widgets.log_lines import DATES
from slurmtui.widgets.log_view import LogRow, LogView, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.style import Style
    from textual.pilot import Pilot
    from textual.screen import Screen


class Painting(App[None]):
    """An app that keeps what it would have sent to the terminal."""

    def __init__(self, kept: int = 1000) -> None:
        super().__init__()
        self.kept = kept
        self.sent: list[str] = []
        self.moves = 0

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if isinstance(renderable, CompositorUpdate):
            self.sent.append(renderable.render_segments(self.console))
        super()._display(screen, renderable)

    def compose(self) -> ComposeResult:
        yield LogView(kept=self.kept)

    @on(LogView.Moved)
    def count(self) -> None:
        self.moves += 1

    @property
    def view(self) -> LogView:
        return self.query_one(LogView)

    def lines(self) -> list[str]:
        strips = self.screen._compositor.render_strips()
        return [strip.crop(0, self.view.text_width).text.rstrip() for strip in strips]

    def bar(self) -> str:
        return "".join(strip.text[-1] for strip in self.screen._compositor.render_strips())

    def styles_of(self, text: str) -> list[Style | None]:
        strips = self.screen._compositor.render_strips()
        return [segment.style for strip in strips for segment in strip if text in segment.text]


def numbered(numbers: Iterable[int], source: str = "out") -> list[LogRow]:
    return [LogRow(f"line {number}.", source) for number in numbers]


async def settle(pilot: Pilot[None]) -> None:
    await pilot.pause()
    await pilot.pause()


async def test_follows_the_end() -> None:
    app = Painting()
    async with app.run_test(size=(60, 11)) as pilot:
        app.view.append(numbered(range(5)))
        await settle(pilot)
        assert app.lines()[1] == "line 0."
        for start in range(5, 300, 5):
            app.view.append(numbered(range(start, start + 5)))
        await settle(pilot)
        assert app.lines()[1:] == [f"line {number}." for number in range(290, 300)]
        assert "follow" in app.lines()[0]


async def test_scrolling_up_ends_the_following_and_tells_what_is_new() -> None:
    app = Painting()
    async with app.run_test(size=(60, 11)) as pilot:
        app.view.append(numbered(range(100)))
        await pilot.press("up", "up")
        await settle(pilot)
        app.view.append(numbered(range(100, 107)))
        await settle(pilot)
        assert app.lines()[1:] == [f"line {number}." for number in range(88, 98)], "what is read must stay"
        assert "7 new lines below" in app.lines()[0]
        assert not app.view.follow
        app.view.follow = True
        await settle(pilot)
        assert app.lines()[-1] == "line 106."
        app.view.append(numbered([107]))
        await settle(pilot)
        assert app.lines()[-1] == "line 107."
        assert "new lines" not in app.lines()[0]


async def test_wheel_ends_the_following_as_well() -> None:
    app = Painting()
    async with app.run_test(size=(60, 11)) as pilot:
        app.view.append(numbered(range(100)))
        await settle(pilot)
        app.view.scroll_up(animate=False)
        await settle(pilot)
        app.view.append(numbered(range(100, 150)))
        await settle(pilot)
        assert app.lines()[-1] == "line 98."


async def test_bigger_terminal_does_not_end_the_following() -> None:
    app = Painting()
    async with app.run_test(size=(60, 8)) as pilot:
        app.view.append(numbered(range(100)))
        await settle(pilot)
        for size in ((60, 20), (60, 6), (90, 12)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            assert app.view.follow
            assert app.lines()[-1] == "line 99."


async def test_lines_beyond_the_bound_are_forgotten_without_moving_the_screen() -> None:
    app = Painting(kept=200)
    async with app.run_test(size=(60, 11)) as pilot:
        app.view.append(numbered(range(200)))
        await pilot.press("up")
        await settle(pilot)
        before = app.lines()[1:]
        app.view.append(numbered(range(200, 300)))
        await settle(pilot)
        assert app.lines()[1:] == before
        assert len(app.view.kept.lines) <= 220
        app.view.append(numbered(range(300, 2000)))
        await settle(pilot)
        assert len(app.view.kept.lines) <= 220
        app.view.follow = True
        await settle(pilot)
        assert app.lines()[-1] == "line 1999."


async def test_hundreds_of_thousands_of_lines_cost_by_what_is_new() -> None:
    app = Painting(kept=20_000)
    async with app.run_test(size=(180, 50)) as pilot:
        app.view.append(numbered(range(20_000)))
        await settle(pilot)
        costs = []
        for start in range(0, 50_000, 500):
            rows = numbered(range(start, start + 500))
            clock = time.process_time()
            app.view.append(rows)
            costs.append(time.process_time() - clock)
        await settle(pilot)
        assert sorted(costs)[-5] < 0.1  # not the very worst: a collection of garbage may fall into one
        assert app.lines()[-1] == "line 49999."


async def test_colours_are_kept_and_other_controls_are_not() -> None:
    app = Painting()
    async with app.run_test(size=(80, 8)) as pilot:
        app.view.append([
            LogRow("plain \x1b[1;31mred and bold\x1b[0m plain again"),
            LogRow("\x1b[2J\x1b[Hcleared \x1b]52;c;ZXZpbA==\x07 \x9b31m \u202e"),
            LogRow("[/red] [b [link=x]"),
            LogRow("bad \udcff utf-8, \x00 NUL"),
        ])  # fmt: skip
        await settle(pilot)
        lines = app.lines()
        assert lines[1] == "plain red and bold plain again"
        (style,) = app.styles_of("red and bold")
        assert style is not None
        assert style.bold
        assert style.color is not None
        assert style.color.get_truecolor().red > 100
        assert lines[2].startswith("␛[2J␛[Hcleared ␛]52;c;ZXZpbA==␇")
        assert lines[3] == "[/red] [b [link=x]"
        assert lines[4] == "bad � utf-8, ␀ NUL"
        sent = "".join(app.sent)
        assert "\x1b[2J" not in sent
        assert "\x1b]52" not in sent
        assert "\x9b" not in sent
        sent.encode()


async def test_progress_bar_shows_its_last_state_and_is_one_line() -> None:
    app = Painting()
    async with app.run_test(size=(60, 8)) as pilot:
        app.view.append([LogRow("  1%|  |\r 50%|▌ |\r", "err", key="err 1", live=True), LogRow("other", "out")])
        await settle(pilot)
        assert app.lines()[1:3] == [" 50%|▌ |", "other"]
        app.view.append([LogRow(" 50%|▌ |\r 99%|█ |", "err", key="err 1", live=True)])
        await settle(pilot)
        assert app.lines()[1:3] == [" 99%|█ |", "other"]
        app.view.append([LogRow(" 99%\r100%|██|", "err", key="err 1"), LogRow("next", "err", key="err 1")])
        await settle(pilot)
        assert app.lines()[1:4] == ["100%|██|", "other", "next"]


async def test_wide_characters_stay_in_their_columns() -> None:
    app = Painting()
    async with app.run_test(size=(70, 8)) as pilot:
        app.view.append(
            [LogRow("日本語" * 20, "out", "fit-3", "13:12:02"), LogRow("x" * 200, "out", "日本", "13:12:03")]
        )
        await settle(pilot)
        strips = app.screen._compositor.render_strips()
        assert {cell_len("".join(segment.text for segment in strip)) for strip in strips} == {70}
        lines = app.lines()
        assert cell_len(lines[1].split("日本語")[0]) == cell_len(lines[2].split("xxx")[0])


async def test_long_lines_move_sideways_or_wrap() -> None:
    text = " ".join(f"word{number}" for number in range(40))
    app = Painting()
    async with app.run_test(size=(60, 12)) as pilot:
        app.view.append([LogRow("first"), LogRow(text), LogRow("last")])
        await settle(pilot)
        assert app.lines()[3] == "last"
        assert "word0 " in app.lines()[2]
        await pilot.press("right", "right")
        await settle(pilot)
        assert "word0 " not in app.lines()[2]
        await pilot.press("left", "left", "left")
        app.view.wrap = True
        await settle(pilot)
        shown = app.lines()
        assert " ".join(line.strip() for line in shown[2 : shown.index("last")]) == text
        await pilot.resize_terminal(100, 12)
        await settle(pilot)
        shown = app.lines()
        assert " ".join(line.strip() for line in shown[2 : shown.index("last")]) == text
        assert max(map(len, shown)) > 60
        app.view.wrap = False
        await settle(pilot)
        assert app.lines()[3] == "last"
        assert app.lines()[2].endswith("…")


async def test_wrapped_line_without_spaces_is_shown_whole() -> None:
    app = Painting()
    async with app.run_test(size=(40, 12)) as pilot:
        app.view.wrap = True
        app.view.append([LogRow("日" * 60 + "e\u0301" * 30)])
        await settle(pilot)
        assert "".join(app.lines()[1:]).count("日") == 60
        assert "".join(app.lines()[1:]).count("e\u0301") == 30


async def test_sources_are_named_on_the_first_line() -> None:
    app = Painting()
    async with app.run_test(size=(80, 8)) as pilot:
        app.view.title = "brave-otter"
        app.view.set_sources([("prefect", True), ("out", False)])
        await settle(pilot)
        assert "prefect ■" in app.lines()[0]
        assert "out □" in app.lines()[0]


async def test_matches_are_marked_and_a_line_is_revealed() -> None:
    app = Painting()
    async with app.run_test(size=(60, 11)) as pilot:
        rows = numbered(range(200))
        for number in (20, 120, 150):
            rows[number] = LogRow(f"\x1b[31mEr\x1b[0mror in step {number}")
        app.view.append(rows)
        await settle(pilot)
        pattern = Pattern("Error")
        app.view.seek(pattern)
        kept = app.view.kept
        assert kept.find(pattern, 199, -1) == 150
        assert kept.find(pattern, 149, -1) == 120
        assert kept.find(pattern, 0, 1) == 20
        assert kept.find(Pattern("no such words"), 0, 1) is None
        app.view.reveal(kept.lines[120])
        await settle(pilot)
        assert "Error in step 120" in app.lines()
        assert not app.view.follow
        (first, *_), (second, *_) = app.styles_of("Er"), app.styles_of("ror")
        assert first is not None
        assert second is not None
        assert first.underline
        assert second.underline


async def test_rules_make_parts_and_lines_stand_out() -> None:
    app = Painting()
    async with app.run_test(size=(60, 8)) as pilot:
        app.view.rules = (Rule(Pattern("loss=[0-9.]+"), "bold"), Rule(Pattern("^FATAL"), "underline", whole=True))
        app.view.append([LogRow("step 1 loss=0.5 fine"), LogRow("FATAL it is over")])
        await settle(pilot)
        (part,), (line,) = app.styles_of("loss=0.5"), app.styles_of("it is over")
        assert part is not None
        assert line is not None
        assert part.bold
        assert line.underline
        assert not any(style and style.bold for style in app.styles_of(" fine"))


TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "fit.py", line 3, in fit',
    "    raise KeyError(1)",
    "KeyError: 1",
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    "Traceback (most recent call last):",
    '  File "fit.py", line 9, in <module>',
    "ValueError: bad input",
]


async def test_traceback_folds_into_one_line_that_says_what_went_wrong() -> None:
    app = Painting()
    async with app.run_test(size=(70, 20)) as pilot:
        rows = [LogRow(text, "err", key="a") for text in ["before", *TRACEBACK]]
        rows.insert(5, LogRow("from another writer", "out", key="b"))
        app.view.append([*rows, LogRow("after", "err", key="a")])
        await settle(pilot)
        assert app.lines()[1:14] == ["before", *TRACEBACK[:4], "from another writer", *TRACEBACK[4:], "after"]
        app.view.fold(folded=True)
        await settle(pilot)
        assert app.lines()[1:6] == [
            "before", "▸ traceback, 10 lines: ValueError: bad input", "from another writer", "after", "",
        ]  # fmt: skip
        app.view.append([LogRow(text, "err", key="a") for text in TRACEBACK[:4]])
        await settle(pilot)
        assert app.lines()[4:6] == ["after", "▸ traceback, 4 lines: KeyError: 1"]
        app.view.fold(folded=False)
        await settle(pilot)
        assert "KeyError: 1" in app.lines()


async def test_lines_are_marked_from_where_one_is() -> None:
    app = Painting()
    async with app.run_test(size=(60, 11)) as pilot:
        app.view.append(numbered(range(100)))
        await settle(pilot)
        app.view.cursor.begin(app.view.shown_lines[-1])
        await pilot.press("up", "up")
        assert app.view.kept.plain_text(app.view.cursor.marked()) == "line 97.\nline 98.\nline 99.\n"
        await pilot.press("pageup", "pageup")
        await settle(pilot)
        assert len(app.view.cursor.marked()) == 21
        assert app.lines()[1] == "line 79."
        app.view.append(numbered([100]))
        assert len(app.view.cursor.marked()) == 21


async def test_bar_shows_the_place_and_the_matches() -> None:
    app = Painting()
    async with app.run_test(size=(60, 21)) as pilot:
        app.view.append(numbered(range(1000)))
        app.view.marks = frozenset({0, 512, 1023})
        app.view.paint_bar()
        await settle(pilot)
        assert [place for place, sign in enumerate(app.bar()) if sign == "▐"] == [0, 10, 20]


async def test_scrolling_does_not_send_the_bar_when_it_looks_the_same() -> None:
    app = Painting()
    async with app.run_test(size=(60, 11)) as pilot:
        app.view.append(numbered(range(5000)))
        await settle(pilot)
        app.sent.clear()
        app.view.append(numbered([5000]))
        await settle(pilot)
        assert len("".join(app.sent)) < 1500


async def test_empty_log_says_why() -> None:
    app = Painting()
    async with app.run_test(size=(60, 10)) as pilot:
        app.view.empty_text = "Not started: waiting for SLURM: Resources."
        await settle(pilot)
        assert any("Not started: waiting for SLURM: Resources." in line for line in app.lines())
        app.view.append(numbered([1]))
        await settle(pilot)
        assert not any("Not started" in line for line in app.lines())
        app.view.clear()
        await settle(pilot)
        assert any("Not started" in line for line in app.lines())


async def test_window_is_extended_and_shortened_without_moving_the_screen() -> None:
    app = Painting()
    async with app.run_test(size=(60, 11)) as pilot:
        app.view.append(numbered(range(100, 150)))
        await pilot.press("pageup", "pageup", "pageup", "pageup", "pageup")
        await settle(pilot)
        before = app.lines()[1:]
        assert before[0] == "line 100."
        moves = app.moves
        await pilot.press("up")
        await settle(pilot)
        assert app.moves > moves, "one wants more than there is"
        app.view.prepend(numbered(range(50, 100)))
        await settle(pilot)
        assert app.lines()[1:] == before
        dropped = app.view.drop_last(30)
        assert [line.row.text for line in dropped] == [f"line {number}." for number in range(120, 150)]
        await settle(pilot)
        assert app.lines()[1:] == before
        assert len(app.view.drop_first(40)) == 40
        await settle(pilot)
        assert app.lines()[1:] == before
        await pilot.press("up")
        await settle(pilot)
        assert app.lines()[1] == "line 99."


async def test_new_window_shows_the_wanted_line() -> None:
    app = Painting()
    async with app.run_test(size=(60, 13)) as pilot:
        app.view.append(numbered(range(20)))
        app.view.show(numbered(range(1000, 1100)), 50)
        await settle(pilot)
        assert "line 1050." in app.lines()
        assert not app.view.follow
        app.view.show(numbered(range(2000, 2100)))
        await settle(pilot)
        assert app.lines()[-1] == "line 2099."
        assert app.view.follow


async def test_line_that_is_not_on_screen_sends_nothing() -> None:
    app = Painting()
    async with app.run_test(size=(60, 11)) as pilot:
        app.view.append(numbered(range(100)))
        app.view.append([LogRow("0%", key="bar", live=True)])
        app.view.follow = False
        app.view.scroll_rows(0)
        await settle(pilot)
        app.sent.clear()
        app.view.append([LogRow("50%", key="bar", live=True)])
        await settle(pilot)
        assert "".join(app.sent) == ""


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (10, 3), (2, 2)])
async def test_small_terminals_are_usable(size: tuple[int, int]) -> None:
    app = Painting()
    async with app.run_test(size=size) as pilot:
        app.view.title = "brave-otter · log"
        app.view.set_sources([(name, True) for name in ("prefect", "driver", "out", "err")])
        app.view.append([LogRow(f"text {n}", "out", f"err {n}", "2026-11-30 13:12:02") for n in range(100)])
        app.view.numbers = True
        app.view.show_numbers(12345)
        await pilot.press("up", "pageup")
        app.view.wrap = True
        await settle(pilot)
        app.view.follow = True
        app.view.times = DATES
        await settle(pilot)
        strips = app.screen._compositor.render_strips()
        assert {cell_len("".join(segment.text for segment in strip)) for strip in strips} == {size[0]}
        if size[0] >= 40:
            assert "text 99" in app.lines()[-1]
            assert "follow" in app.lines()[0]


async def test_plain_text_for_a_pager_is_harmless() -> None:
    app = Painting()
    async with app.run_test(size=(60, 10)):
        app.view.append([LogRow("\x1b[31mred\x1b[0m \x07", "out", "err 1", "13:12:02"), LogRow("b", "err")])
        assert app.view.kept.plain_text() == "13:12:02 err 1 red ␇\nb\n"
