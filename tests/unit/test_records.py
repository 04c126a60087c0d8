"""The records that tests make in SLURM's place: what is asserted about padding rests on them."""

from __future__ import annotations

import pytest

from slurmtui.models.records import Field, Layout, Records
from tests.records import laid_out_anew, padded, record_of

JOB = Layout(Field("id", "JobID", 6, right=True), Field("name", "Name", 5), gap=1)


def test_blanks_stand_on_the_side_that_was_asked_for() -> None:
    assert record_of(JOB, id=7, name="a b") == b"     7 a b   \n"
    assert JOB.asked() == "JobID:.6,Name:5"


def test_what_is_too_wide_is_cut_in_bytes() -> None:
    assert [padded(field, "名前1234") for field in JOB.fields] == ["名前".encode(), "名前".encode()[:5]]


def test_what_is_told_goes_before_what_is_usual_and_a_name_that_is_no_field_is_an_error() -> None:
    usual = {"id": 7, "name": b"x"}
    assert record_of(JOB, usual, name="y") == b"     7 y     \n"
    assert record_of(JOB) == b" " * 13 + b"\n"
    with pytest.raises(KeyError, match="nmae"):
        record_of(JOB, usual, nmae="y")


def test_a_recording_is_laid_out_anew() -> None:
    recorded = b"7        train \n8_1      b     \n"
    for asked in ("JobID:8,Name:5\n", "JobID%-8,Name%-5"):
        assert laid_out_anew(JOB, recorded, asked) == b"     7 train \n   8_1 b     \n"
    today = record_of(JOB, id="8_1", name=" b")
    assert laid_out_anew(JOB, today, JOB.asked()) == today
    assert Records(JOB, today).raw(0, "name") == b" b"


def test_only_columns_that_a_recording_may_lack_are_empty() -> None:
    with pytest.raises(KeyError):
        laid_out_anew(JOB, b"7 \n", "JobID:1")
    assert laid_out_anew(JOB, b"7 \n", "JobID:1", may_lack=("Name",)) == record_of(JOB, id=7)
