"""The Runs view."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

from slurmtui.actions.model import Context
from slurmtui.models.amounts import counted, counted_of
from slurmtui.models.text import visible
from slurmtui.store.poller import woken
from slurmtui.store.run_detail import DetailLoader
from slurmtui.views.base import ViewScreen
from slurmtui.views.keys import bindings_for
from slurmtui.views.runs import rows as rows_of
from slurmtui.views.runs.columns import columns
from slurmtui.views.runs.detail import detail_lines
from slurmtui.widgets.beside import start

if TYPE_CHECKING:
    from slurmtui.models.flow_run import TaskRun
    from slurmtui.models.run_detail import RunDetail
    from slurmtui.models.run_view import RunView
    from slurmtui.store.log_live import Live as LogSource
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.columns import Column


_PAUSE = 0.2
_OFTEN, _SLOWLY = 5.0, 20.0  # seconds between two loads, of a run that goes on and of one that has ended


class RunsScreen(ViewScreen):
    """Flow runs, active ones first; an open run shows its jobs and task runs beneath it."""

    PLACE = "runs"
    BINDINGS = bindings_for("runs")
    HELP = (
        "Flow runs of the last days with what is really going on with each. "
        "The verdict comes from Prefect, SLURM and the driver together; its evidence is in the detail."
    )

    def __init__(self) -> None:
        super().__init__()
        self._rows: rows_of.RunRows | None = None
        self._shown = 0  # runs that pass the filter
        self._opened: set[str] = set()
        self._looked_at = ""  # the run whose detail is shown, and so loaded
        self._loader: DetailLoader | None = None
        self._loaded: RunDetail | None = None
        self._news = asyncio.Event()  # a new snapshot has come
        self._whole = False  # whether the pane has the whole screen
        self._doing |= {"open": self.open_row, "whole": self.toggle_whole}

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """The table's columns for a terminal of this width."""
        return columns(width)

    def rebuild(self, snapshot: Snapshot) -> None:
        """Runs that pass the filter, and the children of the open ones."""
        views = self.filter.runs(snapshot.runs)
        if self.wrong:
            views = [view for view in views if view.verdict.wrong]
        self._shown = len(views)
        self._rows = rows_of.build(views, snapshot, self._opened, self.console.glyph, time.time())
        self._news.set()
        self.table.empty_text = self._empty_words(snapshot)
        self.table.set_source(self._rows, index_of=self._rows.index_of)
        on_screen = self._rows.rows[self.table.top_row : self.table.top_row + max(self.table.page_rows, 1)]
        self.console.store.show_runs(dict.fromkeys(row.view.run.id for row in on_screen))

    def _empty_words(self, snapshot: Snapshot) -> str:
        if self.wrong:
            what = "run that matches" if self.filter.text else "run"
            return f"Nothing is wrong with any {what}  (z shows all)"
        if self.filter.text:
            return f"No run matches  {self.filter.text}  (escape clears the filter)"
        if not self.console.session.has_prefect:
            return "No Prefect server is configured. Start one of your own:  slurmtui server start"
        if snapshot.flow_runs.at is None:
            return visible(" ".join(snapshot.flow_runs.error.split())) or "Asking Prefect…"
        return "No flow run yet. N submits one"

    def tab_words(self, snapshot: Snapshot) -> str:
        """How many runs are shown of how many."""
        cut = " (more on the server)" if snapshot.flow_runs_cut else ""
        up = sum(1 for view in snapshot.shared.values() if not view.over)
        clusters = f"{counted(up, 'cluster')} (9) · " if up else ""
        return f"{clusters}{counted_of(self._shown, len(snapshot.runs), 'run')} · last 2 days{cut}"

    def _row(self) -> rows_of.Row | None:
        return self._rows.row(self.table.cursor_key) if self._rows else None

    def context(self) -> Context:
        """The run, job or task under the cursor."""
        row = self._row()
        marked = self._marked_runs()
        if row is None:
            return Context(
                self.console, self.PLACE, marked_runs=marked, pane=self.pane_shown, hidden_marks=self.hidden_marks
            )
        kind = {"ended": "job", "note": "run"}.get(row.kind, row.kind)
        return Context(
            self.console,
            self.PLACE,
            run=row.view,
            job=row.job,
            task=row.task,
            row_kind=kind,
            pane=self.pane_shown,
            marked_runs=marked,
            hidden_marks=self.hidden_marks,
        )

    def _marked_runs(self) -> tuple[RunView, ...]:
        ids = [key.removeprefix("run:") for key in self.table.marks_shown() if key.startswith("run:")]
        found = (self.snapshot.find_run(run_id) for run_id in ids)
        return tuple(view for view in found if view is not None)

    def mark(self) -> None:
        """Only runs are marked here."""
        row = self._row()
        if row is not None and row.kind != "run":
            self.console.tell("Runs are marked here; jobs can be marked in the Jobs view (2)")
        else:
            super().mark()

    def open_row(self) -> None:
        """Open or close a run; show the detail of anything else."""
        row = self._row()
        if row is None:
            return
        if row.kind != "run":
            self.toggle_detail()
            return
        self._opened ^= {row.view.run.id}
        self._watch_runs()
        self.rebuild(self.snapshot)
        self.paint_lines()

    def detail_lines(self) -> list[list[Piece]]:
        """The detail of the row under the cursor."""
        row = self._row()
        if row is None:
            return [[("Nothing is under the cursor", "$text-muted")]]
        tasks = self.snapshot.task_runs.data.get(row.view.run.id, ())
        return detail_lines(row, time.time(), self._loaded, tasks, self.size.width - 3)

    # --- what is loaded while a run's detail is shown

    def paint_pane(self) -> None:
        """The detail follows the cursor, and so does what is loaded for it."""
        self._look()
        super().paint_pane()

    def close_pane(self) -> None:
        """Give the list the whole screen; nothing more is loaded."""
        if self._whole:
            self.toggle_whole()
        super().close_pane()
        self._look()

    def on_screen_suspend(self) -> None:
        """Another view is shown: nothing is loaded for this one."""
        self._look(seen=False)

    def _look(self, *, seen: bool = True) -> None:
        row = self._row()
        wanted = row.view.run.id if seen and row is not None and row.kind == "run" else ""
        wanted = wanted if self.pane_shown == "detail" else ""
        if wanted == self._looked_at:
            return
        self._looked_at = wanted
        self._watch_runs()
        self.workers.cancel_group(self, "detail")
        if wanted:
            start(self, partial(self._keep_loading, wanted), "detail", exclusive=True)

    def _watch_runs(self) -> None:
        self.console.store.watch_runs(self._opened | ({self._looked_at} if self._looked_at else set()))

    async def _keep_loading(self, run_id: str) -> None:
        if self._loader is None:
            self._loader = DetailLoader(self.console.session)
        await asyncio.sleep(_PAUSE)  # the cursor may only pass by
        while (view := self.snapshot.find_run(run_id)) is not None:
            tasks = self.snapshot.task_runs.data.get(run_id, ())
            self._loaded = await self._loader.load(view, tasks)
            super().paint_pane()
            until = time.monotonic() + (_SLOWLY if view.run.final else _OFTEN)
            while (left := until - time.monotonic()) > 0 and not self._is_other(view, tasks):
                self._news.clear()
                await woken(self._news, left)

    def _is_other(self, view: RunView, tasks: tuple[TaskRun, ...]) -> bool:
        """Whether what the detail was made of has changed: tasks have come, a job or the run has ended."""
        now = self.snapshot.find_run(view.run.id)
        if now is None:
            return True
        same = (now.run, now.ended_jobs, now.driver) == (view.run, view.ended_jobs, view.driver)
        return not same or self.snapshot.task_runs.data.get(view.run.id, ()) != tasks

    def toggle_whole(self) -> None:
        """Give the pane the whole screen, or the list its place again."""
        if not self.pane_shown:
            self.toggle_detail()
        self._whole = not self._whole
        self.table.display = not self._whole
        if self._whole:
            self.pane.styles.height = "1fr"
            (self.log_pane or self.detail).focus()
        else:
            self.pane.grow(0)
            self.table.focus()

    def back(self) -> None:
        """Out of the whole page first."""
        if self._whole:
            self.toggle_whole()
        else:
            super().back()

    def log_source(self) -> tuple[str, str, LogSource] | None:
        """A run's merged log, or one job's."""
        from slurmtui.store.ended_log import EndedJobLog  # noqa: PLC0415 - the console starts without paying for it
        from slurmtui.store.log_stream import RunLog  # noqa: PLC0415 - as above

        row = self._row()
        if row is None:
            return None
        if row.kind in {"job", "ended"}:
            job_id = row.job.id if row.job else row.ended.id if row.ended else ""
            return f"job:{job_id}", f"job {job_id}", EndedJobLog(self.console.session, job_id)
        return f"run:{row.view.run.id}", visible(row.view.run.name), RunLog(self.console.session, row.view)
