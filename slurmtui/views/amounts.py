"""How memory, counts and GPUs are written in the lists. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.amounts import counted
from slurmtui.models.text import visible
from slurmtui.views import format as words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.models.gres import Gres
    from slurmtui.models.job import Job
    from slurmtui.models.partition_use import GpuUse
    from slurmtui.widgets.lines import Span

_UNITS = ("M", "G", "T", "P")


def memory(mebibytes: float | None) -> str:
    """``512M``, ``7.8G``, ``128G``; a dash where it is not known."""
    if mebibytes is None:
        return words.DASH
    if not mebibytes:
        return "0"
    value = mebibytes
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1024
    digits = 1 if value < 9.95 and unit != "M" and value != int(value) else 0
    return f"{value:.{digits}f}{unit}"


def asked(job: Job) -> str:
    """``1 node, 8 CPUs, 16G gpu:a100:1``: what a job asks for."""
    return f"{counted(job.node_count, 'node')}, {counted(job.cpus, 'CPU')}, {job.memory or '?'} {visible(job.gres)}"


def of(free: str, total: str) -> str:
    """``free/total``; without a unit twice where both have the same."""
    if free and total and free[-1] == total[-1] and free[-1].isalpha():
        free = free[:-1]
    return f"{free}/{total}"


def short_type(name: str) -> str:
    """The telling part of a GPU's type: ``nvidia_h200_nvl_4g.71gb`` is ``h200_nvl_4g.71gb``."""
    return visible(name.removeprefix("nvidia_").removeprefix("NVIDIA_")) or "gpu"


def free_gpus(total: Sequence[Gres], free: Iterable[Gres]) -> list[Span]:
    """``a100 3/4`` for each type; those of which it is not known which type they are, after them."""
    counts = {thing.type: thing.count for thing in free}
    spans: list[Span] = []
    for thing in total:
        number = counts.pop(thing.type, 0)
        spans += _one(short_type(thing.type), number, thing.count, first=not spans)
    for number in counts.values():
        spans.append((f" {number} of some type", ""))
    return spans or [(words.DASH, "dim")]


def free_gpu_uses(uses: Iterable[GpuUse]) -> list[Span]:
    """The same for a partition."""
    spans: list[Span] = []
    for use in uses:
        if use.total:
            spans += _one(short_type(use.type), use.free, use.total, first=not spans)
        elif use.free:
            spans.append((f" {use.free} of some type", ""))
    return spans or [(words.DASH, "dim")]


def _one(name: str, free: int, total: int, *, first: bool) -> list[Span]:
    gap = "" if first else " "
    return [(f"{gap}{name} ", "dim"), (f"{free}/{total}", "state-done bold" if free else "dim")]
