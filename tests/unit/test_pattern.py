"""Expressions that people seek in logs: as ``re`` understands them, and given up when they take too long for a line."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.errors import PatternTooSlow
from slurmtui.models.pattern import Pattern
from slurmtui.sources.files import scan, search
from slurmtui.sources.files.needle import Needle

if TYPE_CHECKING:
    from pathlib import Path

ENDLESS = "(a|aa)+$"
LINE = "a" * 64 + "b"


@given(
    st.sampled_from(["b", "a.c", "(a|b)+c", r"\d+", "^a", "c$", "[bc]{2}", r"\bab", "(?i)AB", "a|", "(a)(?=b)"]),
    st.text("abcABC 12\n", max_size=30),
)
def test_an_expression_means_what_it_means_to_python(source: str, text: str) -> None:
    plain, pattern = re.compile(source), Pattern(source)
    assert pattern.matches(text) == (plain.search(text) is not None)
    assert pattern.spans(text) == [one.span() for one in plain.finditer(text) if one.end() > one.start()]


def test_capitals_are_found_by_small_letters_when_that_is_wanted() -> None:
    assert Pattern("err.r", fold=True).matches("an ERROR")
    assert not Pattern("err.r").matches("an ERROR")
    assert not Pattern("plain").limited


@pytest.mark.parametrize("source", ["(", "a**", "[", "(?P<x", "*"])
def test_what_is_no_expression_is_told(source: str) -> None:
    with pytest.raises(re.error):
        Pattern(source)


def test_an_endless_expression_is_given_up_once_and_for_all() -> None:
    pattern = Pattern(ENDLESS)
    assert pattern.matches("aaa")
    with pytest.raises(PatternTooSlow, match="takes too long for a line"):
        pattern.matches(LINE)
    with pytest.raises(PatternTooSlow):
        pattern.matches("aaa")
    assert pattern.spans(LINE) == []


def test_the_texts_of_a_list_have_one_time_for_all_of_them() -> None:
    matches = Pattern(ENDLESS).within(5)
    assert matches("aaa")
    with pytest.raises(PatternTooSlow, match="takes too long for this list"):
        matches(LINE)
    begun = time.process_time()
    for _ in range(50):
        with pytest.raises(PatternTooSlow):
            matches("aaa")
    assert time.process_time() - begun < 0.5, "it was tried again"


def test_many_quick_texts_are_not_too_many() -> None:
    assert all(map(Pattern("a.c", fold=True).within(5), ["ABC", "xabcx"] * 1000))
    with pytest.raises(PatternTooSlow):
        list(map(Pattern("a.c").within(0.01), ["xabc"] * 1_000_000))


def test_marking_ends_when_it_takes_too_long() -> None:
    pattern = Pattern(ENDLESS)
    assert pattern.spans("xaa") == [(1, 3)]
    assert pattern.spans(LINE) == []
    assert pattern.unmarked
    assert pattern.spans("xaa") == []
    assert not pattern.slow


async def test_a_file_is_not_searched_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_text(f"{LINE}\n" * 50)
    with path.open("rb") as stream, pytest.raises(PatternTooSlow):
        search.find_after(stream.fileno(), 0, path.stat().st_size, Needle(ENDLESS), search.Until())
    part = scan.Part(str(path), 0, path.stat().st_size)
    for what in ("count", "after"):
        assert scan.do(scan.Request(what, (part,), scan.spec_of(Needle(ENDLESS)))).slow
