"""The rows of the Runs view: runs, and beneath the open ones their jobs and task runs. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from slurmtui.models.exit_words import signal_words
from slurmtui.models.run_record import DriverStatus
from slurmtui.models.run_view import ended_with_run
from slurmtui.models.text import visible
from slurmtui.models.values import Special
from slurmtui.store.words import tasks_done
from slurmtui.views import format as words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from slurmtui.models.flow_run import FlowRun, TaskCounts, TaskRun
    from slurmtui.models.job import EndedJob, Job
    from slurmtui.models.run_view import RunView
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.lines import Cell

MOST_TASKS = 200
"""Task runs shown beneath one run; those that run or failed come first, the rest is counted."""

_TASK_ORDER = {"RUNNING": 0, "FAILED": 1, "CRASHED": 1, "PENDING": 2, "SCHEDULED": 2}


class Row(NamedTuple):
    """One line: a run, or a job, an ended job or a task run of it, or a note on what is not shown."""

    key: str
    kind: Literal["run", "job", "ended", "task", "note"]
    view: RunView
    job: Job | None = None
    ended: EndedJob | None = None
    task: TaskRun | None = None
    last: bool = False
    note: str = ""


class RunRows:
    """Rows for the table, made from a snapshot. ``glyph`` gives a mood's sign."""

    def __init__(
        self, rows: Sequence[Row], snapshot: Snapshot, opened: Collection[str], glyph: Callable[[str], str], now: float
    ) -> None:
        self.rows = rows
        self._snapshot, self._opened, self._glyph, self._now = snapshot, opened, glyph, now
        self._index = {row.key: number for number, row in enumerate(rows)}

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> str:
        """The key of a row."""
        return self.rows[index].key

    def index_of(self, key: str) -> int | None:
        """Where a key is now."""
        return self._index.get(key)

    def row(self, key: str | None) -> Row | None:
        """The row of a key."""
        number = self._index.get(key) if key else None
        return None if number is None else self.rows[number]

    def row_style(self, index: int) -> str | None:
        """Notes are dim."""
        return "dim" if self.rows[index].kind == "note" else None

    def cells(self, index: int) -> Sequence[Cell]:
        """The cells of a row."""
        row = self.rows[index]
        if row.kind == "run":
            return self._run_cells(row.view)
        branch = " └ " if row.last else " ├ "
        if row.job is not None:
            return self._job_cells(branch, row.job)
        if row.ended is not None:
            return self._ended_cells(branch, row.ended, over=ended_with_run(row.ended, row.view.run))
        if row.task is not None:
            return self._task_cells(branch, row.task, over=row.view.run.final)
        return ((branch, "dim"), "", row.note, "", "", "", "")

    def _run_cells(self, view: RunView) -> Sequence[Cell]:
        run, mood = view.run, view.verdict.mood
        style = words.style_of(mood)
        overlay = self._snapshot.overlay_text(run.id, self._now)
        sign = "▾" if run.id in self._opened else "▸"
        begun = run.start or run.created
        lasted = run.lasted(self._now)
        return (
            [(f"{sign} ", "dim"), (f"{self._glyph(mood.value)} ", style), (visible(run.name), "")],
            visible(run.flow_name),
            (overlay, "state-waiting") if overlay else (visible(view.verdict.text), style),
            tasks_words(run, view.tasks),
            jobs_words(view.jobs),
            words.clock(begun, self._now),
            words.coarse(lasted) if lasted is not None else words.DASH,
        )

    def _job_cells(self, branch: str, job: Job) -> Sequence[Cell]:
        style = words.style_of(words.mood_of(job.state))
        overlay = self._snapshot.overlay_text(job.id, self._now)
        return (
            [(branch, "dim"), (job.id, "")],
            visible(job.partition),
            (overlay, "state-waiting") if overlay else (job_words(job, self._now), style),
            f"{job.cpus} cpu",
            [(words.short_state(job.state), style)],
            words.clock(job.start, self._now) if job.state != "PENDING" else words.DASH,
            words.span(job.elapsed),
        )

    def _ended_cells(self, branch: str, job: EndedJob, *, over: bool) -> Sequence[Cell]:
        told: Cell = (ended_words(job), words.style_of(words.mood_of(job.state)))
        if over:
            told = (f"ended with its run, on {visible(job.nodes)}" if job.nodes else "ended with its run", "dim")
        return (
            [(branch, "dim"), (job.id, "dim")],
            (visible(job.partition), "dim"),
            told,
            (f"{job.cpus} cpu", "dim"),
            (words.short_state(job.state), "dim"),
            (words.clock(job.start, self._now), "dim"),
            (words.span(job.elapsed), "dim"),
        )

    def _task_cells(self, branch: str, task: TaskRun, *, over: bool) -> Sequence[Cell]:
        style = words.style_of(words.mood_of(task.state_type))
        if over and task.end is None:  # Prefect closes these a while after their run, or never
            said = f"was {task.state_name.lower()} when the run ended"
            return ([(branch, "dim"), (visible(task.name), "")], ("task", "dim"), (said, "dim"), "", "", "", "")
        lasted = (task.end or self._now) - task.start if task.start else None
        said = task.state_name.lower()
        if task.state_type in {"FAILED", "CRASHED"} and task.state_message:
            last = task.state_message.strip().splitlines()[-1]
            said = f"{said}: {last.removeprefix('Task run encountered an exception ')}"
        return (
            [(branch, "dim"), (visible(task.name), "")],
            ("task", "dim"),
            (visible(said), style),
            "",
            "",
            words.clock(task.start, self._now),
            words.coarse(lasted) if lasted is not None else words.DASH,
        )


