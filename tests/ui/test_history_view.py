"""Ended jobs, shares and plots as a person sees them, on painted answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.models.efficiency import StepUsage, Usage
from slurmtui.models.history import PastJob, days_back
from slurmtui.models.partition_use import ClusterUse
from slurmtui.sources.slurm.history import AccountingOff
from slurmtui.store.history_book import History
from slurmtui.store.timeline import Point
from tests.ui.conftest import BRAVE
from tests.ui.painted_cluster import (
    job_on,
    line_of,
    side_of,
    some_cluster,
    some_history,
    some_shares,
    with_side,
)
from tests.ui.seeing import gone, see, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from tests.ui.conftest import PaintedApp


@pytest.fixture
def make(make_console: Callable[..., PaintedApp]) -> Callable[..., PaintedApp]:
    return with_side(make_console)


# --- history


async def test_ended_jobs_by_day_with_arrays_lives_and_runs(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(160, 40), notifications=True) as pilot:
        await pilot.press("5")
        text = await see(pilot, "today", "12 tasks: 11 done, 1 failed")
        assert "brave-otter" in line_of(text, "900")
        assert "signal 15  out of time" in line_of(text, "901")
        twice = [line for line in text.splitlines() if line.strip().startswith("950")]
        assert ["life 2 of 2" in twice[0], "life 1 of 2" in twice[1]] == [True, True]
        assert "17 ended · mine · 7 days" in text
        await pilot.press("down", "down", "down", "enter")
        await see(pilot, "└ 909_3")
        await pilot.press("z")
        await gone(pilot, "950")
        await see(pilot, "901", "909_3", "960")
        await pilot.press("z", "slash", *"state:to,oom", "enter")
        await gone(pilot, "909")
        await see(pilot, "901", "960")


async def test_a_filter_puts_the_cursor_on_the_first_job_that_matches(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(160, 40), notifications=True) as pilot:
        await pilot.press("5")
        await see(pilot, "today", "901")
        table = pilot.app.screen.table  # type: ignore[attr-defined]
        assert table.cursor_key.startswith("day:")
        await pilot.press("slash", *"state:to")
        await gone(pilot, "909")
        await until(pilot, lambda: table.cursor_key.startswith("past:901"))
        await pilot.press("enter", "escape")
        await see(pilot, "909")
        assert table.cursor_key.startswith("past:901")


async def test_from_an_ended_job_to_its_run(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(160, 40), notifications=True) as pilot:
        await pilot.press("5")
        await see(pilot, "brave-otter")
        await pilot.press("o")
        await see(pilot, "There is no job under the cursor")
        await pilot.press("down", "down", "o")
        await see(pilot, "belongs to no flow run")
        await pilot.press("up", "o")
        await see(pilot, "VERDICT")
        assert pilot.app.screen.table.cursor_key == f"run:{BRAVE}"  # type: ignore[attr-defined]


async def test_detail_of_an_ended_job_tells_what_it_used(
    make: Callable[..., PaintedApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def usage(_slurm: Any, job_id: str) -> Usage:
        asked.append(job_id)
        return Usage(id=job_id, state="COMPLETED", elapsed=3600, time_limit=36000, cpus=4, cpu=3600, memory=65536,
                     steps=(StepUsage(step="batch", memory=9000),))  # fmt: skip

    monkeypatch.setattr("slurmtui.views.history.screen.job_usage", usage)
    async with make().run_test(size=(140, 50), notifications=True) as pilot:
        await pilot.press("5")
        await see(pilot, "today")
        await pilot.press("d")
        await see(pilot, "today · 16 jobs", "CPU hours")
        await pilot.press("down")
        await see(pilot, "job 900 · train-11111111", "8.8 GB of 64 GB", "after 40s of waiting")
        pilot.app.screen.seek(f"past:{some_key(pilot, '950', 'REQUEUED')}")  # type: ignore[attr-defined]
        await see(pilot, "it was requeued", "1. REQUEUED", "what an earlier life used is not kept")
        assert asked == ["900"]


def some_key(pilot: Pilot[Any], job_id: str, state: str) -> str:
    jobs = side_of(pilot).history.part.data.jobs
    return next(job.key for job in jobs if job.id == job_id and job.state == state)


async def test_a_job_whose_output_had_no_folder_says_so(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(160, 50), notifications=True) as pilot:
        whole = some_history()
        job = msgspec.structs.replace(whole.jobs[0], id="990", raw_id="990", state="FAILED", exit_code=0, signal=53)
        side_of(pilot).paint["history"] = msgspec.structs.replace(whole, jobs=(job,))
        await pilot.press("5")
        text = await see(pilot, "990")
        assert "signal 53 (output could not be opened)" in line_of(text, "990")
        await pilot.press("d", "down")
        await see(pilot, "FAILED · signal 53 (output could not be opened)")


async def test_accounting_that_is_off_is_one_sentence(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(100, 30), notifications=True) as pilot:
        sentence = "Accounting is off on this cluster: SLURM keeps no record of jobs that have ended."
        side_of(pilot).paint["history"] = AccountingOff(sentence, argv=("sacct",), code=1)
        await pilot.press("5")
        text = await see(pilot, sentence)
        assert "does not answer" not in text


async def test_days_are_shown_as_they_come_and_more_of_them_are_asked_for(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(140, 30), notifications=True) as pilot:
        side = side_of(pilot)
        whole = some_history()
        side.paint["history"] = msgspec.structs.replace(whole, jobs=(), read=frozenset(whole.days[:2]))
        await pilot.press("5")
        await see(pilot, "reading… 2 read", "Reading day by day…")
        side.paint["history"] = msgspec.structs.replace(whole, jobs=())
        await see(pilot, "No job of yours ended in the last 7 days. m shows more days")
        await pilot.press("m")
        assert side.book.days == 14
        await pilot.press("colon", *"days 30", "enter")
        await pilot.pause()
        assert side.book.days == 30
        await pilot.press("colon", *"days many", "enter")
        await see(pilot, "Say how many days back")


async def test_the_cursor_stays_on_its_job_when_new_ones_come(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(140, 40), notifications=True) as pilot:
        await pilot.press("5")
        await see(pilot, "twice")
        table = pilot.app.screen.table  # type: ignore[attr-defined]
        await pilot.press("down", "down")
        key = table.cursor_key
        history = some_history()
        new = PastJob(id="999", raw_id="999", end=time.time(), name="newest", state="COMPLETED")
        side_of(pilot).paint["history"] = msgspec.structs.replace(
            history, jobs=(new, *side_of(pilot).history.part.data.jobs)
        )
        await see(pilot, "newest")
        assert table.cursor_key == key


async def test_many_ended_jobs_are_arranged_behind_the_scenes(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(140, 40), notifications=True) as pilot:
        now = time.time()
        jobs = tuple(
            PastJob(id=str(n), raw_id=str(n), end=now - n / 100, name=f"job-{n}", state="COMPLETED")
            for n in range(5000)
        )
        side_of(pilot).paint["history"] = msgspec.structs.replace(some_history(), jobs=jobs)
        await pilot.press("5")
        await see(pilot, "5,000 ended")
        await pilot.press("slash", *"name:job-4999", "enter")
        await see(pilot, "1 ended", "job-4999")


# --- shares


async def test_shares_and_limits_with_what_my_jobs_hold(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(160, 40), notifications=True) as pilot:
        store = pilot.app.store  # type: ignore[attr-defined]
        table = job_on("1", "gpu1", user="alice", account="research", qos="long")
        store.paint(
            msgspec.structs.replace(store.snapshot, queue=msgspec.structs.replace(store.snapshot.queue, data=table))
        )
        await pilot.press("6")
        text = await see(pilot, "└ alice")
        mine = " ".join(line_of(text, "└ alice").split())
        assert mine == "└ alice 3 (75%) 25.0% 0.310 1 run, 4 CPUs a job 8 CPUs"
        assert "each user 16 CPUs, 2 GPUs · time limit 7d00" in line_of(text, "qos long")
        await pilot.press("down", "d")
        await see(pilot, "less used than promised", "QOS", "normal, long")


async def test_no_fair_share_is_one_sentence_above_the_limits(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(120, 30), notifications=True) as pilot:
        why = "This cluster does not share by use"
        side_of(pilot).paint["shares"] = msgspec.structs.replace(
            some_shares(), why_none=why, limits_error="sacctmgr: no"
        )
        await pilot.press("6")
        await see(pilot, why, "The limits are not known: sacctmgr: no", "research")


# --- plots


async def test_each_picture_and_its_numbers(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(120, 40), notifications=True) as pilot:
        now = time.time()
        timeline = pilot.app.store.timeline  # type: ignore[attr-defined]
        timeline.mine += [Point(now - 600 + 10 * n, n % 7, 20 - n % 5, 0) for n in range(60)]
        await pilot.press("7")
        text = await see(pilot, "3 run, 16 wait (mine)", "waiting", "┤")
        assert time.strftime("%H:%M", time.localtime(now - 600)) in text
        assert "16 of 72 CPUs in use" in text
        await pilot.press("down")
        await see(pilot, "CPUs in use, 28 free", "░ free")
        await pilot.press("down")
        text = await see(pilot, "1 of 6 GPUs in use, 5 free")
        assert line_of(text, "v100")
        await pilot.press("down")
        await see(pilot, "9 of 10 within", "gpu", "half of the jobs started within this")


@pytest.mark.parametrize("theme", ["midnight", "terminal16", "paper"])
async def test_the_curve_is_drawn_in_every_theme_and_after_a_resize(
    make: Callable[..., PaintedApp], theme: str
) -> None:
    async with make().run_test(size=(100, 30), notifications=True) as pilot:
        pilot.app.store.timeline.mine += [Point(time.time() - n, n, 2 * n, 0) for n in range(20, 0, -1)]  # type: ignore[attr-defined]
        await pilot.press("7")
        await see(pilot, "┤", "running")
        await pilot.press("colon", *f"theme {theme}", "enter")
        await see(pilot, "┤", "running")
        await pilot.resize_terminal(40, 10)
        await see(pilot, "too small for a curve")
        await pilot.resize_terminal(80, 24)
        await see(pilot, "┤", "waiting")


async def test_a_cluster_without_gpus_and_a_user_without_jobs(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(100, 30), notifications=True) as pilot:
        side = side_of(pilot)
        bare = [msgspec.structs.replace(node, gres=(), gres_used=()) for node in some_cluster().nodes]
        side.paint["nodes"] = ClusterUse(tuple(bare), some_cluster().partitions)
        side.paint["history"] = History(days=tuple(days_back(time.time(), 7)))
        await pilot.press("7")
        await see(pilot, "no GPUs", "0 started jobs")
        await pilot.press("down", "down")
        await see(pilot, "no GPU that SLURM tells of")
        await pilot.press("down")
        await see(pilot, "None of your jobs started")
