"""What the detail of a run adds to its verdict: timeline, task runs, attempts, states, profile, script. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from slurmtui.models.amounts import counted
from slurmtui.models.retry import CAUSE_WORDS, difference
from slurmtui.models.text import fit, visible
from slurmtui.store.words import last_line
from slurmtui.views import format as words
from slurmtui.views.lines import pairs
from slurmtui.views.runs.timeline import attempt_start, newest_tasks, timeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.flow_run import TaskRun
    from slurmtui.models.profile import Profile
    from slurmtui.models.run_detail import RunDetail
    from slurmtui.models.run_record import DriverRecord
    from slurmtui.models.run_view import RunView
    from slurmtui.widgets.bar import Piece

MOST_TASKS = 200
_ORDER = {"FAILED": 0, "CRASHED": 0, "RUNNING": 1, "PENDING": 2, "SCHEDULED": 2}


def page(  # noqa: PLR0913 - what is known, and the room for it
    view: RunView,
    detail: RunDetail | None,
    tasks: Sequence[TaskRun],
    now: float,
    *,
    width: int,
    facts: list[list[Piece]],
) -> list[list[Piece]]:
    """Everything beneath the verdict, in the order in which a person asks for it; ``facts`` are the plain ones."""
    if detail is None:
        return [[("", "")], [("asking for task runs, states and jobs…", "$text-muted")], *_head("run"), *facts]
    lines = _head("timeline") + timeline(view, tasks, detail.jobs, now, width)
    lines += _tasks(view, detail, tasks, now, width)
    lines += _attempts(view, detail)
    lines += _head("run") + facts
    lines += _parameters(view)
    lines += _states(detail)
    lines += _profile(view)
    if detail.script:
        lines += _head("job script (the first of the newest attempt)")
        lines += [[(visible(line), "$text-muted")] for line in detail.script.splitlines()]
    return lines + [[(f"not known: {visible(problem)}", "$state-waiting")] for problem in detail.problems]


def _head(text: str) -> list[list[Piece]]:
    return [[("", "")], [(text, "bold $accent")]]


def _tasks(view: RunView, detail: RunDetail, tasks: Sequence[TaskRun], now: float, width: int) -> list[list[Piece]]:
    newest = sorted(newest_tasks(tasks), key=lambda task: _ORDER.get(task.state_type, 3))
    lines = _head(f"task runs ({len(newest)})") if newest else []
    if detail.dask is not None:
        dask = detail.dask
        erred = f", {dask.erred} erred" if dask.erred else ""
        told = f"Dask: {counted(dask.workers, 'worker')}, {dask.processing} processing, {dask.waiting} waiting{erred}"
        lines += [*([] if lines else _head("task runs")), [(told, "")]]
    lines += [_task(view, task, detail, now, width) for task in newest[:MOST_TASKS]]
    if len(newest) > MOST_TASKS:
        lines.append([(f"and {len(newest) - MOST_TASKS} more", "$text-muted")])
    return lines


def _task(view: RunView, task: TaskRun, detail: RunDetail, now: float, width: int) -> list[Piece]:
    place = detail.places.get(task.id)
    over = view.run.until(now)
    end = task.end if task.end is not None else over
    lasted = words.coarse(end - task.start) if task.start is not None and end is not None else words.DASH
    nodes = {job.id: job.nodes for job in detail.jobs} | {job.id: job.nodes for job in view.jobs}
    where = ""
    if place is not None:
        where = f"job {place.job_id} {nodes.get(place.job_id) or place.host}"
    kept = "result kept" if task.id in detail.kept else "result is gone" if task.id in detail.gone else ""
    name = max(16, min(32, width - 60))
    return [
        (f"{fit(visible(task.name), name)} ", ""),
        (f"{visible(task.state_name)[:11]:<11} ", f"${words.style_of(words.mood_of(task.state_type))}"),
        (f"{lasted:>6}  ", ""),
        (f"{fit(visible(where), 22)} ", "$text-muted"),
        (kept, "$state-failed" if kept == "result is gone" else "$text-muted"),
    ]


def _attempts(view: RunView, detail: RunDetail) -> list[list[Piece]]:
    record = view.record
    if record is None:
        return []
    lines = _head("attempts")
    for attempt in detail.attempts:
        lines += _attempt(attempt)
    shown = {attempt.attempt for attempt in detail.attempts}
    if record.driver is not None and record.driver.attempt not in shown:
        begun = words.moment_words(attempt_start(view))
        lines.append([(f"{record.driver.attempt:>3}  ", "bold"), (f"{view.driver.value}, since {begun}", "")])
    for change in record.overrides:
        who = "by itself" if change.by == "policy" else "asked for"
        told = f"from attempt {change.attempt} on, {who}: {visible(change.why)}"
        lines.append([("     ", ""), (told, "$text-muted")])
    return lines


def _attempt(attempt: DriverRecord) -> list[list[Piece]]:
    outcome = attempt.outcome or "ended"
    lasted = f" after {words.coarse(attempt.ended - attempt.started)}" if attempt.ended else ""
    cause = CAUSE_WORDS.get(attempt.cause, "")
    told = f"{outcome.lower()}{lasted}{f': {cause}' if cause else ''}"
    lines: list[list[Piece]] = [
        [
            (f"{attempt.attempt:>3}  ", "bold"),
            (told, f"${words.style_of(words.mood_of(outcome))}"),
            (f"  {words.moment_words(attempt.started)}, pid {attempt.pid} on {visible(attempt.host)}", "$text-muted"),
        ]
    ]
    if attempt.message.strip() and outcome != "COMPLETED":
        lines.append([("     ", ""), (last_line(attempt.message), "")])
    if attempt.again:
        lines.append([("     ", ""), (visible(attempt.again), "$state-waiting")])
    return lines


def _parameters(view: RunView) -> list[list[Piece]]:
    if not view.run.parameters:
        return []
    return _head("parameters") + [
        [(visible(name).ljust(14), "$text-muted"), (f" {_shown(value)}", "")]
        for name, value in view.run.parameters.items()
    ]


def _states(detail: RunDetail) -> list[list[Piece]]:
    if not detail.states:
        return []
    lines = _head("states in Prefect")
    for change in detail.states:
        style = f"${words.style_of(words.mood_of(change.type))}"
        lines.append([
            (f"{words.moment_words(change.time)}  ", "$text-muted"),
            (f"{visible(change.name or change.type):<16}", style),
            (last_line(change.message), ""),
        ])  # fmt: skip
    return lines


def _profile(view: RunView) -> list[list[Piece]]:
    record = view.record
    if record is None or record.profile is None:
        return []
    lines = _head(f"profile {record.profile.name}") + pairs(_of_profile(record.profile))
    if told := difference(record.spec.profile, record.profile):
        said = f"{visible(told)} since it was submitted"
        lines.append([("changed".ljust(14), "$text-muted"), (said, "$state-waiting")])
    return lines


def _of_profile(profile: Profile) -> list[tuple[str, Any]]:
    jobs = f"{profile.adapt.minimum} to {profile.adapt.maximum}" if profile.adapt is not None else profile.workers or 1
    again = ""
    if profile.retry is not None:
        counts = {name: getattr(profile.retry, name) for name in ("node_fail", "preempted", "out_of_memory", "timeout")}
        again = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    return [
        ("jobs", jobs),
        ("each", _each(profile)),
        ("partition", visible(profile.partition or "SLURM's default")),
        ("account", visible(profile.account or "")),
        ("by itself", again),
    ]


def _each(profile: Profile) -> str:
    return ", ".join(
        filter(None, (counted(profile.cores, "core"), profile.memory, profile.walltime, visible(profile.gres or "")))
    )


def _shown(value: Any) -> str:
    return visible(json.dumps(value, ensure_ascii=False))
