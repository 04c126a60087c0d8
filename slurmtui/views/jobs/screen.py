"""The Jobs view."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.actions.model import Context
from slurmtui.models.ids import base_id, parse_job_id
from slurmtui.store.arrange import Wanted
from slurmtui.views.base import ViewScreen
from slurmtui.views.jobs.columns import VOLATILE
from slurmtui.views.jobs.detail import group_lines
from slurmtui.views.jobs.lister import Lister
from slurmtui.views.jobs.marking import Marking
from slurmtui.views.jobs.more import More
from slurmtui.views.jobs.rows import JobRows
from slurmtui.views.jobs.shape import Shape
from slurmtui.views.jobs.targets import LazyJobs, log_of, named_task
from slurmtui.views.jobs.told import count_words, empty_words
from slurmtui.views.keys import bindings_for
from slurmtui.widgets.beside import start
from slurmtui.widgets.changes import Changes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slurmtui.models.job import Job
    from slurmtui.models.job_group import JobGroup
    from slurmtui.store.log_live import Live as LogSource
    from slurmtui.store.query_lines import Listing
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.store.view_state import ViewState
    from slurmtui.views.job_feed import JobFeed
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.columns import Column

_TERSE = 120  # cells of a terminal below which a tally must be short


class JobsScreen(ViewScreen):
    """The queue: mine, or everybody's."""

    PLACE = "jobs"
    BINDINGS = bindings_for("jobs")
    HELP = (
        "The SLURM queue. An array or a het job is one row: enter opens it into its tasks, escape closes it; its "
        "numbers are those of one task. What the last poll changed is bold, new jobs are tinted, those that have gone "
        "are struck out until the next. A job of a flow run names its run in the last column; o goes there. The filter "
        "44_12 goes to that task, also while it waits; /_1[0-9]$/ tries the waiting tasks if no more than 5,000 wait."
    )

    def __init__(self) -> None:
        self.shape = Shape(self)
        super().__init__()
        self.everyone = False
        self._rows: JobRows | None = None
        self._changes = Changes()
        self._generation: float | None = None
        self._lister = Lister(self._listed, self.filter.refuse, self._start_work)
        self._rebuilding = False
        self._opened: frozenset[str] = frozenset()
        self._more = More(self, self._know_more)
        self._targets: tuple[frozenset[str], JobRows | None, LazyJobs] = (frozenset(), None, LazyJobs(None, ()))
        self._feed: JobFeed | None = None
        self.marking = Marking(self, lambda: self._whole_rows.listing if self._whole_rows else None)
        self._doing |= {
            "open": self.open_row, "everyone": self.toggle_everyone, **self.shape.doing(), **self.marking.doing(),
        }  # fmt: skip

    def _start_work(self, work: Callable[[], Awaitable[None]]) -> None:
        start(self, work, "arrange")

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """The table's columns for a terminal of this width."""
        return self.shape.columns(width)

    @property
    def sorted_by(self) -> tuple[str, bool] | None:
        """The column the jobs are sorted by, and whether the largest comes first."""
        return self.shape.sort

    # --- how it was left

    def left_as(self) -> ViewState:
        """Filter, columns, order, whose jobs."""
        return msgspec.structs.replace(self.shape.left_as(super().left_as()), everyone=self.everyone)

    def restore(self, state: ViewState) -> None:
        """As it was left."""
        super().restore(state)
        self.everyone = state.everyone
        self.shape.restore(state)

    # --- rows

    def rebuild(self, snapshot: Snapshot) -> None:
        """Have the wanted jobs arranged. Until a large queue is, the rows of before show the newest words."""
        self.table.empty_text = empty_words(snapshot, self.filter.text, wrong=self.wrong, everyone=self.everyone)
        self._rebuilding = True
        self._lister.ask(snapshot.jobs_to_show, self._wanted(snapshot))
        self._rebuilding = False
        if self._lister.busy and self._rows is not None:
            self._show(self._rows.listing)

    def _wanted(self, snapshot: Snapshot) -> Wanted:
        names, runs = self._run_names(snapshot), {}
        if self.filter.text or (self.shape.sort and self.shape.sort[0] == "run"):
            runs = {job_id: f"{names.get(run, '')} {run}" for job_id, run in snapshot.run_of_job.items()}
        return Wanted(
            filter=self.filter.text,
            user=None if snapshot.everyone and self.everyone else self.console.session.user,
            wrong=self.wrong,
            sort=self.shape.sort,
            opened=self._opened,
            runs=runs,
            whole_ids=self._more.whole_ids,
        )

    @staticmethod
    def _run_names(snapshot: Snapshot) -> dict[str, str]:
        return {view.run.id: view.run.name for view in snapshot.runs}

    def _listed(self, wanted: Wanted, listing: Listing) -> None:
        """A listing is there: show it."""
        self.filter.proved(wanted.filter)
        if listing.table is self.snapshot.queue.data:
            self._generation = self.snapshot.queue.at
            self._opened = frozenset(base for base in self._opened if base.encode() in listing.names.groups)
        self._show(listing)
        self.call_after_refresh(self._look)
        if not self._rebuilding:
            self.seek_on()
            self.paint_lines()
            self.paint_pane()

    def _show(self, listing: Listing) -> None:
        snapshot, now, terse = self.snapshot, time.time(), self.size.width < _TERSE
        everyone = snapshot.everyone and self.everyone
        names, ended = self._run_names(snapshot), self._more.ended.counts
        self._rows = rows = JobRows(listing, snapshot, names, now, ended=ended, terse=terse)
        empty = {"user": not everyone, "run": not (snapshot.run_of_job or snapshot.cluster_of_job)}
        self.shape.make_room(rows.id_width(), [key for key, says_nothing in empty.items() if says_nothing])
        rows.columns = self.shape.shown
        marked = self._changes.mark(
            rows,
            generation=self._generation,
            scope=(everyone, self.filter.text, self.wrong, tuple(rows.columns)),
            shown=self.table.shown,
            knows=listing.names.knows,
            volatile={number for number, key in enumerate(rows.columns) if key in VOLATILE},
        )
        self.table.set_source(marked, index_of=marked.index_of)

    def on_resize(self) -> None:
        """A tally has more words where there is room; and the rows have the cells of other columns."""
        super().on_resize()
        made_for = (self.size.width < _TERSE, self.shape.shown)
        if self._rows is not None and (self._rows.terse, self._rows.columns) != made_for:
            self._show(self._rows.listing)

    def _look(self) -> None:
        if self._rows is not None:
            self._more.look(self._rows.listing, self.table.shown)

    def _know_more(self) -> None:
        """More is known of an array than squeue tells."""
        self.rebuild(self.snapshot)
        self.paint_pane()

    def tick(self) -> None:
        """The times go on."""
        if self._rows is not None:
            self._rows.tick(time.time())
            self.table.refresh_rows()
            self._look()
        super().tick()

    def tab_words(self, snapshot: Snapshot) -> str:
        """Whose jobs, how many, and in which order if that is not to be seen in the headings."""
        count = self._rows.listing.count if self._rows else 0
        return count_words(snapshot, count, everyone=self.everyone) + self.shape.hidden_order()

    # --- the row under the cursor

    @property
    def _whole_rows(self) -> JobRows | None:
        """The rows, unless they are the first of a queue that is still being read: on those nothing is done."""
        return self._rows if self.snapshot.queue.at is not None else None

    def _job(self) -> Job | None:
        return self._whole_rows.job(self.table.cursor_key) if self._whole_rows else None

    def _group(self) -> JobGroup | None:
        return self._whole_rows.group(self.table.cursor_key) if self._whole_rows else None

    def _marked_jobs(self) -> LazyJobs:
        """The marked jobs that are shown; the same list as long as marks and rows are the same."""
        marks, rows, jobs = self._targets
        if marks is not self.table.marks or rows is not self._rows:
            keys = self._whole_rows.marked(self.table.marks) if self._whole_rows and self.table.marks else []
            jobs = LazyJobs(self._rows, keys)
            self._targets = (self.table.marks, self._rows, jobs)
        return jobs

    def context_at_cursor(self) -> Context:
        """The job under the cursor alone."""
        group = self._group()
        return dataclasses.replace(super().context_at_cursor(), groups={group.id: group} if group else {})

    def context(self) -> Context:
        """The job under the cursor, and the marked ones."""
        job, group, marked = self._job(), self._group(), self._marked_jobs()
        no_job = "gone" if self._whole_rows else "unread"
        kind = group.kind if group else "job" if job else no_job if self.table.cursor_key else ""
        groups = marked.groups() if marked else {group.id: group} if group else {}
        run_id = self._rows.run_of(self.table.cursor_key) if self._rows else ""
        return Context(
            self.console, self.PLACE, job=job, row_kind=kind, pane=self.pane_shown, marked_jobs=marked, groups=groups,
            job_run_id=run_id, hidden_marks=self.hidden_marks,
        )  # fmt: skip

    def open_row(self) -> None:
        """Open or close an array or het job; show the detail of a job."""
        group = self._group()
        if group is None:
            self.toggle_detail()
            return
        self._opened ^= {group.id}
        self.rebuild(self.snapshot)
        self.paint_lines()

    def back(self) -> None:
        """Before a filter is cleared, the array is closed in which the cursor stands."""
        key = self.table.cursor_key
        base = base_id(key) if key else ""
        if not self.pane_shown and not self.table.marks and base in self._opened and base != key:
            self._opened -= {base}
            self.rebuild(self.snapshot)
            self.paint_lines()
        else:
            super().back()

    def entered(self, purpose: str, text: str) -> None:
        """Go to the task that a filter names: it may be one of many that wait in an array."""
        super().entered(purpose, text)
        key = named_task(text) if purpose == "filter" else ""
        if key and self.snapshot.queue.data.names.knows(key):
            self.seek(key)

    def seek(self, key: str) -> None:
        """Go to a job; the array of a task is opened."""
        wanted = parse_job_id(key)
        if wanted is not None and wanted.tasks:
            key = str(wanted.base)
        elif wanted is not None and (wanted.task is not None or wanted.offset is not None):
            self._opened |= {str(wanted.base)}
            self.rebuild(self.snapshot)
        super().seek(key)

    def why_hidden(self) -> str:
        """What may hide a job, as the end of a sentence."""
        return super().why_hidden() or ("" if self.everyone else ": only yours are shown; a shows everybody's")

    def toggle_everyone(self) -> None:
        """Mine or everybody's."""
        self.everyone = not self.everyone
        self.console.store.set_everyone(self.everyone)
        self.changed()

    # --- panes

    def detail_lines(self) -> list[list[Piece]]:
        """What squeue knows at once, and what scontrol adds when it has answered."""
        job, group = self._job(), self._group()
        if job is None:
            return [[(self.context().no_job or "Nothing is under the cursor", "$text-muted")]]
        if group is not None:
            return group_lines(job, group, self._more.ended.counts.get(group.id))
        return self._lines_of(job)

    def _lines_of(self, job: Job) -> list[list[Piece]]:
        from slurmtui.views.job_feed import JobFeed  # noqa: PLC0415 - the console starts without paying for it
        from slurmtui.views.job_lines import job_lines  # noqa: PLC0415 - as above

        if self._feed is None:
            self._feed = JobFeed(self, self.paint_pane)
        return job_lines(job, self._feed.told(job), time.time())

    def log_source(self) -> tuple[str, str, LogSource] | None:
        """The job's stdout and stderr; of an array or het job those of all its parts, as one log."""
        return log_of(self.console.session, self._job(), self._group())
