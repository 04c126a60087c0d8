"""The columns and rows of the Clusters view: each shared cluster, and beneath it its jobs and the flows on it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from slurmtui.models.run_record import DriverStatus
from slurmtui.models.text import visible
from slurmtui.views import format as words
from slurmtui.views.lines import pairs
from slurmtui.views.runs.rows import jobs_words
from slurmtui.views.side import Rows
from slurmtui.widgets.columns import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from slurmtui.models.job import Job
    from slurmtui.models.run_view import RunView
    from slurmtui.models.shared_cluster import ClusterView
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.lines import Cell


def columns(width: int) -> tuple[Column, ...]:
    """The columns for a terminal of this width."""
    del width
    return (
        Column("name", "CLUSTER", 0, weight=2, min_width=16, max_width=34, cut="middle", priority=100),
        Column("state", "STATE", 0, weight=5, min_width=24, priority=95),
        Column("jobs", "JOBS", 9, priority=80),
        Column("flows", "FLOWS", 5, align="right", priority=70),
        Column("bounds", "BOUNDS", 7, align="right", priority=50),
        Column("start", "START", 6, align="right", priority=40),
        Column("time", "TIME", 6, align="right", priority=60),
    )


class Row(NamedTuple):
    """One line: a cluster, or a job of it, or a flow run on it."""

    key: str
    view: ClusterView
    job: Job | None = None
    run: RunView | None = None


def listed(snapshot: Snapshot, *, ended: bool) -> tuple[ClusterView, ...]:
    """The clusters to show, the newest first: those that live or left something, and with ``ended`` the others too."""
    views = [view for view in snapshot.shared.values() if ended or not view.over or view.jobs]
    return tuple(reversed(views))


def runs_on(snapshot: Snapshot, view: ClusterView) -> list[RunView]:
    """The runs that go on and use the cluster."""
    return [
        run
        for run in snapshot.runs
        if not run.run.over
        and run.record is not None
        and run.record.shared is not None
        and run.record.shared.cluster_id == view.record.spec.id
    ]


def build(snapshot: Snapshot, views: Iterable[ClusterView]) -> list[Row]:
    """The lines of these clusters."""
    rows = []
    for view in views:
        own = view.record.spec.id
        rows.append(Row(f"cluster:{own}", view))
        rows += [Row(f"job:{own}/{job.id}", view, job=job) for job in view.jobs]
        rows += [Row(f"run:{own}/{run.run.id}", view, run=run) for run in runs_on(snapshot, view)]
    return rows


def cluster_rows(lines: Sequence[Row], snapshot: Snapshot, glyph: Callable[[str], str], now: float) -> Rows:
    """The rows for the table. ``glyph`` gives a mood's sign."""
    shown = []
    for number, row in enumerate(lines):
        last = number + 1 == len(lines) or lines[number + 1].view is not row.view
        branch = " └ " if last else " ├ "
        if row.job is not None:
            cells = _job_cells(branch, row.job, now)
        elif row.run is not None:
            cells = _run_cells(branch, row.run, glyph, now)
        else:
            cells = _cluster_cells(row.view, snapshot, glyph, now)
        shown.append((row.key, cells, None))
    return Rows(shown)


def _cluster_cells(view: ClusterView, snapshot: Snapshot, glyph: Callable[[str], str], now: float) -> Sequence[Cell]:
    spec, mood = view.record.spec, view.verdict.mood
    status, style = view.record.status, words.style_of(view.verdict.mood)
    overlay = snapshot.overlay_text(spec.id, now)
    flows = str(status.flows) if status is not None and view.keeper is DriverStatus.ALIVE else words.DASH
    return (
        [(f"{glyph(mood.value)} ", style), (visible(spec.name), "")],
        (overlay, "state-waiting") if overlay else (visible(view.verdict.text), style),
        jobs_words(view.jobs) or (words.DASH, "dim"),
        flows,
        f"{spec.minimum}-{spec.maximum}",
        words.clock(spec.created, now),
        words.coarse(view.lasted(now)),
    )


def _job_cells(branch: str, job: Job, now: float) -> Sequence[Cell]:
    style = words.style_of(words.mood_of(job.state))
    where = f" on {visible(job.nodes)}" if job.nodes else ""
    said = f"{job.state.lower().replace('_', ' ')}{where}"
    if job.state == "PENDING":
        said = f"waiting: {visible(job.reason) or 'no reason given'}"
    return (
        [(branch, "dim"), (job.id, "")],
        (said, style),
        [(words.short_state(job.state), style)],
        "",
        "",
        words.clock(job.start, now) if job.state != "PENDING" else words.DASH,
        words.span(job.elapsed),
    )


def _run_cells(branch: str, view: RunView, glyph: Callable[[str], str], now: float) -> Sequence[Cell]:
    style = words.style_of(view.verdict.mood)
    tasks, said = view.tasks, visible(view.verdict.text)
    lasted = view.run.lasted(now)
    if view.verdict.kind == "running" and tasks is not None and tasks.total:
        said = f"run of {visible(view.run.flow_name)}, {tasks.completed} of {tasks.total} known tasks done"
    return (
        [(branch, "dim"), (f"{glyph(view.verdict.mood.value)} ", style), (visible(view.run.name), "")],
        (said, style),
        ("run", "dim"),
        "",
        "",
        words.clock(view.run.start or view.run.created, now),
        words.coarse(lasted) if lasted is not None else words.DASH,
    )


def cluster_lines(view: ClusterView, runs: Sequence[RunView]) -> list[list[Piece]]:
    """The evidence, and what is needed to use it."""
    spec = view.record.spec
    style = f"bold ${words.style_of(view.verdict.mood)}"
    found: list[list[Piece]] = [
        [(f"cluster {visible(spec.name)} · ", "bold"), (visible(view.verdict.text), style)],
        *([("  ", ""), (visible(sentence), "")] for sentence in view.verdict.evidence),
    ]
    keeper = view.record.keeper
    return found + pairs(
        [
            ("flows", ", ".join(visible(run.run.name) for run in runs)),
            ("address", visible(keeper.address) if keeper is not None else ""),
            ("dashboard", visible(keeper.dashboard) if keeper is not None else ""),
            ("folder", visible(view.record.folder)),
            ("in a flow", f'@flow(task_runner=slurm_runner("{visible(spec.name)}", shared=True))'),
        ]
    )  # fmt: skip
