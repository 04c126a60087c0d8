"""The Nodes view."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from slurmtui.actions.model import Context
from slurmtui.models.amounts import counted_of
from slurmtui.models.text import visible
from slurmtui.sources.slurm.nodes_reader import NO_FLAGS
from slurmtui.store.ended_log import EndedJobLog
from slurmtui.store.query_cluster import NODE_FIELDS
from slurmtui.store.query_objects import ObjectFilter
from slurmtui.views import fits
from slurmtui.views.keys import bindings_for
from slurmtui.views.nodes.columns import SORTS, columns
from slurmtui.views.nodes.detail import job_lines, node_lines
from slurmtui.views.nodes.rows import NodeRows, jobs_by_node, usual_order
from slurmtui.views.order import Order
from slurmtui.views.side import OrderedScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job import Job
    from slurmtui.models.node import Node
    from slurmtui.store.log_live import Live as LogSource
    from slurmtui.store.side_feed import SideFeed
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.columns import Column


class NodesScreen(OrderedScreen):
    """Every node; those out of order first."""

    PLACE = "nodes"
    BINDINGS = bindings_for("nodes")
    HELP = (
        "The compute nodes, those out of order first. What is free stands before what there is: 14/16. What is left on "
        "a node that is drained or down does not count as free. enter shows the jobs on a node."
    )

    def __init__(self) -> None:
        super().__init__()
        self.filter: ObjectFilter[Node] = ObjectFilter(NODE_FIELDS)
        self.order: Order[Node] = Order(self, SORTS, "with what is out of order first")
        self._rows: NodeRows | None = None
        self._opened: frozenset[str] = frozenset()
        self._doing |= {"open": self.open_row, "fits": lambda: fits.ask(self.console), **self.order.doing()}

    def feeds(self) -> Sequence[SideFeed[Any]]:
        """Nodes, and the jobs on open ones."""
        side = self.console.store.side
        return (side.nodes, side.on_nodes)

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """The table's columns for a terminal of this width."""
        return columns(width)

    def rebuild(self, snapshot: Snapshot) -> None:
        """The nodes that match, with the jobs of the open ones."""
        side = self.console.store.side
        nodes = [node for node in side.nodes.part.data.nodes if node.state.wrong or not self.wrong]
        shown = self.order.sorted(usual_order(self.filter.sift(nodes)))
        opened: dict[str, Sequence[Job] | None] = dict.fromkeys(self._opened)
        told = side.on_nodes.part.data
        opened.update(jobs_by_node(told.jobs, self._opened & told.nodes))
        names = {view.run.id: view.run.name for view in snapshot.runs}
        runs = {job_id: names.get(run_id, run_id[:8]) for job_id, run_id in snapshot.run_of_job.items()}
        self._rows = NodeRows(shown, opened, runs, time.time())
        self.table.empty_text = self._empty_words()
        self.table.set_source(self._rows, index_of=self._rows.index_of)

    def _empty_words(self) -> str:
        if self.console.store.side.nodes.part.at is None:
            return self.waiting_words()
        if self.filter.text:
            return f"No node matches  {self.filter.text}  (escape clears the filter)"
        return "No node is out of order  (z shows all)" if self.wrong else "SLURM shows you no node"

    def tab_words(self, snapshot: Snapshot) -> str:
        """How many, and how many of them are out of order."""
        del snapshot
        nodes = self.console.store.side.nodes.part.data.nodes
        wrong = sum(node.state.wrong for node in nodes)
        out = f" · {wrong} out of order" if wrong else ""
        shown = len(nodes) if self._rows is None else len(self._rows.nodes)
        return f"{counted_of(shown, len(nodes), 'node')}{out}{self.age_words()}" if nodes else ""

    def _row(self) -> tuple[Node, Job | None] | None:
        return self._rows.row(self.table.cursor_key) if self._rows else None

    def context(self) -> Context:
        """The node or job under the cursor."""
        row = self._row()
        node, job = row or (None, None)
        kind = "job" if job else "node" if node else ""
        run_id = self.snapshot.run_of_job.get(job.id, "") if job else ""
        return Context(
            self.console, self.PLACE, node=node, job=job, row_kind=kind, pane=self.pane_shown, job_run_id=run_id
        )

    def open_row(self) -> None:
        """Open or close a node; show the detail of a job."""
        row = self._row()
        if row is None:
            return
        node, job = row
        if job is not None:
            self.toggle_detail()
            return
        self._opened ^= {node.name}
        self.console.store.side.open_nodes(self._opened)
        self.rebuild(self.snapshot)
        self.paint_lines()

    def back(self) -> None:
        """Before a filter is cleared, the node is closed on which the cursor stands."""
        row = self._row()
        if not self.pane_shown and row is not None and row[0].name in self._opened:
            self._opened -= {row[0].name}
            self.console.store.side.open_nodes(self._opened)
            self.rebuild(self.snapshot)
            self.table.move_to(f"node:{row[0].name}")
            self.paint_lines()
        else:
            super().back()

    def detail_lines(self) -> list[list[Piece]]:
        """The node, or the job on it."""
        row = self._row()
        if row is None:
            return super().detail_lines()
        node, job = row
        if job is not None:
            return job_lines(job)
        off = self.console.session.slurm.lacks.get(NO_FLAGS, "")
        return [*node_lines(node, time.time()), *([[(visible(off), "$text-muted")]] if off else [])]

    def log_source(self) -> tuple[str, str, LogSource] | None:  # type: ignore[override]
        """A job's output."""
        row = self._row()
        job = row[1] if row else None
        if job is None:
            return None
        return f"job:{job.id}", f"job {job.id} {visible(job.name)}", EndedJobLog(self.console.session, job.id)
