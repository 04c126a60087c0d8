"""The words of the tab line and the key line, and lines of label and value. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui.models.text import cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.widgets.bar import Piece

TABS = (
    ("1", "runs", "Runs", "Runs"), ("2", "jobs", "Jobs", "Jobs"), ("3", "nodes", "Nodes", "Nodes"),
    ("4", "partitions", "Partitions", "Part"), ("5", "history", "History", "Hist"), ("6", "shares", "Shares", "Shares"),
    ("7", "plots", "Plots", "Plots"), ("8", "logs", "Logs", "Logs"),
    ("9", "clusters", "Clusters", "Clus"), ("!", "rescue", "Rescue", "Resc"),
)  # fmt: skip
"""Key, place, title, and a title for where there is little room."""


def tab_line(place: str, words: str, width: int) -> list[Piece]:
    """The views, the one that is shown standing out; at the right what it shows.

    Where there is no room for both, titles become shorter, and then the keys of the other views must do.
    """
    pieces: list[Piece] = []
    for here, others, margin in ((2, 2, " "), (2, 3, ""), (3, 3, ""), (2, 0, ""), (3, 0, "")):
        pieces = _titles(place, here, others, margin)
        if sum(len(text) for text, _ in pieces) + cells(words) < width:
            break
    used = sum(len(text) for text, _ in pieces)
    gap = " " * max(1, width - used - cells(words))  # in cells: a filter may be in wide characters
    return [*pieces, (f"{gap}{words}", "$text-muted")]


def _titles(place: str, shown: int, others: int, margin: str) -> list[Piece]:
    """Each view by its key and a title: the one that is shown by that at ``shown``, the others by none with 0."""
    pieces: list[Piece] = []
    for tab in TABS:
        here = tab[1] == place
        which = shown if here else others
        title = f" {tab[which]}" if which else ""
        text = f" {tab[0]}{title}{margin or (' ' if here else '')}"
        pieces.append((text, "bold reverse" if here else "$text-muted"))
    return pieces


def key_pieces(line: Sequence[tuple[str, str]], width: int) -> list[Piece]:
    """The keys that can be used now, as many as there is room for."""
    pieces: list[Piece] = [(" ", "")]
    for key, words in fitting(line, width - 1):
        pieces += [(key, "bold $accent"), (f" {words}  ", "")]
    return pieces


def fitting(line: Sequence[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    """The first keys that fit, and always the last: it is the one that tells of the others."""
    if not line:
        return []
    lengths = [len(key) + len(words) + 3 for key, words in line]
    room -= lengths[-1]
    kept = []
    for pair, length in zip(line[:-1], lengths, strict=False):
        if length > room:
            break
        room -= length
        kept.append(pair)
    return [*kept, line[-1]]


def pairs(rows: Sequence[tuple[str, Any]], width: int = 14) -> list[list[Piece]]:
    """Lines of label and value; empty values are left out."""
    return [[(label.ljust(width), "$text-muted"), (str(value), "")] for label, value in rows if value not in ("", None)]
