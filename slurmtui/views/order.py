"""The order of a list of things, and the keys that change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from slurmtui.widgets.picker import Choice, ChoiceScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from slurmtui.store.view_state import ViewState
    from slurmtui.views.base import ViewScreen

Thing = TypeVar("Thing")
USUAL = "usual"


class Order(Generic[Thing]):
    """Sorts by one column, or leaves the list in its usual order.

    Args:
        screen: told when a person has changed it.
        keys: by column, what to sort by and whether the largest comes first. What has no value (None) comes last.
        usual: the usual order in words.
    """

    def __init__(self, screen: ViewScreen, keys: Mapping[str, tuple[Callable[[Thing], Any], bool]], usual: str) -> None:
        self._screen = screen
        self._keys = keys
        self._usual = usual
        self.sort: tuple[str, bool] | None = None

    def doing(self) -> dict[str, Callable[[], None]]:
        """What its keys do."""
        return {
            "sort": self.pick, "sort-left": lambda: self.step(-1), "sort-right": lambda: self.step(1),
            "sort-reverse": self.reverse,
        }  # fmt: skip

    def left_as(self, state: ViewState) -> ViewState:
        """``state`` with the order."""
        return msgspec.structs.replace(state, sort=self.sort)

    def restore(self, state: ViewState) -> None:
        """As it was left."""
        self.sort = state.sort if state.sort is not None and state.sort[0] in self._keys else None
        self.apply()

    def apply(self) -> None:
        """Give the table its columns, with the arrow."""
        self._screen.table.set_columns(self._screen.columns_for(self._screen.size.width), self.sort)

    def sorted(self, things: Iterable[Thing]) -> list[Thing]:
        """The things in this order; equal ones stay in the order they come in."""
        if self.sort is None:
            return list(things)
        key, descending = self.sort
        value = self._keys[key][0]
        known, unknown = list[tuple[Any, Thing]](), list[Thing]()
        for thing in things:
            found = value(thing)
            if found is None:
                unknown.append(thing)
            else:
                known.append((found, thing))
        known.sort(key=lambda pair: pair[0], reverse=descending)
        return [thing for _, thing in known] + unknown

    def pick(self) -> None:
        """Choose the column to sort by; the same one again turns the order round."""
        arrow = {self.sort[0]: "▾" if self.sort[1] else "▴"} if self.sort else {USUAL: "•"}
        choices = [Choice(USUAL, "as usual", self._usual, arrow.get(USUAL, ""))]
        choices += [
            Choice(column.key, column.title, "", arrow.get(column.key, ""))
            for column in self._screen.table.columns
            if column.key in self._keys
        ]
        cursor = self.sort[0] if self.sort else USUAL
        self._screen.app.push_screen(ChoiceScreen("sort by", choices, cursor=cursor), self._picked)

    def _picked(self, key: str | None) -> None:
        if key is None:
            return
        if self.sort is not None and self.sort[0] == key:
            self.reverse()
        else:
            self._sort_by(None if key == USUAL else key)

    def _sort_by(self, key: str | None) -> None:
        self.sort = None if key is None else (key, self._keys[key][1])
        self.apply()
        self._screen.changed()

    def step(self, step: int) -> None:
        """Sort by the next column to the left or right; left of the first is the usual order."""
        shown = [None, *(column.key for column in self._screen.table.columns if column.key in self._keys)]
        here = self.sort[0] if self.sort else None
        place = shown.index(here) if here in shown else 0
        self._sort_by(shown[(place + step) % len(shown)])

    def reverse(self) -> None:
        """Turn the order round."""
        if self.sort is None:
            self._screen.console.tell(f"The list stands {self._usual}: choose a column first (s, or < and >)")
            return
        self.sort = (self.sort[0], not self.sort[1])
        self.apply()
        self._screen.changed()
