"""How the lines of a log pane look."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from textual.strip import Strip

from slurmtui.widgets.ansi import pieces
from slurmtui.widgets.lines import fit, width_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.style import Style

    from slurmtui.models.pattern import Pattern
    from slurmtui.widgets.log_rows import Line, LogRow
    from slurmtui.widgets.styles import StyleBook

_NARROW = 60
_TIME = 8
_DATE_AND_TIME = 19
NO_TIMES, TIMES, DATES = 0, 1, 2
PLAIN, SELECTED, CURRENT, CURSOR = 0, 1, 2, 3
_LONGEST_SHOWN = 4096  # cells of a line that are coloured and searched for matches; the rest is as it is


class Rule(NamedTuple):
    """What is to stand out: its pattern, the name of its style, and whether the whole line has it."""

    pattern: Pattern
    style: str
    whole: bool = False


class Look(NamedTuple):
    """How lines are shown now.

    Attributes:
        times: none, the time of day, or date and time.
        number_width: cells for the number of the line, 0 for none.
        tag_width: cells for the tag.
        left: by how many cells the text is moved sideways.
        pattern: what is sought.
        rules: what stands out.
        cut: a long line is marked where it is cut.
    """

    times: int
    number_width: int
    tag_width: int
    left: int
    pattern: Pattern | None
    rules: tuple[Rule, ...] = ()
    cut: bool = True

    def time_cells(self, width: int) -> int:
        """Cells for the time on a line of ``width`` cells: none on a narrow terminal."""
        if not self.times or width < _NARROW:
            return 0
        return _DATE_AND_TIME if self.times == DATES else _TIME

    def tag_cells(self, width: int) -> int:
        """Cells for the tag."""
        return min(self.tag_width, width // 4)

    def prefix_cells(self, width: int) -> int:
        """Cells before the text: number, time and tag, each with a space."""
        parts = (self.number_width, self.time_cells(width), self.tag_cells(width))
        return sum(part + 1 for part in parts if part)


class LogLines:
    """Makes strips from lines."""

    def __init__(self, styles: StyleBook) -> None:
        self._styles = styles

    def row(  # noqa: PLR0913 - a row has these parts
        self, line: Line, part: tuple[int, int], look: Look, base: Style, width: int, *, mark: int, folded: bool
    ) -> Strip:
        """A row: number, time, tag, and the ``part`` of the line's text (from, to; -1 for its end)."""
        row = line.row
        if mark != PLAIN:
            base += self._styles.background_of("selected" if mark == SELECTED else "current")
        dim = base + self._styles.named("dim")
        continued = part[0] > 0
        start: list[Segment] = []
        if look.number_width:
            number = "" if continued or line.number is None else str(line.number)
            start.append(Segment(number.rjust(look.number_width) + " ", dim))
        if cells := look.time_cells(width):
            shown = row.time[-_TIME:] if cells == _TIME else row.time
            start.append(Segment(fit("" if continued else shown, cells) + " ", dim))
        if cells := look.tag_cells(width):
            start.append(Segment(fit("" if continued else row.tag, cells, cut="middle") + " ", dim))
        room = max(0, width - look.prefix_cells(width))
        text = Strip(self._fold(line, base) if folded and line.members else self._text(row, part, base, look))
        shown_text = text.crop(look.left, look.left + room)
        if look.cut and text.cell_length > look.left + room > 0:
            shown_text = Strip([*shown_text.crop(0, room - 1), Segment("…", dim)])
        return Strip([*start, *shown_text.extend_cell_length(room, base)]).crop(0, width)

    def title(self, title: str, state: str, sources: Sequence[tuple[str, bool]], width: int) -> Strip:
        """The first line: what is shown, whether it follows, and the sources that can be hidden."""
        right = "  ".join(f"{name} {'■' if shown else '□'}" for name, shown in sources)
        if width_of(right) > width // 2:
            right = " ".join(name for name, shown in sources if shown)
        ending = f" {state} ── {right} ──" if right else f" {state} ──"
        if width_of(ending) > width - 8 or width_of(title) + width_of(ending) + 6 > width:
            ending = f" {state} "
        room = max(0, width - width_of(ending) - 4)
        shown_title = fit(title, min(room, width_of(title)), cut="middle")
        start = f"── {shown_title} " if shown_title else "──"
        text = start + "─" * max(0, width - width_of(start) - width_of(ending)) + ending
        return Strip([Segment(fit(text, width), self._styles.component("title"))], width)

    def _fold(self, line: Line, base: Style) -> list[Segment]:
        """A folded traceback: its last line says what went wrong."""
        said = next((member.text for member in reversed(line.members) if member.text.strip()), "")
        style = base + self._styles.named("state-failed")
        return [Segment(f"▸ traceback, {len(line.members) + 1} lines: ", base), Segment(said, style)]

    def _text(self, row: LogRow, part: tuple[int, int], base: Style, look: Look) -> list[Segment]:
        """The part of the text, its own colours on those of the line, with what stands out and what is sought."""
        first, last = part
        line = base + self._styles.named(row.style) if row.style else base
        found = pieces(row.text)
        plain = "".join(text for text, _ in found)[:_LONGEST_SHOWN]
        whole = next((rule for rule in look.rules if rule.whole and rule.pattern.spans(plain)), None)
        if whole is not None and not row.style:
            line = base + self._styles.named(whole.style)
        segments = _cut(found, first, last, line)
        shown = plain[first : last if last >= 0 else None]
        for rule in look.rules:
            if not rule.whole:
                segments = _styled(segments, rule.pattern.spans(shown), self._styles.named(rule.style))
        if look.pattern is not None:
            segments = _styled(segments, look.pattern.spans(shown), self._styles.named("match"))
        return segments


def _cut(found: Iterable[tuple[str, Style | None]], first: int, last: int, line: Style) -> list[Segment]:
    """The pieces from ``first`` to ``last`` (-1: to the end)."""
    segments: list[Segment] = []
    position = 0
    for text, style in found:
        begin, position = position, position + len(text)
        shown = text[max(0, first - begin) : max(0, last - begin) if last >= 0 else None]
        if shown:
            segments.append(Segment(shown, line + style if style else line))
    return segments


def _styled(segments: list[Segment], where: list[tuple[int, int]], style: Style) -> list[Segment]:
    """The segments with the parts at ``where`` in a style, also across segments."""
    if not where:
        return segments
    edges = {edge for span in where for edge in span}
    made: list[Segment] = []
    start = 0
    for segment in segments:
        end = start + len(segment.text)
        cuts = sorted({start, end, *(edge for edge in edges if start < edge < end)})
        for left, right in itertools.pairwise(cuts):
            inside = any(first <= left < last for first, last in where)
            both = segment.style + style if inside and segment.style else segment.style
            made.append(Segment(segment.text[left - start : right - start], both))
        start = end
    return made
