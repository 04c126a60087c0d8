"""The sentence in an empty view that says why it is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from slurmtui.widgets.lines import fit, width_of, wrap

if TYPE_CHECKING:
    from rich.style import Style
    from textual.geometry import Size


def sentence(text: str, line: int, size: Size, style: Style) -> Strip:
    """Line number ``line`` of a view of ``size`` in whose middle ``text`` stands."""
    lines = wrap(text, max(1, size.width - 4)) if text else []
    number = line - max(0, (size.height - len(lines)) // 2)
    shown = lines[number] if 0 <= number < len(lines) else ""
    left = (size.width - width_of(shown)) // 2
    return Strip([Segment(fit(" " * left + shown, size.width), style)], size.width)
