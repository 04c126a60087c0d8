"""Aligned columns for a terminal or a pipe, measured in terminal cells."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from slurmtui.models.text import cells, fit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

DASH = "\N{EN DASH}"
"""Stands where nothing is known, or nothing is there."""


def print_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[str] = (),
    widest: Mapping[str, int] | None = None,
    giving: Mapping[str, int] | None = None,
) -> None:
    """Print ``rows`` under ``head``; every text must already be fit for a screen.

    Args:
        head: the names of the columns.
        rows: a text a column.
        right: columns whose texts stand on the right.
        widest: columns that never get wider than this.
        giving: columns that give way on a terminal that is too narrow, first to last, and how narrow they may get.
    """
    widths = [max(map(cells, column)) for column in zip(head, *rows, strict=True)]
    for number, name in enumerate(head):
        widths[number] = min(widths[number], (widest or {}).get(name, widths[number]))
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns
        for name, narrowest in (giving or {}).items():
            number = list(head).index(name)
            excess = sum(widths) + len(widths) - 1 - room
            widths[number] = max(min(widths[number], narrowest), widths[number] - max(excess, 0))
    for row in (head, *rows):
        texts = (fit(text, width, right=name in right) for name, text, width in zip(head, row, widths, strict=True))
        write_line(" ".join(texts).rstrip())


def write_line(text: str) -> None:
    """Print a line; characters that the terminal's encoding lacks become ``?``."""
    encoding = sys.stdout.encoding or "ascii"
    print(text.encode(encoding, "replace").decode(encoding))
