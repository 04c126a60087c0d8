"""Text from outside on a screen: nothing that a terminal obeys, and exact widths."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.text import cells, cut_middle, decoded, fit, visible


def test_control_characters_get_their_pictures() -> None:
    assert visible("a\x1b[31mb\n\t\x00\x7f") == "a␛[31mb␊␉␀␡"
    assert visible("\x9b31m") == "�31m"
    assert visible("abc\u202ecba") == "abc�cba"
    assert visible("\udcff") == "�"


def test_ordinary_text_stays() -> None:
    for text in ("x[/y]", "[red]", "名前", "naïve", "👩‍🔬", ""):
        assert visible(text) == text


@given(st.text(alphabet=st.characters()))
def test_nothing_is_left_that_a_terminal_obeys(text: str) -> None:
    shown = visible(text)
    assert not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in shown)
    assert len(shown) == len(text)
    shown.encode()


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("train-3f9a01", 12, "train-3f9a01"),
        ("train-3f9a01", 7, "tra…a01"),
        ("train-3f9a01", 6, "tra…01"),
        ("名前名前名前", 7, "名…前"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_middle_is_cut(text: str, width: int, expected: str) -> None:
    assert cut_middle(text, width) == expected


@given(st.text(alphabet=st.sampled_from("ab名前😀é-")), st.integers(0, 30))
def test_cut_text_fits_and_a_fitted_one_fills(text: str, width: int) -> None:
    assert cells(cut_middle(text, width)) <= width
    assert cells(fit(text, width)) == width
    assert cells(fit(text, width, right=True)) == width


@given(st.text(min_size=1), st.integers(1, 40))
def test_bytes_cut_in_a_character_lose_only_that_character(text: str, length: int) -> None:
    whole = text.encode("utf-8", "replace")
    part = decoded(whole[:length], cut=True)
    assert "�" not in part.replace("�", "", text.count("�"))
    assert whole.decode().startswith(part)


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert decoded(b"a\xff\xfeb") == "a��b"
