"""The table as a person sees it: what stands on which line, what follows the cursor, and what is painted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyte
import pytest
from rich.cells import cell_len
from textual import events, on
from textual._compositor import CompositorUpdate
from textual.app import App, ComposeResult

from slurmtui.widgets.narrow import narrow
from slurmtui.widgets.virtual_table import Cell, Column, VirtualTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.pilot import Pilot
    from textual.screen import Screen

COLUMNS = (
    Column("id", "JOB", 6, align="right"),
    Column("name", "NAME", cut="middle"),
    Column("state", "STATE", 10, priority=50),
    Column("why", "WHY", weight=2, min_width=14, priority=10),
)


class Rows:
    """Rows as a view would give them, counting how often it is asked."""

    def __init__(self, rows: Iterable[Sequence[Cell]]) -> None:
        self.rows = list(rows)
        self.index = {str(row[0]): number for number, row in enumerate(self.rows)}
        self.asked: list[int] = []

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> str:
        return str(self.rows[index][0])

    def cells(self, index: int) -> Sequence[Cell]:
        self.asked.append(index)
        return self.rows[index]

    def row_style(self, index: int) -> str | None:
        return None if index >= 0 else "dim"


def jobs(numbers: Iterable[int], state: str = "RUNNING", **changed: str) -> Rows:
    return Rows(
        (str(number), f"train-{number}", (changed.get(f"job{number}", state), "running"), "Priority")
        for number in numbers
    )


class Painting(App[None]):
    """An app that keeps what it would have sent to the terminal, as the console sends it."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self.told: list[tuple[str, str]] = []

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        renderable = narrow(renderable)
        if isinstance(renderable, CompositorUpdate):
            self.sent.append(renderable.render_segments(self.console))
        super()._display(screen, renderable)

    @property
    def sent_bytes(self) -> int:
        return len("".join(self.sent).encode())

    def compose(self) -> ComposeResult:
        yield VirtualTable(COLUMNS, empty_text="No jobs here. Press N to submit one.")

    @property
    def table(self) -> VirtualTable:
        return self.query_one(VirtualTable)

    def give(self, rows: Rows) -> Rows:
        self.table.set_source(rows, index_of=rows.index.get)
        return rows

    @on(VirtualTable.TableMessage)
    def keep(self, message: VirtualTable.TableMessage) -> None:
        self.told.append((type(message).__name__, message.key))

    def screen_lines(self) -> list[str]:
        return ["".join(segment.text for segment in strip) for strip in self.screen._compositor.render_strips()]


def line_with(app: Painting, text: str) -> int:
    found = [number for number, line in enumerate(app.screen_lines()) if text in line]
    assert len(found) == 1, f"{text!r} stands on lines {found}"
    return found[0]


async def settle(pilot: Pilot[None]) -> None:
    """Until everything that was asked for has been painted."""
    await pilot.pause()
    await pilot.pause()


async def test_cursor_follows_its_row_through_a_new_order() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(100)))
        app.table.move_to("4")
        await settle(pilot)
        app.give(jobs([50, 4, *range(5, 50), *range(4), *range(51, 100)]))
        await settle(pilot)
        assert app.table.cursor_key == "4"
        assert app.table.cursor_index == 1
        assert "train-4" in app.screen_lines()[2]
        await pilot.press("enter")
        assert app.told[-1] == ("RowChosen", "4")


async def test_cursor_row_keeps_its_line_of_the_screen_when_rows_come_above() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(100, 200)))
        app.table.move_to("150")
        await pilot.press("up", "up")
        await settle(pilot)
        before = line_with(app, "train-148")
        app.give(jobs([*range(40), *range(100, 200)]))
        await settle(pilot)
        assert line_with(app, "train-148") == before
        assert app.table.cursor_key == "148"


async def test_list_at_its_top_shows_new_rows() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(10, 50)))
        await settle(pilot)
        app.give(jobs([9, *range(10, 50)]))
        await settle(pilot)
        assert line_with(app, "train-9 ") == 1
        assert app.table.cursor_key == "10"