def build(
    views: Sequence[RunView], snapshot: Snapshot, opened: Collection[str], glyph: Callable[[str], str], now: float
) -> RunRows:
    """The rows for these runs; those in ``opened`` have their jobs and task runs beneath them."""
    rows: list[Row] = []
    for view in views:
        rows.append(Row(f"run:{view.run.id}", "run", view))
        if view.run.id in opened:
            rows.extend(_children(view, snapshot.task_runs.data))
    return RunRows(rows, snapshot, opened, glyph, now)


def _children(view: RunView, task_runs: Mapping[str, Sequence[TaskRun]]) -> list[Row]:
    run_id = view.run.id
    rows = [Row(f"job:{run_id}/{job.id}", "job", view, job=job) for job in view.jobs]
    queued = {job.id for job in view.jobs}
    rows += [
        Row(f"ended:{run_id}/{job.id}", "ended", view, ended=job) for job in view.ended_jobs if job.id not in queued
    ]
    newest = max((task.attempt for task in task_runs.get(run_id, ())), default=0)
    tasks = [task for task in task_runs.get(run_id, ()) if task.attempt == newest]
    tasks.sort(key=lambda task: (_TASK_ORDER.get(task.state_type, 3), -(task.start or 0)))
    rows += [Row(f"task:{run_id}/{task.id}", "task", view, task=task) for task in tasks[:MOST_TASKS]]
    if len(tasks) > MOST_TASKS:
        rows.append(Row(f"note:{run_id}", "note", view, note=f"and {len(tasks) - MOST_TASKS} tasks more"))
    elif not rows:
        rows.append(Row(f"note:{run_id}", "note", view, note=_nothing_yet(view)))
    rows[-1] = rows[-1]._replace(last=True)
    return rows


def _nothing_yet(view: RunView) -> str:
    if view.driver is DriverStatus.STARTING:
        return "the driver is starting"
    return "no job and no task run is known" if view.run.final else "no job and no task run yet"


def tasks_words(run: FlowRun, counts: TaskCounts | None) -> Cell:
    """``▰▰▱▱▱▱ 12/52``, red where tasks failed; full only when the run is completed, for more task runs may come."""
    if counts is None or not counts.total:
        return (words.DASH, "dim")
    done = run.state_type == "COMPLETED"
    style = "state-failed" if counts.failed + counts.crashed else "state-done" if done else ""
    told = tasks_done(run, counts)
    if "/" not in told:
        return (told, style)
    more = not done and counts.completed == counts.total
    return (f"{words.bar(counts.completed, counts.total + more)} {told}", style)


def jobs_words(jobs: Sequence[Job]) -> Cell:
    """``3R 1PD``."""
    tally: dict[str, int] = {}
    for job in jobs:
        short = words.short_state(job.state)
        tally[short] = tally.get(short, 0) + 1
    return " ".join(f"{count}{short}" for short, count in sorted(tally.items(), reverse=True))


def job_words(job: Job, now: float) -> str:
    """What a queued job does or waits for."""
    if job.state == "PENDING":
        estimate = f", est. {words.clock(job.start, now)}" if job.start and job.start > now else ""
        return f"waiting: {visible(job.reason) or 'no reason given'}{estimate}"
    where = f" on {visible(job.nodes)}" if job.nodes else ""
    return f"{job.state.lower().replace('_', ' ')}{where}"


def ended_words(job: EndedJob) -> str:
    """How an ended job ended."""
    state = job.state.lower().replace("_", " ")
    if job.state == "OUT_OF_MEMORY" and job.max_rss and job.requested_memory:
        return f"{state}: used {job.max_rss / 1024:.1f} of {job.requested_memory / 1024:.1f} GB"
    if job.state == "TIMEOUT" and not isinstance(job.time_limit, Special):
        return f"{state} after {words.coarse(job.time_limit)}"
    if job.state == "FAILED":
        return f"{state}: {signal_words(job.signal) if job.signal else f'exit code {job.exit_code}'}"
    return f"{state} on {visible(job.nodes)}" if job.nodes else state
