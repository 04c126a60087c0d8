"""The columns of a table, and how they share the width of the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.widgets.lines import Align, Cut

_FLEXIBLE_MINIMUM = 6


class Column(NamedTuple):
    """One column.

    Attributes:
        key: its name for the program (sorting, choosing).
        title: its heading.
        width: its cells; 0 for a share, by ``weight``, of what the others leave.
        weight: its share, if flexible.
        min_width: how narrow it may become before columns are left out; 0 for "not narrower than ``width``", and for
            a flexible column 6 cells.
        max_width: how wide a flexible column may become; 0 for "as wide as there is room".
        align: "right" for numbers.
        cut: "middle" for names whose end tells as much as their beginning.
        priority: the column with the lowest is left out first when the terminal is narrow.
    """

    key: str
    title: str
    width: int = 0
    weight: int = 1
    min_width: int = 0
    max_width: int = 0
    align: Align = "left"
    cut: Cut = "end"
    priority: int = 100

    @property
    def least(self) -> int:
        """The fewest cells with which the column is still worth showing."""
        return self.min_width or self.width or _FLEXIBLE_MINIMUM


class Placed(NamedTuple):
    """A column that is shown: where it stands among all columns, and how wide."""

    number: int
    column: Column
    width: int


def place(columns: Sequence[Column], width: int, gap: int = 1) -> tuple[Placed, ...]:
    """Choose the columns that fit into ``width`` cells, and their widths.

    The least important are left out until the least widths of the others fit; then fixed columns get their width,
    the important first, and flexible ones share what is left.
    """
    shown = list(range(len(columns)))
    while len(shown) > 1 and _needed(columns, shown, gap) > width:
        shown.remove(min(shown, key=lambda index: (columns[index].priority, -index)))
    widths = {index: columns[index].least for index in shown}
    spare = width - _needed(columns, shown, gap)
    if spare < 0 and shown:  # one column, and not even that fits
        widths[shown[0]] = max(1, width)
    for index in sorted(shown, key=lambda index: -columns[index].priority):
        more = max(0, min(spare, columns[index].width - widths[index]))
        widths[index] += more
        spare -= more
    _share(columns, [index for index in shown if columns[index].width == 0], widths, spare)
    return tuple(Placed(index, columns[index], widths[index]) for index in shown)


def _needed(columns: Sequence[Column], shown: Sequence[int], gap: int) -> int:
    return sum(columns[index].least for index in shown) + gap * max(0, len(shown) - 1)


def _share(columns: Sequence[Column], flexible: list[int], widths: dict[int, int], spare: int) -> None:
    """Give ``spare`` cells to the flexible columns by weight; one that is full leaves its part to the others."""
    while spare > 0 and flexible:
        total = sum(columns[index].weight for index in flexible) or len(flexible)
        parts = {index: spare * columns[index].weight // total for index in flexible}
        parts[flexible[0]] += spare - sum(parts.values())
        full = []
        for index, part in parts.items():
            limit = columns[index].max_width
            taken = min(part, max(0, limit - widths[index])) if limit else part
            widths[index] += taken
            spare -= taken
            if taken < part:
                full.append(index)
        if not full:
            return
        flexible = [index for index in flexible if index not in full]
