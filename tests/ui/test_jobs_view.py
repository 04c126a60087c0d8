"""The list of jobs as a person uses it: order, columns, filters, arrays, what has changed, how it was left."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from textual import events

from slurmtui.models.job_outcome import Outcome
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.store.snapshot import Part, Snapshot
from slurmtui.store.view_state import ViewState
from slurmtui.views.jobs import lister
from slurmtui.widgets.agreement import DEAF_SECONDS
from slurmtui.widgets.question import QuestionScreen
from tests.records import record_of
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.pilot import Pilot

    from slurmtui.views.jobs.screen import JobsScreen
    from tests.ui.conftest import Make, PaintedApp

WIDE = (160, 40)


def line(job_id: object, **fields: object) -> bytes:
    usual = {
        "id": job_id, "raw_id": 1, "user": "alice", "name": f"job-{job_id}", "partition": "gpu", "state": "RUNNING",
        "node_count": 1, "cpus": 1, "elapsed": "5:00", "time_limit": "1:00:00", "nodes": "n1", "reason": "None",
    }  # fmt: skip
    return record_of(QUEUE, usual, **fields)


def waiting(job_id: object, **fields: object) -> bytes:
    return line(job_id, **{"state": "PENDING", "elapsed": "0:00", "nodes": "", "reason": "Priority", **fields})


def picture(lines: Iterable[bytes], *, at: float | None = None, **others: Any) -> Snapshot:
    return Snapshot(user="alice", queue=Part(JobTable(b"".join(lines)), at=at or time.time()), **others)


FEW = (
    line(30, name="long", elapsed="1-02:00:00", cpus=4),
    line(8, name="train-10", elapsed="10:00", cpus=16, account="physics"),
    waiting(100, name="train-9", reason="JobHeldUser", tres="cpu=1,mem=64G"),
    line(12, name="short", elapsed="0:30", tres="cpu=1,mem=500M"),
)
ARRAY = (
    line("50_0", name="sweep"),
    line("50_1", name="sweep"),
    waiting("50_[2-9%2]", name="sweep", reason="JobArrayTaskLimit"),
    line(60, name="alone"),
    line("70+0", name="both"),
    line("70+1", name="both"),
)


def screen_of(pilot: Pilot[Any]) -> JobsScreen:
    return pilot.app.screen  # type: ignore[return-value]


def text_of(pilot: Pilot[Any]) -> str:
    app: PaintedApp = pilot.app  # type: ignore[assignment]
    return app.screen_text()


def heading_of(pilot: Pilot[Any]) -> str:
    return text_of(pilot).splitlines()[2]


def keys_shown(pilot: Pilot[Any]) -> list[str]:
    table = screen_of(pilot).table
    return [table.source.key(place) for place in range(len(table.source))]


def paint(pilot: Pilot[Any], snapshot: Snapshot) -> None:
    pilot.app.store.paint(snapshot)  # type: ignore[attr-defined]


def styles_of(pilot: Pilot[Any], text: str) -> list[Any]:
    """The styles of the pieces of the first line that holds ``text``."""
    app: Any = pilot.app
    for strip in app.screen._compositor.render_strips(app.size):
        if text in "".join(segment.text for segment in strip):
            return [(segment.text, segment.style) for segment in strip if segment.text.strip()]
    message = f"{text!r} is not on screen"
    raise AssertionError(message)


# --- order


async def test_sorting_walks_through_the_columns_and_turns_round(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        assert keys_shown(pilot) == ["30", "8", "100", "12"]
        await pilot.press("greater_than_sign")
        assert keys_shown(pilot) == ["8", "12", "30", "100"]
        await see(pilot, "JOB▴")
        await pilot.press("greater_than_sign")
        assert keys_shown(pilot) == ["30", "12", "100", "8"]  # long, short, train-9, train-10
        await pilot.press("less_than_sign", "equals_sign")
        assert keys_shown(pilot) == ["100", "30", "12", "8"]
        await see(pilot, "JOB▾")
        await pilot.press("less_than_sign")
        assert keys_shown(pilot) == ["30", "8", "100", "12"]


async def test_a_column_is_picked_from_a_list_and_times_are_sorted_as_times(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        await pilot.press("s")
        await see(pilot, "how long it has run")
        await pilot.press(*["j"] * 6, "enter")
        await see(pilot, "TIME▾")
        assert keys_shown(pilot) == ["30", "8", "12", "100"]
        await pilot.press("s", "enter")  # the same again turns it round
        await see(pilot, "TIME▴")
        assert keys_shown(pilot) == ["12", "8", "30", "100"]
        await pilot.press("s", "escape")
        assert keys_shown(pilot) == ["12", "8", "30", "100"]


async def test_the_cursor_stays_on_its_job_and_the_order_holds_over_polls(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        await pilot.press("j", "s", *["j"] * 9, "enter")
        await see(pilot, "CPU▾")
        assert screen_of(pilot).table.cursor_key == "8"
        assert keys_shown(pilot)[:2] == ["8", "30"]
        paint(pilot, picture([*FEW[:1], line(8, cpus=2), *FEW[2:], line(9, cpus=99)]))
        await until(pilot, lambda: keys_shown(pilot)[:3] == ["9", "30", "8"])
        assert screen_of(pilot).table.cursor_key == "8"


async def test_reversing_slurms_order_says_what_to_do_first(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        await pilot.press("equals_sign")
        await see(pilot, "choose a column first")


async def test_an_order_by_a_hidden_column_is_told(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        await pilot.press("s", "G", "enter")
        await see(pilot, "· by dir▴")


# --- columns


async def test_columns_are_hidden_moved_widened_and_given_back(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        heading = (await see(pilot, "train-10")).splitlines()[2]
        assert "USER" in heading
        await pilot.press("c", "j", "j", "space")
        await until(pilot, lambda: "USER" not in heading_of(pilot))
        await pilot.press("k", "k", "greater_than_sign")
        await until(pilot, lambda: heading_of(pilot).split()[:2] == ["NAME", "JOB"])
        await pilot.press("escape")
        await until(pilot, lambda: heading_of(pilot) == heading)
        await pilot.press("c", "j", "j", *["plus"] * 6, "enter")
        await until(pilot, lambda: heading_of(pilot).index("PART") - heading_of(pilot).index("USER") == 9 + 6 + 1)


async def test_the_last_column_cannot_be_hidden_and_r_brings_the_usual_ones(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        heading = (await see(pilot, "train-10")).splitlines()[2]
        await pilot.press("c", *["space", "j"] * 13)
        await until(pilot, lambda: len(heading_of(pilot).split()) <= 3)
        assert heading_of(pilot).strip()
        await pilot.press("r", "enter")
        await until(pilot, lambda: heading_of(pilot) == heading)


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_a_long_list_scrolls_on_a_small_terminal(make_console: Make, size: tuple[int, int]) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=size, notifications=True) as pilot:
        await see(pilot, "train-10")
        await pilot.press("c")
        await see(pilot, "space on, off")
        await pilot.press("G")
        await see(pilot, "FOLDER")
        await pilot.press("escape", "s", "G")
        await see(pilot, "FOLDER")
        assert "enter chooses" in text_of(pilot)


async def test_the_wide_view_shows_more_and_its_columns_move(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        assert "physics" not in text_of(pilot)
        await pilot.press("right")
        await see(pilot, "w shows all columns")
        await pilot.press("w", *["right"] * 4)
        await see(pilot, "physics")
        heading = heading_of(pilot)
        assert heading.split()[0] == "JOB"
        assert "NAME" not in heading
        await pilot.press(*["right"] * 20)
        await see(pilot, "FOLDER")
        await see(pilot, "that is the last column")
        await pilot.press(*["left"] * 30, "w")
        await until(pilot, lambda: "ACCOUNT" not in text_of(pilot))


async def test_a_narrow_terminal_leaves_out_columns_that_say_nothing(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=(80, 24), notifications=True) as pilot:
        heading = (await see(pilot, "train-10")).splitlines()[2]
        assert "USER" not in heading
        assert "RUN" not in heading
        assert "WHERE" in heading
        await pilot.press("a")
        await see(pilot, "everybody")
        await until(pilot, lambda: "USER" in heading_of(pilot))


# --- filter


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("train", ["8", "100"]),
        ("train !9", ["8"]),
        ("cpus>=4", ["30", "8"]),
        ("mem>1G", ["100"]),
        ("elapsed>2h", ["30"]),
        ("state:pd", ["100"]),
        ("/^train-[0-9]$/", ["100"]),
        ("limit>30m !/long|short/ train", ["8", "100"]),
    ],
)
async def test_filters_as_typed(make_console: Make, text: str, expected: list[str]) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        screen_of(pilot).sift(text)
        assert keys_shown(pilot) == expected


async def test_the_count_is_that_of_the_rows_while_a_filter_is_typed(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "4 jobs · mine")
        await pilot.press("slash", *"train")
        await see(pilot, "2 jobs · mine  / train")
        await pilot.press(*"-9")
        await see(pilot, "1 job · mine  / train-9")
        await pilot.press("escape")
        await see(pilot, "4 jobs · mine ")


@pytest.mark.parametrize("text", ["50_5", "id:50_5"])
async def test_a_filter_goes_to_a_task_that_waits_in_its_array(make_console: Make, text: str) -> None:
    async with make_console(picture(ARRAY), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "sweep")
        await pilot.press("slash", *text)
        await until(pilot, lambda: keys_shown(pilot) == ["50"])
        await pilot.press("enter")
        await until(pilot, lambda: screen_of(pilot).table.cursor_key == "50_5")


async def test_what_is_typed_right_after_the_slash_is_heard(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        for character in "/e:/x":  # all at once, as a terminal sends what was typed while it was busy
            key = {"/": "slash", ":": "colon"}.get(character, character)
            pilot.app.post_message(events.Key(key, character))
        await see(pilot, "/ e:/x")
        assert "does nothing here" not in text_of(pilot)


async def test_a_wrong_regular_expression_keeps_the_last_good_filter_and_says_why(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        await pilot.press("slash", *"/tr", "left_square_bracket", "slash")
        text = await see(pilot, "is no regular expression")
        assert keys_shown(pilot) == ["8", "100"]
        assert "job-" not in text


@pytest.mark.parametrize("jobs", [3, 3000])
async def test_an_expression_that_never_ends_is_given_up(make_console: Make, jobs: int) -> None:
    snapshot = picture([*(line(number) for number in range(jobs)), line(jobs, name="a" * 60 + "b")])
    endless = "/(a|aa)+$/"  # it tries some 10 ** 12 ways at the last name
    async with make_console(snapshot, view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "job-0")
        await pilot.press("slash", *"job-2", "enter")
        await until(pilot, lambda: not screen_of(pilot)._lister.busy and "0" not in keys_shown(pilot))
        shown = keys_shown(pilot)
        await pilot.press("slash", *["backspace"] * 5, *endless)
        await see(pilot, "takes too long for this list")
        await pilot.press("enter")
        await see(pilot, endless, "takes too long for this list")  # it stays to be mended
        await pilot.press("escape")
        await until(pilot, lambda: keys_shown(pilot) == shown)
        assert "/ job-2" in text_of(pilot)


async def test_the_first_jobs_of_a_long_queue_are_seen_while_it_is_read_and_not_acted_on(
    make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slurmtui.views.toasts._SECONDS", 600.0)  # nothing goes by itself
    part = Snapshot(user="alice", first_jobs=JobTable(b"".join([line(1, name="first"), line(2)])))
    async with make_console(part, view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "first", "reading the queue…", "jobs …")
        await pilot.press("X")
        await see(pilot, "The queue is still being read")
        assert not isinstance(pilot.app.screen, QuestionScreen)
        await pilot.press("d")
        await until(pilot, lambda: text_of(pilot).count("The queue is still being read") == 2)
        assert "left the queue" not in text_of(pilot)
        await pilot.press("d", "space", "asterisk")
        assert not screen_of(pilot).table.marks, "what is marked may be a part of what is meant"
        paint(pilot, picture([line(1, name="first"), line(2), line(3)]))
        await see(pilot, "3 jobs · mine", "jobs 3 R 0 PD")
        assert keys_shown(pilot) == ["1", "2", "3"]
        await pilot.press("X")
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionScreen))


async def test_the_first_jobs_stay_as_what_they_are_when_the_rest_does_not_come(make_console: Make) -> None:
    first = JobTable(b"".join([line(1, name="first"), *(waiting(f"50_{task}") for task in range(3))]))
    broken = Part(JobTable.EMPTY, error="squeue did not answer within 20 s", failing_since=time.time())
    snapshot = Snapshot(user="alice", first_jobs=first, queue=broken)
    async with make_console(snapshot, view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        text = await see(
            pilot, "first", "the queue was not read to its end", "did not answer within 20 s", "being read…"
        )
        assert "3 waiting" not in text


async def test_a_tally_takes_the_room_there_is_when_the_terminal_grows(make_console: Make) -> None:
    async with make_console(picture(ARRAY), view="jobs").run_test(size=(80, 24)) as pilot:
        await see(pilot, "2R 8PD")
        await pilot.resize_terminal(*WIDE)
        await see(pilot, "2 running · 8 waiting")


async def test_the_rows_stand_beneath_their_headings_when_the_terminal_grows(make_console: Make) -> None:
    """From 130 columns to 160 USER and RUN come back, of which the rows knew nothing until SLURM's next answer."""
    async with make_console(picture(FEW), view="jobs").run_test(size=(130, 40), notifications=True) as pilot:
        await see(pilot, "train-10")
        assert "USER" not in heading_of(pilot)
        await pilot.resize_terminal(160, 40)
        await see(pilot, "USER")
        row = next(line for line in text_of(pilot).splitlines() if "train-10" in line)
        assert row.index("alice") == heading_of(pilot).index("USER")


