"""What has changed since the last poll, marked until the next: changed cells, new rows, rows that have gone.

Only rows that are on screen are compared. Rows that were on screen and are there no more are kept, struck through,
where they stood; they cannot be acted on, since whoever owns the rows does not know them any more.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple, Protocol

from slurmtui.widgets.rows import RowSource

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from slurmtui.widgets.lines import Cell

NEW = "new"
GONE = "dim strike"
CHANGED = "changed bold"


class NamedRows(RowSource, Protocol):
    """Rows that know where a key stands, and whether it is there at all."""

    def index_of(self, key: str, /) -> int | None:
        """The row of a key, or the row that now stands for it."""

    def knows(self, key: str, /) -> bool:
        """Whether what the key names is there, shown or not."""


class Gone(NamedTuple):
    """A row that has gone: its key, its last cells, and the key of the row it stood behind (or before)."""

    key: str
    cells: Sequence[Cell]
    neighbour: str
    behind: bool


class MarkedRows:
    """The rows of a source with what has changed in them, and between them those that have gone."""

    def __init__(
        self,
        source: NamedRows,
        *,
        before: dict[str, Sequence[Cell]] | None = None,
        gone: Sequence[Gone] = (),
        knew: Callable[[str], bool] | None = None,
        volatile: Collection[int] = (),
    ) -> None:
        self.source = source
        self.before = before or {}
        self.gone = gone
        self.knew = knew
        self._volatile = volatile
        self._plain: dict[str, Sequence[Cell]] = {}
        self._new: dict[str, bool] = {}
        self._ghosts: list[Gone] = []
        self._ghost_places: list[int] = []
        self._place_gone()

    def _place_gone(self) -> None:
        """Each row that has gone stands beside the one it stood beside, as far as that is still there."""
        anchored = []
        for number, ghost in enumerate(self.gone):
            place = self.source.index_of(ghost.neighbour) if ghost.neighbour else None
            anchored.append((0 if place is None else place + ghost.behind, number, ghost))
        anchored.sort(key=lambda one: one[:2])
        self._ghosts = [ghost for _, _, ghost in anchored]
        self._ghost_places = [place + number for number, (place, _, _) in enumerate(anchored)]

    def __len__(self) -> int:
        return len(self.source) + len(self._ghosts)

    def _inner(self, place: int) -> tuple[int, int | None]:
        """The row of the source and, when a row that has gone stands here, which."""
        number = bisect_left(self._ghost_places, place)
        if number < len(self._ghosts) and self._ghost_places[number] == place:
            return -1, number
        return place - number, None

    def key(self, place: int) -> str:
        """The key of a row."""
        row, ghost = self._inner(place)
        return self.source.key(row) if ghost is None else self._ghosts[ghost].key

    def cells(self, place: int) -> Sequence[Cell]:
        """The cells of a row, those that have changed made bold."""
        row, ghost = self._inner(place)
        if ghost is not None:
            return self._ghosts[ghost].cells
        key, cells = self.source.key(row), self.source.cells(row)
        self._plain[key] = cells
        before = self.before.get(key)
        if before is None or len(before) != len(cells):
            return cells
        return [
            cell if number in self._volatile or cell == old else _bold(cell)
            for number, (cell, old) in enumerate(zip(cells, before, strict=True))
        ]

    def row_style(self, place: int) -> str | None:
        """Rows that are new or have gone look so."""
        row, ghost = self._inner(place)
        if ghost is not None:
            return GONE
        style = self.source.row_style(row)
        return f"{style or ''} {NEW}".strip() if self._is_new(self.source.key(row)) else style

    def _is_new(self, key: str) -> bool:
        if self.knew is None:
            return False
        found = self._new.get(key)
        if found is None:
            found = self._new[key] = not self.knew(key)
        return found

    def index_of(self, key: str) -> int | None:
        """Where a key stands now."""
        for place, ghost in zip(self._ghost_places, self._ghosts, strict=True):
            if ghost.key == key:
                return place
        row = self.source.index_of(key)
        if row is None:
            return None
        for place in self._ghost_places:
            if place > row:
                break
            row += 1
        return row

    def plain_cells(self, key: str) -> Sequence[Cell] | None:
        """What stood in a row when it was last asked for."""
        return self._plain.get(key)


class Changes:
    """Compares the rows of each poll with those of the poll before."""

    def __init__(self) -> None:
        self._rows: MarkedRows | None = None
        self._generation: object = None
        self._scope: object = None
        self._knows: Callable[[str], bool] | None = None

    def mark(  # noqa: PLR0913 - what a comparison needs
        self,
        source: NamedRows,
        *,
        generation: object,
        scope: object,
        shown: range,
        knows: Callable[[str], bool],
        volatile: Collection[int] = (),
    ) -> MarkedRows:
        """The rows with their marks.

        Args:
            source: the rows.
            generation: the poll they come from; None while there was none.
            scope: what is shown (a filter, the columns): nothing is compared with the rows of another scope.
            shown: the rows on screen now, of what the last call gave.
            knows: whether a key is in this poll, shown or not; kept until the next, to which its new rows are new.
            volatile: numbers of the cells whose change means nothing, such as times.
        """
        last = self._rows
        if last is None or generation is None or self._generation is None or scope != self._scope:
            marked = MarkedRows(source, volatile=volatile)
            self._knows = knows
        elif generation == self._generation:
            marked = MarkedRows(source, before=last.before, gone=last.gone, knew=last.knew, volatile=volatile)
        else:
            before, gone = _compared(last, shown, source)
            marked = MarkedRows(source, before=before, gone=gone, knew=self._knows, volatile=volatile)
            self._knows = knows
        self._rows, self._generation, self._scope = marked, generation, scope
        return marked


def _compared(last: MarkedRows, shown: range, source: NamedRows) -> tuple[dict[str, Sequence[Cell]], list[Gone]]:
    """The cells that were on screen, and the rows on screen that have gone, each with its neighbour."""
    before: dict[str, Sequence[Cell]] = {}
    gone: list[Gone] = []
    neighbour = ""
    was_gone = {ghost.key for ghost in last.gone}
    for place in range(shown.start, min(shown.stop, len(last))):
        key = last.key(place)
        cells = last.plain_cells(key)
        if key in was_gone or cells is None:
            continue
        if source.knows(key):
            neighbour = key
            before[key] = cells
        else:
            gone.append(Gone(key, cells, neighbour, behind=True))
    first = next(iter(before), "")  # what stood above all that is still there now stands before it
    gone = [ghost if ghost.neighbour else ghost._replace(neighbour=first, behind=False) for ghost in gone]
    return before, gone


def _bold(cell: Cell) -> Cell:
    """A cell that is seen to have changed."""
    if isinstance(cell, str):
        return (cell, CHANGED)
    if isinstance(cell, tuple):
        return (cell[0], f"{cell[1]} bold" if cell[1] else CHANGED)
    return [(text, f"{style} bold" if style else CHANGED) for text, style in cell]
