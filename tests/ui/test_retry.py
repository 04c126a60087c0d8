"""The retry dialog: what a person is told before yes, the ways that are offered, and what a yes does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.control.retry import RetryPlan
from slurmtui.models.profile import Profile
from slurmtui.models.retry import ways
from slurmtui.models.run_record import RunSpec
from slurmtui.views.newrun.screen import NewRunScreen
from slurmtui.widgets.agreement import DEAF_SECONDS
from slurmtui.widgets.choice import WaysScreen
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from slurmtui.store.snapshot import Snapshot
    from tests.ui.conftest import Make

PROFILE = Profile(name="gpu", partition="gpu", memory="16G", walltime="02:00:00", gres="gpu:1", workers=4)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was started, as (run, memory), in place of SLURM and Prefect."""
    started: list[tuple[str, str]] = []

    async def plan(_session: Any, run_id: str) -> RetryPlan:
        from slurmtui.models.flow_run import FlowRun  # noqa: PLC0415

        return RetryPlan(run=FlowRun(id=run_id, name="x"), reused=31, total=52, profile=PROFILE)

    async def find(_session: Any, _record: Any) -> Any:
        return ways(PROFILE)

    async def says(_session: Any, profile: Profile) -> tuple[bool, str]:
        return True, f"a job of {profile.memory} would start 14:41 on gpu2"

    async def start(_session: Any, run_id: str, profile: Profile | None = None, reason: str = "") -> RunSpec:
        assert reason
        started.append((run_id, profile.memory if profile else "same"))
        return RunSpec(id=run_id, name="amber-wolf", flow_name="train", entrypoint="/x.py:train")

    async def reuse(_session: Any, _run_id: str) -> tuple[int, int]:
        return 3, 4

    async def none(*_: Any) -> tuple[Any, ...]:
        return ()

    monkeypatch.setattr("slurmtui.control.retry.plan_retry", plan)
    monkeypatch.setattr("slurmtui.control.retry.retry_run", start)
    monkeypatch.setattr("slurmtui.control.retry.reuse_of", reuse)
    monkeypatch.setattr("slurmtui.control.retry_change.ways_for", find)
    monkeypatch.setattr("slurmtui.control.retry_change.slurm_says", says)
    monkeypatch.setattr("slurmtui.sources.slurm.client.Slurm.partitions", none)
    return started


@pytest.mark.parametrize("size", [(120, 34), (80, 24)])
async def test_after_out_of_memory_more_of_it_is_offered_with_its_cost_and_slurms_answer(
    make_console: Make, done: list[tuple[str, str]], size: tuple[int, int]
) -> None:
    async with make_console().run_test(size=size, notifications=True) as pilot:
        await see(pilot, "amber-wolf")
        await pilot.press("down", "R")
        text = await see(pilot, "32G would start 14:41")
        assert "out of memory: job 4690" in text
        assert "31 of 52 tasks" in text
        assert "21 tasks" in text
        assert "(•) bigger memory" in text
        assert "in 4 jobs, ≤ 8 core-hours, ≤ 8 GPU-hours" in text
        await pilot.press("up")
        await see(pilot, "16G would start 14:41")
        await pilot.press("down")
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("y")
        await see(pilot, "runs again")
        assert [memory for _, memory in done] == ["32G"]


async def test_no_is_the_default_and_enter_starts_nothing(make_console: Make, done: list[tuple[str, str]]) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "amber-wolf")
        await pilot.press("down", "R")
        await see(pilot, "bigger memory")
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, WaysScreen))
        await pilot.press("R")
        await see(pilot, "bigger memory")
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("y")
        await see(pilot, "runs again")
        assert len(done) == 1, "only the yes was followed"


def three_failed(snapshot: Snapshot) -> Snapshot:
    """The painted picture with two failed runs more, one of them for its code."""
    amber = snapshot.runs[1]
    copies = [
        msgspec.structs.replace(
            amber,
            run=msgspec.structs.replace(amber.run, id=f"{number}" * 8 + amber.run.id[8:], name=f"amber-{number}"),
            verdict=amber.verdict if number == 3 else msgspec.structs.replace(amber.verdict, kind="failed"),
        )
        for number in (3, 4)
    ]
    return msgspec.structs.replace(snapshot, runs=(*snapshot.runs, *copies))


async def test_all_that_failed_are_retried_by_one_plan_and_a_typed_count(
    make_console: Make, done: list[tuple[str, str]]
) -> None:
    from tests.ui.conftest import some_snapshot  # noqa: PLC0415

    async with make_console(three_failed(some_snapshot())).run_test(size=(100, 34), notifications=True) as pilot:
        await see(pilot, "amber-4")
        await pilot.press("colon", *"retry failed", "enter")
        text = await see(pilot, "SLURM says")
        assert "Retry 3 runs" in text
        assert "9 of 12 tasks" in text
        assert "2 lacked memory or time" in text
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("y", "2", "enter")
        await see(pilot, "that was not 3")
        assert done == []
        await pilot.press("3", "enter")
        await see(pilot, "3 of 3 run again")
        assert sorted(memory for _, memory in done) == ["2G", "2G", "same"]


async def test_edit_opens_the_form_of_a_new_run_with_the_parameters(
    make_console: Make, done: list[tuple[str, str]]
) -> None:
    async with make_console().run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "amber-wolf")
        await pilot.press("down", "R")
        await see(pilot, "edit parameters")
        await pilot.press("down", "down")
        await see(pilot, "this run stays as it is")
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(pilot.app.screen, NewRunScreen))
        assert pilot.app.screen.draft.given == {"lr": 0.1}  # type: ignore[attr-defined]
        assert done == []
