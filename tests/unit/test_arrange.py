"""The lines of the list of jobs: order, arrays and het jobs as one line, what is wrong, where a key stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.values import Special, seconds
from slurmtui.store.arrange import Arranger, Superseded, Wanted
from slurmtui.store.query_order import SORTABLE, natural, ordered, sort_keys
from slurmtui.store.query_values import duration
from slurmtui.store.query_wrong import is_wrong
from tests.records import record_of

if TYPE_CHECKING:
    from slurmtui.store.query_lines import Listing


def row(job_id: object, **fields: object) -> bytes:
    usual = {"id": job_id, "raw_id": 1, "user": "alice", "name": "job", "state": "RUNNING"}
    return record_of(QUEUE, usual, **fields)


def pending(job_id: object, **fields: object) -> bytes:
    return row(job_id, state="PENDING", elapsed="0:00", **fields)


MIXED_ROWS = (
    row(90, name="alone", elapsed="1:00:00", start=1000)
    + row("50_7", name="sweep", elapsed="10:00", start=2000)
    + row(8, name="train-10", user="bob", elapsed="1-00:00:00")
    + row("50_3", name="sweep", elapsed="2:00:00", start=1500)
    + pending("50_[8-9,20-30:5%4]", name="sweep", reason="JobArrayTaskLimit")
    + row("60+0", name="het", elapsed="5:00")
    + row("60+1", name="het", elapsed="5:00", partition="gpu")
    + row("70_1", name="last-task", elapsed="30")
    + pending(100, name="train-9", reason="JobHeldUser")
)
MIXED = JobTable(MIXED_ROWS)


def keys(listing: Listing) -> list[str]:
    return [listing.key(place) for place in range(len(listing))]


def arrange(table: JobTable = MIXED, **wanted: object) -> Listing:
    return Arranger().arrange(table, Wanted(**wanted))  # type: ignore[arg-type]


def test_an_array_and_a_het_job_are_one_line_each_and_a_single_task_is_itself() -> None:
    listing = arrange()
    assert keys(listing) == ["90", "50", "8", "60", "70_1", "100"]
    array, het = listing.line(1).group, listing.line(3).group
    assert array is not None
    assert het is not None
    assert (array.kind, array.running, array.waiting, array.tasks) == ("array", 2, 5, "3-30")
    assert (array.reason, array.start, array.whole, array.hidden) == ("JobArrayTaskLimit", 1500.0, True, 0)
    assert (het.kind, het.running, het.part) == ("het", 2, "component")
    assert listing.line(4).group is None
    assert listing.count == 3 + 7 + 2 + 1


def test_an_open_array_shows_each_task_also_those_that_wait() -> None:
    listing = arrange(opened=frozenset({"50", "60"}))
    assert keys(listing) == [
        "90", "50", "50_3", "50_7", "50_8", "50_9", "50_20", "50_25", "50_30", "8", "60", "60+0", "60+1", "70_1", "100",
    ]  # fmt: skip
    waiting = listing.line(listing.place("50_25") or 0)
    assert (waiting.task, waiting.depth, waiting.key) == (25, 1, "50_25")
    assert listing.line(1).depth == 0
    assert listing.count == 13


def test_every_key_is_found_on_its_line_whatever_the_order() -> None:
    for sort in (None, *((column, down) for column in sorted(SORTABLE) for down in (False, True))):
        listing = arrange(sort=sort, opened=frozenset({"50"}))
        assert [listing.place(key) for key in keys(listing)] == list(range(len(listing))), sort
        assert sorted(keys(listing)) == sorted(keys(arrange(opened=frozenset({"50"})))), sort


def test_sorting_puts_the_longest_of_an_array_for_the_array_and_the_unknown_last() -> None:
    assert keys(arrange(sort=("time", True))) == ["8", "50", "90", "60", "70_1", "100"]
    assert keys(arrange(sort=("time", False))) == ["70_1", "60", "90", "50", "8", "100"]
    assert keys(arrange(sort=("name", False))) == ["90", "60", "70_1", "50", "100", "8"]
    assert keys(arrange(sort=("job", False))) == ["8", "50", "60", "70_1", "90", "100"]
    assert keys(arrange(sort=("job", True), opened=frozenset({"50"}))) == [
        "100", "90", "70_1", "60", "50", "50_30", "50_25", "50_20", "50_9", "50_8", "50_7", "50_3", "8",
    ]  # fmt: skip


def test_a_column_that_is_not_known_leaves_slurms_order() -> None:
    assert keys(arrange(sort=("colour", True))) == keys(arrange())


def test_a_filter_that_leaves_one_task_shows_that_task_and_one_that_leaves_some_tells_what_it_hides() -> None:
    assert keys(arrange(filter="id:50_7")) == ["50_7"]
    listing = arrange(filter="sweep state:r")
    assert keys(listing) == ["50"]
    group = listing.line(0).group
    assert group is not None
    assert (group.shown, group.hidden) == (2, 5)
    rest = arrange(filter="state:pd sweep")
    assert keys(rest) == ["50"]
    waiting = rest.line(0).group
    assert waiting is not None
    assert (waiting.shown, waiting.hidden) == (5, 2)


def test_a_key_in_a_closed_array_is_found_but_has_no_line() -> None:
    listing = arrange()
    assert listing.place("50_3") is None
    assert listing.nearest("50_3") == listing.place("50") == 1
    found = listing.find("50_9")
    assert found is not None
    assert (found.key, found.task) == ("50_9", 9)
    assert listing.find("50_10") is None
    assert listing.find("4") is None
    hidden = arrange(filter="sweep state:r")
    assert hidden.find("50_9") is None
    assert hidden.find("50_3") is not None


def test_an_array_that_is_one_task_by_now_is_still_found_by_its_number() -> None:
    assert arrange().nearest("70") == arrange().place("70_1")
    assert arrange().nearest("nothing") is None
    assert arrange().nearest("") is None


def test_a_list_of_tasks_that_squeue_cut_counts_what_is_named_until_the_whole_is_known() -> None:
    cut = "7_[" + ",".join(str(number) for number in range(1, 99, 2))
    table = JobTable(row("7_0") + pending(cut[:56]))
    group = arrange(table).line(0).group
    assert group is not None
    assert not group.whole
    assert group.waiting == cut[:56].count(",")
    shown_id = table.plain(1, "id")
    listing = arrange(table, opened=frozenset({"7"}), whole_ids={shown_id: f"{cut}]"})
    assert len(listing) == 1 + 1 + 49
    whole = listing.line(0).group
    assert whole is not None
    assert whole.whole
    assert whole.waiting == 49


@pytest.mark.parametrize(
    ("state", "reason", "wrong"),
    [
        ("PENDING", "Priority", False),
        ("PENDING", "(Resources)", False),
        ("PENDING", "Dependency", False),
        ("PENDING", "DependencyNeverSatisfied", True),
        ("PENDING", "JobHeldUser", True),
        ("PENDING", "(launch failed requeued held)", True),
        ("PENDING", "ReqNodeNotAvail, UnavailableNodes:n[1-3]", True),
        ("PENDING", "BadConstraints", True),
        ("PENDING", "PartitionTimeLimit", True),
        ("REQUEUE_HOLD", "", True),
        ("SE", "", True),
        ("FAILED", "NonZeroExitCode", True),
        ("NODE_FAIL", "", True),
        ("RUNNING", "None", False),
        ("COMPLETING", "", False),
        ("A_NEW_STATE", "ANewReason", False),
    ],
)
def test_what_is_wrong(state: str, reason: str, wrong: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_wrong(state, reason) is wrong


def test_only_what_is_wrong() -> None:
    assert keys(arrange(wrong=True)) == ["100"]
    assert keys(arrange(wrong=True, user="bob")) == []


def test_what_is_no_longer_wanted_is_left_undone() -> None:
    with pytest.raises(Superseded):
        Arranger().arrange(MIXED, Wanted(), lambda: True)


def test_another_table_is_read_anew() -> None:
    arranger = Arranger()
    first = arranger.arrange(MIXED, Wanted())
    assert arranger.arrange(MIXED, Wanted(sort=("time", True))).groups == first.groups
    again = JobTable(MIXED_ROWS + row(1))
    assert len(arranger.arrange(again, Wanted())) == len(first) + 1
    assert keys(arranger.arrange(again, Wanted(user="bob"))) == ["8"]


@given(st.lists(st.integers(0, 30) | st.none(), max_size=60), st.booleans(), st.integers(1, 90))
def test_the_sort_of_small_steps_is_pythons(values: list[int | None], reverse: bool, times: int) -> None:  # noqa: FBT001
    many = values * times
    known = [number for number, value in enumerate(many) if value is not None]
    expected = sorted(known, key=lambda number: many[number] or 0, reverse=reverse)
    unknown = [number for number, value in enumerate(many) if value is None]
    assert ordered(range(len(many)), many.__getitem__, reverse=reverse) == expected + unknown


@given(st.integers(0, 400 * 86400))
def test_durations_sort_and_read_as_slurm_prints_them(number: int) -> None:
    days, hours, minutes, rest = number // 86400, number // 3600 % 24, number // 60 % 60, number % 60
    text = f"{days}-{hours:02}:{minutes:02}:{rest:02}" if days else f"{hours}:{minutes:02}:{rest:02}"
    text = text if days or hours else f"{minutes}:{rest:02}"
    assert duration(text.encode().rjust(16)) == duration(text.encode().ljust(16)) == number == seconds(text)


@pytest.mark.parametrize("text", ["UNLIMITED", "INVALID", "", "N/A", "30", "2-00", "1-12:30", "x", "Partition_Limit"])
def test_odd_durations_are_read_by_the_one_parser(text: str) -> None:
    found = seconds(text)
    expected = float("inf") if found is Special.UNLIMITED else None if isinstance(found, Special) else found
    assert duration(text.encode().rjust(16)) == duration(text.encode().ljust(16)) == expected


@given(st.lists(st.integers(0, 2 * 86400), min_size=2, max_size=5))
def test_times_are_in_the_order_of_their_bytes(numbers: list[int]) -> None:
    def shown(number: int) -> str:
        days, hours, minutes, rest = number // 86400, number // 3600 % 24, number // 60 % 60, number % 60
        if days:
            return f"{days}-{hours:02}:{minutes:02}:{rest:02}"
        return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

    table = JobTable(b"".join(row(number + 1, elapsed=shown(value)) for number, value in enumerate(numbers)))
    found = sort_keys(table, "time")
    assert sorted(range(len(numbers)), key=found.__getitem__) == sorted(range(len(numbers)), key=numbers.__getitem__)


def test_names_are_sorted_as_people_count() -> None:
    assert sorted(["n10", "N2", "n1", "a"], key=lambda text: natural(text) or "") == ["a", "n1", "N2", "n10"]


@given(
    st.lists(
        st.sampled_from(["1", "2_3", "2_[4-6]", "2_7", "5+0", "5+1", "9_[1-2%1]", "x", "_", "", "3_["]), unique=True
    )
)
def test_whatever_ids_come_each_line_has_its_key(ids: list[str]) -> None:
    table = JobTable(b"".join(pending(job_id) for job_id in ids))
    for opened in (frozenset[str](), frozenset({"2", "5", "9", "3", ""})):
        listing = Arranger().arrange(table, Wanted(opened=opened, sort=("job", True)))
        assert [listing.place(key) for key in keys(listing)] == list(range(len(listing)))
        assert all(listing.line(place).key == listing.key(place) for place in range(len(listing)))


def test_the_names_know_jobs_tasks_that_wait_and_whole_arrays() -> None:
    names = MIXED.names
    assert all(names.knows(key) for key in ("90", "50", "50_3", "50_25", "60", "60+1", "70", "70_1"))
    assert not any(names.knows(key) for key in ("1", "50_4", "50_26", "70_2", "60+2", "", "x", "50_[8-9]"))
