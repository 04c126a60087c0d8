"""What is told of a regular expression by looking at it holds for every text."""

from __future__ import annotations

import re
import time
import warnings

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from slurmtui.errors import PatternTooSlow
from slurmtui.models.pattern import Pattern
from slurmtui.models.pattern_shape import shape_of

ATOMS = [
    *("a", "B", "-", " ", ".", r"\d", r"\.", r"\-", "k", "é", "^", "$", r"\b", "{", "}", "{x", "b{,x}"),
    *("[ab]", "[^a]", "[]x]", r"[]a\d]", "[]a[b]", r"[^]a\d]", r"[\w-]", r"[ab\]]", "[{]", "[^^]", "[a^]"),
]
REPEATS = ["", "*", "+", "?", "*?", "{2}", "{,2}", "{0,1}"]


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    """Expressions as people use them, with the characters that mean something in one place and nothing in another."""
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        atom = draw(st.sampled_from(ATOMS))
        if depth and draw(st.integers(0, 3)) == 0:
            atom = f"({draw(expressions(depth - 1))})"
        parts.append(atom + (draw(st.sampled_from(REPEATS)) if atom not in {"^", "$", r"\b"} else ""))
    first = "".join(parts)
    whole = f"{first}|{draw(expressions(depth - 1))}" if depth and draw(st.integers(0, 4)) == 0 else first
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class in which a bracket stands
        try:
            re.compile(whole)
        except re.error:
            reject()
    return whole


@pytest.mark.filterwarnings("ignore:Possible")
@given(expressions(), st.text("abABkK-. x1é{}[]^\N{KELVIN SIGN}", max_size=12))
def test_what_an_expression_needs_is_in_every_text_that_it_matches(source: str, text: str) -> None:
    if text.isascii() and re.search(source, text, re.IGNORECASE):
        assert shape_of(source).needle in text.lower()


@pytest.mark.filterwarnings("ignore:Possible")
@given(expressions(), st.text("abAB-. x1é{}[]^", max_size=12))
def test_a_list_is_told_the_same_by_the_short_way(source: str, text: str) -> None:
    wanted = re.search(source, text, re.IGNORECASE) is not None
    assert Pattern(source, fold=True).within(5)(text) is wanted


@pytest.mark.parametrize(
    ("source", "needle"),
    [
        (r"b-77.*1$", "b-77"),
        (r"^Fit-\d+", "fit-"),
        (r"ab*cd", "cd"),
        (r"a\.b?", "a."),
        (r"(fit|train)-x", "-x"),
        ("fit|train", ""),
        ("x?", ""),
        ("(?i)abc", ""),
        # What other tools, and later versions, read in another way.
        ("[[:alpha:]]x", ""),
        (r"\x41bc", ""),
        (r"\p{Lu}abc", ""),
        (r"(a)\1", ""),
        ("abc{e<=1}", ""),
        ("fit{x|train", ""),
        ("ab{(cd}ef)?gh", ""),
        (r"[]abc\d]", ""),
        ("[]abc[d]", ""),
        (r"[^]abc\d]", ""),
        (r"x[\w-]+yz", "yz"),
        ("a{2,9}bc", "bc"),
        ("", ""),
    ],
)
def test_the_longest_text_that_must_be_there_is_found(source: str, needle: str) -> None:
    assert shape_of(source).needle == needle


@pytest.mark.parametrize(
    "source", ["(a|aa)+$", "(a*)*b", "(a|a)*b", "(a{2,9}){2,9}b", "(?:a|a)+b", "((a+)b?)+c", "x{|(a|aa)+$"]
)
def test_a_repetition_in_a_repetition_goes_the_long_way(source: str) -> None:
    assert shape_of(source).longest == 0


@pytest.mark.parametrize(
    "source",
    ["a*b", "a*a*b", ".*.*.*x", "a?a?a?a?b", "(a|a)(a|a)(a|a)b", "(a*)(a*)b", "[ab]*[ab]*c", "a{1,99}a{1,99}b"],
)
def test_the_worst_text_of_the_short_way_takes_a_moment(source: str) -> None:
    longest = shape_of(source).longest
    assert longest > 15
    expression, begun = re.compile(source, re.IGNORECASE), time.thread_time()
    assert expression.search("a" * longest) is None
    assert time.thread_time() - begun < 0.1


def test_not_even_the_empty_text_goes_the_short_way_when_nothing_is_known() -> None:
    begun = time.thread_time()
    with pytest.raises(PatternTooSlow):
        Pattern(r"(a?|b?){40}\b").within(0.2)("")
    assert time.thread_time() - begun < 30
