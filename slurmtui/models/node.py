"""A compute node: its state in all of SLURM's spellings, what it has, and what of it is free."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.gres import Gres

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SUFFIXES = {
    "*": "NOT_RESPONDING", "~": "POWERED_DOWN", "#": "POWERING_UP", "!": "POWER_DOWN", "%": "POWERING_DOWN",
    "$": "MAINTENANCE", "@": "REBOOT_REQUESTED", "^": "REBOOT_ISSUED", "-": "PLANNED", "+": "",
}  # fmt: skip
"""What sinfo and scontrol write behind a state, in one character."""

_WORDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ALLOC": ("ALLOCATED", ()), "MIX": ("MIXED", ()), "UNK": ("UNKNOWN", ()), "FUTR": ("FUTURE", ()),
    "ERR": ("ERROR", ()), "DRAINED": ("IDLE", ("DRAIN",)), "DRAINING": ("MIXED", ("DRAIN",)),
    "DRNG": ("MIXED", ("DRAIN",)), "DRAIN": ("IDLE", ("DRAIN",)), "FAIL": ("IDLE", ("FAIL",)),
    "FAILING": ("MIXED", ("FAIL",)), "FAILG": ("MIXED", ("FAIL",)), "MAINT": ("IDLE", ("MAINTENANCE",)),
    "RESERVED": ("IDLE", ("RESERVED",)), "RESV": ("IDLE", ("RESERVED",)), "PLANNED": ("IDLE", ("PLANNED",)),
    "PLND": ("IDLE", ("PLANNED",)), "COMPLETING": ("IDLE", ("COMPLETING",)), "COMP": ("IDLE", ("COMPLETING",)),
    "POWERED_DOWN": ("IDLE", ("POWERED_DOWN",)), "POW_DN": ("IDLE", ("POWERED_DOWN",)),
    "POWERING_DOWN": ("IDLE", ("POWERING_DOWN",)), "POWERING_UP": ("IDLE", ("POWERING_UP",)),
    "POW_UP": ("IDLE", ("POWERING_UP",)), "POWER_DOWN": ("IDLE", ("POWER_DOWN",)),
    "REBOOT": ("IDLE", ("REBOOT_REQUESTED",)), "BOOT": ("IDLE", ("REBOOT_ISSUED",)),
    "INVAL": ("IDLE", ("INVALID_REG",)), "BLOCKED": ("IDLE", ("BLOCKED",)), "BLCKD": ("IDLE", ("BLOCKED",)),
}  # fmt: skip
"""One word of sinfo's that means a base state and a flag."""

_FLAGS = {
    "MAINT": "MAINTENANCE", "NO_RESPOND": "NOT_RESPONDING", "POWER": "POWERED_DOWN", "POWERUP": "POWERING_UP",
    "RESV": "RESERVED", "REBOOT": "REBOOT_REQUESTED",
}  # fmt: skip
BASES = frozenset({"ALLOCATED", "DOWN", "ERROR", "FUTURE", "IDLE", "MIXED", "UNKNOWN"})
_WRONG = frozenset({"DRAIN", "FAIL", "NOT_RESPONDING", "INVALID_REG"})
_CLOSED = frozenset(
    {"MAINTENANCE", "RESERVED", "REBOOT_REQUESTED", "REBOOT_ISSUED", "POWER_DOWN", "POWERING_DOWN", "BLOCKED"}
)
_WORD_OF_FLAG = {
    "NOT_RESPONDING": "not responding", "POWERED_DOWN": "asleep", "POWERING_UP": "waking up",
    "POWER_DOWN": "to be put to sleep", "POWERING_DOWN": "falling asleep", "MAINTENANCE": "maintenance",
    "REBOOT_REQUESTED": "to be rebooted", "REBOOT_ISSUED": "rebooting", "PLANNED": "planned", "RESERVED": "reserved",
    "COMPLETING": "completing", "FAIL": "failing", "INVALID_REG": "wrong hardware", "BLOCKED": "blocked",
}  # fmt: skip
_SILENT = frozenset({"CLOUD", "DYNAMIC_NORM", "DYNAMIC_FUTURE", "PERFCTRS", "POWER_DRAIN", "DRAIN"})


