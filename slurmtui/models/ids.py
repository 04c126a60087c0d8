"""SLURM's job ids as text: plain, array tasks, what is left of an array, components of a het job, and steps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = re.compile(
    r"(?P<base>\d{1,18})(?:_(?:(?P<task>\d{1,18})|\[(?P<tasks>[\d,:-]+)(?:%(?P<limit>\d{1,18}))?\])|\+(?P<offset>\d{1,9}))?(?:\.(?P<step>[\w+]+))?",
    re.ASCII,
)
_SPAN = re.compile(r"(\d{1,18})(?:-(\d{1,18})(?::([1-9]\d{0,17}))?)?", re.ASCII)


class JobId(msgspec.Struct, frozen=True):
    """A job id taken apart. ``tasks`` are the spans of a waiting array (first, last, step), ``limit`` its ``%5``."""

    base: int
    task: int | None = None
    tasks: tuple[tuple[int, int, int], ...] = ()
    limit: int | None = None
    offset: int | None = None
    step: str = ""

    @property
    def leads(self) -> bool:
        """Whether it is the first component of a het job: when that is cancelled, SLURM ends all of them."""
        return self.offset == 0

    def holds(self, other: JobId) -> bool:
        """Whether ``other`` is this job or a part of it (a task of the array, a component of the het job)."""
        if self.base != other.base or (self.step and self.step != other.step):
            return False
        if self.offset is not None:
            return self.offset == other.offset
        if self.task is not None:
            return self.task == other.task
        if self.tasks and other.tasks:
            return all(self._holds_span(span) for span in other.tasks)
        if self.tasks:
            return other.task is not None and self._holds_task(other.task)
        return True

    def common_tasks(self, other: JobId) -> set[int]:
        """The tasks of an array that both name by their numbers."""
        if self.base != other.base:
            return set()
        return set(self.own_tasks()) & set(other.own_tasks())

    def own_tasks(self) -> Iterator[int]:
        """The numbers of its tasks; none of an array as a whole."""
        if self.task is not None:
            yield self.task
        yield from self.each_task()

    def _holds_task(self, task: int) -> bool:
        return any(first <= task <= last and (task - first) % step == 0 for first, last, step in self.tasks)

    def _holds_span(self, span: tuple[int, int, int]) -> bool:
        first, last, step = span
        if any(low <= first and last <= high and each == 1 for low, high, each in self.tasks):
            return True
        return all(self._holds_task(task) for task in range(first, last + 1, step))

    def count(self) -> int:
        """How many tasks a waiting array has; 1 for every other job."""
        return sum((last - first) // step + 1 for first, last, step in self.tasks) or 1

    def each_task(self) -> Iterator[int]:
        """The numbers of the tasks of a waiting array."""
        for first, last, step in self.tasks:
            yield from range(first, last + 1, step)


def spans(text: str) -> tuple[tuple[int, int, int], ...] | None:
    """``0-9,12-40:4`` as (first, last, step); None when it is anything else (a list that SLURM cut with ``...``)."""
    found = []
    for part in text.split(","):
        match = _SPAN.fullmatch(part)
        if match is None:
            return None
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if last < first:
            return None
        found.append((first, last, int(match[3] or 1)))
    return tuple(found)


def parse_job_id(text: str) -> JobId | None:
    """Take a job id apart; None when it is not one, or not a whole one."""
    match = _ID.fullmatch(text.strip())
    if match is None:
        return None
    tasks = spans(match["tasks"]) if match["tasks"] else ()
    if tasks is None:
        return None
    task, limit, offset = (None if match[key] is None else int(match[key]) for key in ("task", "limit", "offset"))
    return JobId(int(match["base"]), task, tasks, limit, offset, match["step"] or "")


def base_id(text: str) -> str:
    """The number before any ``_``, ``+`` or ``.``: what names the whole array or het job."""
    return re.split(r"[_+.]", text.strip(), maxsplit=1)[0]
