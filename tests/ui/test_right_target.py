"""An action takes what the person sees that it takes, and nothing else."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, cast

import msgspec

from slurmtui.actions import registry
from slurmtui.actions.model import Context
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.rescue import Case, Repair
from slurmtui.models.steps import Step
from slurmtui.store.snapshot import Part, Snapshot
from slurmtui.widgets.agreement import DEAF_SECONDS
from slurmtui.widgets.question import QuestionScreen
from tests.records import record_of
from tests.ui.seeing import gone, see, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from slurmtui.views.base import ViewScreen
    from tests.ui.conftest import Make, PaintedApp


def screen_of(pilot: Pilot[Any]) -> ViewScreen:
    return cast("ViewScreen", pilot.app.screen)


async def asked(pilot: Pilot[Any]) -> str:
    """The question that is asked; it is answered with no."""
    await until(pilot, lambda: isinstance(pilot.app.screen, QuestionScreen))
    title: str = pilot.app.screen._title  # type: ignore[attr-defined]
    await asyncio.sleep(DEAF_SECONDS)
    await pilot.press("escape")
    await until(pilot, lambda: not isinstance(pilot.app.screen, QuestionScreen))
    return title


async def test_what_is_done_from_the_why_page_concerns_its_job_alone(make_console: Make) -> None:
    async with make_console(view="jobs").run_test(size=(140, 40), notifications=True) as pilot:
        await see(pilot, "4711")
        await pilot.press("space")  # 4711 is marked, the page is about 4714
        screen_of(pilot).table.move_to("4714")
        await pilot.press("b")
        await see(pilot, "why 4714 waits")
        await pilot.press("X")
        assert "4714" in await asked(pilot)


async def test_from_a_job_among_the_runs_too(make_console: Make) -> None:
    async with make_console(view="runs").run_test(size=(140, 40), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("enter")
        await see(pilot, "4714")
        await pilot.press("down", "down", "b")
        await see(pilot, "why 4714 waits")
        await pilot.press("X")
        assert "4714" in await asked(pilot)


async def test_a_range_that_ends_among_the_tasks_of_an_array_takes_those_tasks_alone(make_console: Make) -> None:
    async with make_console(view="jobs").run_test(size=(140, 40), notifications=True) as pilot:
        await see(pilot, "4714")
        table = screen_of(pilot).table
        table.move_to("5001")
        await pilot.press("enter")
        await see(pilot, "5001_1 ")
        table.move_to("4714")
        await pilot.press("v", "down", "down", "down", "v")
        assert table.marks == {"4714", "5001_0", "5001_1"}
        assert {job.id for job in screen_of(pilot).context().marked_jobs} == {"4714", "5001_0", "5001_1"}


async def test_marks_that_a_filter_hides_are_not_passed_over(make_console: Make) -> None:
    async with make_console(view="jobs").run_test(size=(140, 40), notifications=True) as pilot:
        await see(pilot, "4711")
        await pilot.press("space", "slash", *"4714", "enter")
        await gone(pilot, "4711")
        await pilot.press("X")
        await see(pilot, "1 row is marked and not shown")
        await pilot.press("escape", "X")
        assert "4714" in await asked(pilot)


async def test_a_row_that_is_not_there_is_told_of_and_no_longer_sought_once_the_person_goes_on(
    make_console: Make,
) -> None:
    async with make_console(view="jobs").run_test(size=(140, 40), notifications=True) as pilot:
        await see(pilot, "4714")
        await pilot.press("slash", *"4714", "enter")
        await gone(pilot, "4711")
        screen_of(pilot).seek("4711")
        await see(pilot, "4711 is not in this list: the filter may hide it")
        await pilot.press("escape")  # the filter
        await see(pilot, "5122")
        pilot.app.store.paint(pilot.app.store.snapshot)  # type: ignore[attr-defined]
        await until(pilot, lambda: screen_of(pilot).table.cursor_key == "4711")
        screen_of(pilot).seek("99999")
        await pilot.press("down")
        screen_of(pilot).seek_on()
        assert screen_of(pilot)._sought[0] == ""


def case(number: int) -> Case:
    plan = (("SLURM", f"scancel {number}00"),)
    repairs = (Repair(key="crash", title="Crash", plan=plan), Repair(key="cancel", title="Cancel", plan=plan))
    return Case(id=f"run:{number}", kind="driver-gone", title=f"run-{number}", text="gone", repairs=repairs)


async def test_the_plan_of_several_repairs_is_that_of_all_of_them(make_console: Make) -> None:
    async with make_console(view="runs").run_test(size=(100, 40), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        app: PaintedApp = pilot.app  # type: ignore[assignment]
        cases = (case(1), case(2), msgspec.structs.replace(case(3), repairs=()))
        app.start(registry.BY_ID["rescue.repair"], Context(app, "rescue", marked_cases=cases))  # type: ignore[arg-type]
        await see(pilot, "scancel 100", "scancel 200", "left out", "type 2 and enter")


async def test_control_codes_in_names_of_steps_are_made_visible(make_console: Make) -> None:
    async with make_console(view="runs").run_test(size=(100, 30), notifications=True) as pilot:
        await see(pilot, "brave-otter")
        board = pilot.app.board("Retry")  # type: ignore[attr-defined]
        board.show(Step(key="a", title="evil\x1b[31m\x1b]52;c;Zm9v\x07"))
        board.finish("run \x1b[5mname: over", well=True)
        assert "\x1b" not in await see(pilot, "evil", "name: over")
        await pilot.press("escape")
        board.finish("toast \x1b[5m", well=True)
        assert "\x1b" not in await see(pilot, "toast")


async def test_a_filter_that_is_wrong_stays_at_the_prompt_and_escape_brings_the_old_one_back(
    make_console: Make,
) -> None:
    async with make_console(view="jobs").run_test(size=(140, 40), notifications=True) as pilot:
        await see(pilot, "4711")
        await pilot.press("slash", *"train", "enter")
        await gone(pilot, "5122")
        await pilot.press("slash", *" nodes>many", "enter")
        await see(pilot, "many", "train nodes>many")
        await pilot.press("escape")
        await until(pilot, lambda: screen_of(pilot).filter.text == "train")
        await see(pilot, "4711", "4714")


async def test_the_first_component_of_a_het_job_takes_the_others_with_it_and_the_question_says_so(
    make_console: Make,
) -> None:
    fields = {"user": "alice", "state": "PENDING", "partition": "gpu", "time_limit": "1:00:00", "elapsed": "0:00"}
    rows = (record_of(QUEUE, fields, id=f"70+{part}", raw_id=f"7{part}", name="both") for part in range(3))
    snapshot = Snapshot(user="alice", queue=Part(JobTable(b"".join(rows)), at=time.time()))
    async with make_console(snapshot, view="jobs").run_test(size=(140, 40), notifications=True) as pilot:
        await see(pilot, "70+")
        await pilot.press("enter")
        await see(pilot, "70+2")
        table = screen_of(pilot).table
        table.move_to("70+0")
        await pilot.press("X")
        await see(pilot, "with 70+0 SLURM ends its whole het job: 2 other components", "type 3")
        assert "70+0" in await asked(pilot)
        table.move_to("70+1")
        await pilot.press("X")
        text = await see(pilot, "scancel")
        assert "whole het job" not in text
        assert "70+1" in await asked(pilot)
