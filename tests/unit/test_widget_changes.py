"""What a person sees of a poll: changed cells, new rows, rows that have gone; until the next poll."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from slurmtui.widgets.changes import CHANGED, GONE, NEW, Changes, MarkedRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.widgets.lines import Cell


class Rows:
    """Rows by key; ``hidden`` are known but not shown."""

    def __init__(self, keys: Iterable[str], hidden: Iterable[str] = (), **cells: Sequence[Cell]) -> None:
        self.keys = list(keys)
        self.known = {*self.keys, *hidden}
        self.words = cells

    def __len__(self) -> int:
        return len(self.keys)

    def key(self, index: int) -> str:
        return self.keys[index]

    def cells(self, index: int) -> Sequence[Cell]:
        key = self.keys[index]
        return self.words.get(key, [key, "R", "1m"])

    def row_style(self, index: int) -> str | None:
        return "dim" if self.keys[index] == "dim" else None

    def index_of(self, key: str) -> int | None:
        return self.keys.index(key) if key in self.keys else None

    def knows(self, key: str) -> bool:
        return key in self.known


class Watcher:
    """Shows each poll and looks at all rows, as a screen of ``page`` lines would."""

    def __init__(self, page: int = 20, top: int = 0) -> None:
        self.changes, self.page, self.top, self.poll = Changes(), page, top, 0
        self.rows: MarkedRows | None = None

    def show(self, rows: Rows, *, new_poll: bool = True, scope: str = "") -> list[tuple[str, str | None]]:
        self.poll += new_poll
        self.rows = self.changes.mark(
            rows, generation=self.poll, scope=scope, shown=range(self.top, self.top + self.page), knows=rows.knows,
            volatile={2},
        )  # fmt: skip
        return self.look()

    def look(self) -> list[tuple[str, str | None]]:
        assert self.rows is not None
        seen = []
        for place in range(len(self.rows)):
            style = self.rows.row_style(place)
            if self.top <= place < self.top + self.page:
                self.rows.cells(place)
            seen.append((self.rows.key(place), style))
        return seen

    def cells(self, key: str) -> Sequence[Cell]:
        assert self.rows is not None
        place = self.rows.index_of(key)
        assert place is not None
        return self.rows.cells(place)


def test_the_first_poll_is_nothing_new() -> None:
    assert Watcher().show(Rows("abc")) == [("a", None), ("b", None), ("c", None)]


def test_new_rows_are_tinted_for_one_poll_and_rows_that_were_hidden_are_not_new() -> None:
    watcher = Watcher()
    watcher.show(Rows("ab", hidden="x"))
    assert watcher.show(Rows("axbc")) == [("a", None), ("x", None), ("b", None), ("c", NEW)]
    assert watcher.show(Rows("axbc"), new_poll=False)[-1] == ("c", NEW)
    assert watcher.show(Rows("axbc"))[-1] == ("c", None)


def test_rows_that_have_gone_stay_struck_where_they_stood_for_one_poll() -> None:
    watcher = Watcher()
    watcher.show(Rows("abcd"))
    assert watcher.show(Rows("bd")) == [("a", GONE), ("b", None), ("c", GONE), ("d", None)]
    assert watcher.cells("c") == ["c", "R", "1m"]
    assert watcher.show(Rows("db"), new_poll=False) == [("d", None), ("a", GONE), ("b", None), ("c", GONE)]
    assert watcher.show(Rows("bd")) == [("b", None), ("d", None)]


def test_rows_that_are_only_hidden_have_not_gone() -> None:
    watcher = Watcher()
    watcher.show(Rows("abc"))
    assert watcher.show(Rows("ac", hidden="b")) == [("a", None), ("c", None)]


def test_an_emptied_list_shows_what_was_there() -> None:
    watcher = Watcher()
    watcher.show(Rows("ab"))
    assert watcher.show(Rows("")) == [("a", GONE), ("b", GONE)]
    assert watcher.show(Rows("")) == []


def test_changed_cells_are_bold_but_times_are_not() -> None:
    watcher = Watcher()
    watcher.show(Rows("ab", a=["a", ("PD", "state-waiting"), "1m"], b=["b", "x", [("1", ""), ("2", "dim")]]))
    watcher.show(Rows("ab", a=["a", ("R", "state-running"), "2m"], b=["b", "y", [("3", ""), ("2", "dim")]]))
    assert watcher.cells("a") == ["a", ("R", "state-running bold"), "2m"]
    assert watcher.cells("b") == ["b", ("y", CHANGED), [("3", ""), ("2", "dim")]]
    watcher.show(Rows("ab", a=["a", ("R", "state-running"), "2m"], b=["b", "y", "3"]))
    assert watcher.cells("a") == ["a", ("R", "state-running"), "2m"]


def test_another_scope_compares_nothing() -> None:
    watcher = Watcher()
    watcher.show(Rows("ab"))
    assert watcher.show(Rows("bcd"), scope="everybody") == [("b", None), ("c", None), ("d", None)]
    assert watcher.show(Rows("bcde"), scope="everybody")[-1] == ("e", NEW)


def test_only_rows_on_screen_leave_a_trace() -> None:
    watcher = Watcher(page=2, top=1)
    watcher.show(Rows("abcde"))
    assert watcher.show(Rows("ce")) == [("b", GONE), ("c", None), ("e", None)]


def test_a_row_style_of_its_own_is_kept() -> None:
    watcher = Watcher()
    watcher.show(Rows(["a"]))
    assert watcher.show(Rows(["a", "dim"]))[-1] == ("dim", f"dim {NEW}")


def test_no_poll_at_all_compares_nothing() -> None:
    changes, rows = Changes(), Rows("")
    changes.mark(rows, generation=None, scope="", shown=range(5), knows=rows.knows)
    marked = changes.mark(Rows("ab"), generation=1, scope="", shown=range(5), knows=rows.knows)
    assert marked.row_style(0) is None


@given(
    st.lists(st.permutations("abcdefgh").map(lambda keys: keys[:5]), min_size=2, max_size=6),
    st.integers(1, 6),
    st.integers(0, 4),
)
def test_every_row_is_found_where_it_stands(polls: list[list[str]], page: int, top: int) -> None:
    watcher = Watcher(page, top)
    for keys in polls:
        seen = [key for key, _ in watcher.show(Rows(keys))]
        assert watcher.rows is not None
        assert [watcher.rows.index_of(key) for key in seen] == list(range(len(seen)))
        assert [key for key in seen if key in keys] == keys