async def test_view_scrolled_away_from_the_cursor_stays_where_the_person_looks() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(100, 200)))
        await settle(pilot)
        app.table.scroll_rows(50)
        await settle(pilot)
        assert line_with(app, "train-150") == 1
        app.give(jobs([*range(20), *range(100, 200)]))
        await settle(pilot)
        assert line_with(app, "train-150") == 1
        assert app.table.cursor_key == "100"


async def test_vanished_row_leaves_the_cursor_on_the_neighbour_and_is_told() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(10)))
        app.table.move_to("5")
        await settle(pilot)
        app.give(jobs(number for number in range(10) if number != 5))
        await settle(pilot)
        assert app.table.cursor_key == "6"
        assert app.told[-1] == ("CursorMoved", "6")
        app.give(jobs([]))
        await settle(pilot)
        assert app.table.cursor_key is None
        assert app.table.cursor_index == -1


async def test_enter_on_an_empty_table_chooses_nothing() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.press("enter", "down", "G", "pagedown", "up")
        assert {name for name, _ in app.told} == {"Steered"}
        assert any("No jobs here. Press N to submit one." in line for line in app.screen_lines())


async def test_marks_survive_a_swap_and_are_listed_in_the_order_of_the_rows() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(8)))
        app.table.marks = frozenset({"1", "6", "7"})
        await settle(pilot)
        app.give(jobs([6, 5, 4, 3, 2, 1, 0]))
        await settle(pilot)
        marked = [line for line in app.screen_lines() if line.startswith("●")]
        assert [line.split()[1] for line in marked] == ["6", "1"]
        assert app.table.marks_shown() == ["6", "1"]
        assert app.table.marks == {"1", "6", "7"}


async def test_change_off_screen_sends_nothing_to_the_terminal() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(1000)))
        await settle(pilot)
        app.sent.clear()
        app.give(jobs(range(1000), job500="FAILED"))
        await settle(pilot)
        assert app.sent_bytes == 0


async def test_change_on_screen_paints_that_line_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(1000)))
        await settle(pilot)
        rendered: list[int] = []
        line_strip = VirtualTable.line_strip

        def spy(table: VirtualTable, facts: Any, line: int, width: int) -> Any:
            rendered.append(line)
            return line_strip(table, facts, line, width)

        monkeypatch.setattr(VirtualTable, "line_strip", spy)
        app.sent.clear()
        app.give(jobs(range(1000), job3="FAILED"))
        await settle(pilot)
        assert rendered == [4]
        assert "FAILED" in app.screen_lines()[4]
        assert 0 < app.sent_bytes < 600


async def test_source_is_asked_for_rows_on_screen_only() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        rows = app.give(jobs(range(100_000)))
        await settle(pilot)
        await pilot.press("G", "g", "down", "pagedown")
        await settle(pilot)
        assert len(rows.asked) == len(set(rows.asked)) <= 60


async def test_moving_the_cursor_paints_two_lines() -> None:
    app = Painting()
    async with app.run_test(size=(120, 40)) as pilot:
        app.give(jobs(range(1000)))
        await settle(pilot)
        app.sent.clear()
        await pilot.press("down")
        await settle(pilot)
        assert app.table.cursor_key == "1"
        assert 0 < app.sent_bytes < 1500


