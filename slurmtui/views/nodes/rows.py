"""The rows of the Nodes view: nodes, and beneath an open one the jobs on it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.nodes import expand_nodes
from slurmtui.models.text import visible
from slurmtui.models.verdict import Mood
from slurmtui.views import amounts
from slurmtui.views import format as words
from slurmtui.views.side import KeyedRows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from slurmtui.models.job import Job
    from slurmtui.models.job_table import JobTable
    from slurmtui.models.node import Node
    from slurmtui.widgets.lines import Cell


def mood(node: Node) -> Mood:
    """How a node is, for its colour."""
    state = node.state
    if "DRAIN" in state.flags and state.base in {"MIXED", "ALLOCATED"}:
        return Mood.WAITING
    if state.wrong:
        return Mood.FAILED
    if not state.takes_jobs:
        return Mood.CANCELLED if state.base in {"IDLE", "MIXED", "ALLOCATED"} else Mood.UNKNOWN
    return Mood.DONE if state.base == "IDLE" else Mood.RUNNING


def usual_order(nodes: Iterable[Node]) -> list[Node]:
    """What is out of order first; each part by name."""
    return sorted(nodes, key=lambda node: not node.state.wrong)


def jobs_by_node(table: JobTable, nodes: Collection[str]) -> dict[str, list[Job]]:
    """The jobs on each of these nodes."""
    found: dict[str, list[Job]] = {name: [] for name in nodes}
    for job in table.jobs():
        for name in expand_nodes(job.nodes):
            if name in found:
                found[name].append(job)
    return found


class NodeRows(KeyedRows["tuple[str, Node, Job | None]"]):
    """Nodes with their jobs; a row's key is ``node:n1``, ``job:n1:4711`` or ``note:n1``."""

    def __init__(
        self, nodes: Sequence[Node], opened: Mapping[str, Sequence[Job] | None], run_of: Mapping[str, str], now: float
    ) -> None:
        self._run_of, self._now = run_of, now
        self.nodes = nodes
        rows: list[tuple[str, Node, Job | None]] = []
        for node in nodes:
            rows.append((f"node:{node.name}", node, None))
            jobs = opened.get(node.name, ())
            rows += [(f"job:{node.name}:{job.id}", node, job) for job in jobs or ()]
            if node.name in opened and not jobs:
                rows.append((f"note:{node.name}" if jobs is not None else f"asking:{node.name}", node, None))
        super().__init__(rows)
        self._opened = opened

    def row(self, key: str | None) -> tuple[Node, Job | None] | None:
        """Node and job of a row."""
        place = self.index_of(key) if key else None
        return None if place is None else self._rows[place][1:]

    def row_style(self, index: int) -> str | None:
        """No line as a whole is loud."""
        del index
        return None

    def cells(self, index: int) -> Sequence[Cell]:
        """The cells of a row."""
        key, node, job = self._rows[index]
        if job is not None:
            return _job_cells(job, self._run_of.get(job.id, ""))
        if not key.startswith("node:"):
            text = "no job runs here" if key.startswith("note:") else "asking SLURM…"
            return ("", "", "", "", "", "", "", "", (text, "dim"))
        return self._node_cells(node)

    def _node_cells(self, node: Node) -> Sequence[Cell]:
        sign = "▾ " if node.name in self._opened else "▸ " if node.cpus_used else "  "
        style = words.style_of(mood(node))
        since = words.coarse(self._now - node.since) if node.since else ""
        free_memory = amounts.memory(node.free_memory) if node.memory is not None else words.DASH
        return (
            f"{sign}{visible(node.name)}",
            (visible(node.state.words), style),
            visible(",".join(node.partitions)),
            _share(str(node.free_cpus), str(node.cpus), some=node.free_cpus > 0),
            _share(free_memory, amounts.memory(node.memory), some=node.free_memory > 0),
            amounts.free_gpus(node.gpus, node.free_gpus),
            words.DASH if node.load is None else f"{node.load:.1f}" if node.load < 100 else f"{node.load:.0f}",
            since,
            why(node),
        )


def _share(free: str, total: str, *, some: bool) -> Cell:
    """``14/16``; quiet where nothing is free."""
    return (amounts.of(free, total), "" if some else "dim")


def why(node: Node) -> Cell:
    """Why a node takes no jobs, and who said so."""
    if not node.reason:
        return ""
    by = f" ({visible(node.by)})" if node.by and node.by != "root" else ""
    return (f"{visible(node.reason)}{by}", "state-failed" if node.state.wrong else "")


def _job_cells(job: Job, run: str) -> Sequence[Cell]:
    style = words.style_of(words.mood_of(job.state))
    what = [(f"{visible(job.user)}  ", "dim"), (visible(job.name), "")]
    if run:
        what.append((f"  {visible(run)}", "state-running"))
    return (
        f"  └ {visible(job.id)}",
        (f"{job.state.lower()} {words.span(job.elapsed)}", style),
        visible(job.partition),
        str(job.cpus),
        visible(job.memory) or words.DASH,
        visible(job.gres) or words.DASH,
        "",
        "",
        what,
    )
