"""A run over time, as lines of a terminal: the run, its jobs waiting and running, its tasks. Pure."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.models.amounts import counted
from slurmtui.models.text import fit, visible
from slurmtui.models.values import Special
from slurmtui.views import format as words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.models.flow_run import TaskRun
    from slurmtui.models.job import EndedJob, Job
    from slurmtui.models.run_view import RunView
    from slurmtui.widgets.bar import Piece

WAITING, RUNNING = "░", "█"
MOST_JOBS, MOST_TASKS = 20, 40
_LABEL, _SPAN = 18, 6
_LEAST_WIDTH = 50


class Track(NamedTuple):
    """One line: waits from ``waits`` to ``begins``, works from there to ``ends``. None: it has not, or nobody knows."""

    label: str
    waits: float | None
    begins: float | None
    ends: float | None
    style: str
    note: str = ""


def timeline(
    view: RunView, tasks: Sequence[TaskRun], ended: Sequence[EndedJob], now: float, width: int = 80
) -> list[list[Piece]]:
    """The newest attempt over time; no line is wider than ``width`` (50 at least)."""
    tracks = _tracks(view, tasks, ended, now)
    known = [moment for track in tracks for moment in (track.waits, track.begins, track.ends) if moment is not None]
    if not known:
        return [[("nothing has begun yet", "$text-muted")]]
    first, last = min(known), max(known)
    room = max(width, _LEAST_WIDTH) - _LABEL - _SPAN - 3
    lines = [_axis(first, last, room)]
    lines += [_line(track, first, max(last - first, 1.0), room) for track in tracks]
    return lines + _rest(view, tasks, ended)


def attempt_start(view: RunView) -> float:
    """When the newest attempt was started, 0 when nobody can tell."""
    record = view.record
    if record is None:
        return 0.0
    starts = [record.launch.time if record.launch else 0.0, record.driver.started if record.driver else 0.0]
    return max(starts)


def newest_tasks(tasks: Iterable[TaskRun]) -> list[TaskRun]:
    """The task runs of the newest attempt, in the order in which they began."""
    listed = list(tasks)
    newest = max((task.attempt for task in listed), default=0)
    return sorted((task for task in listed if task.attempt == newest), key=lambda task: task.start or float("inf"))


def _tracks(view: RunView, tasks: Sequence[TaskRun], ended: Sequence[EndedJob], now: float) -> list[Track]:
    run = view.run
    over = run.until(now)
    since = attempt_start(view)
    again = bool(since and run.start is not None and since > run.start + 1 and run.run_count > 1)
    begun = since if again else run.start
    moments = [moment for moment in (run.created, run.start) if moment is not None]
    queued = since if again else min(moments, default=None)
    mood = words.style_of(view.verdict.mood)
    tracks = [Track("run", queued, begun, over if begun is not None else None, mood)]
    tracks += [_ended_track(job) for job in _of_newest_attempt(view, ended)[-MOST_JOBS:]]
    tracks += [_job_track(job, now) for job in view.jobs[:MOST_JOBS]]
    return tracks + [_task_track(task, over) for task in newest_tasks(tasks)[:MOST_TASKS]]


def _job_track(job: Job, now: float) -> Track:
    label = f"job {job.id} {visible(job.nodes)}".rstrip()
    style = words.style_of(words.mood_of(job.state))
    if job.state == "PENDING":
        return Track(label, job.submit, None, now, style, visible(job.reason))
    return Track(label, job.submit, job.start, now, style)


def _of_newest_attempt(view: RunView, ended: Sequence[EndedJob]) -> list[EndedJob]:
    since = attempt_start(view)
    # A second of grace: clocks of two hosts, and times that SLURM keeps in whole seconds.
    return [job for job in ended if (job.submit or 0) >= since - 2]


def _ended_track(job: EndedJob) -> Track:
    style = words.style_of(words.mood_of(job.state))
    end = job.end
    if end is None and job.start is not None and not isinstance(job.elapsed, Special):
        end = job.start + job.elapsed
    return Track(f"job {job.id} {visible(job.nodes)}".rstrip(), job.submit, job.start, end, style)


def _task_track(task: TaskRun, over: float | None) -> Track:
    style = words.style_of(words.mood_of(task.state_type))
    if task.start is None:
        return Track(visible(task.name), None, None, None, style, "reused" if task.state_name == "Cached" else "")
    return Track(visible(task.name), None, task.start, task.end if task.end is not None else over, style)


def _axis(first: float, last: float, room: int) -> list[Piece]:
    """The clock at both ends; with seconds where minutes would not tell."""
    form = "%H:%M:%S" if last - first < 600 else "%H:%M" if last - first < 86400 else "%d %b %H:%M"
    left, right = (time.strftime(form, time.localtime(moment)) for moment in (first, last))
    return [(" " * (_LABEL + 1), ""), (f"{left}{right.rjust(room - len(left))}", "$text-muted")]


def _line(track: Track, first: float, length: float, room: int) -> list[Piece]:
    pieces: list[Piece] = [(fit(track.label, _LABEL) + " ", "")]

    def column(moment: float) -> int:
        return min(room, max(0, round((moment - first) / length * room)))

    starts = track.waits if track.waits is not None else track.begins
    if starts is None:
        return [*pieces, (track.note, "$text-muted")]
    end = track.ends if track.ends is not None else track.begins if track.begins is not None else starts
    turn = column(track.begins if track.begins is not None else end)
    begin = min(column(starts), room - 1)
    stop = max(column(end), begin + 1)
    turn = min(max(turn, begin), stop) if track.waits is not None else begin
    if track.begins is not None and turn == stop:
        turn -= 1  # what has worked is seen, however short
    pieces.append((" " * begin, ""))
    pieces.append((WAITING * (turn - begin), "$state-waiting"))
    pieces.append((RUNNING * (stop - turn), f"${track.style}"))
    if track.begins is None and track.note:
        pieces.append((fit(f" {track.note}", room - stop), "$text-muted"))
    else:
        pieces.append((" " * (room - stop), ""))
    lasted = words.coarse(end - (track.begins if track.begins is not None else starts))
    told = lasted if track.ends is not None else words.DASH
    pieces.append((f" {told.rjust(_SPAN)}", "" if track.begins is not None else "$text-muted"))
    return [piece for piece in pieces if piece[0]]


def _rest(view: RunView, tasks: Sequence[TaskRun], ended: Sequence[EndedJob]) -> list[list[Piece]]:
    left_tasks = max(0, len(newest_tasks(tasks)) - MOST_TASKS)
    left_jobs = max(0, len(view.jobs) - MOST_JOBS) + max(0, len(_of_newest_attempt(view, ended)) - MOST_JOBS)
    told = [counted(number, what) for number, what in ((left_tasks, "task"), (left_jobs, "job")) if number]
    key = f"{WAITING} waiting  {RUNNING} working"
    lines = [[(" " * (_LABEL + 1), ""), (key, "$text-muted")]]
    return [*lines, [(f"not shown: {' and '.join(told)}", "$text-muted")]] if told else lines
