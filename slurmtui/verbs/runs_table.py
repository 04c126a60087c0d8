"""The runs as an aligned table for a terminal or a pipe."""

from __future__ import annotations

import collections
import shutil
import sys
from typing import TYPE_CHECKING

from slurmtui.models.reasons import waiting_words
from slurmtui.models.text import cells, fit, visible
from slurmtui.models.values import Special
from slurmtui.models.verdict import Mood
from slurmtui.store.words import clock, short_span, tasks_done
from slurmtui.verbs.table import DASH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job import Job
    from slurmtui.models.run_view import RunView

_GLYPHS = {
    Mood.RUNNING: "▶", Mood.WAITING: "◷", Mood.DONE: "✔", Mood.FAILED: "✖", Mood.LOST: "⚠", Mood.CANCELLED: "■",
    Mood.UNKNOWN: "?",
}  # fmt: skip
_LETTERS = {
    Mood.RUNNING: ">", Mood.WAITING: "~", Mood.DONE: "+", Mood.FAILED: "x", Mood.LOST: "!", Mood.CANCELLED: "o",
    Mood.UNKNOWN: "?",
}  # fmt: skip
_HEAD = ("", "ID", "RUN", "FLOW", "VERDICT", "TASKS", "JOBS", "START", "TIME")
_RIGHT = {"TASKS", "START", "TIME"}
_WIDEST = {"RUN": 28, "FLOW": 24, "VERDICT": 60}
_NARROWEST = {"RUN": 10, "FLOW": 6, "VERDICT": 16}
_CODES = {"RUNNING": "R", "PENDING": "PD", "COMPLETING": "CG", "CONFIGURING": "CF", "SUSPENDED": "S"}


def print_runs(views: Sequence[RunView], now: float, *, with_jobs: bool) -> None:
    """Print a line a run, with its jobs beneath."""
    rows = [_row(view, now) for view in views]
    widths = _widths([_HEAD, *rows])
    _line(_HEAD, widths)
    for view, row in zip(views, rows, strict=True):
        _line(row, widths)
        if with_jobs:
            for number, job in enumerate(view.jobs):
                _write(f"  {'└' if number == len(view.jobs) - 1 else '│'}  {_job(job, now)}")


def _row(view: RunView, now: float) -> tuple[str, ...]:
    run, tasks = view.run, view.tasks
    lasted = run.lasted(now)
    return (
        _glyph(view.verdict.mood),
        visible(run.id[:8]),
        visible(run.name),
        visible(run.flow_name),
        view.verdict.text,
        "" if tasks is None else tasks_done(run, tasks),
        _job_counts(view.jobs),
        "" if run.start is None else clock(run.start, now),
        DASH if lasted is None else short_span(lasted),
    )


def _job_counts(jobs: Sequence[Job]) -> str:
    counts = collections.Counter(_CODES.get(job.state, job.state) for job in jobs)
    return " ".join(f"{number}{state}" for state, number in counts.items())


def _job(job: Job, now: float) -> str:
    words = [f"{job.id:<10}", f"{_CODES.get(job.state, job.state):<3}"]
    if job.state == "PENDING":
        words.append(waiting_words(job.reason))
        if job.start is not None and job.start > now:
            words.append(f"est. {clock(job.start, now)}")
    else:
        words.append(job.nodes)
        if not isinstance(job.elapsed, Special):
            words.append(short_span(job.elapsed))
    return visible(" ".join(filter(None, words)))


def _glyph(mood: Mood) -> str:
    return (_GLYPHS if _can_write(_GLYPHS[mood]) else _LETTERS)[mood]


def _can_write(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Each column as wide as its widest text; on a terminal the wide ones give way until the line fits."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    for number, name in enumerate(_HEAD):
        widths[number] = min(widths[number], _WIDEST.get(name, widths[number]))
    if not sys.stdout.isatty():
        return widths
    room = shutil.get_terminal_size().columns
    for name in ("FLOW", "RUN", "VERDICT"):
        excess = sum(widths) + len(widths) - 1 - room
        if excess > 0:
            number = _HEAD.index(name)
            widths[number] = max(min(widths[number], _NARROWEST[name]), widths[number] - excess)
    return widths


def _line(row: Sequence[str], widths: Sequence[int]) -> None:
    shown = (fit(text, width, right=name in _RIGHT) for name, text, width in zip(_HEAD, row, widths, strict=True))
    _write(" ".join(shown).rstrip())


def _write(text: str) -> None:
    encoding = sys.stdout.encoding or "ascii"
    print(text.encode(encoding, "replace").decode(encoding))
