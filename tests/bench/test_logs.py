"""What logs cost: opened, followed, searched, at sizes that people have; on a real terminal, as they see it.

Run with ``-s`` to see a JSON line for each measurement; when all were made, the page of performance gets their table.
The program ``turm`` follows the same file in the same run; see ``turm.py``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slurmtui.sources.files.needle import Needle
from slurmtui.sources.files.search import Hits, Until
from slurmtui.store import log_panes
from tests.bench import log_table
from tests.bench.log_table import tell
from tests.bench.log_writing import LINE, Writer, prefect_run, text_file
from tests.bench.pty_program import PtyProgram
from tests.bench.turm import find_turm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]
COMMAND = str(Path(sys.executable).with_name("slurmtui"))
PAGE_UP = "\x1b[5~"


def slowness() -> float:
    """How many times longer work takes here than the processor needs for it, because others work here as well."""
    found = [1.0]
    for _ in range(3):
        wall, own = time.perf_counter(), time.thread_time()
        while time.thread_time() - own < 0.05:
            pass
        found.append((time.perf_counter() - wall) / (time.thread_time() - own))
    return max(found)


@pytest.fixture(scope="module", autouse=True)
def _page() -> Iterator[None]:
    """When all was measured, it is written down."""
    busy = [slowness()]
    yield
    busy.append(slowness())
    if log_table.complete():
        log_table.write(max(busy))


def worked_ms(program: PtyProgram) -> float:
    """Milliseconds for which the processor has worked for a program so far; that others work as well changes little."""
    threads = Path(f"/proc/{program.pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e6


def clean() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "SLURM"))}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A console of its own, without SLURM and Prefect."""
    (tmp_path / "config.yaml").write_text("slurm: {poll_seconds: 600}\n")
    return {
        **clean(), "SLURMTUI_STATE": str(tmp_path / "state"), "SLURMTUI_CONFIG": str(tmp_path / "config.yaml"),
        "PREFECT_HOME": str(tmp_path / "prefect"), "SLURM_CONF": str(tmp_path / "none.conf"),
    }  # fmt: skip


def call(environment: dict[str, str], *argv: str, text: str = "") -> str:
    done = subprocess.run(
        argv, env=environment, input=text, check=True, capture_output=True, text=True, timeout=600
    )  # fmt: skip
    return done.stdout


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A console with a real SLURM and a real Prefect server."""
    folder = tmp_path_factory.mktemp("cluster")
    state = folder / "state"
    made = {
        **clean(), "SLURMTUI_STATE": str(state), "SLURMTUI_CONFIG": str(folder / "config.yaml"),
        "PREFECT_HOME": str(folder / "prefect"),
    }  # fmt: skip
    call(made, COMMAND, "sandbox", "up")
    made["SLURM_CONF"] = str(state / "sandbox" / "slurm.conf")
    try:
        call(made, COMMAND, "server", "start")
        yield made
    finally:
        call(made, COMMAND, "server", "stop")
        call(made, COMMAND, "sandbox", "down", "--purge")


@pytest.fixture
def console(environment: dict[str, str]) -> Iterator[Callable[..., PtyProgram]]:
    """Consoles in the Logs view, with panes on these files."""
    programs: list[PtyProgram] = []

    def open_console(*paths: Path, size: tuple[int, int] = (160, 48)) -> PtyProgram:
        folder = Path(environment["SLURMTUI_STATE"]) / "views"
        folder.mkdir(parents=True, exist_ok=True)
        plan = log_panes.tiled([f"file:{path}" for path in paths], size[0], size[1] - 3) if paths else None
        (folder / "slurm.panes").write_bytes(log_panes.encode(plan))
        program = PtyProgram((COMMAND, "--view", "logs"), environment, size)
        programs.append(program)
        program.wait_for("8 Logs")
        return program

    yield open_console
    for program in programs:
        program.end()


def seen(program: PtyProgram, keys: str, pattern: str, seconds: float = 30, *, quiet: bool = True) -> float:
    """Milliseconds from the last of the keys until the screen matches; ``quiet`` waits for silence before."""
    while quiet and program.pump(0.12):
        pass
    started = time.perf_counter()
    os.write(program._handle, keys.encode())
    while not re.search(pattern, program.text, re.MULTILINE):
        assert time.perf_counter() - started < seconds, program.text
        program.pump(0.002)
    return (time.perf_counter() - started) * 1000


def until_sent(program: PtyProgram, keys: str, sign: bytes) -> float:
    """Milliseconds from the keys until ``sign`` is sent to the terminal; our own terminal is slower than people's."""
    while program.pump(0.12):
        pass
    started = time.perf_counter()
    os.write(program._handle, keys.encode())
    data = b""
    while sign not in data:
        data += os.read(program._handle, 65536)
    took = (time.perf_counter() - started) * 1000
    program._stream.feed(data)
    return took


