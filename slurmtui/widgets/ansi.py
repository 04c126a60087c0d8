"""Lines of a log as a terminal may show them: colours kept, every other control made harmless.

Of the control sequences only those for colours and attributes (SGR) have an effect; "erase to the end of the line" has
none in a log and is left out; everything else is shown as text. A progress bar is collapsed to its last state.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rich.color import Color
from rich.style import Style

from slurmtui.widgets.lines import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

Piece = tuple[str, "Style | None"]

_SGR = re.compile(r"\x1b\[([0-9;:]{0,100})m|\x1b\[[0-3]?K")
_NULS = re.compile("\0{4,}")
_RESET = "\x1b[0m"
_TAB = 8
_BRIGHT_BLACK = 8
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike", 21: "underline", 53: "overline"}
_OFF = {22: {"bold", "dim"}, 23: {"italic"}, 24: {"underline"}, 27: {"reverse"}, 29: {"strike"}, 55: {"overline"}}


class _State(NamedTuple):
    """What the sequences so far have set."""

    attributes: frozenset[str] = frozenset()
    front: Color | None = None
    back: Color | None = None


_PLAIN = _State()


def collapse(text: str) -> str:
    """What a line looks like after its writer went back to its start: the last state that says something."""
    if "\r" not in text:
        return text
    for state in reversed(text.split("\r")):
        if state:
            return state
    return ""


def harmless(text: str) -> str:
    """A line for a plain stream: no control of any kind, no colours."""
    return clean(_expanded(_SGR.sub("", _short_nuls(collapse(text)))))


def coloured(text: str) -> str:
    """A line for a terminal: its colours, and no other control."""
    text = _short_nuls(collapse(text))
    if "\x1b" not in text:
        return clean(_expanded(text))
    shown: list[str] = []
    column = start = 0
    for match in _SGR.finditer(text):
        part = clean(_expanded(text[start : match.start()], column))
        column += len(part)
        shown += [part, match[0] if match[1] is not None else ""]
        start = match.end()
    return "".join([*shown, clean(_expanded(text[start:], column)), _RESET])


def pieces(text: str) -> list[Piece]:
    """A line in pieces of one style each; None is the style of the line."""
    text = _short_nuls(collapse(text))
    if "\x1b" not in text:
        return [(clean(_expanded(text)), None)]
    found: list[Piece] = []
    state = _PLAIN
    column = start = 0
    for match in _SGR.finditer(text):
        column = _add(found, text[start : match.start()], state, column)
        start = match.end()
        if match[1] is not None:
            state = _changed(state, match[1])
    _add(found, text[start:], state, column)
    return found or [("", None)]


def _add(found: list[Piece], text: str, state: _State, column: int) -> int:
    if not text:
        return column
    shown = clean(_expanded(text, column))
    found.append((shown, _style(state)))
    return column + len(shown)


def _short_nuls(text: str) -> str:
    """A long run of NULs as one NUL and their number."""
    return _NULS.sub(lambda match: f"\0(x{len(match[0])})", text) if "\0" in text else text


def _expanded(text: str, column: int = 0) -> str:
    """Tabs as spaces, counted from ``column``."""
    if "\t" not in text:
        return text
    parts = text.split("\t")
    grown = parts[0]
    for part in parts[1:]:
        grown += " " * (_TAB - (column + len(grown)) % _TAB) + part
    return grown


@lru_cache(maxsize=1024)
def _style(state: _State) -> Style | None:
    if state == _PLAIN:
        return None
    front = state.front
    if front is not None and front.number == 0 and state.back is None:
        front = Color.from_ansi(_BRIGHT_BLACK)  # black would not be seen on the background of the console
    return Style.parse(" ".join(sorted(state.attributes))) + Style(color=front, bgcolor=state.back)


@lru_cache(maxsize=1024)
def _changed(state: _State, codes: str) -> _State:
    """The state after one sequence."""
    parts = iter(codes.split(";"))
    for part in parts:
        if ":" in part:
            state = _apply_subcodes(state, [int(code or 0) for code in part.split(":")])
        else:
            state = _apply(state, int(part or 0), parts)
    return state


def _apply(state: _State, code: int, more: Iterator[str]) -> _State:
    if code == 0:
        return _PLAIN
    if code in _ON:
        return state._replace(attributes=state.attributes | {_ON[code]})
    if code in _OFF:
        return state._replace(attributes=state.attributes - _OFF[code])
    if code in (38, 48):
        kind = int(next(more, "") or 0)
        numbers = [int(next(more, "") or 0) for _ in range({5: 1, 2: 3}.get(kind, 0))]
        return _with_colour(state, _extended(kind, numbers), back=code == 48)
    if code in (39, 49):
        return _with_colour(state, None, back=code == 49)
    return _simple_colour(state, code)


def _simple_colour(state: _State, code: int) -> _State:
    """One of the sixteen colours."""
    for first, base in ((30, 0), (90, 8)):
        for start, back in ((first, False), (first + 10, True)):
            if start <= code < start + 8:
                return _with_colour(state, Color.from_ansi(base + code - start), back=back)
    return state


def _apply_subcodes(state: _State, codes: list[int]) -> _State:
    """The form with colons: ``4:3`` is a kind of underline, ``38:2::r:g:b`` a colour."""
    if codes[0] == 4:
        return _apply(state, 4 if codes[1] else 24, iter(()))
    if codes[0] in (38, 48):
        numbers = codes[-3:] if codes[1] == 2 else codes[2:3]
        return _with_colour(state, _extended(codes[1], numbers), back=codes[0] == 48)
    return state


def _extended(kind: int, numbers: list[int]) -> Color | None:
    numbers = [min(number, 255) for number in numbers]
    if kind == 5 and numbers:
        return Color.from_ansi(numbers[0])
    return Color.from_rgb(*numbers) if kind == 2 and len(numbers) == 3 else None


def _with_colour(state: _State, colour: Color | None, *, back: bool) -> _State:
    return state._replace(back=colour) if back else state._replace(front=colour)
