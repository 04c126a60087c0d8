"""A pane with a log: real files, written by real writers, and what a person sees of them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from slurmtui.models.config import Config
from slurmtui.views.logs import filling
from slurmtui.views.logs.pane import LogPane
from slurmtui.views.logs.screen import LogsScreen
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from tests.ui.conftest import PaintedApp


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Look often, and remember nothing of the person who runs the tests."""
    monkeypatch.setattr(filling, "SHOWN_SECONDS", 0.05)
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))


def append(path: Path, text: str) -> None:
    with path.open("a") as stream:
        stream.write(text)


def numbered(start: int, end: int) -> str:
    return "".join(f"line {number}\n" for number in range(start, end))


async def opened(pilot: Pilot[Any], *paths: Path, where: str = "below") -> LogPane:
    """The Logs view with these files."""
    app: PaintedApp = pilot.app  # type: ignore[assignment]
    await see(pilot, "brave-otter")
    app.go("logs", f"{where} " + "\n".join(f"file:{path}" for path in paths))
    await until(pilot, lambda: isinstance(app.screen, LogsScreen) and bool(app.screen.query(LogPane)))
    pane = app.screen.query(LogPane).last()
    await until(pilot, lambda: pane.document is not None and pane.has_focus)
    return pane


def texts(pane: LogPane) -> list[str]:
    return [line.text for line in pane.kept.lines]


async def test_opens_at_the_end_follows_and_reads_back_to_the_start(
    make_console: Callable[..., PaintedApp], tmp_path: Path
) -> None:
    path = tmp_path / "job.out"
    append(path, numbered(0, 30_000))
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "line 29999")
        assert len(pane.kept.lines) < 1000, "what is not seen is not read"
        append(path, numbered(30_000, 30_003))
        await see(pilot, "line 30002")
        await pilot.press("g")
        await until(pilot, lambda: pane.shown_lines[0].text == "line 0")
        assert not pane.follow
        for _ in range(60):
            await pilot.press("pagedown")
        await until(pilot, lambda: "line 1000" in texts(pane))
        shown = texts(pane)
        first = int(shown[0].split()[1])
        assert shown == [f"line {number}" for number in range(first, first + len(shown))]
        append(path, numbered(30_003, 30_010))
        await see(pilot, "7 new lines below")
        await pilot.press("G")
        await see(pilot, "line 30009")


async def test_everything_is_seen_going_up_whatever_is_let_go_below(
    make_console: Callable[..., PaintedApp], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "MOST", 500)
    monkeypatch.setattr(filling, "CHUNK", 150)
    path = tmp_path / "job.out"
    append(path, numbered(0, 2_500))
    async with make_console().run_test(size=(100, 40), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "line 2499")
        seen: set[str] = set(pilot.app.screen_text().split("\n"))  # type: ignore[attr-defined]
        while pane.rows_above or not pane.document.window.at_start:  # type: ignore[union-attr]
            await pilot.press("pageup")
            await until(pilot, lambda: pane.rows_above > 0 or pane.document.window.at_start)  # type: ignore[union-attr]
            seen.update(line.text for line in pane.shown_lines)
            assert len(pane.kept.lines) <= 500 + 3 * 150 + 2 * pane.margin
        assert {f"line {number}" for number in range(2_500 - 36)} <= seen
        assert not pane.document.window.at_end  # type: ignore[union-attr]
        while pane.rows_below or not pane.document.window.at_end:  # type: ignore[union-attr]
            await pilot.press("pagedown")
            await until(pilot, lambda: pane.rows_below > 0 or pane.document.window.at_end)  # type: ignore[union-attr]
        assert pane.shown_lines[-1].text == "line 2499"


async def test_line_numbers_lines_and_percentages(make_console: Callable[..., PaintedApp], tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    append(path, numbered(1, 100_001))
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "line 100000")
        await pilot.press("number_sign")
        await see(pilot, "100000 line 100000")
        await pilot.press("ctrl+g", *"54321", "enter")
        await see(pilot, " 54321 line 54321")
        await pilot.press("colon", *"25%", "enter")
        await until(pilot, lambda: "line 25" in pane.cursor.current.text if pane.cursor.current else False)
        await pilot.press("ctrl+g", *"999999", "enter")
        await see(pilot, "has no line 999,999")


