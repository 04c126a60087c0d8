"""Panes beside and below each other, as a tree; how they share a screen, and how they are remembered. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEAST_WIDTH, LEAST_HEIGHT = 24, 4
"""A smaller pane shows nothing that can be read."""
_STEP = 1.25
_MOST_PANES = 64
_DEEPEST = 12


class Leaf(msgspec.Struct, frozen=True, tag="pane"):
    """One pane: its number, and the key of the log it shows."""

    number: int
    key: str


class Split(msgspec.Struct, frozen=True, tag="split"):
    """Panes beside each other (``across``) or below each other, with their shares of the room."""

    across: bool
    parts: tuple[Leaf | Split, ...]
    shares: tuple[float, ...]


Tree = Leaf | Split


class Box(msgspec.Struct, frozen=True):
    """A part of the screen."""

    x: int
    y: int
    width: int
    height: int


def leaves(tree: Tree | None) -> Iterator[Leaf]:
    """The panes, in the order in which one reads them."""
    if isinstance(tree, Leaf):
        yield tree
    elif tree is not None:
        for part in tree.parts:
            yield from leaves(part)


def insert(tree: Tree | None, beside: int, new: Leaf, *, across: bool) -> Tree:
    """Put a pane beside (or below) another, which shares its room with it."""
    if tree is None:
        return new
    if isinstance(tree, Leaf):
        return Split(across, (tree, new), (1.0, 1.0)) if tree.number == beside else tree
    for place, part in enumerate(tree.parts):
        if isinstance(part, Leaf) and part.number == beside and tree.across == across:
            parts, shares = list(tree.parts), list(tree.shares)
            shares[place] /= 2
            parts.insert(place + 1, new)
            shares.insert(place + 1, shares[place])
            return Split(across, tuple(parts), tuple(shares))
    return Split(tree.across, tuple(insert(part, beside, new, across=across) for part in tree.parts), tree.shares)


def remove(tree: Tree | None, number: int) -> Tree | None:
    """Take a pane away; those beside it share its room."""
    if tree is None or isinstance(tree, Leaf):
        return None if tree is not None and tree.number == number else tree
    kept = [
        (part, share)
        for before, share in zip(tree.parts, tree.shares, strict=True)
        if (part := remove(before, number)) is not None
    ]
    if len(kept) < 2:
        return kept[0][0] if kept else None
    return Split(tree.across, tuple(part for part, _ in kept), tuple(share for _, share in kept))


def resize(tree: Tree, number: int, step: int) -> Tree:
    """Give a pane more of the room that it shares with others, or less."""
    if isinstance(tree, Leaf):
        return tree
    parts, shares = [], []
    for part, share in zip(tree.parts, tree.shares, strict=True):
        own = isinstance(part, Leaf) and part.number == number
        parts.append(resize(part, number, step))
        shares.append(min(16.0, max(1 / 16, share * _STEP**step)) if own else share)
    return Split(tree.across, tuple(parts), tuple(shares))


def boxes(tree: Tree | None, box: Box) -> dict[int, Box]:
    """Where each pane lies; beside each other they are a column apart."""
    if tree is None:
        return {}
    if isinstance(tree, Leaf):
        return {tree.number: box}
    room = box.width if tree.across else box.height
    sizes = _divide(room - (len(tree.parts) - 1 if tree.across else 0), tree.shares)
    found: dict[int, Box] = {}
    at = 0
    for part, size in zip(tree.parts, sizes, strict=True):
        if tree.across:
            found.update(boxes(part, Box(box.x + at, box.y, size, box.height)))
        else:
            found.update(boxes(part, Box(box.x, box.y + at, box.width, size)))
        at += size + (1 if tree.across else 0)
    return found


def _divide(room: int, shares: Sequence[float]) -> list[int]:
    """A room in whole cells by shares; what is left over goes to the first ones."""
    room = max(0, room)
    whole = sum(shares) or 1.0
    sizes = [int(room * share / whole) for share in shares]
    for place in range(room - sum(sizes)):
        sizes[place % len(sizes)] += 1
    return sizes


def tiled(keys: Sequence[str], width: int, height: int) -> Tree | None:
    """Panes for these logs in even rows and columns; None when they would be too small to be read."""
    count = len(keys)
    best: tuple[float, int] | None = None
    for columns in range(1, count + 1):
        rows = -(-count // columns)
        pane_width, pane_height = (width - columns + 1) / columns, height / rows
        if pane_width >= LEAST_WIDTH and pane_height >= LEAST_HEIGHT:
            misfit = abs(pane_width - 7 * pane_height) + (40 if pane_width < 60 else 0)  # lines want to be wide
            if best is None or misfit < best[0]:
                best = (misfit, columns)
    if best is None:
        return None
    made = [Leaf(number, key) for number, key in enumerate(keys, 1)]
    lines = [_row(made[first : first + best[1]], across=True) for first in range(0, count, best[1])]
    return _row(lines, across=False)


def _row(parts: Sequence[Tree], *, across: bool) -> Tree:
    return parts[0] if len(parts) == 1 else Split(across, tuple(parts), (1.0,) * len(parts))


def encode(tree: Tree | None) -> bytes:
    """The tree as it is remembered."""
    return msgspec.json.encode(tree)


def decode(data: bytes) -> Tree | None:
    """A remembered tree; None when it is not understood."""
    try:
        tree: Tree | None = msgspec.json.decode(data, type=Leaf | Split | None)
    except (msgspec.MsgspecError, RecursionError):
        return None
    numbers = [leaf.number for leaf in leaves(tree)]
    sound = tree is None or (_sound(tree, _DEEPEST) and len(set(numbers)) == len(numbers) <= _MOST_PANES)
    return tree if sound else None


def _sound(tree: Tree, depth: int) -> bool:
    if isinstance(tree, Leaf):
        return True
    if not depth or len(tree.parts) < 2 or len(tree.shares) != len(tree.parts):
        return False
    return all(0 < share < 1e6 for share in tree.shares) and all(_sound(part, depth - 1) for part in tree.parts)