@pytest.mark.parametrize(
    "name",
    [
        "x[/red]",
        "[b",
        "[red]x[/]",
        "a\x1b[31mb",
        "日本語の仕事",
        "👨‍👩‍👧 job",
        "a\nb\tc\x00",
        "x\x9b31m",
        "e\u0301\u202eevil",
        "\udcff",
    ],
)
async def test_hostile_names_are_shown_harmless_and_aligned(name: str) -> None:
    app = Painting()
    async with app.run_test(size=(60, 6)) as pilot:
        app.give(Rows([("1", name, "RUNNING", "why"), ("2", "plain", "RUNNING", "why")]))
        await settle(pilot)
        lines = app.screen_lines()
        assert cell_len(lines[1].split("RUNNING")[0]) == cell_len(lines[2].split("RUNNING")[0])
        text = lines[1]
        assert not any(character < " " or "\x7f" <= character < "\xa0" for character in text)
        assert "\u202e" not in text
        if name.isascii() and name.isprintable():
            assert name in text
        text.encode()


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (10, 3), (3, 2)])
async def test_small_terminals_show_the_important_columns(size: tuple[int, int]) -> None:
    app = Painting()
    async with app.run_test(size=size) as pilot:
        app.give(jobs(range(1000)))
        await pilot.press("down", "G", "up", "pageup")
        await settle(pilot)
        lines = app.screen_lines()
        assert all(cell_len(line) == size[0] for line in lines)
        if size[0] >= 40:
            assert "train-" in lines[1]
            assert "RUNNING" in lines[1]
        assert ("WHY" in lines[0]) == (size[0] >= 80)


async def test_keys_move_and_scroll() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(100)))
        for keys, expected in [
            ("down", "1"), ("j", "2"), ("k", "1"), ("up", "0"), ("up", "0"), ("end", "99"), ("down", "99"),
            ("home", "0"), ("G", "99"), ("g", "0"), ("pagedown", "10"), ("ctrl+f", "20"),
            ("ctrl+u", "10"), ("pageup", "0"),
        ]:  # fmt: skip
            await pilot.press(keys)
            assert app.table.cursor_key == expected, keys
            await settle(pilot)
            line_with(app, f"train-{expected} ")


async def test_keymap_changes_the_keys() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.set_keymap({"table.down": "n", "table.choose": "o"})
        app.give(jobs(range(100)))
        await pilot.press("n", "o")
        assert app.told[-1] == ("RowChosen", "1")


async def test_click_moves_and_a_second_click_chooses() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(100)))
        await settle(pilot)
        await pilot.click(VirtualTable, offset=(20, 4))
        assert app.table.cursor_key == "3"
        assert ("RowChosen", "3") not in app.told
        await pilot.click(VirtualTable, offset=(20, 4))
        assert app.told[-1] == ("RowChosen", "3")


async def test_heading_says_what_the_rows_are_sorted_by() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.set_columns(COLUMNS, ("state", True))
        await settle(pilot)
        assert "STATE▾" in app.screen_lines()[0]
        app.table.set_columns(COLUMNS, ("id", False))
        await settle(pilot)
        assert "JOB▴" in app.screen_lines()[0]
        assert "STATE▾" not in app.screen_lines()[0]


def colours_of(app: Painting, line: int, text: str) -> set[str]:
    strip = app.screen._compositor.render_strips()[line]
    return {str(segment.style.color) for segment in strip if segment.style and text in segment.text}


async def test_old_data_look_different_and_so_does_another_theme() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(100)))
        await settle(pilot)
        fresh = colours_of(app, 3, "RUNNING")
        app.table.dimmed = True
        await settle(pilot)
        old = colours_of(app, 3, "RUNNING")
        assert len(old) == len(fresh) == 1
        assert old != fresh
        app.table.dimmed = False
        app.theme = "dracula"
        await settle(pilot)
        assert colours_of(app, 3, "RUNNING") not in (old, fresh)


async def test_cursor_shows_whether_the_table_has_the_focus() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(100)))
        await settle(pilot)
        focused = app.screen._compositor.render_strips()[1]
        app.set_focus(None)
        await settle(pilot)
        assert app.screen._compositor.render_strips()[1] != focused


async def test_rows_given_before_the_first_layout_are_shown() -> None:
    class Early(Painting):
        def compose(self) -> ComposeResult:
            table = VirtualTable(COLUMNS)
            rows = jobs(range(30))
            table.set_source(rows, index_of=rows.index.get)
            table.move_to("25")
            yield table

    app = Early()
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        line_with(app, "train-25")


