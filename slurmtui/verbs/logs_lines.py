"""Entries of a log as lines of text or JSON on standard output."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING

from slurmtui.widgets.ansi import coloured, harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.store.log_stream import LogEntry

_NAME_CELLS = 16


class Printer:
    """Prints entries.

    Attributes:
        count: how many lines were printed.
    """

    def __init__(self, *, json: bool, names: bool) -> None:
        self.count = 0
        self._json = json
        self._names = names  # begin a line with its time and who speaks
        self._shown = coloured if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else harmless

    def print_last(self, entries: Sequence[LogEntry], count: int | None) -> None:
        """Print the last of the entries."""
        whole = [entry for entry in entries if not entry.partial]
        self.print(whole if count is None else whole[len(whole) - min(count, len(whole)) :])

    def print(self, entries: Sequence[LogEntry]) -> None:
        """Print the entries that are finished, at once."""
        lines = [self._line(entry) for entry in entries if not entry.partial]
        if lines:
            self.count += len(lines)
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()

    def _line(self, entry: LogEntry) -> str:
        if self._json:
            return json.dumps(_facts(entry))  # all but ASCII escaped: nothing for a terminal to act on
        if entry.source == "note":
            return f"-- {harmless(entry.text)} --"
        text = self._shown(entry.text)
        if not self._names:
            return text
        moment = "" if entry.time is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.time))
        place = " ".join(filter(None, (entry.task, entry.source, entry.job_id)))
        return f"{moment:19}  {harmless(place):{_NAME_CELLS}}  {text}".rstrip()


def _facts(entry: LogEntry) -> dict[str, str | int | None]:
    """One line for a script: the names here are a promise."""
    moment = None if entry.time is None else datetime.fromtimestamp(entry.time).astimezone()
    return {
        "time": None if moment is None else moment.isoformat(timespec="milliseconds"),
        "source": entry.source,
        "job": entry.job_id or None,
        "task": entry.task or None,
        "level": entry.level,
        "text": entry.text,
    }
