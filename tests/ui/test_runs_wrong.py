"""``z`` in the list of runs: what failed and what needs a person, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.verdict import Mood, Verdict
from tests.ui.conftest import run_view, some_snapshot
from tests.ui.seeing import gone, see

if TYPE_CHECKING:
    from tests.ui.conftest import Make

FAILED = "44444444-3a52-4c6f-9d0e-0123456789ab"


async def test_failed_runs_are_among_what_is_wrong(make_console: Make) -> None:
    verdict = Verdict(kind="failed", text="failed: ValueError: no", mood=Mood.FAILED)
    snapshot = some_snapshot()
    failed = run_view(FAILED, "calm-heron", verdict, "FAILED")
    snapshot = msgspec.structs.replace(snapshot, runs=(*snapshot.runs, failed))
    async with make_console(snapshot).run_test(size=(120, 34), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("z")
        await gone(pilot, "brave-otter")
        text = await see(pilot, "calm-heron")
        assert "amber-wolf" in text


async def test_without_anything_wrong_that_is_said(make_console: Make) -> None:
    snapshot = some_snapshot()
    snapshot = msgspec.structs.replace(snapshot, runs=snapshot.runs[:1])
    async with make_console(snapshot).run_test(size=(120, 34), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("z")
        await see(pilot, "Nothing is wrong with any run  (z shows all)", "0 of 1 run ")


async def test_the_runs_that_a_filter_leaves_are_counted(make_console: Make) -> None:
    snapshot = some_snapshot()
    number = len(snapshot.runs)
    async with make_console(snapshot).run_test(size=(120, 34), notifications=True) as pilot:
        await see(pilot, "brave-otter", f" {number} runs ")
        await pilot.press("/", *"otter")
        await see(pilot, f" 1 of {number} runs ")
        await pilot.press("escape", "escape")
        await see(pilot, f" {number} runs ")
