"""The History view."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from slurmtui.actions.model import Context
from slurmtui.errors import PatternTooSlow, SlurmtuiError
from slurmtui.models.history import Lives, PastJob, marks_of, run_of
from slurmtui.models.ids import base_id
from slurmtui.models.text import visible
from slurmtui.sources.slurm.usage import job_usage
from slurmtui.store.ended_log import EndedJobLog
from slurmtui.store.log_jobs import JobsLog
from slurmtui.store.log_open import jobs_key
from slurmtui.store.query_cluster import PAST_FIELDS
from slurmtui.store.query_objects import ObjectFilter
from slurmtui.store.query_terms import LIST_SECONDS, THREAD_SECONDS
from slurmtui.views.history.columns import SORTS, columns
from slurmtui.views.history.detail import many_lines, past_lines
from slurmtui.views.history.rows import HistoryRows, Line, arrange, flat, is_wrong
from slurmtui.views.keys import bindings_for
from slurmtui.views.order import Order
from slurmtui.views.side import OrderedScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.efficiency import Usage
    from slurmtui.store.log_live import Live as LogSource
    from slurmtui.store.side_feed import SideFeed
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.columns import Column

_MANY = 3000
"""With more jobs than these the list is made in a thread."""


class _Wanted(NamedTuple):
    """What the rows are made from; made again only when this is another."""

    jobs: tuple[PastJob, ...]
    filter: str
    wrong: bool
    sort: tuple[str, bool] | None
    opened: frozenset[str]


class HistoryScreen(OrderedScreen):
    """My jobs that have ended."""

    PLACE = "history"
    BINDINGS = bindings_for("history")
    HELP = (
        "Your jobs that have ended, by the day they ended on, from accounting. A job that was requeued has a row for "
        "each of its lives. The tasks of an array that ended on a day are one row: enter opens it. m shows more days."
    )
    SOURCE = "accounting"

    def __init__(self) -> None:
        self._with_runs = False
        super().__init__()
        self.filter: ObjectFilter[PastJob] = ObjectFilter(PAST_FIELDS)
        self.order: Order[PastJob] = Order(self, SORTS, "by the time they ended")
        self._rows: HistoryRows | None = None
        self._lives = Lives(())
        self._shown: _Wanted | None = None
        self._count = 0
        self._names: dict[str, str] = {}
        self._marks: dict[str, str] = {}
        self._opened: frozenset[str] = frozenset()
        self._told: dict[str, Usage | str] = {}
        self._asking = ""  # whose steps accounting is being asked for
        self._arranging: _Wanted | None = None
        self._doing |= {"open": self.open_row, "more-days": self.more_days, **self.order.doing()}

    def feeds(self) -> Sequence[SideFeed[Any]]:
        """Ended jobs."""
        return (self.console.store.side.history,)

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """The table's columns for a terminal of this width."""
        return columns(width, runs=self._with_runs)

    # --- rows

    def rebuild(self, snapshot: Snapshot) -> None:
        """Have the jobs sifted and arranged, if anything has changed; many of them in a thread."""
        records = {run_id: record.spec.name for run_id, record in snapshot.records.data.items()}
        self._names = records | {view.run.id: view.run.name for view in snapshot.runs}
        self._marks = marks_of(self._names)
        self.table.empty_text = self._empty_words()
        wanted = self._wanted()
        before = self._shown
        if before is not None and before.jobs is wanted.jobs and before[1:] == wanted[1:]:
            self.table.refresh_rows()
            return
        if len(wanted.jobs) > _MANY:
            if self._arranging != wanted:
                self._arranging = wanted
                self.start(partial(self._arrange, wanted), "arrange")
        else:
            self._show_lines(wanted)

    def _show_lines(self, wanted: _Wanted) -> None:
        try:
            made = self._lines(wanted, LIST_SECONDS)
        except PatternTooSlow as error:
            self.filter.refuse(wanted.filter, error)
        else:
            self._show(wanted, *made)

    def _wanted(self) -> _Wanted:
        jobs = self.console.store.side.history.part.data.jobs
        return _Wanted(jobs, self.filter.text, self.wrong, self.order.sort, self._opened)

    async def _arrange(self, wanted: _Wanted) -> None:
        try:
            made = await asyncio.to_thread(self._lines, wanted, THREAD_SECONDS)
        except PatternTooSlow as error:
            self.filter.refuse(wanted.filter, error)
            return
        finally:
            self._arranging = None
        if wanted[1:] == self._wanted()[1:]:
            self._show(wanted, *made)
            self.seek_on()
            self.paint_lines()
            self.paint_pane()

    def _lines(self, wanted: _Wanted, seconds: float) -> tuple[list[Line], Lives, int]:
        jobs = [job for job in wanted.jobs if is_wrong(job)] if wanted.wrong else wanted.jobs
        sifted = self.filter.sifted(jobs, wanted.filter, seconds)
        before = self._shown
        lives = self._lives if before is not None and before.jobs is wanted.jobs else Lives(wanted.jobs)
        if wanted.sort is not None:
            return flat(self.order.sorted(sifted)), lives, len(sifted)
        opened = wanted.opened
        lines = arrange(sifted, opened, [key[4:] for key in opened if key.startswith("day:")])
        return lines, lives, len(sifted)

    def _show(self, wanted: _Wanted, lines: list[Line], lives: Lives, count: int) -> None:
        before, self._shown, self._lives, self._count = self._shown, wanted, lives, count
        self.filter.proved(wanted.filter)
        with_runs = any(job.run_mark for job in wanted.jobs)
        if with_runs != self._with_runs:
            self._with_runs = with_runs
            self.order.apply()
        self._rows = HistoryRows(lines, lives, self._run_name, self._opened, time.time())
        self.table.set_source(self._rows, index_of=self._rows.index_of)
        if wanted.filter and before is not None and wanted.filter != before.filter:
            self._to_first_found()

    def _to_first_found(self) -> None:
        """From the heading of an open day to the first that matches: it is what was sought, and keys are for it."""
        place = self._rows.index_of(self.table.cursor_key) if self._rows and self.table.cursor_key else None
        if self._rows is None or place is None:
            return
        for line in self._rows.lines[place : place + 2]:
            if line.kind != "day":
                self.table.move_to(line.key)
                return

    def _run_name(self, job: PastJob) -> str:
        run_id = run_of(job, self._marks)
        return self._names.get(run_id, run_id[:8])

    def _empty_words(self) -> str:
        part = self.console.store.side.history.part
        if part.at is None:
            return self.waiting_words()
        days = len(part.data.days)
        if self.filter.text or self.wrong:
            what = f"matches  {self.filter.text}" if self.filter.text else "ended badly"
            return f"No job of yours {what}  in the last {days} days (m shows more days)"
        if not part.data.whole:
            return "Reading day by day…"
        return f"No job of yours ended in the last {days} days. m shows more days"

    def tab_words(self, snapshot: Snapshot) -> str:
        """How many, of how many days."""
        del snapshot
        history = self.console.store.side.history.part.data
        if not history.days:
            return ""
        cut = ", older ones left out" if history.cut else ""
        reading = "" if history.whole else f", reading… {len(history.read)} read"
        return f"{self._count:,} ended · mine · {len(history.days)} days{cut}{reading}{self.age_words()}"

    # --- the row under the cursor

    def _line(self) -> Line | None:
        return self._rows.line(self.table.cursor_key) if self._rows else None

    def context(self) -> Context:
        """The job, array or day under the cursor."""
        line = self._line()
        job = line.job if line else None
        kind = "" if line is None else "day" if line.kind == "array" else line.kind
        run_id = run_of(job, self._marks) if job else ""
        return Context(self.console, self.PLACE, past=job, row_kind=kind, pane=self.pane_shown, job_run_id=run_id)

    def open_row(self) -> None:
        """Open or close an array or a day; show the detail of a job."""
        line = self._line()
        if line is None or line.kind == "past":
            self.toggle_detail()
            return
        self._opened ^= {line.key}
        self.rebuild(self.snapshot)
        self.paint_lines()

    def detail_lines(self) -> list[list[Piece]]:
        """What accounting said, and what the steps of a job add."""
        line = self._line()
        if line is None:
            return super().detail_lines()
        job = line.job
        if job is None:
            return many_lines(line, time.time())
        life, lives = self._lives.of(job)
        if life < lives:
            return past_lines(job, self._lives, "what an earlier life used is not kept", self._run_name(job))
        if job.key not in self._told and job.key != self._asking:
            self._asking = job.key
            self.start(partial(self._ask, job), "detail")
        return past_lines(job, self._lives, self._told.get(job.key), self._run_name(job))

    async def _ask(self, job: PastJob) -> None:
        try:
            usage = await job_usage(self.console.session.slurm, job.id)
            self._told[job.key] = usage or "accounting does not know its steps any more"
        except SlurmtuiError as error:
            self._told[job.key] = str(error)
        self._asking = ""
        self.paint_pane()

    def log_source(self) -> tuple[str, str, LogSource] | None:  # type: ignore[override]
        """The output of a job; of the tasks of an array as one log."""
        line = self._line()
        job = line.job if line else None
        if line is not None and line.kind == "array":
            ids = [base_id(line.jobs[0].id)]
            return jobs_key(ids), f"array {ids[0]}", JobsLog(self.console.session, ids)
        if job is None:
            return None
        return f"job:{job.id}", f"job {job.id} {visible(job.name)}", EndedJobLog(self.console.session, job.id)
