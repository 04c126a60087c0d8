"""Text from outside made fit for a screen: no control characters, measured in terminal cells."""

from __future__ import annotations

from rich.cells import cell_len, chop_cells, set_cell_size

_PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
"""Each control character's own picture: ESC becomes ␛, a newline ␊."""

_TURNED = dict.fromkeys(
    (*range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF,
     *range(0xD800, 0xE000), *range(0xFFF9, 0xFFFC), 0xFFFE, 0xFFFF, *range(0xE0000, 0xE0080)),
    0xFFFD,
)  # fmt: skip
"""What would move the cursor, turn the writing direction, hide or cannot be encoded: the replacement character."""

_TABLE = _PICTURES | _TURNED


def visible(text: str) -> str:
    """``text`` on one line with every control character made visible (ESC as ␛, newline as ␊)."""
    return text if text.isprintable() else text.translate(_TABLE)


def decoded(raw: bytes, *, cut: bool = False) -> str:
    """Bytes from a command as text; what is no UTF-8 becomes the replacement character.

    With ``cut`` the end may be the first bytes of a character: those are dropped.
    """
    if cut:
        for dropped in range(1, 4):
            tail = raw[-dropped:]
            if tail and tail[0] >= 0xC0:
                wanted = 2 if tail[0] < 0xE0 else 3 if tail[0] < 0xF0 else 4
                raw = raw[:-dropped] if dropped < wanted else raw
                break
    return raw.decode("utf-8", "replace")


def cells(text: str) -> int:
    """How many terminal cells ``text`` fills."""
    return len(text) if text.isascii() else cell_len(text)


def fit(text: str, width: int, *, right: bool = False) -> str:
    """``text`` in exactly ``width`` cells: cut in the middle or padded (on the left with ``right``)."""
    short = cut_middle(text, width)
    padding = " " * (width - cells(short))
    return padding + short if right else short + padding


def cut_middle(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells: what is too long loses its middle to an ``…``."""
    if cells(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    head = (width - 1 + 1) // 2
    tail = width - 1 - head
    return _start(text, head) + "…" + (_end(text, tail) if tail else "")


def _start(text: str, width: int) -> str:
    """The longest beginning of ``text`` that fits ``width`` cells."""
    if text.isascii():
        return text[:width]
    chopped = chop_cells(text, width) if width else [""]
    start = chopped[0] if chopped else ""
    return start if cell_len(start) <= width else set_cell_size(start, width).rstrip()


def _end(text: str, width: int) -> str:
    """The longest end of ``text`` that fits ``width`` cells."""
    if text.isascii():
        return text[-width:]
    first = len(text)
    while first > 0 and cell_len(text[first - 1 :]) <= width:
        first -= 1
    return text[first:]
