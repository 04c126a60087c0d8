"""The list of jobs with very many jobs: what its steps cost, and how long a key waits for its picture."""

from __future__ import annotations

import asyncio
import gc
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from textual import events

from slurmtui.models.job_table import JobTable
from slurmtui.store.arrange import Arranger, Wanted
from slurmtui.store.query_fold import fold, group_of
from slurmtui.store.snapshot import Part, Snapshot
from slurmtui.store.tally import tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.views.jobs.screen import JobsScreen

pytestmark = pytest.mark.bench

SIZES = (10_000, 100_000)
ROUNDS = 4
PAINT_MS = 15.0
"""The longest that the event loop may be busy with a key, which is painting the whole screen (about 8 ms)."""
KEY_MS = 50.0
"""So long a key may wait, and the event loop be busy, while polls arrive: with a painting, and with Python's garbage
collector, which looks at lists of a hundred thousand. A key waits here for what measures as well, which wakes the
event loop every half millisecond and waits for its turn each time; ``tests/bench/console.py`` measures without that."""


def best(work: Callable[[], object], rounds: int = 5) -> float:
    """The shortest of some measurements, in milliseconds of the processor: others may be working here as well."""
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times) * 1000


def slowness() -> float:
    """How many times longer work takes here than the processor needs for it, because others work here as well."""
    ratios = []
    for _ in range(15):
        wall, own = time.perf_counter(), time.thread_time()
        while time.thread_time() - own < 0.01:
            pass
        ratios.append((time.perf_counter() - wall) / (time.thread_time() - own))
    return statistics.mean(ratios)


def judge(
    measured: dict[str, tuple[float, float]],
    record: Callable[[str, object], None],
    heading: str,
    slower: float = 1.0,
) -> None:
    """Tell what was measured, and fail if something took longer than it may (``slower``: on this busy machine)."""
    print(f"\n{heading}" + (f", on a machine {slower:.1f} times slower than when it is idle" if slower > 1.2 else ""))
    for name, (found, budget) in measured.items():
        record(f"{heading}: {name}", round(found, 2))
        print(f"  {name:<34} {found:8.1f} ms  (at most {budget:g})")
    spare = 1.5 * slower if slower > 1.2 else 1.0
    slow = {name: found for name, found in measured.items() if found[0] > found[1] * spare}
    assert not slow


@pytest.mark.parametrize("jobs", SIZES)
@pytest.mark.parametrize("array", [False, True])
def test_steps(
    jobs: int,
    array: bool,  # noqa: FBT001 - one of two kinds of queue
    made_queue: Callable[..., JobTable],
    record_property: Callable[[str, object], None],
) -> None:
    table = made_queue(jobs, array=array)
    budget = 250.0 if jobs > 10_000 else 50.0
    folded = fold(table, range(len(table)))

    def fresh(**wanted: Any) -> Callable[[], object]:
        return lambda: Arranger().arrange(table, Wanted(**wanted))

    def whole_fold() -> None:
        found = fold(retold(table), range(len(table)))
        for base, rows in found.members.items():
            group_of(table, base, rows, {})

    sorts = {
        f"sort by {column}": (best(fresh(sort=(column, down), opened=frozenset({"5001"}))), budget + 150)
        for column, down in (("job", True), ("name", False), ("time", True), ("state", False), ("where", False))
    }
    filters = {
        f"filter {text}": (best(fresh(filter=text), 3), budget + 50)
        for text in ("job-77", "!gpu", "state:r cpus>4", "elapsed>2h mem>1G", "/b-77.*1$/", "gpus>1 !n7")
    }
    assert len(folded.lines) == (1 if array else jobs)
    measured = {
        "names and fold": (best(whole_fold), 100.0 if jobs <= 10_000 else 1000.0),  # once, for the first picture
        "fold": (best(lambda: fold(table, range(len(table)))), 100.0),
        "nothing wanted": (best(fresh()), budget),
        "only what is wrong": (best(fresh(wrong=True)), budget),
        **sorts,
        **filters,
    }
    judge(measured, record_property, f"{jobs:,} {'tasks of an array' if array else 'jobs'}, from nothing")


class Watch:
    """When the console painted, and how long its event loop was busy with one thing."""

    def __init__(self, app: Any) -> None:
        self.app, self.painted, self.busy, self.gap = app, 0.0, 0.0, 0.0
        self._wanted: Callable[[], object] = bool
        self._answered = 0.0  # when a picture was painted first in which what is wanted is done
        display = app._display

        def displayed(*arguments: Any) -> None:
            display(*arguments)
            self.painted = time.perf_counter()
            if not self._answered and self._wanted():
                self._answered = self.painted

        app._display = displayed
        self._task = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            wall, own = time.perf_counter(), time.thread_time()
            await asyncio.sleep(0.001)
            self.busy = max(self.busy, time.thread_time() - own)
            self.gap = max(self.gap, time.perf_counter() - wall - 0.001)

    @property
    def screen(self) -> JobsScreen:
        screen: JobsScreen = self.app.screen
        return screen

    async def rest(self) -> None:
        """Until nothing is going on."""
        while self.screen._lister.busy or time.perf_counter() - self.painted < 0.15:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def until_painted(self, doing: Callable[[], object], done: Callable[[], object]) -> float:
        """Milliseconds from ``doing`` something until the picture that is ``done`` has been painted."""
        start = time.perf_counter()
        self._wanted, self._answered = done, 0.0
        doing()
        while not done():  # noqa: ASYNC110 - that is what is measured
            await asyncio.sleep(0.0005)
        settled = time.perf_counter()
        while not self._answered and time.perf_counter() - settled < 0.05:  # noqa: ASYNC110 - it may look as it did
            await asyncio.sleep(0.0005)
        return ((self._answered or settled) - start) * 1000

    async def key(self, key: str, character: str | None, done: Callable[[], object]) -> float:
        """The same for a key."""
        return await self.until_painted(lambda: self.app.post_message(events.Key(key, character)), done)

    def end(self) -> None:
        self._task.cancel()


