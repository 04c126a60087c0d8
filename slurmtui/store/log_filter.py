"""Which lines of a log are wanted: of which sources, from which level on, matching what."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.store.log_entry import LIBRARY
from slurmtui.store.log_errors import tells_error
from slurmtui.store.log_parse import without_colours

if TYPE_CHECKING:
    from slurmtui.models.pattern import Pattern
    from slurmtui.sources.files.needle import Needle
    from slurmtui.store.log_entry import LogEntry

LEVELS = ((0, "everything"), (logging.INFO, "info"), (logging.WARNING, "warnings"), (logging.ERROR, "errors"))


class LogFilter(NamedTuple):
    """What is wanted.

    Attributes:
        hidden: sources whose lines are not; Dask's own are not unless one asks for them.
        level: the lowest level; a line that tells none counts as information, or as an error when it reads like one.
        needle: what a line must hold.
    """

    hidden: frozenset[str] = frozenset({LIBRARY})
    level: int = 0
    needle: Needle | None = None

    @property
    def empty(self) -> bool:
        """Whether every line of the person's own is wanted."""
        return not self.hidden - {LIBRARY} and not self.level and self.needle is None

    def keeps(self, entry: LogEntry) -> bool:
        """Whether this line is wanted."""
        if entry.source in self.hidden or (entry.library and LIBRARY in self.hidden):
            return False
        if self.level and level_of(entry) < self.level:
            return False
        return self.needle is None or holds(self.needle.pattern, entry)


def level_of(entry: LogEntry) -> int:
    """The level of a line, as far as it can be told."""
    if entry.level is not None:
        return entry.level
    if entry.source == "note":
        return logging.CRITICAL
    return logging.ERROR if tells_error(entry.text) else logging.INFO


def holds(pattern: Pattern, entry: LogEntry) -> bool:
    """Whether the line, or the name of its task run, has a match."""
    text = without_colours(entry.text)
    return pattern.matches(text) or (bool(entry.task) and pattern.matches(entry.task))
