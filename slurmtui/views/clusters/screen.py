"""The Clusters view: shared Dask clusters with their jobs and the flows that use them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.actions.model import Context
from slurmtui.models.amounts import counted
from slurmtui.models.text import visible
from slurmtui.sources.cluster_folder import KEEPER_LOG
from slurmtui.store.ended_log import EndedJobLog
from slurmtui.store.log_fixed import FixedLog
from slurmtui.views.base import ViewScreen
from slurmtui.views.clusters import rows as rows_of
from slurmtui.views.keys import bindings_for

if TYPE_CHECKING:
    from slurmtui.store.log_live import Live as LogSource
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.columns import Column


class ClustersScreen(ViewScreen):
    """Clusters that are up, or that have left something; z shows those that have ended as well."""

    PLACE = "clusters"
    BINDINGS = bindings_for("clusters")
    HELP = (
        "Dask clusters that outlive one flow, so that many small flows share warm workers. Beneath each its SLURM jobs "
        "and the flow runs on it. U starts one of a profile, X ends one with all of its jobs; z shows ended ones too."
    )

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, rows_of.Row] = {}
        self._ended = False  # whether those that have ended are shown as well
        self._doing |= {"open": self.toggle_detail, "ended": self.toggle_ended}

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """The table's columns for a terminal of this width."""
        return rows_of.columns(width)

    def rebuild(self, snapshot: Snapshot) -> None:
        """The clusters, and what belongs to each."""
        lines = rows_of.build(snapshot, rows_of.listed(snapshot, ended=self._ended))
        self._rows = {row.key: row for row in lines}
        rows = rows_of.cluster_rows(lines, snapshot, self.console.glyph, time.time())
        self.table.empty_text = "No shared cluster is up. U starts one of a profile; z shows those that have ended"
        self.table.set_source(rows, index_of=rows.index_of)

    def toggle_ended(self) -> None:
        """Those that have ended as well, or only the others."""
        self._ended = not self._ended
        self.rebuild(self.snapshot)
        self.paint_lines()

    def tab_words(self, snapshot: Snapshot) -> str:
        """How many."""
        return counted(len(rows_of.listed(snapshot, ended=self._ended)), "cluster")

    def _row(self) -> rows_of.Row | None:
        return self._rows.get(self.table.cursor_key or "")

    def context(self) -> Context:
        """The cluster, job or run under the cursor."""
        row = self._row()
        if row is None:
            return Context(self.console, self.PLACE, pane=self.pane_shown)
        kind = "job" if row.job is not None else "run" if row.run is not None else "cluster"
        return Context(
            self.console, self.PLACE, cluster=row.view, job=row.job, run=row.run, row_kind=kind, pane=self.pane_shown,
            cluster_runs=tuple(rows_of.runs_on(self.snapshot, row.view)),
        )  # fmt: skip

    def detail_lines(self) -> list[list[Piece]]:
        """The evidence of the cluster under the cursor."""
        row = self._row()
        if row is None:
            return [[("Nothing is under the cursor", "$text-muted")]]
        return rows_of.cluster_lines(row.view, rows_of.runs_on(self.snapshot, row.view))

    def log_source(self) -> tuple[str, str, LogSource] | None:
        """The log of a job, or the keeper's."""
        row = self._row()
        if row is None:
            return None
        if row.job is not None:
            return f"job:{row.job.id}", f"job {row.job.id}", EndedJobLog(self.console.session, row.job.id)
        path = Path(row.view.record.folder) / KEEPER_LOG
        return f"file:{path}", f"keeper of {visible(row.view.record.spec.name)}", FixedLog([path])
