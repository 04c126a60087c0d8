"""What the table and the log pane cost: CPU until painted and bytes to the terminal, at 1,000 to 100,000 rows.

Run with ``-s`` to see the numbers; the limits are several times what a slow machine needs.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from textual._compositor import CompositorUpdate
from textual.app import App, ComposeResult

from slurmtui.sources.files.tail import FileTail
from slurmtui.widgets.log_view import LogRow, LogView
from slurmtui.widgets.virtual_table import Cell, Column, VirtualTable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from textual.pilot import Pilot
    from textual.screen import Screen

pytestmark = pytest.mark.bench

SIZE = (180, 50)
COLUMNS = [Column(f"c{number}", f"COLUMN {number}", 16) for number in range(10)]
STYLES = ("", "running", "waiting", "dim", "failed")


class Counting(App[None]):
    """An app that renders for a terminal and counts the bytes."""

    def __init__(self, widget: VirtualTable | LogView) -> None:
        super().__init__()
        self.widget = widget
        self.sent = 0

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if isinstance(renderable, CompositorUpdate):
            self.sent += len(renderable.render_segments(self.console).encode())
        super()._display(screen, renderable)

    def compose(self) -> ComposeResult:
        yield self.widget


class Rows:
    """Rows as tuples, a style in each cell."""

    def __init__(self, count: int, changed: int | None = None, word: str = "") -> None:
        self.count = count
        self.changed = changed
        self.word = word

    def __len__(self) -> int:
        return self.count

    def key(self, index: int) -> str:
        return str(index)

    def cells(self, index: int) -> Sequence[Cell]:
        word = self.word if self.changed in (None, index) else ""
        return [(f"{index}-{column}{word}", STYLES[column % 5]) for column in range(10)]

    def row_style(self, index: int) -> str | None:
        return "dim" if index < 0 else None

    def index_of(self, key: str) -> int | None:
        return int(key) if int(key) < self.count else None


def tell(line: str) -> None:
    """A measured number, for whoever runs this with ``-s``."""
    sys.stdout.write(f"{line}\n")


async def cost(app: Counting, pilot: Pilot[None], act: Callable[[], Awaitable[None]]) -> tuple[float, float, int]:
    """Milliseconds of CPU in the call, until everything is painted, and bytes."""
    await pilot.pause()
    await pilot.pause()
    before, clock = app.sent, time.process_time()
    await act()
    call = time.process_time() - clock
    await pilot.pause()
    await pilot.pause()
    return call * 1000, (time.process_time() - clock) * 1000, app.sent - before


@pytest.mark.parametrize("count", [1_000, 10_000, 50_000, 100_000])
async def test_table(count: int) -> None:
    table = VirtualTable(COLUMNS)
    app = Counting(table)
    limits = {
        "fill": (20, 120, 60_000), "same again": (5, 20, 0), "all changed": (10, 80, 60_000),
        "off screen": (5, 20, 0), "one on screen": (5, 25, 1_500),
        "down": (20, 25, 3_000), "pagedown": (60, 80, 60_000), "G": (60, 120, 60_000), "g": (60, 80, 60_000),
    }  # fmt: skip
    async with app.run_test(size=SIZE) as pilot:

        def swap(rows: Rows) -> Callable[[], Awaitable[None]]:
            async def act() -> None:
                table.set_source(rows, index_of=rows.index_of)

            return act

        def press(key: str) -> Callable[[], Awaitable[None]]:
            async def act() -> None:
                await pilot.press(key)

            return act

        first = Rows(count)
        steps = {
            "fill": swap(first), "same again": swap(Rows(count)), "all changed": swap(Rows(count, None, "x")),
            "off screen": swap(Rows(count, None, "x")), "one on screen": swap(Rows(count, None, "x")),
        } | {key: press(key) for key in ("down", "pagedown", "G", "g")}  # fmt: skip
        for name, act in steps.items():
            if name == "off screen":
                await swap(Rows(count))()
                act = swap(Rows(count, count - 1, "y"))  # noqa: PLW2901 - the step with its preparation
            elif name == "one on screen":
                act = swap(Rows(count, 5, "y"))  # noqa: PLW2901 - the same
            call, cpu, sent = await cost(app, pilot, act)
            tell(f"table {count:>7,} rows  {name:<14} call {call:6.1f} ms  CPU {cpu:6.1f} ms  {sent:>7,} bytes")
            most_call, most_cpu, most_bytes = limits[name]
            assert call <= most_call, name
            assert cpu <= most_cpu, name
            assert sent <= most_bytes, name


async def test_log_of_five_thousand_lines_a_second(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.touch()
    tail = FileTail(path)
    tail.last_lines(10)
    view = LogView()
    app = Counting(view)
    line = "epoch 3 step {} loss 0.4123 \x1b[32maccuracy\x1b[0m 0.91, 12.1 samples a second on gpu1 of 4\n"
    longest, seconds = 0.0, 4.0
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        started, clock, number = time.perf_counter(), time.process_time(), 0
        writing = 0.0
        while time.perf_counter() - started < seconds:
            before = time.process_time()
            with path.open("a") as stream:
                stream.write("".join(line.format(number + step) for step in range(500)))
            number += 500
            writing += time.process_time() - before
            lines = await asyncio.to_thread(tail.read_new)
            before = time.process_time()
            view.append([LogRow(text.decode(), "out", "out 4711", "13:12:02") for text in lines])
            longest = max(longest, time.process_time() - before)
            await asyncio.sleep(max(0.0, started + number / 5000 - time.perf_counter()))
        await pilot.pause()
        await pilot.pause()
        cpu = (time.process_time() - clock - writing) / (time.perf_counter() - started)
        rate = number / (time.perf_counter() - started)
        shown = app.screen._compositor.render_strips()[-1].text
    tell(f"log {rate:,.0f} lines/s  CPU {cpu:.1%}  longest append {longest * 1000:.1f} ms  {app.sent:,} bytes")
    assert f"step {number - 1} " in shown
    assert cpu < 0.5
    assert longest < 0.1


def test_end_of_a_huge_file(tmp_path: Path) -> None:
    path = tmp_path / "huge.out"
    with path.open("wb") as stream:
        stream.truncate(10 * 1024**3)
        stream.seek(0, 2)
        stream.write(b"\n" + b"".join(b"line %d of a long log\n" % number for number in range(100_000)))
    started = time.perf_counter()
    lines = FileTail(path).last_lines(1000)
    took = (time.perf_counter() - started) * 1000
    tell(f"last 1,000 lines of 10 GB: {took:.2f} ms")
    assert lines[-1] == b"line 99999 of a long log"
    assert took < 50
