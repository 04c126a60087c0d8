"""What could start now: a wish held against what is free in each partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.amounts import limit_words, size_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slurmtui.models.node import Node
    from slurmtui.models.partition_use import PartitionUse
    from slurmtui.models.wish import Wish


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """A partition's answer: on which nodes it could start now, how many such jobs at once, or why not."""

    partition: str
    now: tuple[str, ...] = ()
    copies: int = 0
    ever: bool = True
    why_not: str = ""
    asleep: bool = False

    @property
    def starts(self) -> bool:
        """Whether one could start now."""
        return not self.why_not


def answers(wish: Wish, uses: Iterable[PartitionUse]) -> list[Fit]:
    """The answer of each partition (or of the one that is wished for): those where it starts now come first."""
    found = [_answer(wish, use) for use in uses if wish.partition in {"", use.facts.name}]
    return sorted(found, key=lambda fit: (not fit.starts, not fit.ever, -fit.copies))


def _answer(wish: Wish, use: PartitionUse) -> Fit:
    name = use.facts.name
    if not use.facts.open:
        return Fit(partition=name, ever=False, why_not=f"the partition is {use.facts.state or 'closed'}")
    limit = use.facts.max_time
    if wish.time is not None and isinstance(limit, int) and wish.time > limit:
        return Fit(partition=name, ever=False, why_not=f"its time limit is {limit_words(limit)}")
    most = use.facts.size.rpartition("-")[2]
    if most.isdigit() and wish.nodes > int(most):
        return Fit(partition=name, ever=False, why_not=f"a job may have {most} nodes at most")
    able = [node for node in use.nodes if _room(wish, node, ever=True)]
    if len(able) < wish.nodes:
        return Fit(partition=name, ever=False, why_not=_too_large(wish, use, len(able)))
    rooms = {node.name: _room(wish, node, ever=False) for node in able}
    now = tuple(node for node, room in rooms.items() if room)
    if len(now) < wish.nodes:
        free = f"{len(now)} of its {len(able)} nodes of that size {'has' if len(now) == 1 else 'have'} room now"
        return Fit(partition=name, now=now, why_not=free if now else f"none of its {len(able)} nodes has room now")
    awake = {node.name for node in able if "POWERED_DOWN" not in node.state.flags}
    copies = sum(rooms.values()) if wish.nodes == 1 else len(now) // wish.nodes
    asleep = sum(node in awake for node in now) < wish.nodes
    return Fit(partition=name, now=now, copies=copies, asleep=asleep)


def _room(wish: Wish, node: Node, *, ever: bool) -> int:
    """How many times the wish (for one node) fits on a node now, or on it when it is empty and in order."""
    if ever and node.state.base in {"FUTURE", "UNKNOWN"}:
        return 0
    cpus = node.cpus if ever else node.free_cpus
    amount = (node.memory or 0) if ever else node.free_memory
    things = node.gpus if ever else node.free_gpus
    gpus = sum(thing.count for thing in things if not wish.gpu_type or thing.type == wish.gpu_type)
    rooms = [cpus // max(1, wish.cpus)]
    if wish.memory:
        rooms.append(int(amount // wish.memory))
    if wish.gpus:
        rooms.append(gpus // wish.gpus)
    return max(0, min(rooms))


def _too_large(wish: Wish, use: PartitionUse, able: int) -> str:
    """Why a partition can never do it."""
    if able:
        return f"only {able} of its nodes {'is' if able == 1 else 'are'} that large"
    kind = wish.gpu_type
    gpus = [sum(thing.count for thing in node.gpus if not kind or thing.type == kind) for node in use.nodes]
    if wish.gpus and not any(gpus):
        return f"it has no {kind or 'GPU'}"
    if wish.gpus > max(gpus, default=0):
        return f"no node has more than {max(gpus)} {kind or 'GPUs'}"
    if wish.cpus > max((node.cpus for node in use.nodes), default=0):
        return f"no node has more than {max((node.cpus for node in use.nodes), default=0)} cores"
    largest = max((node.memory or 0 for node in use.nodes), default=0)
    if wish.memory > largest:
        return f"no node has more than {size_words(largest)}"
    return "no node has all of that together"
