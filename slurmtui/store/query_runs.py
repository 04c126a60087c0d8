"""Filters the runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from slurmtui.models.text import visible
from slurmtui.store.query_terms import Grammar, Term, aliases

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slurmtui.models.run_view import RunView

GRAMMAR = Grammar(
    texts=aliases(
        {
            "state": "st status verdict", "name": "run", "id": "", "flow": "", "profile": "", "partition": "part p",
            "job": "jobs jobid", "tag": "tags", "driver": "host", "user": "u owner",
        }
    ),
    numbers={
        "jobs": ("jobs", "count"), "tasks": ("total", "count"), "done": ("completed", "count"),
        "failed": ("failed", "count"), "running": ("running", "count"), "time": ("time", "time"),
        "age": ("age", "time"), "attempt": ("attempt", "count"), "attempts": ("attempt", "count"),
    },
)  # fmt: skip


def fulfils(view: RunView, terms: Sequence[Term]) -> bool:
    """Whether a run fulfils every term."""
    return all(_holds(view, term) is not term.negated for term in terms)


def _holds(view: RunView, term: Term) -> bool:
    if term.kind == "number":
        return term.holds(_number(view, term.field))
    if term.pattern is not None:
        fields = (term.field,) if term.field else _WORDS
        return any(term.pattern(text) for field in fields for text in _texts(view, field))
    if term.kind == "word":
        word = term.values[0]
        return any(word in text.casefold() for field in _WORDS for text in _texts(view, field))
    if term.field == "state" and term.exact:
        return any(text.casefold() in term.values for text in _texts(view, "state"))
    if term.field == "id":
        return any(view.run.id.startswith(value) for value in term.values)
    return any(term.says(text) for text in _texts(view, term.field))


_WORDS = ("name", "flow", "state", "id", "job", "profile", "tag", "driver")


def _texts(view: RunView, field: str) -> tuple[str, ...]:
    """The texts of a field, as they are shown."""
    return _TEXTS[field](view)


def _of_profile(view: RunView) -> tuple[str, ...]:
    profile = view.record.profile if view.record is not None else None
    return (profile.name,) if profile is not None else ()


def _of_partition(view: RunView) -> tuple[str, ...]:
    profile = view.record.profile if view.record is not None else None
    asked = (profile.partition,) if profile is not None and profile.partition else ()
    return (*asked, *(job.partition for job in view.jobs))


_TEXTS: dict[str, Callable[[RunView], tuple[str, ...]]] = {
    "name": lambda view: (visible(view.run.name),),
    "flow": lambda view: (visible(view.run.flow_name),),
    "id": lambda view: (view.run.id,),
    "state": lambda view: (view.run.state_type, view.run.state_name, view.verdict.kind, view.verdict.text),
    "job": lambda view: tuple(text for job in view.jobs for text in (job.id, visible(job.name))),
    "profile": _of_profile,
    "partition": _of_partition,
    "driver": lambda view: (view.record.driver.host,) if view.record is not None and view.record.driver else (),
    "user": lambda view: (view.record.spec.user,) if view.record is not None else (),
    "tag": lambda view: tuple(map(visible, view.run.tags)),
}


def _number(view: RunView, field: str) -> float | None:
    run, now = view.run, time.time()
    if field == "jobs":
        return len(view.jobs)
    if field == "attempt":
        return run.run_count
    if field == "age":
        began = run.start or run.created
        return None if began is None else now - began
    if field == "time":
        return run.lasted(now)
    if view.tasks is None:
        return None
    return view.tasks.failed + view.tasks.crashed if field == "failed" else float(getattr(view.tasks, field))