def test_end_of_ten_gigabytes(tmp_path: Path, console: Callable[..., PtyProgram]) -> None:
    path, small = tmp_path / "huge.out", tmp_path / "small.out"
    with path.open("wb") as stream:
        stream.truncate(10 * 1024**3)
        stream.seek(0, 2)
        stream.write(b"\n" + "".join(LINE.format(number) for number in range(100_000)).encode())
    small.write_text("first\n")
    program = console()
    seen(program, f":logs {small}\r", "^first")
    before = program.memory()
    times, work, more = [], [], []
    for _ in range(5):
        seen(program, f":logs {path}", "huge.out$|huge.out ")
        worked = worked_ms(program)
        times.append(until_sent(program, "\r", b"step 000099999"))
        work.append(worked_ms(program) - worked)
        more.append(program.memory() - before)
        seen(program, "x", "1 pane")
    tell("10 GB opened", milliseconds=round(min(times), 1), each=[round(one) for one in times],
         worked_ms=round(min(work), 1), more_mb=round(more[0], 1))  # fmt: skip
    assert min(times) <= 50 * slowness() or min(work) <= 50
    assert more[0] <= 5


def in_use(program: PtyProgram, seconds: float) -> tuple[float, float]:
    """CPU in parts of a hundred, and bytes a second to the terminal, while nobody presses a key."""
    size, cpu = program.idle(seconds)
    return 100 * cpu / seconds, size / seconds


def test_following_a_large_log_of_a_job(tmp_path: Path, cluster: dict[str, str]) -> None:
    path = tmp_path / "job.out"
    text_file(path, 590_000_000)
    script = f"#!/bin/bash\nwhile sleep 0.1; do echo more >>{path}; done\n"
    job_id = call(cluster, "sbatch", "--parsable", "--mem=100", "-J", "bench-log", "--open-mode=append", "-o",
                  str(path), text=script).split(";")[0].strip()  # fmt: skip
    programs: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "slurmtui": ((COMMAND, "--view", "jobs"), ("/bench-log\r", "l")),
    }
    turm, why_not = find_turm()
    if turm:
        programs["turm"] = ((turm, "--me"), ())
    found: dict[str, tuple[float, float]] = {}
    try:
        for name, (argv, keys) in programs.items():
            program = PtyProgram(argv, cluster)
            program.wait_for("bench-log", 60)
            for key in keys:
                program.press(key)
            program.wait_for("more$|more ", 120)
            program.idle(5)
            cpu, _ = in_use(program, 20)
            found[name] = (round(program.memory(), 1), round(cpu, 2))
            program.end()
    finally:
        call(cluster, "scancel", job_id)
    (memory, cpu), theirs = found["slurmtui"], found.get("turm")
    ratios = {} if theirs is None else {
        "turm_memory_mb": theirs[0], "turm_cpu": theirs[1],
        "memory_ratio": round(memory / theirs[0], 3), "cpu_ratio": round(cpu / theirs[1], 3),
    }  # fmt: skip
    tell("590 MB followed", memory_mb=memory, cpu=cpu, why_no_turm=why_not, **ratios)
    assert memory <= 90
    assert cpu <= 3


def test_five_thousand_lines_a_second(tmp_path: Path, console: Callable[..., PtyProgram]) -> None:
    path = tmp_path / "job.out"
    path.write_text("begin\n")
    program = console(path)
    program.wait_for("begin")
    with Writer([path], 5_000) as writer:
        program.idle(3)
        cpu, size = in_use(program, 10)
        worked = worked_ms(program)
        keys = [program.press("w").first for _ in range(20)]
        worked = (worked_ms(program) - worked) / 20
        last = writer.written
    program.wait_for(f"step {last - 1:09d}", 5)
    tell("5,000 lines a second", cpu=round(cpu, 1), kb_a_second=round(size / 1000, 1),
         slowest_key_ms=round(max(keys), 1), worked_ms=round(worked, 1), keys_ms=spread(keys))  # fmt: skip
    assert cpu <= 20
    assert max(keys) <= 50 * slowness()


def test_eight_panes(tmp_path: Path, console: Callable[..., PtyProgram]) -> None:
    paths = [tmp_path / f"{number}.out" for number in range(8)]
    for path in paths:
        path.write_text("begin\n")
    program = console(*paths)
    program.wait_for("begin")
    with Writer(paths, 50):
        program.idle(3)
        cpu, size = in_use(program, 15)
    tell("eight panes", cpu=round(cpu, 1), kb_a_second=round(size / 1000, 1))
    assert cpu <= 25
    assert size <= 20_000