async def test_search_goes_beyond_what_is_shown_round_and_counts(
    make_console: Callable[..., PaintedApp], tmp_path: Path
) -> None:
    path = tmp_path / "job.out"
    rows = [f"line {number}" for number in range(60_000)]
    for number in (100, 30_000, 59_990):
        rows[number] = f"Needle {number}"
    append(path, "\n".join(rows) + "\n")
    async with make_console().run_test(size=(120, 30), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "line 59999")
        await pilot.press("slash", *"needle", "enter")
        await see(pilot, "3 of 3")
        assert pane.cursor.current is not None
        assert pane.cursor.current.text == "Needle 59990"
        for wanted in ("Needle 30000", "Needle 100", "Needle 59990"):
            await pilot.press("N")
            await see(pilot, wanted)
            await until(pilot, lambda wanted=wanted: pane.cursor.current.text == wanted)  # type: ignore[misc]
        await pilot.press("n")
        await see(pilot, "Needle 100")
        places = [path.read_text().index(f"Needle {number}") for number in (100, 30_000, 59_990)]
        assert pane.marks == {place * 1024 // path.stat().st_size for place in places}
        await pilot.press("slash", *"XXX", "enter")
        await see(pilot, "not in this log: /needleXXX/")
        await pilot.press("escape")
        assert pane.finding.needle is None
        await pilot.press("slash", *"a(b", "enter")
        await see(pilot, "is no regular expression")


def moved(pane: LogPane, top: int) -> bool:
    return pane.top_row != top


def searches() -> list[str]:
    """The processes that search."""
    found = []
    for one in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # it has just ended
            found.append(" ".join(one.cmdline()))
    return [command for command in found if "slurmtui.sources.files.scan" in command]


async def test_a_long_search_holds_no_key_up_and_can_be_stopped(
    make_console: Callable[..., PaintedApp], tmp_path: Path
) -> None:
    path = tmp_path / "job.out"
    with path.open("wb") as stream:
        stream.write(b"nothing is to be found in any of these lines, which are many\n" * 400_000)
    async with make_console().run_test(size=(120, 30), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "nothing is to be found")
        await pilot.press("slash", *"(.*i){4}.*[0-9]", "enter")  # a fifth of a second for 4,000 of these lines
        await see(pilot, "searching")
        for key in ("up", "up", "down", "pageup") * 3:
            top = pane.top_row
            await pilot.press(key)
            await until(pilot, partial(moved, pane, top))
            assert "searching" in await see(pilot, "searching")
        await pilot.press("escape")
        await see(pilot, "stopped")
        assert pane.finding.needle is not None
        await until(pilot, lambda: not searches())


async def test_an_expression_that_never_ends_is_given_up(
    make_console: Callable[..., PaintedApp], tmp_path: Path
) -> None:
    path = tmp_path / "job.out"
    append(path, "a" * 64 + "b\n" + "".join(f"line {number}\n" for number in range(40)) + "a" * 64 + "b\n")
    endless = "(a|aa)+$"  # it tries some 10 ** 13 ways at the first line and the last
    async with make_console().run_test(size=(120, 30), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "line 39")
        await pilot.press("slash", *endless, "enter")
        await see(pilot, "takes too long for a line")
        await see(pilot, "stopped")
        await pilot.press("g")
        await see(pilot, "line 1")
        await pilot.press("escape", "ampersand", *endless, "enter")
        await until(pilot, lambda: pane.document.window.filter.needle is None)  # type: ignore[union-attr]
        await see(pilot, "line 1")
        append(path, "more\n")
        await pilot.press("G")
        await see(pilot, "more")


async def test_only_matching_lines_then_all_again_at_the_same_place(
    make_console: Callable[..., PaintedApp], tmp_path: Path
) -> None:
    path = tmp_path / "job.out"
    append(path, "".join(f"{'warning' if number % 100 == 0 else 'line'} {number}\n" for number in range(50_000)))
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "line 49999")
        await pilot.press("ampersand", *"warning", "enter")
        await see(pilot, "warning 49900")
        assert "only /warning/" in await see(pilot, "warning 48000")
        append(path, "line 50000\nwarning 50001\n")
        await see(pilot, "warning 50001")
        assert "line 50000" not in texts(pane)
        await pilot.press("g")
        await see(pilot, "warning 0")
        assert {text.split()[0] for text in texts(pane)} == {"warning"}
        await pilot.press("ampersand", *["backspace"] * 7, "enter")
        await until(pilot, lambda: "line 1" in texts(pane))
        await pilot.press("ampersand", *"no such", "enter")
        await see(pilot, "No line of this log is wanted")


