"""The lines of a log pane: a window of them, extended and shortened at both ends, laid out in rows of the screen.

Adding lines costs by the lines that are added, never by those that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import get_character_cell_size

from slurmtui.widgets.ansi import harmless
from slurmtui.widgets.lines import head_end, width_of
from slurmtui.widgets.log_folds import Tracebacks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.models.pattern import Pattern

TAG_LIMIT = 24


class LogRow(NamedTuple):
    """A line for the pane.

    Attributes:
        text: as its writer wrote it; colours are kept, other controls made harmless when it is shown.
        source: who wrote it ("prefect", "err" …).
        tag: who speaks, a few cells before the text.
        time: date and time as they are to be shown, or the time alone.
        style: the name of a style for the text.
        key: whose line it is; with ``live``, the writer's next line replaces this one (a progress bar).
        live: the line is not finished.
        origin: whatever the owner wants back with the line.
    """

    text: str
    source: str = ""
    tag: str = ""
    time: str = ""
    style: str = ""
    key: str = ""
    live: bool = False
    origin: object = None


class Line:
    """A line of the window; compared by identity, ``version`` tells of its changes.

    Attributes:
        row: what it shows.
        number: its number in the file, None when it is not known.
        head: the line with which the traceback begins that it belongs to.
        members: of such a beginning, the lines that belong to it.
    """

    __slots__ = ("head", "members", "number", "row", "version")

    def __init__(self, row: LogRow) -> None:
        self.row = row
        self.version = 0
        self.number: int | None = None
        self.head: Line | None = None
        self.members: list[Line] = []

    @property
    def text(self) -> str:
        """What is seen of the text."""
        text = self.row.text
        return text if text.isascii() and text.isprintable() else harmless(text)


Place = tuple[Line, int, int]
"""A row of the screen: its line, and from where to where of its harmless text (-1: to the end)."""


class LogRows:
    """The lines and the rows they make.

    Attributes:
        lines: the lines, oldest first.
        places: the rows of the screen.
        wrap_width: cells at which a line is broken, 0 for one row a line.
        folded: whether a traceback is one row.
        tag_width: cells of the widest tag.
        timed: whether any line tells its time.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.lines: list[Line] = []
        self.places: list[Place] = []
        self.wrap_width = 0
        self.folded = False
        self.tag_width = 0
        self.timed = False
        self._live: dict[str, Line] = {}
        self._tracebacks: dict[str, tuple[Tracebacks, Line | None]] = {}  # by writer, and the one that may go on

    def append(self, rows: Iterable[LogRow]) -> tuple[int, int]:
        """Add lines at the end; return (rows added at the end, rows dropped at the start)."""
        before = len(self.places)
        for row in rows:
            line = self._live.pop(row.key, None) if row.key else None
            if line is not None:
                line.row = row
                line.version += 1
            else:
                line = self._add(row)
            if row.live and row.key:
                self._live[row.key] = line
        added = len(self.places) - before
        return added, self._trim()

    def prepend(self, rows: Sequence[LogRow]) -> int:
        """Add older lines at the start; return how many rows they make."""
        newer, self.lines = self.lines, []
        newer_places, self.places = self.places, []
        tracebacks, self._tracebacks = self._tracebacks, {}
        for row in rows:
            self._add(row)
        self._tracebacks = tracebacks
        count = len(self.places)
        self.lines += newer
        self.places += newer_places
        return count

    def drop_first(self, count: int) -> tuple[list[Line], int]:
        """Forget the oldest lines; return them, and how many rows they made."""
        dropped, self.lines = self.lines[:count], self.lines[count:]
        gone = set(map(id, dropped))
        rows = 0
        while rows < len(self.places) and id(self.places[rows][0]) in gone:
            rows += 1
        del self.places[:rows]
        self._forget(gone)
        return dropped, rows

    def drop_last(self, count: int) -> list[Line]:
        """Forget the newest lines; return them."""
        keep = max(0, len(self.lines) - count)
        self.lines, dropped = self.lines[:keep], self.lines[keep:]
        gone = set(map(id, dropped))
        while self.places and id(self.places[-1][0]) in gone:
            self.places.pop()
        self._forget(gone)
        self._tracebacks.clear()
        return dropped

    def clear(self) -> None:
        """Forget all lines."""
        self.lines.clear()
        self.places.clear()
        self._live.clear()
        self._tracebacks.clear()
        self.tag_width, self.timed = 0, False

    def lay_out(self) -> None:
        """Make the rows anew, after another width or folding."""
        self.places = []
        for line in self.lines:
            self._place(line)

    def row_of(self, line: Line) -> int | None:
        """The first row of a line (of the beginning of its traceback, when that is folded)."""
        wanted = line.head if self.folded and line.head is not None else line
        return next((row for row, place in enumerate(self.places) if place[0] is wanted), None)

    def find(self, pattern: Pattern, start: int, step: int) -> int | None:
        """The number of the next line from ``start`` on that has a match; -1 steps go back."""
        return find_line(self.lines, pattern, start, step)

    def plain_text(self, lines: Iterable[Line] | None = None) -> str:
        """Lines for a pager or the clipboard, harmless; without ``lines`` all."""
        rows = (line.row for line in (self.lines if lines is None else lines))
        return "".join(" ".join(filter(None, (row.time, row.tag, harmless(row.text)))) + "\n" for row in rows)

    def _add(self, row: LogRow) -> Line:
        line = Line(row)
        self.lines.append(line)
        self.tag_width = min(TAG_LIMIT, max(self.tag_width, width_of(row.tag)))
        self.timed = self.timed or bool(row.time)
        self._join_traceback(line)
        self._place(line)
        return line

    def _join_traceback(self, line: Line) -> None:
        finder, head = self._tracebacks.get(line.row.key) or (Tracebacks(), None)
        part = finder.part(line.row.text)
        if part == Tracebacks.BEGINS:
            head = line.head = line
        elif part == Tracebacks.GOES_ON and head is not None:
            line.head = head
            head.members.append(line)
            head.version += 1
        elif part == Tracebacks.NONE:
            head = None
        self._tracebacks[line.row.key] = (finder, head)

    def _place(self, line: Line) -> None:
        if self.folded and line.head is not None:
            if line.head is line:
                self.places.append((line, 0, -1))
            return
        width = self.wrap_width
        short = len(line.row.text) <= width // 2 and "\t" not in line.row.text  # a tab fills up to eight cells
        if not width or short or line.row.live:
            self.places.append((line, 0, -1))
            return
        text = harmless(line.row.text)
        self.places.extend((line, first, last) for first, last in _breaks(text, width))

    def _forget(self, gone: set[int]) -> None:
        self._live = {key: line for key, line in self._live.items() if id(line) not in gone}

    def _trim(self) -> int:
        """Drop the oldest lines, a tenth at once, when there are more than a tenth too many."""
        if self.limit is None or len(self.lines) <= self.limit + max(1, self.limit // 10):
            return 0
        return self.drop_first(len(self.lines) - self.limit)[1]


def find_line(lines: Sequence[Line], pattern: Pattern, start: int, step: int) -> int | None:
    """The number of the next of these lines from ``start`` on that has a match; -1 steps go back.

    Raises:
        PatternTooSlow: that cannot be told in time.
    """
    numbers = range(max(0, start), len(lines)) if step > 0 else range(min(start, len(lines) - 1), -1, -1)
    matches = pattern.matches
    for number in numbers:
        row = lines[number].row
        if matches(lines[number].text) or (row.tag and matches(row.tag)):
            return number
    return None


def _breaks(text: str, width: int) -> list[tuple[int, int]]:
    """Where a text is broken into rows of at most ``width`` cells; words are kept whole if they are short."""
    found: list[tuple[int, int]] = []
    start = 0
    while True:
        end = start + head_end(text[start : start + width + 1], width)
        if end >= len(text):
            found.append((start, -1))
            return found
        space = text.rfind(" ", start + width // 2, end)
        end = space + 1 if space > 0 else max(end, start + 1)
        while end < len(text) and get_character_cell_size(text[end]) == 0:
            end += 1
        if end >= len(text):
            found.append((start, -1))
            return found
        found.append((start, end))
        start = end
