"""Durations, times, memory and counts as SLURM writes them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.values import Special, count, known, memory, moment, seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0:00", 0),
        ("12:34", 12 * 60 + 34),
        ("1:02:03", 3723),
        ("00:00:15", 15),
        ("1-02:03:04", 93784),
        ("2-00", 172800),
        ("1-12", 129600),
        ("1-12:30", 131400),
        ("30", 1800),
        ("00:01.250", 1),
        (" 30:00 ", 1800),
        ("UNLIMITED", Special.UNLIMITED),
        ("infinite", Special.UNLIMITED),
        ("Partition_Limit", Special.PARTITION_LIMIT),
        ("INVALID", Special.UNKNOWN),
        ("NOT_SET", Special.UNKNOWN),
        ("N/A", Special.UNKNOWN),
        ("n/a", Special.UNKNOWN),
        ("", Special.UNKNOWN),
        ("-5", Special.UNKNOWN),
        ("1:2:3:4", Special.UNKNOWN),
        ("٣٠", Special.UNKNOWN),
    ],
)
def test_durations(text: str, expected: int | Special) -> None:
    assert seconds(text) == expected


@given(st.integers(0, 10**8))
def test_every_duration_comes_back_from_slurms_own_form(number: int) -> None:
    days, rest = divmod(number, 86400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    assert seconds(f"{days}-{clock}" if days else clock) == number


def test_moments() -> None:
    assert moment("1796023039") == 1796023039.0
    assert moment("2026-11-30T07:17:19") == time.mktime((2026, 11, 30, 7, 17, 19, -1, -1, -1))
    for nothing in ("Unknown", "None", "NONE", "N/A", "0", "", "2026-11-30", "tomorrow", "9" * 60):
        assert moment(nothing) is None


@pytest.mark.parametrize(
    ("text", "mebibytes"),
    [
        ("4000M", 4000),
        ("4G", 4096),
        ("1.5G", 1536),
        ("3288K", 3288 / 1024),
        ("2T", 2 * 1024 * 1024),
        ("4Gn", 4096),
        ("500Mc", 500),
        ("0", 0),
        ("12", 12),
    ],
)
def test_memory(text: str, mebibytes: float) -> None:
    assert memory(text) == mebibytes


def test_memory_that_is_unknown_is_not_zero() -> None:
    assert [memory(text) for text in ("", "N/A", "16?", "40+", "G", "-1G")] == [None] * 6
    assert memory("1048576", unit="B") == 1


def test_counts() -> None:
    assert [count(text) for text in ("8", "10K", "2-4", "16+", "1.5K")] == [8, 10240, 2, 16, 1536]
    assert [count(text) for text in ("", "N/A", "x", "-1")] == [None] * 4


def test_words_for_nothing() -> None:
    assert [known(text) for text in ("(null)", "N/A", "None", "NOT_SET", " ", "gpu")] == [*[""] * 5, "gpu"]


@given(st.text())
def test_no_text_breaks_a_parser(text: str) -> None:
    assert isinstance(seconds(text), (int, Special))
    for parse in (moment, memory, count):
        value = parse(text)
        assert value is None or value >= 0
