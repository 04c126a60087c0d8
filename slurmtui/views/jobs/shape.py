"""Which columns the list of jobs has, in which order its rows stand, and the keys that change both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.store.query_order import LARGEST_FIRST, SORTABLE
from slurmtui.views.jobs.columns import COLUMNS, USUAL, chosen, columns
from slurmtui.widgets.picker import Choice, ChoiceScreen, OrderScreen, Picked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from slurmtui.store.view_state import ViewState
    from slurmtui.views.base import ViewScreen
    from slurmtui.widgets.columns import Column

SLURMS_ORDER = "slurm"
_ROOMY = 140  # cells of a terminal in which columns that say nothing may stay
_NARROWEST_JOB, _WIDEST_JOB = 8, 20


class Shape:
    """Columns and order of a list of jobs; tells its screen when a person has changed them."""

    def __init__(self, screen: ViewScreen) -> None:
        self._screen = screen
        self.sort: tuple[str, bool] | None = None
        self.keys: tuple[str, ...] = USUAL
        self.widths: dict[str, int] = {}
        self.wide = False
        self._job_width = 0
        self._empty: frozenset[str] = frozenset()
        self._skip = 0

    def doing(self) -> dict[str, Callable[[], None]]:
        """What its keys do."""
        return {
            "sort": self.pick_sort, "sort-left": lambda: self.step_sort(-1), "sort-right": lambda: self.step_sort(1),
            "sort-reverse": self.reverse, "columns": self.pick_columns, "wide": self.toggle_wide,
            "pan-left": lambda: self.pan(-1), "pan-right": lambda: self.pan(1),
        }  # fmt: skip

    def columns(self, width: int) -> tuple[Column, ...]:
        """The columns for a terminal of this width."""
        widths = {"job": self._job_width, **self.widths} if self._job_width else self.widths
        keys = self.keys
        if keys == USUAL and not self.wide and width < _ROOMY:
            keys = tuple(key for key in keys if key not in self._empty)
        return columns(width, keys, widths, wide=self.wide, skip=self._skip)

    @property
    def shown(self) -> list[str]:
        """The keys of the columns that the table has now."""
        return [column.key for column in self._screen.table.columns]

    # --- how it was left

    def left_as(self, state: ViewState) -> ViewState:
        """``state`` with what is remembered of this."""
        keys = () if self.keys == USUAL else self.keys
        return msgspec.structs.replace(state, sort=self.sort, columns=keys, widths=self.widths, wide=self.wide)

    def restore(self, state: ViewState) -> None:
        """As it was left; columns that do not exist (any more) are passed over."""
        self.keys = chosen(state.columns)
        self.widths = {key: min(max(width, 2), 120) for key, width in state.widths.items() if key in COLUMNS}
        self.wide = state.wide
        self.sort = state.sort if state.sort is not None and state.sort[0] in SORTABLE else None
        self._apply()

    def make_room(self, job_width: int, empty: Iterable[str]) -> None:
        """Give the ids the cells they need; ``empty`` columns, which say nothing now, go first where it is narrow."""
        width = min(max((job_width + 1) // 2 * 2, _NARROWEST_JOB), _WIDEST_JOB)
        if (width, frozenset(empty)) != (self._job_width, self._empty):
            self._job_width, self._empty = width, frozenset(empty)
            self._apply()

    def _apply(self) -> None:
        self._screen.table.set_columns(self.columns(self._screen.size.width), self.sort)

    def _changed(self) -> None:
        self._apply()
        self._screen.changed()

    # --- order

    def pick_sort(self) -> None:
        """Choose the column to sort by; the same one again turns the order round."""
        mark = {self.sort[0]: "▾" if self.sort[1] else "▴"} if self.sort else {SLURMS_ORDER: "•"}
        choices = [Choice(SLURMS_ORDER, "SLURM's order", "as squeue lists them", mark.get(SLURMS_ORDER, ""))]
        choices += [
            Choice(key, COLUMNS[key].column.title, COLUMNS[key].about, mark.get(key, ""))
            for key in (*self.keys, *(key for key in COLUMNS if key not in self.keys))
            if key in SORTABLE
        ]
        cursor = self.sort[0] if self.sort else SLURMS_ORDER
        self._screen.app.push_screen(ChoiceScreen("sort by", choices, cursor=cursor), self._sort_picked)

    def _sort_picked(self, key: str | None) -> None:
        if key is None:
            return
        if self.sort is not None and self.sort[0] == key:
            self.reverse()
        else:
            self._sort_by(None if key == SLURMS_ORDER else key)

    def _sort_by(self, key: str | None) -> None:
        self.sort = None if key is None else (key, key in LARGEST_FIRST)
        self._changed()

    def step_sort(self, step: int) -> None:
        """Sort by the next column to the left or right; left of the first is SLURM's order."""
        shown = [None, *(column.key for column in self._screen.table.columns if column.key in SORTABLE)]
        here = self.sort[0] if self.sort else None
        place = shown.index(here) if here in shown else 0
        self._sort_by(shown[(place + step) % len(shown)])

    def reverse(self) -> None:
        """Turn the order round."""
        if self.sort is None:
            self._screen.console.tell("The jobs stand in SLURM's order: choose a column first (s, or < and >)")
            return
        self.sort = (self.sort[0], not self.sort[1])
        self._changed()

    def hidden_order(self) -> str:
        """The order in words, where no heading on screen tells it."""
        sort = self.sort
        if sort is None or sort[0] in self._screen.table.columns_shown():
            return ""
        return f" · by {sort[0]}{'▾' if sort[1] else '▴'}"

    # --- columns

    def pick_columns(self) -> None:
        """Choose the columns, their order and their widths."""
        choices = [Choice(key, one.column.title, one.about) for key, one in COLUMNS.items()]
        natural = {key: one.column.width or one.column.min_width for key, one in COLUMNS.items()}
        picked = Picked(self.keys, self.widths)
        screen = OrderScreen(
            "columns", choices, picked=picked, usual=Picked(USUAL, {}), natural=natural, changed=self._columns_picked
        )
        self._screen.app.push_screen(screen)

    def _columns_picked(self, picked: Picked) -> None:
        self.keys, self.widths, self._skip = chosen(picked.keys), picked.widths, 0
        self._changed()

    def toggle_wide(self) -> None:
        """All columns in their full width, from the left as far as there is room; or the most important ones."""
        self.wide, self._skip = not self.wide, 0
        self._changed()
        if self.wide:
            self._screen.console.tell("all columns; the left and right arrow keys move them")

    def pan(self, step: int) -> None:
        """Move the columns of the wide view."""
        if not self.wide:
            self._screen.console.tell("w shows all columns; then the arrow keys move them")
            return
        table = self._screen.table
        if step > 0 and table.columns_shown()[-1:] == [table.columns[-1].key]:
            self._screen.console.tell("that is the last column")
        elif self._skip + step >= 0:
            self._skip += step
            self._apply()
            self._screen.rebuild(self._screen.snapshot)