@pytest.fixture(scope="module")
def gigabyte(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gigabyte of text with three lines to be found."""
    path = tmp_path_factory.mktemp("search") / "job.out"
    text_file(path, 1_000_000_000)
    with path.open("r+b") as stream:
        for place in (1_000, 500_000_000, 999_000_000):
            stream.seek(place)
            stream.readline()
            at = stream.tell()
            stream.seek(at)
            stream.write(b"Zebra ")
    return path


def test_search_of_a_gigabyte_by_itself(gigabyte: Path) -> None:
    measured = {}
    for text in ("Zebra", "zebra", "z.bra"):
        hits = Hits(Needle(text))
        with gigabyte.open("rb") as stream:
            started, own = time.perf_counter(), time.thread_time()
            assert hits.extend(stream.fileno(), gigabyte.stat().st_size, Until())
        measured[text] = (round(time.perf_counter() - started, 2), round(time.thread_time() - own, 2))
        assert hits.total == 3
    tell("1 GB searched by itself", seconds={text: wall for text, (wall, _) in measured.items()})
    assert measured["Zebra"][1] <= 1.5
    assert measured["zebra"][1] <= 1.5


def test_search_of_a_gigabyte_on_screen(gigabyte: Path, console: Callable[..., PtyProgram]) -> None:
    program = console(gigabyte)
    program.wait_for("follow")
    program.idle(1)
    seen(program, "/zebra", "find / zebra")
    started, worked = time.perf_counter(), sum(program.cpu())
    first = seen(program, "\r", "^Zebra", quiet=False)
    keys = key_times(program, lambda: "3 of 3" in program.text)
    program.wait_for("3 of 3")
    last = time.perf_counter() - started
    worked = sum(program.cpu()) - worked
    program.idle(3)
    calm = key_times(program, lambda: False)
    tell("1 GB searched", first_hit_ms=round(first, 1), last_hit_s=round(last, 2), slowest_key_ms=spread(keys)["most"],
         worked_s=round(worked, 2), keys=len(keys), keys_ms=spread(keys),
         keys_ms_without_search=spread(calm))  # fmt: skip
    busy = slowness()
    assert first <= 300 * busy
    assert last <= 1.5 * busy
    assert spread(keys)["most"] <= max(30, 2 * spread(calm)["most"])


def key_times(program: PtyProgram, over: Callable[[], bool], count: int = 100) -> list[float]:
    """Milliseconds from each key to the first byte that it causes, until it is over or there are enough."""
    keys: list[float] = []
    while len(keys) < count and not (keys and over()):
        program.pump(0.01)
        begin = time.perf_counter()
        os.write(program._handle, b"k")
        program.pump(1.0)
        keys.append((time.perf_counter() - begin) * 1000)
    return keys


def spread(times: list[float]) -> dict[str, float]:
    """The half of it, nine of ten, and the most."""
    ordered = sorted(times)
    places = {"half": len(ordered) // 2, "nine of ten": len(ordered) * 9 // 10, "most": len(ordered) - 1}
    return {name: round(ordered[place], 1) for name, place in places.items()}


def test_a_hundred_thousand_lines_of_prefect(cluster: dict[str, str]) -> None:
    state = Path(cluster["SLURMTUI_STATE"])
    api = next(word for word in call(cluster, COMMAND, "server", "status").split() if word.startswith("http://"))
    auth = (state / "server" / "auth").read_text().strip()
    prefect_run(api, auth, state / "server" / "home" / "prefect.db", "bench-run", 100_000)
    program = PtyProgram((COMMAND, "--view", "runs"), cluster)
    program.wait_for("bench-run")
    program.idle(3)
    before = program.memory()
    worked = worked_ms(program)
    opened = until_sent(program, "l", b"step 99999:") / 1000
    worked = worked_ms(program) - worked
    program.idle(2)
    paging = worked_ms(program)
    pages = sorted(program.press(PAGE_UP).first for _ in range(60))
    paging = (worked_ms(program) - paging) / 60
    until_sent(program, "g", b"step 0:")
    program.idle(1)
    more = program.memory() - before
    program.end()
    tell("100,000 lines of Prefect", last_screen_s=round(opened, 2), page_ms=round(pages[30], 1),
         slowest_page_ms=round(pages[-1], 1), more_mb=round(more, 1), worked_ms=round(worked, 1),
         page_worked_ms=round(paging, 1))  # fmt: skip
    busy = slowness()
    assert opened <= 0.5 * busy
    assert pages[30] <= 50 * busy
    assert more <= 60
