"""What a job's dependency says (``afterok:12(unfulfilled),afterany:5_*``), and the tree of jobs that it makes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.job import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from slurmtui.models.job_table import JobTable

_TERM = re.compile(
    r"(?P<condition>[a-z]+)(?::(?P<id>\d{1,18}(?:_\d{1,18}|_\*)?(?:\+(?P<delay>\d+))?))?"
    r"(?:\((?P<state>\w+)\))?",
    re.ASCII,
)
_MORE = re.compile(r":(?P<id>\d{1,18}(?:_\d{1,18}|_\*)?(?:\+\d+)?)(?:\((?P<state>\w+)\))?", re.ASCII)
_DEEPEST = 6
_MOST = 60


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One condition. ``any_of`` when it is enough that one of the terms holds (``?`` instead of ``,``)."""

    condition: str
    job_id: str = ""
    whole_array: bool = False
    state: str = ""
    any_of: bool = False


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """A job in the tree: how deep, by which condition it hangs there, and the job itself if it is in the queue."""

    depth: int
    condition: str
    id: str
    job: Job | None = None


def parse_dependency(text: str) -> tuple[Term, ...]:
    """The terms; what is not understood is left out, and so is the last of a list that was cut."""
    found: list[Term] = []
    any_of = "?" in text
    for part in re.split("[,?]", text):
        hit = _TERM.match(part.strip())
        if hit is None or (hit["id"] is None and hit["condition"] not in {"singleton", "expand"}):
            continue
        pairs = [(hit["id"] or "", hit["state"] or "")]
        pairs += [(more["id"], more["state"] or "") for more in _MORE.finditer(part, hit.end())]
        for job_id, state in pairs:
            plain = job_id.partition("+")[0]
            found.append(
                Term(
                    condition=hit["condition"],
                    job_id=plain.removesuffix("_*"),
                    whole_array=plain.endswith("_*"),
                    state=state,
                    any_of=any_of,
                )
            )
    return tuple(found)


class Dependencies:
    """Who waits for whom.

    ``waiting`` are the jobs that depend on another; ``find`` gives the job of an id, None when it is not in the queue.
    """

    def __init__(self, waiting: Iterable[Job], find: Callable[[str], Job | None]) -> None:
        self._find = find
        self._after: dict[str, list[tuple[str, Job]]] = {}
        for job in waiting:
            for term in parse_dependency(job.dependency):
                if term.job_id:
                    self._after.setdefault(term.job_id, []).append((term.condition, job))

    def before(self, job: Job, terms: Sequence[Term] | None = None) -> tuple[Branch, ...]:
        """What ``job`` waits for, and what that waits for; ``terms`` where they are known in full."""
        found: list[Branch] = []
        self._before(job, terms, 0, {job.id}, found)
        return tuple(found)

    def after(self, job: Job) -> tuple[Branch, ...]:
        """What waits for ``job``, and what waits for that."""
        found: list[Branch] = []
        self._follow(job, 0, {job.id}, found)
        return tuple(found)

    def _before(self, job: Job, terms: Sequence[Term] | None, depth: int, seen: set[str], found: list[Branch]) -> None:
        for term in parse_dependency(job.dependency) if terms is None else terms:
            if not term.job_id or depth >= _DEEPEST or len(found) >= _MOST:
                continue
            other = self._find(term.job_id)
            name = term.job_id + ("_*" if term.whole_array else "")
            found.append(Branch(depth=depth, condition=term.condition, id=name, job=other))
            if other is not None and other.id not in seen:
                self._before(other, None, depth + 1, {*seen, other.id}, found)

    def _follow(self, job: Job, depth: int, seen: set[str], found: list[Branch]) -> None:
        waiting = [pair for name in _names(job) for pair in self._after.get(name, ())]
        for condition, other in waiting:
            if other.id in seen or depth >= _DEEPEST or len(found) >= _MOST:
                continue
            seen.add(other.id)
            found.append(Branch(depth=depth, condition=condition, id=other.id, job=other))
            self._follow(other, depth + 1, seen, found)


def dependencies_of(table: JobTable) -> Dependencies:
    """Who waits for whom in one answer of squeue, without looking at jobs that depend on nothing."""
    rows = [row for row, raw in enumerate(table.column("dependency")) if raw.strip() not in {b"", b"(null)"}]

    def find(job_id: str) -> Job | None:
        places = table.rows_of(job_id)
        return table.job(places[0]) if places else None

    return Dependencies((table.job(row) for row in rows), find)


def _names(job: Job) -> tuple[str, ...]:
    """The ids by which other jobs may mean this one: its own, its number, and that of its array."""
    base = job.id.partition("_")[0].partition("+")[0]
    return tuple(dict.fromkeys((job.id, str(job.raw_id), base)))
