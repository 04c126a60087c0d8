"""Ids as SLURM's commands take them: exactly the tasks that are meant, never more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.ids import parse_job_id
from slurmtui.models.job_units import chunks, units


def tasks_of(text: str) -> set[tuple[int, int | None]]:
    """Every (array, task) that an argument names, as SLURM reads it: without steps and throttles."""
    parsed = parse_job_id(text)
    assert parsed is not None, text
    assert "%" not in text
    assert ":" not in text
    if parsed.tasks:
        return {(parsed.base, task) for task in parsed.each_task()}
    return {(parsed.base, parsed.task)}


@pytest.mark.parametrize(
    ("ids", "texts"),
    [
        (["7", "8"], ["7", "8"]),
        (["8_3"], ["8_3"]),
        (["8_3", "8_4", "8_9"], ["8_[3-4,9]"]),
        (["8_[0-9%2]"], ["8_[0-9]"]),  # no command takes the throttle: scancel says "Invalid job id"
        (["8_[0-8:4]"], ["8_[0,4,8]"]),  # nor a step
        (["8_[5-9]", "8_4", "9_1", "9"], ["9", "8_[4-9]", "9_1"]),
        (["500+0", "500+1"], ["500+0", "500+1"]),
        (["7", "7"], ["7"]),
        (["8_3.0", "8_3.1", "8_4"], ["8_3.0", "8_3.1", "8_4"]),  # a step is less than its task
        (["7_4", "7_[0-20:4]", "7_04"], ["7_[0,4,8,12,16,20]"]),
    ],
)
def test_ids_as_they_are_sent(ids: list[str], texts: list[str]) -> None:
    made, unfit = units(ids)
    assert [unit.text for unit in made] == texts
    assert not unfit
    assert {job_id for unit in made for job_id in unit.ids} == set(ids)


def test_an_id_that_was_cut_is_never_sent() -> None:
    made, unfit = units(["12_[1-5,7,...", "9_[", "x", "3"])
    assert [unit.text for unit in made] == ["3"]
    assert unfit == ["12_[1-5,7,...", "9_[", "x"]


spans = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40), st.integers(1, 7)), min_size=1, max_size=6)


@given(st.lists(st.one_of(st.integers(0, 400), spans), max_size=20))
def test_exactly_the_tasks_that_are_meant(wanted: list[int | list[tuple[int, int, int]]]) -> None:
    ids, meant = [], set()
    for one in wanted:
        if isinstance(one, int):
            ids.append(f"5_{one}")
            meant.add((5, one))
        else:
            parts = [f"{first}-{first + length}:{step}" for first, length, step in one]
            ids.append(f"5_[{','.join(parts)}%3]")
            meant |= {(5, task) for first, length, step in one for task in range(first, first + length + 1, step)}
    made, unfit = units(ids)
    assert not unfit
    sent = [task for unit in made for task in tasks_of(unit.text)]
    assert set(sent) == meant
    assert len(sent) == len(set(sent))
    assert {job_id for unit in made for job_id in unit.ids} == set(ids), "each gets its answer"


def test_ten_thousand_scattered_tasks_fit_into_arguments() -> None:
    made, _ = units([f"7_{number}" for number in range(0, 60_000, 3)])
    assert max(len(unit.text) for unit in made) < 25_000
    assert sum(len(tasks_of(unit.text)) for unit in made) == 20_000


def test_a_range_of_ten_thousand_is_one_argument() -> None:
    made, _ = units([f"7_{number}" for number in range(10_000)])
    assert [unit.text for unit in made] == ["7_[0-9999]"]


def test_calls_are_neither_too_many_ids_nor_too_long() -> None:
    made, _ = units([str(number) for number in range(1000, 1450)])
    assert [len(chunk) for chunk in chunks(made)] == [200, 200, 50]
    made, _ = units([f"{base}_{task}" for base in range(30) for task in range(0, 20_000, 2)])
    for chunk in chunks(made):
        assert sum(len(unit.text) + 1 for unit in chunk) < 131_072
