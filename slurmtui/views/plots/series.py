"""What the plots show, as numbers. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from slurmtui.models.amounts import counted
from slurmtui.models.partition_use import cluster_gpus, partition_uses
from slurmtui.models.text import visible
from slurmtui.views import format as words
from slurmtui.views.amounts import short_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.models.history import PastJob
    from slurmtui.models.partition_use import ClusterUse
    from slurmtui.store.timeline import Point

USED, FREE, OUT = ("█", "state-running"), ("░", "state-done"), ("▒", "state-failed")
"""A glyph and a style for each part of a bar: they differ without colours as well."""

HALF, MOST = ("█", "state-waiting"), ("░", "state-waiting")


class Part(NamedTuple):
    """A part of a bar: how much, drawn with which glyph and style."""

    amount: float
    look: tuple[str, str]


class BarRow(NamedTuple):
    """A bar with its name before it and its numbers behind it (``brief`` where there is little room)."""

    name: str
    parts: tuple[Part, ...]
    total: float
    text: str
    brief: str


def cpu_bars(cluster: ClusterUse) -> list[BarRow]:
    """CPUs of each partition: in use, free, out of order or reserved."""
    rows = []
    for use in partition_uses(cluster):
        out = max(0, use.cpus - use.cpus_used - use.cpus_free)
        rows.append(_bar(visible(use.facts.name), use.cpus_used, use.cpus_free, out, "CPUs"))
    return rows


def gpu_bars(cluster: ClusterUse) -> list[BarRow]:
    """GPUs of each type on the whole cluster."""
    rows = []
    for use in cluster_gpus(cluster):
        if use.total:
            out = max(0, use.total - use.used - use.free)
            rows.append(_bar(short_type(use.type), use.used, use.free, out, "GPUs"))
    return rows


def _bar(name: str, used: int, free: int, out: int, what: str) -> BarRow:
    total = used + free + out
    text = f"{used:,} of {total:,} {what} in use, {free:,} free" + (f", {out:,} out" if out else "")
    return BarRow(name, (Part(used, USED), Part(free, FREE), Part(out, OUT)), total, text, f"{used:,}/{total:,}")


def wait_bars(jobs: Iterable[PastJob]) -> list[BarRow]:
    """How long my jobs waited, by partition, the longest first: half of them, and nine of ten."""
    waits: dict[str, list[float]] = {}
    for job in jobs:
        if job.wait is not None:
            waits.setdefault(job.partition, []).append(job.wait)
    found = []
    for name, values in waits.items():
        values.sort()
        found.append((name, _quantile(values, 0.5), _quantile(values, 0.9), len(values)))
    found.sort(key=lambda one: (-one[2], one[0]))
    longest = max((most for _, _, most, _ in found), default=0) or 1
    return [
        BarRow(
            visible(name),
            (Part(half, HALF), Part(most - half, MOST)),
            longest,
            f"half within {words.coarse(half)}, 9 of 10 within {words.coarse(most)} ({counted(number, 'job')})",
            f"{words.coarse(half)} {words.coarse(most)}",
        )
        for name, half, most, number in found
    ]


def _quantile(values: Sequence[float], part: float) -> float:
    """The value that ``part`` of the sorted ``values`` do not exceed."""
    return values[min(len(values) - 1, int(part * len(values)))]


def bar_lines(rows: Sequence[BarRow], width: int) -> list[list[tuple[str, str]]]:
    """The bars as lines of ``width`` cells."""
    if not rows:
        return []
    name_width = min(max(len(row.name) for row in rows), max(6, width // 4))
    longest = max(len(row.text) for row in rows)
    brief = width - name_width - longest - 3 < 16
    room = max(4, width - name_width - 3 - (max(len(row.brief) for row in rows) if brief else longest))
    lines = []
    for row in rows:
        name = row.name if len(row.name) <= name_width else row.name[: name_width - 1] + "…"
        line = [(f"{name:<{name_width}} ", "bold")]
        lines.append([*line, *_cells(row, room), (f" {row.brief if brief else row.text}", "")])
    return lines


def _cells(row: BarRow, room: int) -> list[tuple[str, str]]:
    """The parts in whole cells; what is not nothing has a cell."""
    spans, drawn, amount = [], 0, 0.0
    for part in row.parts:
        amount += part.amount
        end = round(amount / row.total * room) if row.total else 0
        if part.amount > 0 and end <= drawn < room:
            end = drawn + 1
        glyph, style = part.look
        spans.append((glyph * max(0, end - drawn), style))
        drawn = max(drawn, end)
    return [*spans, (" " * max(0, room - drawn), "")]


def queue_words(points: Sequence[Point], whose: str) -> str:
    """The newest point in words."""
    if not points:
        return "no poll yet"
    last = points[-1]
    other = f", {last.other:,} otherwise" if last.other else ""
    return f"{last.running:,} run, {last.waiting:,} wait{other} ({whose})"


def cpu_words(cluster: ClusterUse) -> str:
    """The CPUs of the whole cluster, each node once."""
    nodes = cluster.nodes
    used, total = sum(node.cpus_used for node in nodes), sum(node.cpus for node in nodes)
    return _used_words(used, sum(node.free_cpus for node in nodes), total, "CPUs")


def gpu_words(cluster: ClusterUse) -> str:
    """The GPUs of the whole cluster."""
    uses = cluster_gpus(cluster)
    used, free, total = (sum(getattr(use, name) for use in uses) for name in ("used", "free", "total"))
    return _used_words(used, free, total, "GPUs")


def _used_words(used: int, free: int, total: int, what: str) -> str:
    if not total:
        return f"no {what}"
    out = total - used - free
    left_out = f", {out:,} out" if out > 0 else ""
    return f"{used:,} of {total:,} {what} in use ({used / total:.0%}), {free:,} free{left_out}"
