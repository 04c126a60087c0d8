"""For terminals that show ASCII alone: every sign that the program draws becomes a letter as wide.

What is not the program's own, as a name in another script, stays what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.filter import LineFilter

if TYPE_CHECKING:
    from textual.color import Color

_SIGNS = {
    "…": "~", "·": "|", "\u2013": "-", "\u2014": "-", "•": "*", "●": "*", "○": "o", "■": "#", "□": "-", "▰": "#",
    "▱": "-", "▸": ">", "▾": "v", "▴": "^", "◂": "<", "▶": ">", "←": "<", "→": ">", "↑": "^", "↓": "v", "≤": "<",
    "∞": "*",
    "✔": "+", "✖": "x", "⚠": "!", "◷": ".", "⊘": "x", "⭘": "o", "�": "?", "\xd7": "x",
}  # fmt: skip
_LEVEL = frozenset("─━╌╍┄┅┈┉═╴╶╸╺╼╾")
_UPRIGHT = frozenset("│┃╎╏┆┇┊┋║╵╷╹╻╽╿")
_FAINT = frozenset("░▁▏▔▕")


def letter_for(sign: str) -> str:
    """The letter that stands for a sign; the sign itself where it is none of the program's."""
    if sign in _SIGNS:
        return _SIGNS[sign]
    if "\u2500" <= sign <= "\u257f":  # lines of boxes
        return "-" if sign in _LEVEL else "|" if sign in _UPRIGHT else "+"
    if "\u2580" <= sign <= "\u259f":  # blocks, of bars
        return "." if sign in _FAINT else "#"
    if "\u2800" <= sign <= "\u28ff":  # dots, of plots
        return " " if sign == "\u2800" else "*"
    return "?" if "\u2400" <= sign <= "\u2426" else sign  # controls made visible


class _Table(dict[int, str]):
    """For ``str.translate``: looks a sign up when it first comes."""

    def __missing__(self, code: int) -> str:
        self[code] = letter = letter_for(chr(code))
        return letter


_TABLE = _Table()


class Letters(LineFilter):
    """The last step of painting a line."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same line in ASCII, where it is the program's."""
        del background
        return [
            one if one.text.isascii() else Segment(one.text.translate(_TABLE), one.style, one.control)
            for one in segments
        ]
