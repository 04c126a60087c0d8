"""What a table shows: rows behind an interface, asked for when they are on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.widgets.lines import Cell


class RowSource(Protocol):
    """The rows, in the order of the screen. ``cells`` and ``row_style`` are asked for visible rows only."""

    def __len__(self) -> int: ...

    def key(self, index: int, /) -> str:
        """What names the row for good (an id, never a number of a row)."""

    def cells(self, index: int, /) -> Sequence[Cell]:
        """One cell a column, in the order of the columns given to the table."""

    def row_style(self, index: int, /) -> str | None:
        """The name of a style for the whole line, or None."""


class NoRows:
    """The source of an empty table."""

    def __len__(self) -> int:
        return 0

    def key(self, index: int) -> str:
        """No row has a key."""
        raise IndexError(index)

    def cells(self, index: int) -> Sequence[Cell]:
        """No row has cells."""
        raise IndexError(index)

    def row_style(self, index: int) -> str | None:
        """No row has a style."""
        raise IndexError(index)