async def test_resize_keeps_the_cursor_in_view() -> None:
    app = Painting()
    async with app.run_test(size=(80, 24)) as pilot:
        app.give(jobs(range(100)))
        app.table.move_to("20")
        await settle(pilot)
        await pilot.resize_terminal(60, 8)
        await settle(pilot)
        line_with(app, "train-20")


async def test_shrinking_list_scrolls_back() -> None:
    app = Painting()
    async with app.run_test(size=(80, 12)) as pilot:
        app.give(jobs(range(100)))
        await pilot.press("G")
        await settle(pilot)
        app.give(jobs(range(3)))
        await settle(pilot)
        assert line_with(app, "train-0 ") == 1
        assert app.table.cursor_key == "2"


async def test_a_time_that_ticks_sends_that_time_alone() -> None:
    def ticking(minutes: int) -> Rows:
        return Rows((str(number), f"train-{number}", (f"{minutes}m", ""), "x" * 60) for number in range(5))

    app = Painting()
    async with app.run_test(size=(160, 12)) as pilot:
        app.give(ticking(5))
        await settle(pilot)
        app.sent.clear()
        app.give(ticking(6))
        await settle(pilot)
        assert "6m" in app.screen_lines()[5]
        sent = "".join(app.sent)
        assert "6m" in sent
        assert "xxx" not in sent
        assert "train-3" not in sent
        assert app.sent_bytes < 5 * 60
        app.give(jobs(range(5)))
        await settle(pilot)
        assert "Priority" in app.screen_lines()[5]


async def test_what_is_sent_in_parts_makes_the_whole_picture() -> None:
    """Also beside characters that are two cells wide, which no part may halve."""
    terminal = pyte.Screen(100, 12)
    stream = pyte.Stream(terminal)
    app = Painting()
    async with app.run_test(size=(100, 12)) as pilot:
        for step in range(12):
            rows = [(str(n), f"名前{'x' * (step % 3)}-{n}", (f"{step * n}m", ""), "名" * (step % 5)) for n in range(20)]
            app.give(Rows(rows))
            await pilot.press("down" if step % 2 else "pagedown")
            await settle(pilot)
            stream.feed("".join(app.sent))
            app.sent.clear()
            shown = [line.replace("\0", "") for line in app.screen_lines()]
            assert [line.rstrip() for line in terminal.display] == [line.rstrip() for line in shown]


async def test_what_moves_the_focus_or_marks_a_row_paints_that_row_alone() -> None:
    app = Painting()
    async with app.run_test(size=(120, 40)) as pilot:
        app.give(jobs(range(1000)))
        await settle(pilot)
        app.sent.clear()
        app.table.marks = frozenset({"3"})
        app.table.empty_text = "another sentence, not to be seen now"
        await settle(pilot)
        assert 0 < app.sent_bytes < 900
        app.sent.clear()
        app.table.on_blur(events.Blur())
        await settle(pilot)
        assert app.table.has_focus is False
        assert 0 < app.sent_bytes < 900


def thumb(app: Painting) -> list[int]:
    """The lines on which the thumb of the scroll bar stands."""
    styles = [next(iter(strip.crop(79, 80))).style for strip in app.screen._compositor.render_strips()]
    track = app.table.get_component_rich_style("virtual-table--track").bgcolor
    return [line for line, style in enumerate(styles) if style is not None and style.bgcolor != track]


async def test_the_scroll_bar_shows_the_place_and_sends_only_the_cells_that_move() -> None:
    app = Painting()
    async with app.run_test(size=(80, 21)) as pilot:
        app.give(jobs(range(1000)))
        await settle(pilot)
        assert thumb(app) == [0]
        app.sent.clear()
        app.give(jobs(range(1100)))  # longer, and yet the bar looks the same
        await pilot.press("pagedown")
        await settle(pilot)
        assert thumb(app) == [0]
        assert ";80H" not in "".join(app.sent)
        await pilot.press("G")
        await settle(pilot)
        assert thumb(app) == [20]
        app.sent.clear()
        await pilot.press("g")
        await settle(pilot)
        assert thumb(app) == [0]
        assert "".join(app.sent).count(";80H") == 2