def dask(number: int) -> str:
    return f"2026-03-14 11:00:{number:02},123 - distributed.worker - INFO - of dask {number}\n"


async def test_dasks_own_lines_are_hidden_counted_and_shown_by_a_key(
    make_console: Callable[..., PaintedApp], tmp_path: Path
) -> None:
    path = tmp_path / "job.err"
    append(path, "".join(dask(number) for number in range(20)))
    async with make_console().run_test(size=(120, 50), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "Nothing of your own yet: 20 lines of Dask's own hidden, a shows them.")
        append(path, "mine 1\n" + dask(20) + "mine 2\n")
        await see(pilot, "21 lines of Dask's own hidden, a shows them", "mine 2")
        assert texts(pane) == ["mine 1", "mine 2"]
        await pilot.press("a")
        await see(pilot, "of dask 20")
        assert texts(pane) == path.read_text().splitlines()
        assert "hidden" not in pilot.app.screen_text()  # type: ignore[attr-defined]
        assert pane.kept.lines[0].row.style == "dim"
        await pilot.press("e")
        await see(pilot, "■ dask")
        await pilot.press("down", "space", "escape")
        await until(pilot, lambda: texts(pane) == ["mine 1", "mine 2"])
        await pilot.press("g", "slash", *"of dask", "enter")
        await see(pilot, "not in the lines of this log that are shown")


async def test_keys_that_can_do_nothing_say_why(make_console: Callable[..., PaintedApp], tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    append(path, "short\n")
    async with make_console().run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, path)
        await see(pilot, "short")
        for key, words in {
            "t": "tells when it was written", "z": "no traceback here", "right": "No line on screen goes on",
            "n": "Nothing is sought", "a": "None of Dask's own", "T": "only its own", "v": "one pane only",
            "plus": "it has the whole room", "tab": "There is one pane only",
        }.items():  # fmt: skip
            await pilot.press(key)
            await see(pilot, words)
        await pilot.press("w", "right")
        await see(pilot, "Long lines are broken here")
        await pilot.press("x")
        await see(pilot, "No log is open here.", "| and - ask for one")
        await pilot.press("f")
        await see(pilot, "There is no log in this pane")


ERRORS = (
    'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: first\n',
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n",
    "slurmstepd: error: Detected 1 oom_kill event in StepId=4690.batch. Some of the step tasks have been OOM Killed.\n",
    "srun: error: n1: task 0: Exited with exit code 1\n",
    "n1:77:99 [0] NCCL WARN Call to connect returned Connection timed out\n",
    "./a.out: line 7: 4242 Segmentation fault (core dumped) ./solve\n",
    "cp: error writing 'x': Disk quota exceeded\n",
    "ModuleNotFoundError: No module named 'torch'\n",
)


async def test_last_error_and_back_through_those_before(
    make_console: Callable[..., PaintedApp], tmp_path: Path
) -> None:
    path = tmp_path / "job.err"
    for number, error in enumerate(ERRORS):
        append(path, f"NCCL INFO fine {number}\n" * 3_000 + error)
    append(path, "done, 0 errors, error rate 0.1\n" * 2_000)
    async with make_console().run_test(size=(140, 30), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "done")
        for error in reversed(ERRORS):
            await pilot.press("exclamation_mark")
            wanted = error.split("\n")[0]
            await until(
                pilot,
                lambda wanted=wanted: pane.cursor.current is not None and pane.cursor.current.text == wanted,  # type: ignore[misc]
            )
        await pilot.press("z")
        await see(pilot, "▸ traceback, 3 lines: ValueError: first")


@pytest.mark.parametrize("keys", [(), ("a",)])
async def test_the_last_error_is_not_what_dask_logs_when_it_is_shut_down(
    make_console: Callable[..., PaintedApp], tmp_path: Path, keys: tuple[str, ...]
) -> None:
    path = tmp_path / "13.err"
    append(path, (Path(__file__).parent.parent / "data" / "dask" / "failed_task.err").read_text())
    async with make_console().run_test(size=(140, 30), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "Finished in state Failed")
        await pilot.press(*keys)
        await until(pilot, lambda: any("TCPListener" in text for text in texts(pane)) is bool(keys))
        await pilot.press("exclamation_mark")
        await until(
            pilot,
            lambda: pane.cursor.current is not None and "Finished in state Failed" in pane.cursor.current.text,
        )
        await see(pilot, "failures 3 of 3")


