"""GRES and TRES texts: what a job asks for or holds besides CPUs and memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.values import count, memory

if TYPE_CHECKING:
    from collections.abc import Iterable

_REMARK = re.compile(r"\([^()]*\)")


class Gres(msgspec.Struct, frozen=True):
    """So many of a kind of thing. ``type`` is empty where SLURM names none."""

    name: str
    type: str
    count: int

    def __str__(self) -> str:
        return f"{self.name}:{self.type}:{self.count}" if self.type else f"{self.name}:{self.count}"


def parse_gres(text: str) -> tuple[Gres, ...]:
    """``gres:gpu:a100:4(S:0-1)``, ``gpu:(null):4(IDX:0-3)``, ``gpu:8``, ``gres/gpu:a100=2``, several with commas.

    A generic count is left out where typed ones of the same name stand beside it: SLURM then counts the same things
    twice (``gres/gpu=4,gres/gpu:a100=4``). What is no GRES (cpu, mem, billing …) is left out.
    """
    found: dict[tuple[str, str], int] = {}
    for part in _without_remarks(text).split(","):
        entry = _parse_entry(part.strip())
        if entry is not None:
            key = (entry.name, entry.type)
            found[key] = found.get(key, 0) + entry.count
    typed = {name for name, kind in found if kind}
    return tuple(Gres(name, kind, number) for (name, kind), number in found.items() if kind or name not in typed)


def tres(text: str) -> dict[str, str]:
    """``cpu=2,mem=4000M,node=1,gres/gpu=2`` by key."""
    return dict(pair.split("=", 1) for pair in text.split(",") if "=" in pair)


def tres_memory(text: str) -> float | None:
    """The memory (mebibytes) in a TRES text, None where it names none."""
    amount = tres(text).get("mem")
    return None if amount is None else memory(amount)


def gpus(things: Iterable[Gres]) -> int:
    """How many GPUs are among ``things``, of every type."""
    return sum(thing.count for thing in things if thing.name == "gpu")


def shown(things: Iterable[Gres]) -> str:
    """A short text for a column: ``a100:4`` for GPUs, ``shard:8`` for other things."""
    return ",".join(f"{thing.type or 'gpu'}:{thing.count}" if thing.name == "gpu" else str(thing) for thing in things)


_NO_GPUS = frozenset({"shard", "mps", "gpumem", "gpuutil", "nic", "bandwidth", "craynetwork", "fpga", "tmpfs", "disk"})


def shown_gpus(text: str) -> int:
    """How many GPUs a short text (of :func:`shown`) names: of ``a100:4,shard:8`` four."""
    pairs = [part.rpartition(":") for part in text.split(",")]
    return sum(count(number) or 0 for kind, _, number in pairs if kind and kind not in _NO_GPUS)


def gres_words(thing: Gres) -> str:
    """``4 a100 GPUs``, ``1 shard``."""
    name = "GPU" if thing.name == "gpu" else thing.name
    return " ".join(filter(None, (str(thing.count), thing.type, f"{name}{'' if thing.count == 1 else 's'}")))


def _without_remarks(text: str) -> str:
    """``text`` without sockets and indexes in brackets, whose commas would split it; ``(null)`` goes as well."""
    return _REMARK.sub("", text)


def _parse_entry(entry: str) -> Gres | None:
    entry = entry.removeprefix("gres:").removeprefix("gres/")
    name, equals, amount = entry.partition("=")
    if equals:
        kind = name.partition(":")[2]
        name = name.partition(":")[0]
        number = count(amount)
        if number is None or name in {"", "cpu", "mem", "node", "billing", "energy", "pages", "vmem"} or "/" in name:
            return None
        return Gres(name, kind, number)
    name, *rest = entry.split(":")
    if not name or name.upper() in {"N/A", "NONE"}:
        return None
    number = count(rest[-1]) if rest else None
    if rest and number is not None:
        return Gres(name, ":".join(part for part in rest[:-1] if part), number)
    return Gres(name, ":".join(part for part in rest if part), 1)
