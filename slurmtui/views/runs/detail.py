"""The detail of a run, a job or a task run, in groups a person understands. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.exit_words import signal_words
from slurmtui.models.text import visible
from slurmtui.views import amounts
from slurmtui.views import format as words
from slurmtui.views.lines import pairs
from slurmtui.views.runs.page import page
from slurmtui.views.runs.rows import ended_words, job_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.flow_run import TaskRun
    from slurmtui.models.job import EndedJob, Job
    from slurmtui.models.run_detail import RunDetail
    from slurmtui.models.run_view import RunView
    from slurmtui.views.runs.rows import Row
    from slurmtui.widgets.bar import Piece


def detail_lines(
    row: Row, now: float, detail: RunDetail | None = None, tasks: Sequence[TaskRun] = (), width: int = 80
) -> list[list[Piece]]:
    """The lines of the detail pane for a row; of a run with what was loaded of it."""
    if row.job is not None:
        return _job(row.job, now)
    if row.ended is not None:
        return _ended(row.ended)
    if row.task is not None:
        return _task(row.task)
    loaded = detail if detail is not None and detail.run_id == row.view.run.id else None
    return _verdict(row.view) + page(row.view, loaded, tasks, now, width=width, facts=_facts(row.view))


def _head(text: str, style: str = "bold") -> list[list[Piece]]:
    return [[(text, style)]]


def _verdict(view: RunView) -> list[list[Piece]]:
    style = f"bold ${words.style_of(view.verdict.mood)}"
    lines = _head(f"{visible(view.run.name)} · {visible(view.verdict.text)}", style)
    return lines + [[("  because ", "$text-muted"), (visible(sentence), "")] for sentence in view.verdict.evidence]


def _facts(view: RunView) -> list[list[Piece]]:
    run, record = view.run, view.record
    lines = pairs(
        [
            ("flow", visible(run.flow_name)),
            ("run id", run.id),
            ("Prefect says", f"{run.state_name} since {words.moment_words(run.state_since)}"),
            ("message", visible(" ".join(run.state_message.split()))),
            ("started", words.moment_words(run.start)),
            ("ended", words.moment_words(run.end) if run.end else ""),
            ("attempts", run.run_count),
            ("tags", visible(" ".join(run.tags))),
        ]
    )
    if record:
        driver = record.driver
        process = f"pid {driver.pid} on {driver.host}, attempt {driver.attempt}" if driver else "not started yet"
        lines += pairs(
            [
                ("driver", f"{view.driver.value} ({process})"),
                ("profile", record.profile.name if record.profile else "the flow's own"),
                ("file", visible(record.spec.entrypoint)),
                ("folder", visible(record.folder)),
                ("jobs made", " ".join(record.job_ids)),
            ]
        )
    return lines


def _job(job: Job, now: float) -> list[list[Piece]]:
    style = f"bold ${words.style_of(words.mood_of(job.state))}"
    lines = _head(f"job {job.id} · {job_words(job, now)}", style)
    return lines + pairs(
        [
            ("name", visible(job.name)),
            ("state", visible(job.state)),
            ("reason", visible(job.reason)),
            ("partition", visible(job.partition)),
            ("account", visible(job.account)),
            ("qos", visible(job.qos)),
            ("nodes", visible(job.nodes)),
            ("asks for", amounts.asked(job)),
            ("time", f"{words.span(job.elapsed)} of {words.span(job.time_limit)}"),
            ("submitted", words.moment_words(job.submit)),
            ("starts" if job.state == "PENDING" else "started", words.moment_words(job.start)),
            ("comment", visible(job.comment)),
            ("dependency", visible(job.dependency)),
            ("folder", visible(job.work_dir)),
        ]
    )


def _ended(job: EndedJob) -> list[list[Piece]]:
    style = f"bold ${words.style_of(words.mood_of(job.state))}"
    memory = f"{job.max_rss:.0f} of {job.requested_memory:.0f} MB" if job.max_rss and job.requested_memory else ""
    return _head(f"job {job.id} · {ended_words(job)}", style) + pairs(
        [
            ("name", visible(job.name)),
            ("state", visible(job.state)),
            ("exit code", f"{job.exit_code}" + (f", {signal_words(job.signal)}" if job.signal else "")),
            ("partition", visible(job.partition)),
            ("nodes", visible(job.nodes)),
            ("memory used", memory),
            ("time", f"{words.span(job.elapsed)} of {words.span(job.time_limit)}"),
            ("submitted", words.moment_words(job.submit)),
            ("started", words.moment_words(job.start)),
            ("ended", words.moment_words(job.end)),
        ]
    )


def _task(task: TaskRun) -> list[list[Piece]]:
    style = f"bold ${words.style_of(words.mood_of(task.state_type))}"
    lines = _head(f"task {visible(task.name)} · {visible(task.state_name)}", style)
    lines += pairs(
        [
            ("task run id", task.id),
            ("started", words.moment_words(task.start)),
            ("ended", words.moment_words(task.end)),
            ("attempt", task.attempt),
            ("result", visible(task.result_file or "not kept: a retry of the flow runs this task again")),
        ]
    )
    return lines + [[("  ", ""), (visible(line), "")] for line in task.state_message.splitlines()]
