"""Lines of a log as rows of a pane: who speaks, how loud. Pure."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from slurmtui.models.text import visible
from slurmtui.widgets.log_rows import LogRow

if TYPE_CHECKING:
    from slurmtui.store.log_document import LogDocument
    from slurmtui.store.log_merge import Found


def row_of(found: Found, *, alone: bool, one_job: bool = False) -> LogRow:
    """A line for the pane; of one file (``alone``) nobody needs to be told who writes, of one job not which."""
    entry = found.entry
    style = "dim" if entry.source == "note" or entry.library else ""
    if entry.level is not None and entry.level >= logging.WARNING and not entry.library:
        style = "state-failed" if entry.level >= logging.ERROR else "state-waiting"
    parts = (entry.task, entry.source, "" if one_job else entry.job_id)
    tag = "" if alone else visible(" ".join(filter(None, parts)))
    stamp = "" if entry.time is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.time))
    return LogRow(entry.text, entry.source, tag, stamp, style, entry.key, entry.partial, found)


def sources_of(document: LogDocument) -> list[tuple[str, bool]]:
    """Who writes, and whether their lines are shown; nothing for a log with one writer."""
    names = document.sources
    return [] if len(names) < 2 else [(name, name not in document.window.filter.hidden) for name in names]


def library_words(count: int) -> str:
    """How many of Dask's own lines are left out."""
    return f"{count:,} line{'s' if count > 1 else ''} of Dask's own hidden, a shows them"


def filter_words(document: LogDocument) -> str:
    """What is left out, in a few words."""
    wanted = document.window.filter
    words = {logging.INFO: "info and worse", logging.WARNING: "warnings and worse", logging.ERROR: "errors only"}
    parts = [words.get(wanted.level, "")] if wanted.level else []
    if wanted.needle is not None:
        parts.append(f"only /{visible(wanted.needle.text)}/")
    if document.hidden_library:
        parts.append(library_words(document.hidden_library))
    return " · ".join(parts)
