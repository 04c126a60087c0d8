"""Moving in a log of any size: whatever one does, what is shown is a part of the whole without a gap or a double."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmtui.errors import PrefectUnreachable
from slurmtui.models.flow_run import LogLine
from slurmtui.sources.files.needle import Needle
from slurmtui.store import log_document
from slurmtui.store.log_document import LogDocument
from slurmtui.store.log_entry import note
from slurmtui.store.log_files import FileLines
from slurmtui.store.log_filter import LogFilter
from slurmtui.store.log_finding import Finder
from slurmtui.store.log_live import Spot, spot_of
from slurmtui.store.log_merge import Found
from slurmtui.store.log_prefect import PrefectLines

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from slurmtui.store.snapshot import Snapshot

START = 1_790_000_000.0


class Files:
    """Files that are followed."""

    def __init__(self, *paths: Path, prefect: PrefectLines | None = None, raw: bool = False) -> None:
        self.files = [FileLines(path, "out", path.stem, raw=raw) for path in paths]
        self.prefect = prefect
        self.notes: list[Found] = []
        self.why_empty = ""
        self._started = False

    def begin_at_end(self) -> None:
        """It does."""

    def update(self, snapshot: Snapshot) -> None:
        """Nothing to know."""

    async def gather(self) -> list[Found]:
        first, self._started = not self._started, True
        found = [] if self.prefect is None else await self.prefect.read()
        for lines in self.files:
            found += lines.last(0) if first else lines.new(1)
        return found

    def close(self) -> None:
        for lines in self.files:
            lines.tail.close()


def stamped(moment: float, text: str) -> str:
    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d %H:%M:%S.%f} {text}\n"


def texts(found: list[Found]) -> list[str]:
    return [one.entry.text.split(" ", 2)[-1] for one in found]


def write(path: Path, text: str) -> None:
    with path.open("a") as stream:
        stream.write(text)


async def opened(live: Files, count: int = 10) -> tuple[LogDocument, list[Found]]:
    document = LogDocument(live, "test")
    return document, await document.to_end(count)


@pytest.fixture
def three(tmp_path: Path) -> tuple[list[Path], list[str]]:
    """Three files with 900 lines in turn, and what the whole is."""
    paths = [tmp_path / f"{number}.out" for number in range(3)]
    whole = []
    for number in range(900):
        text = f"line {number}"
        write(paths[number % 3 if number % 7 else 0], stamped(START + number, text))
        whole.append(text)
    return paths, whole


async def test_end_then_older_lines_up_to_the_first(three: tuple[list[Path], list[str]]) -> None:
    paths, whole = three
    document, window = await opened(Files(*paths), 50)
    assert texts(window) == whole[-50:]
    while not document.window.at_start:
        window[:0] = await document.older(70)
        assert texts(window) == whole[-len(window) :]
    assert len(window) == 900


async def test_start_then_newer_lines_and_on_with_what_is_written(three: tuple[list[Path], list[str]]) -> None:
    paths, whole = three
    document, _ = await opened(Files(*paths))
    window = await document.to_start(50)
    assert document.window.at_end is False
    while not document.window.at_end:
        window += await document.newer(100)
    assert texts(window) == whole
    write(paths[1], stamped(START + 1000, "new"))
    news = await document.look(10, following=True)
    assert texts(news.found) == ["new"]
    assert not news.reset


class Wanderer:
    """Moves about in a log of growing files, and looks after each step whether what it sees is a part of the whole."""

    def __init__(self, paths: list[Path], chance: random.Random) -> None:
        self.paths = paths
        self.chance = chance
        self.whole: list[str] = []
        self.seen = 0  # so many lines had been written at the last look
        self.window: list[Found] = []
        self.document = LogDocument(Files(*paths), "test")

    def grow(self) -> None:
        for _ in range(self.chance.randint(1, 40)):
            number = len(self.whole)
            write(self.chance.choice(self.paths), stamped(START + number, f"line {number}"))
            self.whole.append(f"line {number}")

    async def older(self) -> None:
        self.window[:0] = await self.document.older(self.chance.randint(1, 60))

    async def newer(self) -> None:
        self.window += await self.document.newer(self.chance.randint(1, 60))

    async def look(self) -> None:
        self.window += (await self.document.look(20, following=False)).found
        self.seen = len(self.whole)

    async def write(self) -> None:
        self.grow()

    async def drop_old(self) -> None:
        count = self.chance.randint(0, len(self.window))
        self.document.let_go_oldest(self.window[:count], self.window[count:])
        del self.window[:count]

    async def drop_new(self) -> None:
        count = self.chance.randint(0, len(self.window))
        rest = len(self.window) - count
        self.document.let_go_newest(self.window[rest:], self.window[:rest])
        del self.window[rest:]

    async def end(self) -> None:
        self.window = await self.document.to_end(20)

    async def start(self) -> None:
        self.window = await self.document.to_start(20)

    async def spot(self) -> None:
        number = self.chance.randint(0, len(self.whole))
        self.window, index = await self.document.to_spot(Spot(START + number), 10, 10)
        if number < self.seen:
            assert texts(self.window)[index] == f"line {number}"

    async def step(self) -> None:
        steps = (
            self.older, self.newer, self.look, self.write, self.drop_old, self.drop_new, self.end, self.start,
            self.spot,
        )  # fmt: skip
        taken = self.chance.choice(steps)
        await taken()
        if self.window:
            shown = texts(self.window)
            first = self.whole.index(shown[0])
            assert shown == self.whole[first : first + len(shown)], taken

    async def see_everything(self) -> None:
        await self.look()
        while not self.document.window.at_end:
            await self.newer()
        await self.look()
        while not self.document.window.at_start:
            await self.older()


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
async def test_any_way_of_moving_leaves_neither_gap_nor_double(
    tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    paths = [folder / f"{number}.out" for number in range(chance.randint(1, 3))]
    for path in paths:
        path.touch()
    wanderer = Wanderer(paths, chance)
    for _ in range(chance.randint(0, 5)):
        wanderer.grow()
    await wanderer.end()
    for _ in range(25):
        await wanderer.step()
    await wanderer.see_everything()
    assert texts(wanderer.window) == wanderer.whole
    wanderer.document.close()


async def test_flood_is_jumped_over_while_following_and_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    write(path, "begin\n")
    document, window = await opened(Files(path, raw=True), 10)
    write(path, "".join(f"flood {number} {'x' * 80}\n" for number in range(20_000)))
    news = await document.look(10, following=True)
    assert news.reset
    assert news.found[-1].entry.text.startswith("flood 19999")
    assert len(news.found) == 10
    window = news.found
    while not document.window.at_start:
        window[:0] = await document.older(5_000)
    assert [one.entry.text.split(" x")[0] for one in window] == ["begin", *(f"flood {n}" for n in range(20_000))]


async def test_flood_while_one_reads_above_is_counted_and_waits(tmp_path: Path) -> None:
    path, other = tmp_path / "job.out", tmp_path / "job.err"
    write(path, stamped(START, "begin"))
    other.touch()
    document, window = await opened(Files(path, other), 10)
    now = time.time()
    write(other, stamped(now - 5, "from the other"))
    write(path, "".join(stamped(now, f"flood {number}") for number in range(20_000)))
    news = await document.look(10, following=False)
    assert news.found == []
    assert not document.window.at_end
    assert document.unseen == 20_001
    while not document.window.at_end:
        window += await document.newer(5_000)
    assert texts(window)[0] == "begin"
    assert sorted(texts(window)[1:]) == sorted(["from the other", *(f"flood {n}" for n in range(20_000))])
    assert document.unseen == 0


async def test_only_what_is_wanted_is_in_the_window(three: tuple[list[Path], list[str]]) -> None:
    paths, whole = three
    document, _ = await opened(Files(*paths))
    await document.choose(LogFilter(needle=Needle("line .*7$")))
    window = await document.to_end(20)
    while not document.window.at_start:
        window[:0] = await document.older(20)
    assert texts(window) == [text for text in whole if text.endswith("7")]
    write(paths[0], stamped(START + 2000, "line 8") + stamped(START + 2001, "line 97"))
    assert texts((await document.look(10, following=True)).found) == ["line 97"]
    await document.choose(LogFilter())
    spot = spot_of(window[10])
    window, index = await document.to_spot(spot, 5, 5)
    assert texts(window)[index] == "line 107"
    assert texts(window) == [f"line {number}" for number in range(102, 112)]


async def test_emptied_file_ends_what_can_be_read_back(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    write(path, "".join(f"old {number}\n" for number in range(100)))
    document, window = await opened(Files(path, raw=True), 10)
    path.write_text("new 0\nnew 1\n")
    window += (await document.look(10, following=True)).found
    assert [one.entry.text for one in window if one.entry.source != "note"] == [
        *(f"old {number}" for number in range(90, 100)), "new 0", "new 1",
    ]  # fmt: skip
    older: list[Found] = []
    while not document.window.at_start:
        older[:0] = await document.older(10)
    shown = [one.entry.text for one in older]  # what had been read before, and nothing of the new file
    assert shown == [f"old {number}" for number in range(90 - len(shown), 90)]


class Prefect:
    """A server that holds lines, as the real one answers."""

    def __init__(self) -> None:
        self.lines: list[LogLine] = []
        self.answers = asyncio.Event()
        self.answers.set()
        self.down = False
        self.questions = 0

    def add(self, message: str, moment: float) -> None:
        self.lines.append(
            LogLine(id=f"id{len(self.lines)}", timestamp=moment, level=20, message=message, logger="prefect.flow_runs")
        )

    async def _answer(self) -> list[LogLine]:
        self.questions += 1
        await self.answers.wait()
        if self.down:
            raise PrefectUnreachable("Prefect does not answer")
        return sorted(self.lines, key=lambda line: line.timestamp)

    async def logs_before(self, _run: str, before: float | None, limit: int) -> tuple[LogLine, ...]:
        lines = [line for line in await self._answer() if before is None or line.timestamp <= before + 2e-6]
        return tuple(lines[-limit:])

    async def logs_from(self, _run: str, start: float, limit: int) -> tuple[LogLine, ...]:
        return tuple([line for line in await self._answer() if line.timestamp >= start - 2e-6][:limit])

    async def logs_after(self, _run: str, after: float) -> tuple[LogLine, ...]:
        return tuple(line for line in await self._answer() if line.timestamp >= after - 10)


class Session:
    """What a log asks of a session."""

    def __init__(self, prefect: Prefect) -> None:
        self.prefect = prefect


def prefect_lines(server: Prefect) -> PrefectLines:
    return PrefectLines(Session(server), "run", 0)  # type: ignore[arg-type] # a session as far as it is used here


async def test_lines_of_a_server_and_of_files_are_one_log_each_line_once(tmp_path: Path) -> None:
    server, path = Prefect(), tmp_path / "driver.log"
    moment = time.time() - 3600
    whole = []
    with path.open("w") as stream:
        for number in range(1_000):
            moment += 0.5
            clock = datetime.fromtimestamp(moment).astimezone()
            words = f"message {number}"
            if number % 3:
                server.add(words, moment)
            if number % 2:
                stream.write(f"{clock:%H:%M:%S}.{clock.microsecond // 1000:03} | INFO    | Flow run 'x' - {words}\n")
            if number % 3 or number % 2:
                whole.append(words)
    document, window = await opened(Files(path, prefect=prefect_lines(server)), 50)
    while not document.window.at_start:
        window[:0] = await document.older(100)
    assert [one.entry.text for one in window] == whole
    window = await document.to_start(100)
    while not document.window.at_end:
        window += await document.newer(100)
    assert [one.entry.text for one in window] == whole
    server.add("late", time.time() - 3)
    assert [one.entry.text for one in (await document.look(10, following=True)).found] == ["late"]
    assert (await document.look(10, following=True)).found == []


async def test_slow_server_does_not_hold_the_files_up_and_its_lines_come_when_they_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_document, "LATE_SECONDS", 0.05)
    server, path = Prefect(), tmp_path / "driver.log"
    write(path, stamped(START, "from the file"))
    server.add("from the server", START - 1)
    live = Files(path, prefect=prefect_lines(server))
    server.answers.clear()
    document = LogDocument(live, "test")
    assert texts(await asyncio.wait_for(document.to_end(10), 60)) == ["from the file"]
    server.answers.set()
    for _ in range(1000):
        news = await document.look(10, following=True)
        if news.reset:
            break
        await asyncio.sleep(0.02)
    assert news.reset
    assert [one.entry.text.split()[-1] for one in news.found] == ["server", "file"]


async def test_server_that_was_away_is_read_when_it_returns(tmp_path: Path) -> None:
    server, path = Prefect(), tmp_path / "driver.log"
    write(path, stamped(START, "from the file"))
    server.add("from the server", START - 1)
    server.down = True
    prefect = prefect_lines(server)
    document, window = await opened(Files(path, prefect=prefect))
    assert texts(window) == ["from the file"]
    assert "does not answer" in prefect.problem
    server.down = False
    prefect._next = 0.0
    news = await document.look(10, following=True)
    assert news.reset
    assert [one.entry.text.split()[-1] for one in news.found] == ["server", "file"]
    assert prefect.problem == ""


async def test_a_hundred_thousand_lines_of_a_server_are_there_in_pages() -> None:
    server = Prefect()
    for number in range(100_000):
        server.add(f"message {number}", START + number / 100)
    server.lines.sort(key=lambda line: line.timestamp)
    document, window = await opened(Files(prefect=prefect_lines(server)), 200)
    assert [one.entry.text for one in window] == [f"message {number}" for number in range(99_800, 100_000)]
    assert server.questions <= 3
    window = await document.to_start(200)
    assert [one.entry.text for one in window] == [f"message {number}" for number in range(200)]
    window, index = await document.to_spot(Spot(START + 500), 50, 50)
    assert window[index].entry.text == "message 50000"


async def test_sentences_stand_between_the_lines_and_are_told_once(three: tuple[list[Path], list[str]]) -> None:
    paths, _ = three
    live = Files(*paths)
    live.notes = [Found(START + 449.5, note("attempt 2", START + 449.5), "attempts")]
    document, window = await opened(live, 20)
    while not document.window.at_start:
        window[:0] = await document.older(100)
    assert len(window) == 901
    assert window[450].entry.text == "attempt 2"
    document.let_go_oldest(window[:500], window[500:])
    del window[:500]
    while not document.window.at_start:
        window[:0] = await document.older(100)
    assert [one.entry.text for one in window].count("attempt 2") == 1
    assert len(window) == 901


async def test_a_match_anywhere_is_found_in_both_directions_and_counted(three: tuple[list[Path], list[str]]) -> None:
    paths, whole = three
    document, _ = await opened(Files(*paths), 10)
    finder = Finder(document, Needle("line .?5[0-9]?$"))
    expected = [text for text in whole if finder.needle.pattern.matches(text)]
    spot = await finder.beyond(-1)
    assert spot is not None
    found: list[str] = []
    while spot is not None:
        window, index = await document.to_spot(spot, 3, 3)
        found.insert(0, texts(window)[index])
        spot = await finder.further(spot, -1)
    assert found == expected
    while not await finder.count():
        pass
    assert finder.total == len(expected)
    first = await finder.from_end(1)
    assert first is not None
    window, index = await document.to_spot(first, 0, 1)
    assert texts(window)[index] == expected[0]
    assert await Finder(document, Needle("no such words")).from_end(-1) is None


async def test_search_of_a_server_without_files() -> None:
    server = Prefect()
    for number in range(2_000):
        server.add(f"message {number}", START + number)
    document, _ = await opened(Files(prefect=prefect_lines(server)), 50)
    spot = await Finder(document, Needle("message 7$")).beyond(-1)
    assert spot is not None
    window, index = await document.to_spot(spot, 5, 5)
    assert window[index].entry.text == "message 7"
