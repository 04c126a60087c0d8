"""What a job would ask for, in a person's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

import msgspec

from slurmtui.errors import UsageError
from slurmtui.models.amounts import counted, limit_words, size_words
from slurmtui.models.values import Special, count, memory, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable


Value = TypeVar("Value", int, float)

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]*)")
_PAIR = re.compile(r"([A-Za-z][\w.-]*)[:=](\S+)")
_MEMORY_UNITS = re.compile(r"([KMGT])(?:i?B)?")
_SPANS = {
    "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60, "h": 3600, "hour": 3600, "hours": 3600,
    "d": 86400, "day": 86400, "days": 86400,
}  # fmt: skip
_CPUS = frozenset({"c", "cpu", "cpus", "core", "cores", "thread", "threads"})
_GPUS = frozenset({"g", "gpu", "gpus"})
_NODES = frozenset({"n", "node", "nodes"})
_MEMORY = frozenset({"mem", "memory", "ram"})
_PARTITION = frozenset({"partition", "part", "p"})
_TIME = frozenset({"time", "t", "limit"})
_TYPE = frozenset({"type", "gpu-type"})
EXAMPLE = "2 gpus 16 cores 64G 2 nodes 4h"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a job would ask for, on each of its nodes; memory in mebibytes, time in seconds (None: any)."""

    nodes: int = 1
    cpus: int = 1
    gpus: int = 0
    gpu_type: str = ""
    memory: float = 0
    time: int | None = None
    partition: str = ""


def parse_wish(text: str, types: Iterable[str]) -> Wish:
    """``2 a100 16 cores 64G 4h``, ``gpus:2 mem:64G nodes:2``; ``types`` are the types of GPU there are.

    Raises:
        UsageError: a word cannot be understood.
    """
    wish, known = Wish(), tuple(types)
    rest = text.replace(",", " ").split()
    while rest:
        word = rest.pop(0)
        pair = _PAIR.fullmatch(word)
        number = _NUMBER.fullmatch(word)
        if pair is not None:
            wish = _with_pair(wish, pair[1], pair[2], known)
        elif number is not None:
            unit = number[2] or (rest.pop(0) if rest else "")
            wish = _with_number(wish, number[1], unit, known)
        else:
            wish = msgspec.structs.replace(wish, gpu_type=_type(word, known), gpus=max(1, wish.gpus))
    return wish


def _with_pair(wish: Wish, name: str, value: str, types: tuple[str, ...]) -> Wish:
    """``gpus:2``, ``gpu:a100:4``, ``mem=64G``, ``time:4h``, ``partition:gpu``, ``type:a100``."""
    word = name.lower()
    if word in _PARTITION:
        return msgspec.structs.replace(wish, partition=value)
    if word in _TIME:
        return _with_time(wish, value, types)
    if word in _MEMORY:
        return msgspec.structs.replace(wish, memory=_known(memory(value), value))
    kind, colon, last = value.rpartition(":")
    amount = count(last)
    if word in _GPUS and colon:
        return msgspec.structs.replace(wish, gpus=_known(amount, value), gpu_type=_type(kind, types))
    if word in _TYPE or (word in _GPUS and amount is None):
        return msgspec.structs.replace(wish, gpu_type=_type(value, types), gpus=max(1, wish.gpus))
    return _with_number(wish, str(_known(amount, value)), name, types)


def _with_time(wish: Wish, value: str, types: tuple[str, ...]) -> Wish:
    number = _NUMBER.fullmatch(value)
    if number is not None and number[2]:
        return _with_number(wish, number[1], number[2], types)
    span = seconds(value)
    if isinstance(span, Special):
        raise _puzzled(value)
    return msgspec.structs.replace(wish, time=span)


def _known(found: Value | None, text: str) -> Value:
    if found is None:
        raise _puzzled(text)
    return found


def _with_number(wish: Wish, number: str, unit: str, types: tuple[str, ...]) -> Wish:
    if _MEMORY_UNITS.fullmatch(unit):
        return msgspec.structs.replace(wish, memory=memory(f"{number}{unit}") or 0)
    word = unit.lower()
    if word in _SPANS:
        return msgspec.structs.replace(wish, time=int(float(number) * _SPANS[word]))
    if not number.isdigit() or not unit:
        raise _puzzled(f"{number} {unit}".strip())
    amount = int(number[:9])
    if word in _CPUS:
        return msgspec.structs.replace(wish, cpus=amount)
    if word in _GPUS:
        return msgspec.structs.replace(wish, gpus=amount)
    if word in _NODES:
        return msgspec.structs.replace(wish, nodes=max(1, amount))
    return msgspec.structs.replace(wish, gpus=amount, gpu_type=_type(unit, types))


def _type(word: str, types: tuple[str, ...]) -> str:
    """A type of GPU by its name or a part of it that only one has."""
    lower = word.lower()
    exact = [kind for kind in types if kind.lower() == lower]
    found = exact or [kind for kind in types if lower in kind.lower()]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{word!r} may be {', '.join(sorted(found))}: say which")
    there = f"; the types of GPU here are {', '.join(sorted(types))}" if types else ""
    raise _puzzled(word, there)


def _puzzled(word: str, more: str = "") -> UsageError:
    return UsageError(f"{word!r} is not understood; say it like  {EXAMPLE}{more}")


def wish_words(wish: Wish) -> str:
    """The wish as it was understood."""
    parts = [f"{wish.nodes} nodes with each" if wish.nodes > 1 else ""]
    if wish.gpus:
        parts.append(f"{wish.gpus} {wish.gpu_type}" if wish.gpu_type else counted(wish.gpus, "GPU"))
    parts.append(counted(wish.cpus, "core"))
    if wish.memory:
        parts.append(size_words(wish.memory))
    if wish.time:
        parts.append(f"for {limit_words(wish.time)}")
    if wish.partition:
        parts.append(f"in {wish.partition}")
    return " ".join(part for part in parts if part)
