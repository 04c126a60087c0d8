"""What stands in each column of a job, a task that waits, or an array as a whole. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui.models.reasons import bare, waiting_words
from slurmtui.models.text import visible
from slurmtui.models.values import Special
from slurmtui.views import format as words
from slurmtui.views.jobs.tally import tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.models.job_group import JobGroup
    from slurmtui.models.values import Seconds
    from slurmtui.store.query_lines import Line
    from slurmtui.views.jobs.rows import JobRows
    from slurmtui.widgets.lines import Cell


class JobLine:
    """One line while its cells are made: fields are decoded when a column asks for them."""

    __slots__ = ("group", "key", "line", "rows", "state", "table")

    def __init__(self, rows: JobRows, line: Line) -> None:
        self.rows, self.line, self.key = rows, line, line.key
        self.table = rows.listing.table
        self.group: JobGroup | None = line.group if line.depth == 0 else None
        self.state: str = self.table.value(line.row, "state")
        if self.group is not None and self.group.running:
            self.state = "RUNNING"

    def value(self, field: str) -> Any:
        """A field as what it is."""
        return self.table.value(self.line.row, field)

    def text(self, field: str) -> str:
        """A field as text fit for a screen."""
        return self.table.text(self.line.row, field)

    def elapsed(self) -> Seconds:
        """How long it has run by now; of an array, the longest of its tasks."""
        if self.group is not None:
            start = self.group.start
            return Special.UNKNOWN if start is None else max(0, int(self.rows.now - start))
        used: Seconds = self.value("elapsed")
        if self.state == "PENDING" or isinstance(used, Special):
            return Special.UNKNOWN
        return used + int(self.rows.ticked) if self.state == "RUNNING" else used


def label(group: JobGroup) -> str:
    """What an array or het job is called in the list: ``5001_[0-9999]``, ``500+``."""
    if group.kind == "het":
        return f"{group.id}+"
    return f"{group.id}_[{group.tasks}]" if len(group.id) + len(group.tasks) < _LONGEST_ID else f"{group.id}_[…]"


_LONGEST_ID = 16


def _job(line: JobLine) -> Cell:
    listing = line.rows.listing
    if not listing.groups:
        return visible(line.key)
    if line.group is not None:
        return [("▾ " if line.group.id in listing.opened else "▸ ", "dim"), (label(line.group), "")]
    if line.line.depth:
        return [(" ╵ ", "dim"), (visible(line.key), "")]
    return f"  {visible(line.key)}"


def _state(line: JobLine) -> Cell:
    return (words.short_state(line.state), words.style_of(words.mood_of(line.state)))


def _ticking(value: Seconds) -> str:
    """A time that goes on: the longer it is, the seldomer it has to be painted anew."""
    if isinstance(value, Special) or not _TEN_HOURS <= value < _DAY:
        return words.span(value)
    return f"{value // 3600}h"


_TEN_HOURS, _DAY = 36_000, 86_400


def _time(line: JobLine) -> Cell:
    return _ticking(line.elapsed())


def _left(line: JobLine) -> Cell:
    limit, used = line.value("time_limit"), line.elapsed()
    if isinstance(limit, Special):
        return words.span(limit)
    return words.span(limit) if isinstance(used, Special) else _ticking(max(0, limit - used))


def _wait(line: JobLine) -> Cell:
    submit = line.value("submit")
    waits = line.state == "PENDING" and submit is not None
    return _ticking(int(line.rows.now - submit)) if waits else words.DASH


def _where(line: JobLine) -> Cell:
    rows, now = line.rows, line.rows.now
    overlay = rows.snapshot.overlay_text(line.key, now)
    if not overlay and line.line.depth and line.line.group is not None:
        overlay = rows.snapshot.overlay_text(line.line.group.id, now)
    if overlay:
        return (overlay, "state-waiting")
    if line.group is not None and rows.snapshot.queue.at is None:
        return ("being read…", "dim")
    if line.group is not None:
        return tally(line.group, rows.ended.get(line.group.id), terse=rows.terse)
    reason = line.value("reason")
    if line.state == "PENDING":
        start = line.value("start")
        estimate = f", est. {words.clock(start, now)}" if start and start > now else ""
        return (f"{_why(reason)}{estimate}", "state-waiting")
    return line.text("nodes") or visible(reason)


def _why(reason: str) -> str:
    """Why a job waits, in a few words; in SLURM's one word where ours are many (the detail has all of them)."""
    words_for_it = waiting_words(reason)
    return visible(words_for_it if len(words_for_it) <= _FEW else bare(reason) or words_for_it)


_FEW = 34


def _run(line: JobLine) -> Cell:
    rows = line.rows
    job_id = line.table.plain(line.line.row, "id")
    run_id = rows.snapshot.run_of_job.get(job_id, "")
    if not run_id and (view := rows.snapshot.shared.get(rows.snapshot.cluster_of_job.get(job_id, ""))) is not None:
        return (f"cluster {visible(view.record.spec.name)}", "dim")
    return (visible(rows.run_names.get(run_id, run_id[:8])), "state-running")


def _count(field: str) -> Callable[[JobLine], Cell]:
    return lambda line: str(line.value(field))


def _text(field: str) -> Callable[[JobLine], Cell]:
    return lambda line: line.text(field) or words.DASH


def _clock(field: str) -> Callable[[JobLine], Cell]:
    return lambda line: words.clock(line.value(field), line.rows.now)


def _priority(line: JobLine) -> Cell:
    priority = line.value("priority")
    return words.DASH if priority is None else str(priority)


CELLS: dict[str, Callable[[JobLine], Cell]] = {
    "job": _job,
    "name": lambda line: line.text("name"),
    "user": lambda line: line.text("user"),
    "partition": lambda line: line.text("partition"),
    "state": _state,
    "time": _time,
    "limit": lambda line: words.span(line.value("time_limit")),
    "nodes": _count("node_count"),
    "cpus": _count("cpus"),
    "memory": _text("memory"),
    "gres": _text("gres"),
    "where": _where,
    "run": _run,
    "left": _left,
    "wait": _wait,
    "account": _text("account"),
    "qos": _text("qos"),
    "priority": _priority,
    "submit": _clock("submit"),
    "start": _clock("start"),
    "end": _clock("end"),
    "dependency": _text("dependency"),
    "comment": _text("comment"),
    "dir": _text("work_dir"),
}
"""By the key of the column."""