class NodeState(msgspec.Struct, frozen=True):
    """``raw`` is what SLURM wrote, ``base`` one of ``BASES`` or a word never heard of, in capitals."""

    raw: str
    base: str = ""
    flags: tuple[str, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether the node needs an administrator, or is with one."""
        return self.base in {"DOWN", "ERROR", "UNKNOWN"} or any(flag in _WRONG for flag in self.flags)

    @property
    def takes_jobs(self) -> bool:
        """Whether what is idle of the node can be given to a job now. A state never heard of does not."""
        if self.base not in {"IDLE", "MIXED", "ALLOCATED"} or self.wrong:
            return False
        return not any(flag in _CLOSED for flag in self.flags)

    @property
    def words(self) -> str:
        """The state for a person; one that is not known stands as SLURM wrote it."""
        if self.base not in BASES:
            return self.raw
        first = self.base.lower()
        if "DRAIN" in self.flags and self.base != "DOWN":
            busy = self.base in {"ALLOCATED", "MIXED"} or "COMPLETING" in self.flags
            first = "draining" if busy else "drained"
        elif "DRAIN" in self.flags:
            first = "down, drained"
        others = [_WORD_OF_FLAG.get(flag, flag.lower()) for flag in self.flags if flag not in _SILENT]
        if first == "idle" and others and self.flags != ("PLANNED",):
            return ", ".join(others)
        return ", ".join([first, *others])


@functools.lru_cache(maxsize=1024)
def parse_node_state(text: str) -> NodeState:
    """``IDLE+DRAIN*``, ``mixed-``, ``drained``, ``MIXED+PLANNED``, ``idle~``, ``DOWN+DRAIN+NOT_RESPONDING``."""
    raw = text.strip()
    rest, flags = raw.upper(), list[str]()
    while rest and rest[-1] in _SUFFIXES:
        flags.insert(0, _SUFFIXES[rest[-1]])
        rest = rest[:-1]
    first, *others = rest.split("+")
    base, implied = _WORDS.get(first, (first, ()))
    named = [*implied, *(_FLAGS.get(flag, flag) for flag in others), *flags]
    return NodeState(raw, base, tuple(dict.fromkeys(flag for flag in named if flag)))


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One node. Memory in mebibytes; ``memory_idle`` is what the operating system calls free.

    ``reason``, ``since`` (seconds since the epoch) and ``by`` tell why, since when and by whom it takes no jobs.
    ``cpus_idle`` are those SLURM calls idle: none on a node that is drained or down.
    """

    name: str
    partitions: tuple[str, ...] = ()
    state: NodeState = NodeState("")
    reason: str = ""
    since: float | None = None
    by: str = ""
    cpus: int = 0
    cpus_used: int = 0
    cpus_idle: int = 0
    memory: float | None = None
    memory_used: float | None = None
    memory_idle: float | None = None
    load: float | None = None
    gres: tuple[Gres, ...] = ()
    gres_used: tuple[Gres, ...] = ()
    features: str = ""

    @property
    def free_cpus(self) -> int:
        """CPUs that a job could be given now."""
        return self.cpus_idle if self.state.takes_jobs else 0

    @property
    def free_memory(self) -> float:
        """Memory that a job could be given now."""
        if not self.state.takes_jobs or self.memory is None:
            return 0.0
        return max(0.0, self.memory - (self.memory_used or 0.0))

    @property
    def gpus(self) -> tuple[Gres, ...]:
        """The GPUs it has."""
        return tuple(thing for thing in self.gres if thing.name == "gpu")

    @property
    def gpus_left(self) -> tuple[Gres, ...]:
        """The GPUs that no job holds, whether or not the node takes jobs."""
        return left_over(self.gpus, [thing for thing in self.gres_used if thing.name == "gpu"])

    @property
    def free_gpus(self) -> tuple[Gres, ...]:
        """The GPUs that a job could be given now."""
        if self.state.takes_jobs:
            return self.gpus_left
        return tuple(Gres(thing.name, thing.type, 0) for thing in self.gpus)


def left_over(total: Sequence[Gres], used: Iterable[Gres]) -> tuple[Gres, ...]:
    """What is left of ``total`` (of one name) when ``used`` is taken.

    What is used without a type is taken from the one type there is; where there are several it is not known from which,
    and what is left then has no type either. What is used by type is taken from a total without types.
    """
    counts = {thing.type: thing.count for thing in total}
    untyped = 0
    for thing in used:
        if thing.type in counts:
            counts[thing.type] -= thing.count
        else:
            untyped += thing.count
    if untyped and len(counts) > 1:
        name = total[0].name
        return (Gres(name, "", max(0, sum(counts.values()) - untyped)),)
    name = total[0].name if total else ""
    return tuple(Gres(name, kind, max(0, number - untyped)) for kind, number in counts.items())


def natural(name: str) -> tuple[tuple[str, int], ...]:
    """A key that sorts ``n2`` before ``n10``."""
    parts: list[tuple[str, int]] = []
    text, digits = "", ""
    for character in name:
        if character.isascii() and character.isdigit():
            digits += character
        elif digits:
            parts.append((text, int(digits[:18])))
            text, digits = character, ""
        else:
            text += character
    parts.append((text, int(digits[:18]) if digits else -1))
    return tuple(parts)
