"""The detail of a node. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.text import visible
from slurmtui.views import amounts
from slurmtui.views import format as words
from slurmtui.views.lines import pairs
from slurmtui.views.nodes.rows import mood

if TYPE_CHECKING:
    from slurmtui.models.job import Job
    from slurmtui.models.node import Node, NodeState
    from slurmtui.widgets.bar import Piece

_MEANINGS = {
    "DRAIN": "an administrator lets it run empty: no new job is started on it",
    "FAIL": "it is expected to fail soon: no new job is started on it",
    "NOT_RESPONDING": "slurmctld does not hear of it",
    "INVALID_REG": "it has less hardware than slurm.conf says",
    "POWERED_DOWN": "it sleeps to save power; a job wakes it, which takes minutes",
    "POWERING_UP": "it is waking up",
    "POWERING_DOWN": "it is being put to sleep",
    "POWER_DOWN": "it is put to sleep as soon as it is empty",
    "MAINTENANCE": "it is reserved for maintenance",
    "RESERVED": "it is reserved: only jobs of that reservation are started on it",
    "REBOOT_REQUESTED": "it is rebooted as soon as it is empty",
    "REBOOT_ISSUED": "it is rebooting",
    "PLANNED": "SLURM keeps it for a job with a higher priority; shorter jobs may still fit in before",
    "COMPLETING": "a job on it is ending",
    "BLOCKED": "a job that has whole blocks of nodes keeps it",
}
_BASES = {
    "DOWN": "it is out of service",
    "ERROR": "SLURM found an error on it",
    "UNKNOWN": "SLURM has not heard of it since it started",
    "FUTURE": "it is not there yet",
}


def job_lines(job: Job) -> list[list[Piece]]:
    """What squeue says of a job on a node; all of it is in the Jobs view."""
    style = f"bold ${words.style_of(words.mood_of(job.state))}"
    lines: list[list[Piece]] = [[(f"job {job.id} · {visible(job.name)} · ", "bold"), (visible(job.state), style)]]
    lines += pairs(
        [
            ("user", f"{visible(job.user)} · account {visible(job.account) or words.DASH}"),
            ("where", f"{visible(job.partition)} {visible(job.nodes)}"),
            ("asks for", amounts.asked(job)),
            ("time", f"{words.span(job.elapsed)} of {words.span(job.time_limit)}"),
            ("comment", visible(job.comment)),
        ]
    )
    return [*lines, [("o shows it in the queue", "$text-muted")]]


def meanings(state: NodeState) -> list[str]:
    """What the state means for a person's jobs."""
    found = [_BASES[state.base]] if state.base in _BASES else []
    return found + [_MEANINGS[flag] for flag in state.flags if flag in _MEANINGS]


def node_lines(node: Node, now: float) -> list[list[Piece]]:
    """Everything about a node."""
    style = f"bold ${words.style_of(mood(node))}"
    lines: list[list[Piece]] = [
        [(f"node {visible(node.name)} · ", "bold"), (visible(node.state.words), style),
         (f"  ({visible(node.state.raw)})", "$text-muted")]
    ]  # fmt: skip
    lines += [[(f"  {meaning}", "")] for meaning in meanings(node.state)]
    since = f"{words.moment_words(node.since)}, {words.coarse(now - node.since)} ago" if node.since else ""
    left = {thing.type: thing.count for thing in node.gpus_left}
    gpus = [
        f"{thing.count} {amounts.short_type(thing.type)}"
        + (f", {thing.count - left[thing.type]} in use" if thing.type in left else "")
        for thing in node.gpus
    ]
    lines += pairs(
        [
            ("reason", visible(node.reason)),
            ("since", since),
            ("by", visible(node.by)),
            ("partitions", visible(", ".join(node.partitions))),
            ("CPUs", f"{node.cpus}: {node.cpus_used} in use, {node.free_cpus} free for jobs"),
            ("memory", _memory(node)),
            ("GPUs", "; ".join(gpus)),
            ("other", ", ".join(visible(str(thing)) for thing in node.gres if thing.name != "gpu")),
            ("load", "" if node.load is None else f"{node.load:.2f}"),
            ("features", visible(node.features)),
        ]
    )  # fmt: skip
    if any(thing.count for thing in node.free_gpus) and not node.free_cpus:
        lines.append([("  its free GPUs cannot be used now: no CPU beside them is free", "$state-waiting")])
    return lines


def _memory(node: Node) -> str:
    given, free = amounts.memory(node.memory_used), amounts.memory(node.free_memory)
    idle = amounts.memory(node.memory_idle)
    return f"{amounts.memory(node.memory)}: {given} given to jobs, {free} free for jobs; the system sees {idle} unused"
