"""Text in cells: harmless, exactly as wide as asked, colours kept; columns that fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from slurmtui.widgets.ansi import collapse, coloured, harmless, pieces
from slurmtui.widgets.columns import Column, place
from slurmtui.widgets.lines import clean, fit, fit_cell, head_end, tail_start, wrap
from slurmtui.widgets.log_rows import LogRow, LogRows

ANY = st.text(st.characters() | st.sampled_from("\x1b[;m\r\t\x00日👨‍👩‍👧e\u0301"), max_size=40)


def is_harmless(text: str) -> bool:
    return not any(
        character < " "
        or "\x7f" <= character < "\xa0"
        or character in "\u2028\u2029\u202e\u200d\ufeff"
        or "\ud800" <= character < "\ue000"
        for character in text
    )


@given(ANY)
def test_clean_text_holds_nothing_a_terminal_acts_on(text: str) -> None:
    assert is_harmless(clean(text))


@given(ANY, st.integers(0, 30), st.sampled_from(["left", "right"]), st.sampled_from(["end", "middle"]))
def test_fitted_text_is_exactly_as_wide_as_asked(text: str, width: int, align: str, cut: str) -> None:
    assert cell_len(fit(text, width, align, cut)) == width  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(ANY, st.sampled_from(["", "dim"])), max_size=4),
    st.integers(1, 30),
    st.sampled_from(["end", "middle"]),
)
def test_fitted_spans_are_exactly_as_wide_as_asked(spans: list[tuple[str, str]], width: int, cut: str) -> None:
    shown = fit_cell(spans, width, cut=cut)  # type: ignore[arg-type]
    whole = fit("".join(text for text, _ in spans), width, cut=cut)  # type: ignore[arg-type]
    assert sum(cell_len(text) for text, _ in shown) == width
    assert "".join(text for text, _ in shown).rstrip() == whole.rstrip()


@given(ANY.map(clean), st.integers(0, 20))
def test_head_and_tail_fit(text: str, width: int) -> None:
    assert cell_len(text[: head_end(text, width)]) <= width
    assert cell_len(text[tail_start(text, width) :]) <= width


@pytest.mark.parametrize(
    ("text", "width", "align", "cut", "expected"),
    [
        ("train-mnist-3f9a01", 10, "left", "middle", "train…9a01"),
        ("train-mnist-3f9a01", 10, "left", "end", "train-mni…"),
        ("日本語の仕事", 7, "left", "end", "日本語…"),
        ("日本語の仕事", 6, "left", "end", "日本… "),
        ("12", 5, "right", "end", "   12"),
        ("a\x1b[31m", 10, "left", "end", "a␛[31m    "),
        ("anything", 0, "left", "end", ""),
        ("anything", 1, "left", "middle", "…"),
    ],
)
def test_fit(text: str, width: int, align: str, cut: str, expected: str) -> None:
    assert fit(text, width, align, cut) == expected  # type: ignore[arg-type]


def test_spans_keep_their_styles_when_they_are_cut() -> None:
    cell = [("waiting ", "dim"), ("for resources", "waiting")]
    assert fit_cell(cell, 12) == [("waiting ", "dim"), ("for", "waiting"), ("…", "waiting")]
    assert fit_cell(cell, 5) == [("wait", "dim"), ("…", "dim")]
    assert fit_cell(cell, 30, "right")[0] == (" " * 9, "")


def test_sentences_are_wrapped_between_words() -> None:
    assert wrap("No jobs here. Press N to submit one.", 14) == ["No jobs here.", "Press N to", "submit one."]
    assert wrap("a" * 10, 4) == ["aaaa", "aaaa", "aa"]
    assert wrap("one\ntwo", 20) == ["one", "two"]


@given(ANY)
def test_a_log_line_is_harmless_in_every_form(text: str) -> None:
    assert is_harmless(harmless(text))
    shown = "".join(piece for piece, _ in pieces(text))
    assert is_harmless(shown)
    assert shown == harmless(text)


@given(ANY)
def test_a_coloured_line_holds_colours_and_no_other_control(text: str) -> None:
    shown = coloured(text)
    rest = shown
    while "\x1b[" in rest:
        before, _, after = rest.partition("\x1b[")
        codes, _, rest = after.partition("m")
        assert set(codes) <= set("0123456789;:")
        assert is_harmless(before)
    assert is_harmless(rest)
    assert "\x1b" not in shown or shown.endswith("\x1b[0m")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  1%\r 50%\r100%", "100%"), ("done\r", "done"), ("\r\r", ""), ("a\rb\r\r", "b"), ("plain", "plain"),
    ],
)  # fmt: skip
def test_progress_is_collapsed_to_its_last_state(text: str, shown: str) -> None:
    assert collapse(text) == shown


def test_colours_of_every_form() -> None:
    (red,) = {str(style) for text, style in pieces("\x1b[31mx") if style}
    assert red == "color(1)"
    assert str(pieces("\x1b[1;38;5;208;48;2;1;2;3mx")[0][1]) == "bold color(208) on #010203"
    assert str(pieces("\x1b[38:2::1:2:3mx")[0][1]) == "#010203"
    assert str(pieces("\x1b[4:3mx")[0][1]) == "underline"
    assert str(pieces("\x1b[1m\x1b[31ma\x1b[22mb\x1b[39mc\x1b[0md")).count("Style") == 2
    assert str(pieces("\x1b[30mblack")[0][1]) == "color(8)", "black on black cannot be read"
    assert pieces("\x1b[8mhidden")[0] == ("hidden", None)
    assert pieces("\x1b[" + "1;" * 5000 + "mx")[0][0].startswith("␛[1;")


def test_tabs_go_to_the_next_stop() -> None:
    assert harmless("a\tb\tc") == "a       b       c"
    assert harmless("\x1b[31ma\x1b[0m\tb") == "a       b"


@given(
    st.lists(
        st.builds(
            Column,
            key=st.just("k"),
            title=st.just("T"),
            width=st.integers(0, 30),
            weight=st.integers(0, 3),
            min_width=st.integers(0, 8),
            max_width=st.integers(0, 20),
            priority=st.integers(0, 3),
        ),
        max_size=8,
    ),
    st.integers(1, 120),
)
def test_columns_never_take_more_than_there_is(columns: list[Column], width: int) -> None:
    placed = place(columns, width)
    assert sum(one.width for one in placed) + max(0, len(placed) - 1) <= width
    assert all(one.width >= 1 for one in placed)
    assert [one.number for one in placed] == sorted(one.number for one in placed)
    assert bool(placed) == bool(columns)


def test_least_important_column_goes_first_and_flexible_ones_share_the_rest() -> None:
    columns = [
        Column("id", "ID", 8, priority=90),
        Column("name", "NAME", weight=1, priority=100),
        Column("why", "WHY", weight=3, min_width=10, priority=10),
        Column("user", "USER", 8, priority=5),
    ]
    assert [(one.column.key, one.width) for one in place(columns, 80)] == [
        ("id", 8),
        ("name", 18),
        ("why", 43),
        ("user", 8),
    ]
    assert [one.column.key for one in place(columns, 30)] == ["id", "name", "why"]
    assert [one.column.key for one in place(columns, 16)] == ["id", "name"]
    assert [(one.column.key, one.width) for one in place(columns, 3)] == [("name", 3)]


@given(st.lists(ANY, max_size=6), st.integers(1, 12))
def test_wrapped_lines_hold_every_character(texts: list[str], width: int) -> None:
    rows = LogRows(100)
    rows.wrap_width = width
    rows.append([LogRow(text) for text in texts])
    shown = ["" for _ in texts]
    for line, first, last in rows.places:
        part = harmless(line.row.text)[first : last if last >= 0 else None]
        shown[rows.lines.index(line)] += part
        assert cell_len(part.rstrip()) <= max(width, 2)
    assert shown == [harmless(text) for text in texts]
