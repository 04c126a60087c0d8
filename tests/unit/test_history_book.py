"""Ended jobs are asked for once a day, in bites that accounting takes, and kept."""

from __future__ import annotations

import gzip
import stat
import time
from typing import TYPE_CHECKING

import pytest

from slurmtui import paths
from slurmtui.errors import CommandError
from slurmtui.models.history import PastJob, day_of, day_start, days_back
from slurmtui.sources.slurm.history import AccountingOff, TooWide
from slurmtui.store import history_book
from slurmtui.store.history_book import OVERLAP, History, HistoryBook
from slurmtui.store.history_cache import HistoryCache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = 86400.0
HOUR = 3600.0


@pytest.fixture(autouse=True)
def _zone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def job(number: int, end: float, name: str = "train", state: str = "COMPLETED") -> PastJob:
    return PastJob(
        id=str(number), raw_id=str(number), end=end, name=name, state=state, submit=end - 20, start=end - 10, elapsed=10
    )


class Accounting:
    """An accounting database that remembers what it was asked."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.jobs: list[PastJob] = []
        self.asked: list[tuple[float, float]] = []
        self.widest = float("inf")
        self.error: CommandError | None = None

    async def ask(self, start: float, end: float) -> list[PastJob]:
        self.asked.append((start, end))
        if self.error is not None:
            raise self.error
        if end - start > self.widest:
            raise TooWide("sacct: Too wide of a date range in query", argv=("sacct",), code=1)
        return [one for one in self.jobs if start <= one.end <= end]

    def book(self, cache: HistoryCache | None = None) -> HistoryBook:
        return HistoryBook(self.ask, cache, lambda: self.now)


def nothing(_: History) -> None:
    """Nobody looks."""


@pytest.fixture
def accounting() -> Accounting:
    found = Accounting(time.mktime((2026, 11, 20, 12, 0, 0, -1, -1, -1)))
    found.jobs = [job(number, found.now - number * 6 * HOUR) for number in range(40)]
    return found


async def test_a_week_is_one_question_and_no_day_is_asked_for_twice(accounting: Accounting) -> None:
    book = accounting.book()
    history = await book.update(nothing)
    assert len(accounting.asked) == 1
    assert accounting.asked[0] == (day_start("2026-11-14"), accounting.now)
    assert [one.id for one in history.jobs][:2] == ["0", "1"]
    assert len(history.days) == 7
    assert history.whole
    accounting.asked.clear()
    before, accounting.now = accounting.now, accounting.now + 60
    accounting.jobs.append(job(99, accounting.now - 5))
    history = await book.update(nothing)
    assert accounting.asked == [(before - OVERLAP, accounting.now)]
    assert history.jobs[0].id == "99"
    assert len(history.jobs) == len({one.key for one in history.jobs})


async def test_an_end_that_accounting_learns_late_is_found_by_the_overlap(accounting: Accounting) -> None:
    book = accounting.book()
    await book.update(nothing)
    late = job(77, accounting.now - 30)
    accounting.now += 120
    accounting.jobs.append(late)
    assert late in (await book.update(nothing)).jobs


async def test_yesterday_is_read_to_its_end_after_midnight_and_then_left_alone(accounting: Accounting) -> None:
    accounting.now = day_start("2026-11-21") - 60
    book = accounting.book()
    await book.update(nothing)
    accounting.jobs.append(job(500, accounting.now + 30))
    accounting.now += 2 * OVERLAP
    history = await book.update(nothing)
    assert any(one.id == "500" for one in history.jobs)
    accounting.asked.clear()
    accounting.now += HOUR
    await book.update(nothing)
    assert [day_of(start + 1) for start, _ in accounting.asked] == ["2026-11-21"]


async def test_an_end_before_midnight_that_is_told_after_it_is_found(accounting: Accounting) -> None:
    midnight = day_start("2026-11-21")
    book = accounting.book()
    for accounting.now in (midnight - 60, midnight + 60):
        await book.update(nothing)
    accounting.jobs.append(job(501, midnight - 10))
    accounting.now = midnight + 120
    assert any(one.id == "501" for one in (await book.update(nothing)).jobs)


async def test_more_days_ask_for_the_new_days_only(accounting: Accounting) -> None:
    book = accounting.book()
    await book.update(nothing)
    accounting.asked.clear()
    book.days = 14
    history = await book.update(nothing)
    older = [(start, end) for start, end in accounting.asked if end <= day_start("2026-11-14")]
    assert older == [(day_start("2026-11-07"), day_start("2026-11-14"))]
    assert len(history.days) == 14


async def test_a_range_that_is_too_wide_is_halved_and_the_width_remembered(accounting: Accounting) -> None:
    accounting.widest = 5 * HOUR
    book = accounting.book()
    shown: list[History] = []
    history = await book.update(shown.append)
    ends = {one.end for one in accounting.jobs if one.end >= day_start("2026-11-14")}
    assert {one.end for one in history.jobs} == ends
    refused = sum(end - start > accounting.widest for start, end in accounting.asked)
    assert refused <= 6
    assert len(shown) >= 1
    accounting.asked.clear()
    book.days = 9
    await book.update(nothing)
    assert all(end - start <= accounting.widest for start, end in accounting.asked)


async def test_days_come_newest_first_while_they_are_read(accounting: Accounting) -> None:
    accounting.widest = DAY
    shown: list[History] = []
    book = accounting.book()
    book._width = DAY
    await book.update(shown.append)
    assert [len(history.read) for history in shown] == list(range(1, 8))
    assert all(history.read >= {"2026-11-20"} for history in shown)
    assert [history.whole for history in shown] == [False] * 6 + [True]


async def test_what_was_read_is_kept_when_accounting_goes_away(accounting: Accounting) -> None:
    book = accounting.book()
    await book.update(nothing)
    accounting.error = CommandError("sacct: Connection refused", argv=("sacct",), code=1)
    accounting.now += 60
    shown: list[History] = []
    with pytest.raises(CommandError, match="refused"):
        await book.update(shown.append)
    assert len(shown[0].jobs) > 20


async def test_accounting_that_is_off_is_not_asked_in_smaller_bites(accounting: Accounting) -> None:
    accounting.error = AccountingOff("Accounting is off", argv=("sacct",), code=1)
    with pytest.raises(AccountingOff):
        await accounting.book().update(nothing)
    assert len(accounting.asked) == 1


async def test_a_question_that_takes_too_long_is_asked_in_smaller_bites(accounting: Accounting) -> None:
    class Slow(Accounting):
        async def ask(self, start: float, end: float) -> list[PastJob]:
            if end - start > 2 * DAY:
                self.asked.append((start, end))
                raise CommandError("sacct did not answer within 20 s", argv=("sacct",), code=None)
            return await super().ask(start, end)

    slow = Slow(accounting.now)
    slow.jobs = accounting.jobs
    history = await slow.book().update(nothing)
    assert len(history.read) == 7


async def test_days_are_kept_in_the_state_folder_and_not_asked_for_by_the_next_console(accounting: Accounting) -> None:
    first = accounting.book(HistoryCache("alps", "alice"))
    history = await first.update(nothing)
    accounting.asked.clear()
    accounting.now += 60
    again = await accounting.book(HistoryCache("alps", "alice")).update(nothing)
    assert accounting.asked == [(accounting.now - 60 - OVERLAP, accounting.now)]
    assert again.jobs == history.jobs
    folder = paths.state_folder() / "history" / "alps"
    assert {path.name for path in folder.iterdir()} == {f"{day}.json.gz" for day in days_back(accounting.now, 7)}
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_another_cluster_or_user_or_a_damaged_file_is_asked_for(accounting: Accounting) -> None:
    await accounting.book(HistoryCache("alps", "alice")).update(nothing)
    cache = HistoryCache("alps", "alice")
    (cache.folder / "2026-11-18.json.gz").write_bytes(b"not gzip")
    (cache.folder / "2026-11-17.json.gz").write_bytes(gzip.compress(b'{"version": 1, "user": "alice", "record": 7}'))
    accounting.asked.clear()
    history = await accounting.book(cache).update(nothing)
    assert (day_start("2026-11-17"), day_start("2026-11-19")) in accounting.asked
    assert len(history.read) == 7
    for other in (HistoryCache("alps", "bob"), HistoryCache("jura", "alice")):
        accounting.asked.clear()
        await accounting.book(other).update(nothing)
        assert accounting.asked[0][0] == day_start("2026-11-14")


async def test_a_state_folder_that_cannot_be_written_costs_nothing_but_the_questions(accounting: Accounting) -> None:
    paths.private_folder(paths.state_folder())
    (paths.state_folder() / "history").write_text("a file where the folder should be")
    history = await accounting.book(HistoryCache("alps", "alice")).update(nothing)
    assert history.whole


async def test_old_days_are_removed_from_the_state_folder(accounting: Accounting) -> None:
    cache = HistoryCache("alps", "alice")
    paths.private_folder(cache.folder)
    (cache.folder / "2024-01-01.json.gz").write_bytes(b"old")
    (cache.folder / "notes.txt").write_bytes(b"not ours")
    await accounting.book(cache).update(nothing)
    assert not (cache.folder / "2024-01-01.json.gz").exists()
    assert (cache.folder / "notes.txt").exists()


async def test_too_many_jobs_leave_older_days_out_and_say_so(
    accounting: Accounting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_book, "MOST_JOBS", 10)
    history = await accounting.book().update(nothing)
    assert history.cut
    assert history.whole
    assert 0 < len(history.jobs) <= 10


async def test_again_reads_today_and_yesterday_anew(accounting: Accounting) -> None:
    book = accounting.book()
    await book.update(nothing)
    accounting.jobs.append(job(300, accounting.now - 20 * HOUR))  # accounting was told hours late
    accounting.now += 60
    assert all(one.id != "300" for one in (await book.update(nothing)).jobs)
    book.again()
    assert any(one.id == "300" for one in (await book.update(nothing)).jobs)


def test_days_of_a_clock_change_are_whole() -> None:
    assert day_start("2026-10-25", 1) - day_start("2026-10-25") == 25 * HOUR
    assert day_start("2026-03-29", 1) - day_start("2026-03-29") == 23 * HOUR
    now = day_start("2026-10-27") + HOUR
    assert days_back(now, 4) == ["2026-10-27", "2026-10-26", "2026-10-25", "2026-10-24"]
    assert [day_of(day_start(day)) for day in days_back(now, 4)] == days_back(now, 4)


async def test_a_clock_change_leaves_no_hole_and_no_double() -> None:
    accounting = Accounting(day_start("2026-10-27") + 12 * HOUR)
    accounting.jobs = [job(number, day_start("2026-10-24") + number * HOUR / 2) for number in range(150)]
    accounting.widest = 3 * HOUR
    history = await accounting.book().update(nothing)
    assert {one.id for one in history.jobs} == {str(number) for number in range(150)}
    assert len(history.jobs) == 150
