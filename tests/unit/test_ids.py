"""Job ids of every kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.ids import JobId, base_id, parse_job_id, spans
from slurmtui.models.states import normal_state


def parsed(text: str) -> JobId:
    job_id = parse_job_id(text)
    assert job_id is not None
    return job_id


def test_kinds() -> None:
    assert parsed("123") == JobId(123)
    assert parsed("123_4") == JobId(123, task=4)
    assert parsed("500+1") == JobId(500, offset=1)
    assert parsed("123_4.batch") == JobId(123, task=4, step="batch")
    assert parsed("123_[4-10,12%5]") == JobId(123, tasks=((4, 10, 1), (12, 12, 1)), limit=5)
    assert parsed("123_[0-9,12-40:4%5]") == JobId(123, tasks=((0, 9, 1), (12, 40, 4)), limit=5)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "12x",
        "123_",
        "123_[",
        "123_[1-",
        "123_[1-5",
        "123_[1,2,...]",
        "123_[5-1]",
        "1 2",
        "-1",
        "1;2",
        "\u0661",
    ],
)
def test_what_is_not_a_whole_id(text: str) -> None:
    assert parse_job_id(text) is None


def test_tasks_of_a_waiting_array() -> None:
    rest = parsed("7_[0-9,12-40:4%5]")
    assert rest.count() == 18
    assert list(rest.each_task()) == [*range(10), *range(12, 41, 4)]
    assert rest.holds(parsed("7_16"))
    assert not rest.holds(parsed("7_17"))
    assert not rest.holds(parsed("8_16"))
    assert parsed("7_[0-99999]").count() == 100000


def test_a_whole_array_or_het_job_holds_its_parts() -> None:
    assert parsed("7").holds(parsed("7_3"))
    assert parsed("7").holds(parsed("7+1"))
    assert parsed("7").holds(parsed("7.batch"))
    assert not parsed("7").holds(parsed("70"))
    assert not parsed("7_3").holds(parsed("7"))
    assert not parsed("7+1").holds(parsed("7+0"))


def test_base() -> None:
    assert [base_id(text) for text in ("7", "7_[1-", "7+1", "7.batch")] == ["7"] * 4


@given(st.text(alphabet="0123456789_[],-:%+. x"))
def test_no_text_breaks_the_parser(text: str) -> None:
    job_id = parse_job_id(text)
    assert job_id is None or job_id.count() >= 1
    spans(text)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("RUNNING", "RUNNING"),
        ("CANCELLED by 1000", "CANCELLED"),
        ("CANCELLED+", "CANCELLED"),
        ("OUT_OF_ME+", "OUT_OF_MEMORY"),
        ("OUT_OF_MEM", "OUT_OF_MEM"),
        ("OOM", "OUT_OF_MEMORY"),
        ("CG", "COMPLETING"),
        ("completing", "COMPLETING"),
        ("COMPLET+", "COMPLET+"),
        ("PD", "PENDING"),
        ("DANCING", "DANCING"),
        ("", ""),
    ],
)
def test_states(text: str, state: str) -> None:
    assert normal_state(text) == state


@pytest.mark.parametrize(
    ("whole", "part", "held"),
    [
        ("7_[0-9]", "7_[2-3]", True),
        ("7_[0-9]", "7_[0-9%2]", True),
        ("7_[0-9]", "7_[8-10]", False),
        ("7_[0-8:2]", "7_[2,4]", True),
        ("7_[0-8:2]", "7_[2-4]", False),
        ("7_[0-3,5-9]", "7_[2-6]", False),
        ("7_3", "7_[3-4]", False),
        ("7", "7_[3-4]", True),
    ],
)
def test_a_range_holds_a_range(whole: str, part: str, held: bool) -> None:  # noqa: FBT001 - of a table
    one, other = parse_job_id(whole), parse_job_id(part)
    assert one is not None
    assert other is not None
    assert one.holds(other) is held