LOGROTATE = """
import os, sys, time
path, kind = sys.argv[1], sys.argv[2]
stream = open(path, "a")
for number in range(3000):
    stream.write(f"line {number}\\n")
    stream.flush()
    if number % 700 == 600:  # until whoever reads has this file: its rest is read when it is gone
        while not os.path.exists(f"{path}.seen.{number}"):
            time.sleep(0.01)
    if number % 700 == 699:
        if kind == "move":
            os.rename(path, f"{path}.{number}"); stream.close(); stream = open(path, "a")
        elif kind == "remove":
            os.unlink(path); stream.close(); time.sleep(0.2); stream = open(path, "a")
    if number % 100 == 0:
        time.sleep(0.02)
"""


@pytest.mark.parametrize("kind", ["plain", "move", "remove"])
async def test_what_a_writer_wrote_is_what_is_seen_each_line_once(
    make_console: Callable[..., PaintedApp], tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "job.out"
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "is not there yet")
        writer = await asyncio.create_subprocess_exec(sys.executable, "-c", LOGROTATE, str(path), kind)
        for number in (600, 1300, 2000, 2700):
            await until(pilot, partial(holds, pane, f"line {number}"))
            append(Path(f"{path}.seen.{number}"), "")
        await until(pilot, partial(holds, pane, "line 2999"))
        await writer.wait()
        shown = [text for text in texts(pane) if text.startswith("line ")]
        first = int(shown[0].split()[1])
        assert shown == [f"line {number}" for number in range(first, 3000)]
        assert len(shown) >= 1900


def holds(pane: LogPane, text: str) -> bool:
    return text in texts(pane)


