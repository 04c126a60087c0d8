"""The rows and the detail of the Partitions view. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.text import visible
from slurmtui.views import amounts
from slurmtui.views import format as words
from slurmtui.views.lines import pairs
from slurmtui.views.side import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.partition_use import PartitionFacts, PartitionUse
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.lines import Cell


def partition_rows(uses: Sequence[PartitionUse]) -> Rows:
    """A row a partition; its key is ``partition:gpu``."""
    return Rows([(f"partition:{use.facts.name}", _cells(use), None) for use in uses])


def _cells(use: PartitionUse) -> Sequence[Cell]:
    facts = use.facts
    wrong = f" {use.wrong} out" if use.wrong else ""
    name = visible(facts.name)
    return (
        [(name, ""), (" *", "dim")] if facts.default else name,
        (visible(facts.state), "state-done" if facts.open else "state-failed"),
        [(f"{use.idle}/{len(use.nodes)}", "" if use.idle else "dim"), (wrong, "state-failed")],
        (amounts.of(f"{use.cpus_free:,}", f"{use.cpus:,}"), "" if use.cpus_free else "dim"),
        (amounts.of(amounts.memory(use.memory_free), amounts.memory(use.memory)), "" if use.memory_free else "dim"),
        amounts.free_gpu_uses(use.gpus),
        words.span(facts.max_time),
        _count(use.jobs.running if use.jobs else None, "state-running"),
        _count(use.jobs.pending if use.jobs else None, "state-waiting"),
    )


def _count(number: int | None, style: str) -> Cell:
    if number is None:
        return ("…", "dim")
    return (f"{number:,}", style) if number else ("0", "dim")


def partition_lines(use: PartitionUse, told: str | None) -> list[list[Piece]]:
    """Everything about a partition; ``told`` is what scontrol says of it, None while it is awaited."""
    facts = use.facts
    style = "bold $state-done" if facts.open else "bold $state-failed"
    lines: list[list[Piece]] = [
        [(f"partition {visible(facts.name)} · ", "bold"), (visible(facts.state), style),
         (" · the default one" if facts.default else "", "$text-muted")]
    ]  # fmt: skip
    if not facts.open:
        lines.append([("  no job is started in it now", "")])
    total, given, free = (amounts.memory(part) for part in (use.memory, use.memory_used, use.memory_free))
    lines += pairs(
        [
            ("limits", _limits(facts)),
            ("nodes", _nodes(use)),
            ("CPUs", f"{use.cpus:,}: {use.cpus_used:,} in use, {use.cpus_free:,} free for jobs"),
            ("memory", f"{total}: {given} given to jobs, {free} free for jobs"),
            *_gpus(use),
            ("jobs", _jobs(use)),
        ]
    )  # fmt: skip
    if told is None:
        return [*lines, [("asking SLURM…", "$text-muted")]]
    return lines + [[(visible(line), "$text-muted")] for line in told.splitlines() if line.strip()]


def _limits(facts: PartitionFacts) -> str:
    usual = words.span(facts.default_time)
    default = "" if usual == words.DASH else f", {usual} when none is asked for"
    return f"time {words.span(facts.max_time)}{default}; nodes of a job {visible(facts.size)}"


def _nodes(use: PartitionUse) -> str:
    wrong = f", {use.wrong} out of order" if use.wrong else ""
    closed = f", {use.closed} reserved or asleep for good" if use.closed else ""
    return f"{len(use.nodes):,}: {use.idle:,} idle{wrong}{closed}"


def _gpus(use: PartitionUse) -> list[tuple[str, str]]:
    found = []
    for gpu in use.gpus:
        stranded = f" ({gpu.stranded} of them where no CPU is free)" if gpu.stranded else ""
        text = f"{gpu.total} {amounts.short_type(gpu.type)}: {gpu.used} in use, {gpu.free} free for jobs{stranded}"
        if not gpu.total:
            text = f"of types that are not told: {gpu.used} in use, {gpu.free} free for jobs"
        found.append(("GPUs", text))
    return found


def _jobs(use: PartitionUse) -> str:
    if use.jobs is None:
        return ""
    other = f", {use.jobs.other:,} ending or held up otherwise" if use.jobs.other else ""
    return f"{use.jobs.running:,} running, {use.jobs.pending:,} waiting{other} (of everybody, array tasks one by one)"
