"""The rows of the History view: a line a day with its tally, arrays as one row, every life of a job. Pure."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.models.amounts import counted
from slurmtui.models.exit_words import signal_words
from slurmtui.models.history import Lives, PastJob, day_of, day_start
from slurmtui.models.ids import base_id
from slurmtui.models.states import normal_state
from slurmtui.models.text import visible
from slurmtui.store.query_wrong import WRONG_STATES
from slurmtui.views import amounts
from slurmtui.views import format as words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from slurmtui.widgets.lines import Cell

_COLUMNS = 14
_STATE_WORDS = {
    "COMPLETED": "done", "FAILED": "failed", "CANCELLED": "cancelled", "TIMEOUT": "out of time",
    "OUT_OF_MEMORY": "out of memory", "NODE_FAIL": "node failed", "PREEMPTED": "preempted", "REQUEUED": "requeued",
}  # fmt: skip


class Line(NamedTuple):
    """A row: of a day, of an array that ended on it, or of one life of a job. ``jobs`` are what it stands for."""

    key: str
    kind: str  # "day", "array" or "past"
    jobs: Sequence[PastJob]
    depth: int = 0

    @property
    def job(self) -> PastJob | None:
        """The one job of the row."""
        return self.jobs[0] if self.kind == "past" else None


def is_wrong(job: PastJob) -> bool:
    """Whether a person should look at it."""
    return normal_state(job.state) in WRONG_STATES


def arrange(jobs: Iterable[PastJob], opened: Collection[str], closed_days: Collection[str]) -> list[Line]:
    """By day, newest first; the tasks of an array that ended on a day are one row until it is opened."""
    days: dict[str, list[PastJob]] = {}
    for job in jobs:
        days.setdefault(day_of(job.end), []).append(job)
    lines: list[Line] = []
    for day in sorted(days, reverse=True):
        lines.append(Line(f"day:{day}", "day", days[day]))
        if day not in closed_days:
            lines += _of_day(day, days[day], opened)
    return lines


def _of_day(day: str, jobs: Sequence[PastJob], opened: Collection[str]) -> list[Line]:
    groups: dict[str, list[PastJob]] = {}
    for job in jobs:
        groups.setdefault(base_id(job.id) if "_" in job.id else job.key, []).append(job)
    lines = []
    for base, members in groups.items():
        if len(members) == 1:
            lines.append(Line(f"past:{members[0].key}", "past", members))
            continue
        key = f"array:{day}:{base}"
        lines.append(Line(key, "array", members))
        if key in opened:
            lines += [Line(f"past:{job.key}", "past", (job,), 1) for job in members]
    return lines


def flat(jobs: Iterable[PastJob]) -> list[Line]:
    """Every job a row, in the order given."""
    return [Line(f"past:{job.key}", "past", (job,)) for job in jobs]


class HistoryRows:
    """The lines as the table shows them; cells are made for what is on screen."""

    def __init__(
        self,
        lines: Sequence[Line],
        lives: Lives,
        run_name: Callable[[PastJob], str],
        opened: Collection[str],
        now: float,
    ) -> None:
        self.lines = lines
        self._lives, self._run_name, self._opened, self._now = lives, run_name, opened, now
        self._places: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self.lines)

    def key(self, index: int) -> str:
        """What names a row."""
        return self.lines[index].key

    def index_of(self, key: str) -> int | None:
        """Where a row is."""
        if self._places is None:
            self._places = {line.key: place for place, line in enumerate(self.lines)}
        return self._places.get(key)

    def line(self, key: str | None) -> Line | None:
        """The row of a key."""
        place = self.index_of(key) if key else None
        return None if place is None else self.lines[place]

    def row_style(self, index: int) -> str | None:
        """Days stand out."""
        return "bold" if self.lines[index].kind == "day" else None

    def cells(self, index: int) -> Sequence[Cell]:
        """The cells of a row."""
        line = self.lines[index]
        if line.kind == "day":
            return self._day_cells(line)
        return self._array_cells(line) if line.kind == "array" else self._job_cells(line)

    def _day_cells(self, line: Line) -> Sequence[Cell]:
        cells: list[Cell] = [""] * _COLUMNS
        cells[0] = day_words(line.key.removeprefix("day:"), self._now)
        cells[1] = counted(len(line.jobs), "job")
        cells[12] = tally_spans(line.jobs)
        return cells

    def _array_cells(self, line: Line) -> Sequence[Cell]:
        first = line.jobs[0]
        sign = "▾" if line.key in self._opened else "▸"
        cells = list(self._common(first))
        cells[0] = f"{sign} {visible(base_id(first.id))}"
        cells[3] = ""
        cells[4] = words.clock(max(job.end for job in line.jobs), self._day_end(first))
        cells[5] = cells[7] = ""
        cells[12] = [(f"{len(line.jobs):,} tasks: ", ""), *tally_spans(line.jobs)]
        return cells

    def _job_cells(self, line: Line) -> Sequence[Cell]:
        job = line.jobs[0]
        cells = list(self._common(job))
        cells[0] = f"{'  └ ' if line.depth else ''}{visible(job.id)}"
        cells[12] = how(job, *self._lives.of(job))
        return cells

    def _common(self, job: PastJob) -> Sequence[Cell]:
        style = words.style_of(words.mood_of(job.state))
        kind = f"{amounts.short_type(job.gpu_type)}:" if job.gpu_type else ""
        gpus = f"{kind}{job.gpus}" if job.gpus else words.DASH
        return (
            visible(job.id), visible(job.name), visible(job.partition), (words.short_state(job.state), style),
            words.clock(job.end, self._day_end(job)), words.span(job.elapsed), words.span(job.time_limit),
            words.DASH if job.wait is None else words.coarse(job.wait), str(job.node_count),
            str(job.cpus), amounts.memory(job.memory), gpus, "", (visible(self._run_name(job)), "state-running"),
        )  # fmt: skip

    @staticmethod
    def _day_end(job: PastJob) -> float:
        """Its own day, so that the hour is shown beneath the line of the day."""
        return job.end


def day_words(day: str, now: float) -> str:
    """``today``, ``yesterday``, ``Mon 28 Nov``."""
    if day == day_of(now):
        return "today"
    if day == day_of(day_start(day_of(now), -1)):
        return "yesterday"
    return time.strftime("%a %d %b", time.localtime(day_start(day)))


def tally_spans(jobs: Iterable[PastJob]) -> list[tuple[str, str]]:
    """``412 done, 3 failed``, the most frequent first."""
    spans: list[tuple[str, str]] = []
    for state, number in Counter(job.state for job in jobs).most_common():
        word = _STATE_WORDS.get(state, visible(state).lower().replace("_", " "))
        spans.append((f"{', ' if spans else ''}{number:,} {word}", words.style_of(words.mood_of(state))))
    return spans


def how(job: PastJob, life: int, lives: int) -> Cell:
    """How a job ended, and where it ran."""
    parts: list[tuple[str, str]] = []
    if lives > 1:
        parts.append((f"life {life} of {lives}  ", "state-waiting"))
    if job.signal:
        parts.append((f"{signal_words(job.signal)}  ", "state-failed"))
    elif job.exit_code:
        parts.append((f"exit {job.exit_code}  ", "state-failed"))
    if job.state not in {"COMPLETED", "FAILED"}:
        word = _STATE_WORDS.get(job.state, visible(job.state).lower().replace("_", " "))
        parts.append((f"{word}  ", words.style_of(words.mood_of(job.state))))
    parts.append((visible(job.nodes) or ("never started" if not job.ran else ""), "dim"))
    return parts
