"""A line of a merged log, whoever wrote it."""

from __future__ import annotations

import msgspec

LIBRARY = "dask"
"""Switches the lines of a library on and off, whoever brings them."""
SOURCES = ("prefect", "driver", "out", "err", "note")
"""Where lines come from; ``note`` are sentences of this program about the log itself."""


class LogEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One line.

    Attributes:
        text: what was written, undecorated: colours and other controls are still in it.
        source: one of ``SOURCES``.
        time: seconds since the epoch, None when the line does not tell.
        job_id: the SLURM job whose output it is, if it is one's.
        task: the task run's name, if it is one's.
        level: as in Python's logging, None when the line does not tell.
        key: with ``partial``, who is writing.
        library: one of Dask's own lines that tell of nothing wrong: a worker writes twenty before the first of yours,
            and tracebacks when it is shut down.
        partial: the line is not finished; the next one with the same key replaces it.
    """

    text: str
    source: str
    time: float | None = None
    job_id: str = ""
    task: str = ""
    level: int | None = None
    key: str = ""
    partial: bool = False
    library: bool = False


def note(text: str, time: float | None = None) -> LogEntry:
    """A sentence about the log."""
    return LogEntry(text=text, source="note", time=time)