async def test_copytruncate_and_a_job_that_begins_anew(make_console: Callable[..., PaintedApp], tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    append(path, numbered(0, 50))
    async with make_console().run_test(size=(100, 60), notifications=True) as pilot:
        pane = await opened(pilot, path)
        await see(pilot, "line 49")
        subprocess.run(["cp", str(path), str(path) + ".1"], check=True)  # noqa: ASYNC221 - the writer of this test
        os.truncate(path, 0)
        append(path, "life 2 begins\n")
        await see(pilot, "life 2 begins")
        assert [text for text in texts(pane) if "emptied" not in text] == [
            *(f"line {number}" for number in range(50)), "life 2 begins",
        ]  # fmt: skip
        assert "begins anew" in pilot.app.screen_text()  # type: ignore[attr-defined]


async def test_tee_with_bars_colours_and_rubbish(make_console: Callable[..., PaintedApp], tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    script = tmp_path / "writer.sh"
    script.write_text(
        "{ printf '\\r33%%'; printf '\\r66%%'; "
        f"until [ -e {tmp_path}/seen ]; do sleep 0.05; done; printf '\\r99%%';"
        " printf '\\n\\033[31mred\\033[0m \\033]52;c;eA==\\007\\n';"
        f" printf 'bad \\377\\000 end\\n'; }} | tee {path} >/dev/null\n"
    )
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await opened(pilot, path)
        process = await asyncio.create_subprocess_exec("sh", str(script))
        await see(pilot, "66%")
        append(tmp_path / "seen", "")
        await process.wait()
        text = await see(pilot, "bad � end".replace(" end", "␀ end"))
        assert "99%" in text
        assert "33%" not in text
        assert "red ␛]52;c;eA==␇" in text


async def test_copy_save_and_hand_over(
    make_console: Callable[..., PaintedApp], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "job.out"
    append(path, numbered(0, 2_000))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGER", sys.executable)
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        app: PaintedApp = pilot.app  # type: ignore[assignment]
        pane = await opened(pilot, path)
        await see(pilot, "line 1999")
        await pilot.press("m", "up", "up", "y")
        await see(pilot, "3 lines sent to the terminal")
        assert (tmp_path / "state" / "copied.txt").read_text() == numbered(1997, 2000)
        await pilot.press("s", "ctrl+u", *"whole.txt", "enter")
        await see(pilot, "2,000 lines saved")
        assert (tmp_path / "whole.txt").read_text() == path.read_text()
        await pilot.press("s", "ctrl+u", *"whole.txt", "enter")
        await until(pilot, lambda: any("is there already" in one.message for one in app._notifications))
        asked: list[Any] = []

        async def in_terminal(argv: list[str], otherwise: list[str]) -> None:
            asked.append(argv)
            assert otherwise

        monkeypatch.setattr(app.dialogs, "in_terminal", in_terminal)
        await pilot.press("ctrl+g", *"1000", "enter")
        await until(pilot, lambda: pane.cursor.current is not None and pane.cursor.current.text == "line 999")
        await pilot.press("p")
        await until(pilot, lambda: bool(asked))
        assert asked == [[sys.executable, str(path)]]
        await pilot.press("i")
        await see(pilot, "path sent to the terminal")


async def test_long_line_is_cut_wrapped_and_shown_whole(
    make_console: Callable[..., PaintedApp], tmp_path: Path
) -> None:
    path = tmp_path / "job.out"
    append(path, "short\n" + " ".join(f"word{number}" for number in range(100)) + "\nlast\n")
    async with make_console().run_test(size=(80, 30), notifications=True) as pilot:
        await opened(pilot, path)
        text = await see(pilot, "word0")
        assert "…" in text
        assert "word99" not in text
        await pilot.press("w")
        await see(pilot, "word99")
        await pilot.press("w", "m", "up", "enter")
        await see(pilot, "word99")
        await pilot.press("escape", "escape")


async def test_panes_beside_and_below_closed_sized_and_remembered(
    make_console: Callable[..., PaintedApp], tmp_path: Path
) -> None:
    paths = [tmp_path / f"{name}.out" for name in "abc"]
    for path in paths:
        append(path, f"from {path.stem}\n")
    async with make_console().run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, paths[0])
        await pilot.press("vertical_line", *str(paths[1]), "enter")
        await see(pilot, "from b")
        await pilot.press("minus", *str(paths[2]), "enter")
        text = await see(pilot, "from c")
        assert all(f"from {name}" in text for name in "abc")
        line = next(line for line in text.splitlines() if "a.out" in line)
        assert "b.out" in line, "beside each other"
        heights = {pane.name: pane.size.height for pane in pilot.app.screen.query(LogPane)}
        await pilot.press("plus")
        grown = next(pane for pane in pilot.app.screen.query(LogPane) if pane.name == f"file:{paths[2]}")
        await until(pilot, lambda: grown.size.height > heights[grown.name])
        await pilot.press("v")
        await until(pilot, lambda: "from a" not in pilot.app.screen_text())  # type: ignore[attr-defined]
        await pilot.press("v", "tab", "x")
        await until(pilot, lambda: "2 panes" in pilot.app.screen_text())  # type: ignore[attr-defined]
        await until(pilot, lambda: len(pilot.app.screen.query(LogPane)) == 2)
        left = {pane.name for pane in pilot.app.screen.query(LogPane)}
    async with make_console().run_test(size=(120, 40), notifications=True) as pilot:
        await see(pilot, "2 panes")  # it opens with the view that was left
        await until(pilot, lambda: {pane.name for pane in pilot.app.screen.query(LogPane)} == left)


async def test_marked_runs_are_opened_all_at_once(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(120, 40), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("space", "space", "l")
        text = await see(pilot, "2 panes")
        assert "brave-otter · log" in text
        assert "amber-wolf · log" in text


async def test_keys_and_help_are_those_of_the_log_that_has_the_focus(make_console: Callable[..., PaintedApp]) -> None:
    async with make_console().run_test(size=(140, 60), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("l")
        text = await see(pilot, "brave-otter · log", "/ find")
        assert "X cancel" not in text.splitlines()[-1]
        await pilot.press("T")
        await see(pilot, "only its own")
        await pilot.press("number_sign")
        await see(pilot, "Lines have numbers")
        await pilot.press("tab")
        await see(pilot, "X cancel")


async def test_a_key_of_ones_own_chooses_the_lines_with_the_list_as_with_the_log(
    make_console: Callable[..., PaintedApp],
) -> None:
    console = make_console()
    console.session.config = Config(keys={"log.sources": "u"})
    async with console.run_test(size=(140, 60), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("u")
        await see(pilot, "This chooses the lines of a log: l opens one")
        await pilot.press("l")
        await see(pilot, "brave-otter · log", "u lines of")
        await pilot.press("u")
        await see(pilot, "■ prefect")
        await pilot.press("escape", "tab")
        await see(pilot, "X cancel", "u lines of")
        await pilot.press("u")
        await see(pilot, "■ prefect")