async def test_the_first_jobs_of_everybody_are_seen_where_the_view_was_left_so(make_console: Make) -> None:
    app = make_console(picture(FEW), view="jobs")
    app.keeper.memory.keep("jobs", ViewState(everyone=True))
    app.store.snapshot = Snapshot(user="alice")
    async with app.run_test(size=WIDE) as pilot:
        await see(pilot, "Asking SLURM")
        paint(pilot, Snapshot(user="alice", everyone=True, first_jobs=JobTable(line(1, user="bob", name="theirs"))))
        await see(pilot, "theirs", "bob", "reading the queue…")


async def test_a_filter_is_kept_under_a_name_and_completed(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        await pilot.press("colon", *"filter save big", "enter")
        await see(pilot, "There is no filter to keep as big")
        await pilot.press("slash", *"cpus>8", "enter", "colon", *"filter save big", "enter")
        await see(pilot, "kept as  filter big : cpus>8")
        await pilot.press("escape")
        await until(pilot, lambda: len(keys_shown(pilot)) == 4)
        assert "filter big" in pilot.app.command_names  # type: ignore[attr-defined]
        await pilot.press("colon", *"filter b")
        await see(pilot, "filter big")  # completed behind what was typed
        await pilot.press("right", "enter")
        await until(pilot, lambda: keys_shown(pilot) == ["8"])
        await see(pilot, "/ cpus>8")
        await pilot.press("colon", *"filter forget big", "enter")
        await see(pilot, "the filter big is forgotten")
        assert "filter big" not in pilot.app.command_names  # type: ignore[attr-defined]


async def test_jobs_are_found_by_the_name_of_their_run(make_console: Make) -> None:
    async with make_console(view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "5122")
        screen_of(pilot).sift("otter")
        assert keys_shown(pilot) == ["4711", "4714"]


# --- only what is wrong


async def test_only_what_is_wrong(make_console: Make) -> None:
    jobs = [*FEW, waiting(200, reason="DependencyNeverSatisfied"), line(201, state="REQUEUE_HOLD"), waiting(202)]
    async with make_console(picture(jobs), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        await pilot.press("z")
        await see(pilot, "! only what is wrong")
        assert keys_shown(pilot) == ["100", "200", "201"]
        paint(pilot, picture([line(1)]))
        paint(pilot, picture([line(1)]))  # until then those that have gone are shown, struck out
        await see(pilot, "Nothing is wrong")
        await pilot.press("escape")
        await until(pilot, lambda: keys_shown(pilot) == ["1"])


async def test_only_the_runs_that_need_a_person(make_console: Make) -> None:
    async with make_console().run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "brave-otter")
        await pilot.press("z")
        await until(pilot, lambda: "brave-otter" not in text_of(pilot))
        assert "amber-wolf" in text_of(pilot)


# --- as it was left


async def test_everything_comes_back_as_it_was_left(make_console: Make) -> None:
    async with make_console(picture(FEW)).run_test(size=WIDE, notifications=True) as pilot:
        await pilot.press("2")
        await see(pilot, "train-10")
        await pilot.press(
            "a", "z", "c", "j", "j", "space", "enter", "slash", *"train", "enter", "s", *["j"] * 8, "enter"
        )
        await see(pilot, "CPU▾")
    again = make_console(picture(FEW, everyone=True))
    assert again.store.asked == []
    async with again.run_test(size=WIDE, notifications=True) as pilot:
        text = await see(pilot, "train-9")
        assert "everybody" in text
        assert "! only what is wrong" in text
        assert "/ train" in text
        assert "CPU▾" in text
        assert "USER" not in text
        assert keys_shown(pilot) == ["100"]


async def test_the_view_asked_for_at_the_start_wins_over_the_last_one(make_console: Make) -> None:
    async with make_console(picture(FEW)).run_test(size=WIDE, notifications=True) as pilot:
        await pilot.press("2")
        await see(pilot, "train-10")
    async with make_console(picture(FEW), view="runs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "Asking Prefect")
    async with make_console(picture(FEW)).run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "Asking Prefect")


async def test_a_damaged_memory_is_no_reason_not_to_start(make_console: Make) -> None:
    made = make_console(picture(FEW), view="jobs")
    path = made.keeper.memory.path
    path.parent.mkdir(parents=True)
    path.write_bytes(
        b'{"views": {"jobs": {"columns": ["nonsense", 3], "sort": ["colour", true], "filter": "/[/"}}, "las'
    )
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
    path.write_bytes(b'{"views": {"jobs": {"columns": ["nonsense"], "sort": ["colour", true], "filter": "/[/"}}}')
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        assert "NAME" in await see(pilot, "train-10")


# --- arrays and het jobs


async def test_an_array_is_one_row_with_a_tally_that_opens_and_closes(make_console: Make) -> None:
    async with make_console(picture(ARRAY), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        text = await see(pilot, "2 running · 8 waiting")
        assert "▸ 50_[0-9]" in text
        assert "13 jobs · mine" in text
        assert keys_shown(pilot) == ["50", "60", "70"]
        await pilot.press("enter")
        await see(pilot, "50_9")
        assert keys_shown(pilot) == ["50", *(f"50_{task}" for task in range(10)), "60", "70"]
        await pilot.press("j", "j", "escape")
        await until(pilot, lambda: keys_shown(pilot) == ["50", "60", "70"])
        assert screen_of(pilot).table.cursor_key == "50"


async def test_a_het_job_opens_into_its_components(make_console: Make) -> None:
    async with make_console(picture(ARRAY), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "▸ 70+")
        await pilot.press("G", "enter")
        await see(pilot, "70+1")
        assert keys_shown(pilot)[-3:] == ["70", "70+0", "70+1"]


async def test_ended_tasks_are_told_where_accounting_knows_them(
    make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    async def tallies(_runner: Any, arrays: list[str], _timeout: float) -> dict[str, dict[str, int]]:
        asked.append(arrays)
        return {"50": {"COMPLETED": 412, "FAILED": 3}}

    monkeypatch.setattr("slurmtui.views.jobs.ended.ended_tallies", tallies)
    async with make_console(picture(ARRAY), view="jobs").run_test(size=(200, 40), notifications=True) as pilot:
        await see(pilot, "412 done · 2 running · 3 failed · 8 waiting")
        paint(pilot, picture((*ARRAY[1:], line(80, name="one-more"))))
        await see(pilot, "one-more", "412 done · 1 running")
        screen_of(pilot).tick()  # looks what lacks
        await pilot.app.workers.wait_for_complete()
        assert asked == [["50"]], "accounting is not asked again so soon"


async def test_the_whole_list_is_asked_for_when_squeue_cut_it(
    make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = "50_[" + ",".join(str(number) for number in range(0, 99, 2))

    async def whole(*_: Any) -> str:
        return f"{cut}]"

    monkeypatch.setattr("slurmtui.sources.slurm.client.Slurm.whole_id", whole)
    async with make_console(picture([waiting(cut)]), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "+ waiting")
        await pilot.press("enter")
        await see(pilot, "50 waiting")
        assert keys_shown(pilot)[-1] == "50_98"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids with which commands were given, in place of SLURM, which does all they say."""
    given: list[str] = []

    async def act(_: Any, __: Any, ids: list[str], ___: Any = None) -> dict[str, Outcome]:
        given.extend(ids)
        return {job_id: Outcome(job_id) for job_id in ids}

    monkeypatch.setattr("slurmtui.actions.jobs_doing.act", act)
    return given


async def test_marking_an_array_means_all_of_it_and_the_dialog_says_so(make_console: Make, sent: list[str]) -> None:
    async with make_console(picture(ARRAY), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "▸ 50_[0-9]")
        await pilot.press("slash", *"state:pd", "enter")
        await until(pilot, lambda: keys_shown(pilot) == ["50"])
        await pilot.press("X")
        text = await see(pilot, "Cancel the whole array 50")
        assert "array 50 as a whole: 10 tasks, also 2 that the filter hides" in text
        assert "scancel -v 50 " in text
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("y", "enter")
        await see(pilot, "that was not 10")
        assert sent == []
        await pilot.press("1", "0", "enter")
        await see(pilot, "cancelled: 50")
        assert sent == ["50"]


async def test_marking_tasks_means_exactly_those_also_when_the_array_is_closed_again(
    make_console: Make, sent: list[str]
) -> None:
    async with make_console(picture(ARRAY), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "▸ 50_[0-9]")
        await pilot.press("enter", "j", "j", "space", *["j"] * 4, "space", "g", "enter")
        await until(pilot, lambda: keys_shown(pilot) == ["50", "60", "70"])
        await see(pilot, "2 marked")
        await pilot.press("X")
        await see(pilot, "scancel -v 50_[1,6]")
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("2", "enter")
        await see(pilot, "cancelled: 50_1 50_6")
        assert sent == ["50_1", "50_6"]


async def test_a_task_of_a_marked_array_is_not_named_twice(make_console: Make) -> None:
    async with make_console(picture(ARRAY), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "▸ 50_[0-9]")
        await pilot.press("enter", "space", "space", "X")
        text = await see(pilot, "as a whole: 10 tasks, 2 running, 8 waiting")
        plan = next(line for line in text.splitlines() if "scancel" in line)
        assert "50_0" not in plan.split("│")[1]


async def test_going_to_a_task_opens_its_array(make_console: Make) -> None:
    app = make_console(picture(ARRAY), view="jobs")
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "▸ 50_[0-9]")
        app.go("jobs", "50_7")
        await until(pilot, lambda: screen_of(pilot).table.cursor_key == "50_7")
        app.go("jobs", "70+1")
        await until(pilot, lambda: screen_of(pilot).table.cursor_key == "70+1")
        app.go("jobs", "50_[2-9%2]")
        await until(pilot, lambda: screen_of(pilot).table.cursor_key == "50")


async def test_the_detail_and_the_log_of_an_array_say_where_to_look(make_console: Make) -> None:
    async with make_console(picture(ARRAY), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "▸ 50_[0-9]")
        await pilot.press("d")
        text = await see(pilot, "array 50 · sweep · 2 running · 8 waiting")
        assert "10 in the queue, numbers 0-9" in text
        await pilot.press("escape", "l")
        await see(pilot, "array 50 · log")


# --- what has changed


async def test_new_jobs_are_tinted_changed_cells_bold_and_gone_rows_struck_until_the_next_poll(
    make_console: Make,
) -> None:
    before = [line(1, name="first"), line(2, name="second"), waiting(3, name="third")]
    after = [line(1, name="first"), line(3, name="third"), line(4, name="fourth")]
    async with make_console(picture(before), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "third")
        await pilot.press("G", "k")
        ground = styles_of(pilot, "first")[0][1].bgcolor
        paint(pilot, picture(after))
        await see(pilot, "fourth")
        assert keys_shown(pilot) == ["1", "2", "3", "4"]
        assert all(style.strike for _, style in styles_of(pilot, "second"))
        assert any(style.bold for text, style in styles_of(pilot, "third") if text.strip() == "R")
        assert not any(style.bold for text, style in styles_of(pilot, "third") if "third" in text)
        assert {style.bgcolor for _, style in styles_of(pilot, "fourth")} != {ground}
        assert not any(style.bold or style.strike for _, style in styles_of(pilot, "first"))
        await pilot.press("X")
        await see(pilot, "This job has left the queue")
        assert not isinstance(pilot.app.screen, QuestionScreen)
        paint(pilot, picture(after))
        await until(pilot, lambda: "second" not in text_of(pilot))
        assert {style.bgcolor for _, style in styles_of(pilot, "fourth")} == {ground}
        assert screen_of(pilot).table.cursor_key == "3"


async def test_a_word_of_the_console_is_no_news_from_slurm(make_console: Make) -> None:
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        paint(pilot, picture(FEW[:3]))
        await until(pilot, lambda: all(style.strike for _, style in styles_of(pilot, "short")))
        assert keys_shown(pilot) == ["30", "8", "100", "12"]
        pilot.app.store.overlay("8", "cancelling…", 20)  # type: ignore[attr-defined]
        await see(pilot, "cancelling…")
        assert keys_shown(pilot) == ["30", "8", "100", "12"]  # struck until the next poll, not until the next word
        assert all(style.strike for _, style in styles_of(pilot, "short"))


async def test_everybodys_jobs_are_not_all_new(make_console: Make) -> None:
    everyone = [*FEW, line(77, user="bob", name="bobs")]
    async with make_console(picture(FEW), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        ground = styles_of(pilot, "short")[0][1].bgcolor
        pilot.app.store.set_everyone = lambda _everyone: None  # type: ignore[attr-defined]  # SLURM takes its time
        await pilot.press("a")
        await see(pilot, "asking for everybody's…")
        paint(pilot, picture(everyone, everyone=True))
        await see(pilot, "bobs")
        assert {style.bgcolor for _, style in styles_of(pilot, "bobs")} == {ground}


async def test_times_go_on_between_polls_but_not_when_slurm_is_silent(make_console: Make) -> None:
    now = time.time()
    async with make_console(picture(FEW, at=now - 180), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")
        screen_of(pilot).tick()
        await see(pilot, "13m")
        stale = picture(FEW, at=now - 180)
        part = msgspec.structs.replace(stale.queue, error="no answer", failing_since=now - 100)
        paint(pilot, msgspec.structs.replace(stale, queue=part))
        await see(pilot, "10m")


async def test_an_answer_that_came_while_the_screen_was_made_is_shown(make_console: Make) -> None:
    app = make_console(Snapshot(user="alice"), view="jobs")
    subscribe = app.store.subscribe

    def late(callback: Callable[[Snapshot], None]) -> Callable[[], None]:
        app.store.snapshot = picture(FEW)  # told to those who had subscribed by then: nobody
        return subscribe(callback)

    app.store.subscribe = late  # type: ignore[method-assign]
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train-10")


# --- very many


async def test_a_large_queue_is_arranged_beside_the_console(
    make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lister, "SMALL", 0)
    many = [line(number, name=f"job-{number}", cpus=number % 7) for number in range(1, 400)]
    async with make_console(picture(many), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "job-1 ")
        await pilot.press("j")
        screen_of(pilot).sift("cpus=3")
        await until(pilot, lambda: "57 jobs · mine" in text_of(pilot), 3)
        assert len(keys_shown(pilot)) == 57
        assert screen_of(pilot).table.cursor_key == "10"
        await pilot.press("escape", "s", "j", "enter", "equals_sign")
        await until(pilot, lambda: keys_shown(pilot)[:2] == ["399", "398"])
        paint(pilot, picture(many[:-1]))
        await until(pilot, lambda: "398" in keys_shown(pilot)[:2])
        assert screen_of(pilot).table.cursor_key == "10"


async def test_of_several_wishes_the_newest_is_shown(make_console: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lister, "SMALL", 0)
    many = [line(number, name=f"job-{number}") for number in range(1, 400)]
    async with make_console(picture(many), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "job-1 ")
        for text in ("j", "jo", "job-7", "job-77"):
            screen_of(pilot).sift(text)
        await until(pilot, lambda: keys_shown(pilot) == ["77"])
        await until(pilot, lambda: not screen_of(pilot)._lister.busy)
        assert keys_shown(pilot) == ["77"]