@pytest.mark.parametrize("jobs", SIZES)
async def test_console(
    jobs: int,
    made_queue: Callable[..., JobTable],
    make_console: Callable[..., Any],
    record_property: Callable[[str, object], None],
) -> None:
    table, other = made_queue(jobs), made_queue(jobs, seed=1)
    snapshot = Snapshot(user="alice", queue=Part(table, at=time.time()))
    app = make_console(snapshot, view="jobs")
    async with app.run_test(size=(160, 48)):
        slower = slowness()
        watch = Watch(app)
        gc.collect()
        gc.freeze()  # this and the next as the console does when it starts
        sys.setswitchinterval(0.001)
        await watch.rest()
        measured = await _keys(watch, 250.0 if jobs > 10_000 else 100.0)
        measured["loop busy at most"] = (watch.busy * 1000, PAINT_MS)
        watch.busy = 0.0
        waits = await _moves(watch, snapshot, (other, table))
        watch.end()
        measured["move, while polls arrive: median"] = (statistics.median(waits), 30.0)
        measured["move, while polls arrive: p99"] = (sorted(waits)[-2], KEY_MS)
        measured["loop busy while polls arrive"] = (watch.busy * 1000, KEY_MS)
    judge(measured, record_property, f"{jobs:,} jobs on screen", max(slower, slowness()))


async def _keys(watch: Watch, budget: float) -> dict[str, tuple[float, float]]:
    """How long keys that arrange the list anew wait for their picture; the best of some rounds."""
    measured: dict[str, tuple[float, float]] = {}
    busy = 0.0
    for _ in range(ROUNDS):
        for name, took in [*await _sorted(watch), *await _sifted(watch)]:
            measured[name] = (min(took, measured.get(name, (took, 0))[0]), budget)
        busy = min(busy, watch.busy) if busy else watch.busy
    watch.busy = busy
    return measured


async def _sorted(watch: Watch) -> list[tuple[str, float]]:
    screen, took = watch.screen, []
    while screen.shape.sort is not None:
        screen.shape.step_sort(-1)
    await watch.rest()
    keys = [("greater_than_sign", ">"), ("greater_than_sign", ">"), ("equals_sign", "="), ("z", "z"), ("z", "z")]
    for number, (key, character) in enumerate(keys):
        before = screen._rows
        done = lambda before=before: screen._rows is not before and not screen._lister.busy  # noqa: E731
        took.append((f"{number + 1}. key {character}", await watch.key(key, character, done)))
        await watch.rest()
    return took


async def _sifted(watch: Watch) -> list[tuple[str, float]]:
    screen, took = watch.screen, []
    for text in ("job-7", "elapsed>2h", "/b-77.*1$/", ""):
        before = screen._rows
        done = lambda before=before: screen._rows is not before and not screen._lister.busy  # noqa: E731
        waited = await watch.until_painted(lambda text=text: screen.sift(text), done)  # type: ignore[misc]
        took.append((f"filter {text or 'none'}", waited))
        await watch.rest()
    return took


def retold(table: JobTable, like: JobTable | None = None) -> JobTable:
    """The same answer of squeue once more, as bytes of its own; ``like`` is the answer before, as the store has it."""
    return JobTable((b"".join(parts) + b"\n" for parts in zip(*table.parts, strict=True)), like=like)


async def _moves(watch: Watch, snapshot: Snapshot, tables: tuple[JobTable, JobTable], moves: int = 100) -> list[float]:
    """How long the arrow key waits for its picture while polls arrive."""
    table, waits = watch.screen.table, []
    for number in range(moves):
        if number % 12 == 0:  # a poll: another answer of squeue, joined in a thread as the store does
            fresh = await asyncio.to_thread(retold, tables[number // 12 % 2], watch.app.store.snapshot.queue.data)
            await asyncio.to_thread(tally, fresh, None)
            part = Part(fresh, at=time.time())
            watch.app.store.paint(msgspec.structs.replace(snapshot, queue=part))
        before = table.cursor_index
        key = "up" if number % 40 >= 20 else "down"
        waits.append(await watch.key(key, None, lambda: table.cursor_index != before))  # noqa: B023 - awaited at once
        await asyncio.sleep(0.02)
    return waits
