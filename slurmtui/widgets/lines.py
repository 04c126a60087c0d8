"""Lines of text by terminal cells: made harmless, cut, padded.

Widths are those of the terminal (CJK is two cells wide), never the number of characters. What a terminal and this
program could disagree about (joined emoji, skin tones, variation selectors) is simplified, so that columns stay aligned
everywhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len, get_character_cell_size

if TYPE_CHECKING:
    from collections.abc import Sequence

Span = tuple[str, str]
"""A piece of text and the name of its style ("" for the style of the line)."""
Cell = str | Span | list[Span]
"""What stands in a column: plain text, a styled text, or several."""
Align = Literal["left", "right"]
Cut = Literal["end", "middle"]

ELLIPSIS = "…"
_JOINERS = "\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
_CONTROLS = "\x00-\x1f\x7f-\x9f"
_INVISIBLE = (
    "\xad\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff"
)
_UNSAFE = re.compile(f"[{_CONTROLS}{_JOINERS}{_INVISIBLE}]")
_ALWAYS_JOINERS = re.compile(f"[{_JOINERS}]")


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if _ALWAYS_JOINERS.match(character):
        return ""
    return "�"


def clean(text: str) -> str:
    """``text`` without anything that a terminal could act on: controls are made visible, tricks of direction too."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_shown, text)


def width_of(text: str) -> int:
    """Cells that ``text`` takes in the terminal."""
    return len(text) if text.isascii() else cell_len(text)


def head_end(text: str, width: int) -> int:
    """The index up to which ``text`` fits into ``width`` cells; a wide character is never halved."""
    if text.isascii():
        return min(len(text), max(0, width))
    used = 0
    for index, character in enumerate(text):
        used += get_character_cell_size(character)
        if used > width:
            return index
    return len(text)


def tail_start(text: str, width: int) -> int:
    """The index from which on ``text`` fits into ``width`` cells, never in front of a mark that combines."""
    if text.isascii():
        return max(0, len(text) - max(0, width))
    used = 0
    for index in range(len(text) - 1, -1, -1):
        used += get_character_cell_size(text[index])
        if used > width:
            start = index + 1
            while start < len(text) and get_character_cell_size(text[start]) == 0:
                start += 1
            return start
    return 0


def cut_points(text: str, width: int, cut: Cut) -> tuple[int, int]:
    """Where to cut a ``text`` that is too wide: keep ``text[:a]``, the ellipsis, ``text[b:]``."""
    room = width - 1
    if cut == "end" or room < 2:
        return head_end(text, room), len(text)
    head = head_end(text, (room + 1) // 2)
    return head, tail_start(text, room - width_of(text[:head]))


def fit(text: str, width: int, align: Align = "left", cut: Cut = "end") -> str:
    """``text`` made harmless and exactly ``width`` cells wide."""
    if width <= 0:
        return ""
    if len(text) <= width and text.isascii() and text.isprintable():  # as nearly all are: that is all there is to do
        return text.rjust(width) if align == "right" else text.ljust(width)
    text = clean(text)
    used = width_of(text)
    if used > width:
        first, second = cut_points(text, width, cut)
        text = text[:first] + ELLIPSIS + text[second:]
        used = width_of(text)
    padding = " " * (width - used)
    return padding + text if align == "right" else text + padding


def fit_cell(cell: Cell, width: int, align: Align = "left", cut: Cut = "end") -> list[Span]:
    """A cell as spans that together are exactly ``width`` cells wide."""
    if isinstance(cell, str):
        return [(fit(cell, width, align, cut), "")]
    if isinstance(cell, tuple):
        return [(fit(cell[0], width, align, cut), cell[1])]
    spans = [(clean(text), style) for text, style in cell]
    whole = "".join(text for text, _ in spans)
    if width_of(whole) > width:
        spans = _cut_spans(spans, *cut_points(whole, width, cut))
    used = sum(width_of(text) for text, _ in spans)
    if used < width:
        padding = (" " * (width - used), "")
        spans = [padding, *spans] if align == "right" else [*spans, padding]
    return spans


def _cut_spans(spans: Sequence[Span], first: int, second: int) -> list[Span]:
    """The spans without the characters from ``first`` to ``second``, an ellipsis in their place."""
    kept: list[Span] = []
    start = 0
    marked = False
    for text, style in spans:
        head, tail = text[: max(0, first - start)], text[max(0, second - start) :]
        start += len(text)
        if head:
            kept.append((head, style))
        if not marked and start > first:
            kept.append((ELLIPSIS, style))
            marked = True
        if tail:
            kept.append((tail, style))
    return kept


def wrap(text: str, width: int) -> list[str]:
    """Sentences broken at spaces into lines of at most ``width`` cells; a longer word is broken where it must."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in clean(paragraph).split(" "):
            longer = f"{line} {word}" if line else word
            if width_of(longer) <= width:
                line = longer
                continue
            if line:
                lines.append(line)
            line = word
            while width_of(line) > width > 1:
                end = head_end(line, width)
                lines.append(line[:end])
                line = line[end:]
        lines.append(line)
    return lines
