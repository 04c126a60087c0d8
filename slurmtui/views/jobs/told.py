"""What the Jobs view says of its list as a whole. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.amounts import counted
from slurmtui.models.text import visible

if TYPE_CHECKING:
    from slurmtui.store.snapshot import Snapshot


def empty_words(snapshot: Snapshot, sought: str, *, wrong: bool, everyone: bool) -> str:
    """The sentence that stands in place of the rows when there is none; ``sought`` is the filter."""
    if snapshot.queue.at is None:
        return visible(" ".join(snapshot.queue.error.split())) or "Asking SLURM…"
    if wrong:
        return "Nothing is wrong  (z shows all)" if not sought else "Nothing that matches is wrong"
    if sought:
        return f"No job matches  {sought}  (escape clears the filter)"
    return "The queue is empty" if everyone else "You have no job in the queue. a shows everybody's"


def count_words(snapshot: Snapshot, count: int, *, everyone: bool) -> str:
    """How many jobs, and whose; while the queue is not known, that."""
    if snapshot.queue.at is not None:
        jobs = counted(count, "job")
    elif not count:
        jobs = "no answer yet"
    else:
        jobs = "the queue was not read to its end" if snapshot.queue.error else "reading the queue…"
    asked = everyone and not snapshot.everyone
    whose = "asking for everybody's…" if asked else "everybody" if everyone else "mine"
    return f"{jobs} · {whose}"
