"""Sends the terminal no more of a line than has changed.

Textual (8.2) sends a line from the left edge of its widget up to what has changed: of a row in which a time ticks, id,
name, user and partition again. In a list of running jobs that is nearly all that goes to the terminal at rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.control import Control
from textual._compositor import ChopsUpdate

if TYPE_CHECKING:
    from rich.console import Console


class NarrowUpdate(ChopsUpdate):
    """The same picture in fewer bytes."""

    def render_segments(self, console: Console) -> str:
        """What goes to the terminal: of each changed line the cells between its first and its last change."""
        sequences: list[str] = []
        for y, first, last in self.spans:
            for end, (start, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                left, right = max(start, first), min(end, last)
                if strip is None or left >= right:
                    continue
                whole = (left, right) == (start, end)
                sequences.append(Control.move_to(left, y).segment.text)
                sequences.append((strip if whole else strip.crop(left - start, right - start)).render(console))
        return "".join(sequences)


def narrow(renderable: Any) -> Any:
    """The update in fewer bytes, where it is one of parts of the screen."""
    if type(renderable) is not ChopsUpdate:
        return renderable
    return NarrowUpdate(renderable.chops, renderable.spans, renderable.chop_ends)
