"""The log of calls that the console shows under ``@``: commands, and requests over HTTP."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEPT_CALLS = 500


class Call(msgspec.Struct, frozen=True):
    """One line of the command log.

    ``code`` is None for a call that was ended by its time limit; ``started`` is in seconds since the epoch.
    """

    started: float
    text: str
    seconds: float
    code: int | None
    said: str = ""


class CommandLog:
    """The last calls, of commands and of HTTP requests, oldest first."""

    def __init__(self, kept: int = _KEPT_CALLS) -> None:
        self._calls: collections.deque[Call] = collections.deque(maxlen=kept)
        self.count = 0

    def add(self, call: Call) -> None:
        """Keep one more call."""
        self.count += 1
        self._calls.append(call)

    def __iter__(self) -> Iterator[Call]:
        return iter(tuple(self._calls))

    def per_minute(self, now: float) -> int:
        """How many commands were started in the minute before ``now`` (seconds since the epoch)."""
        return sum(1 for call in self._calls if call.started > now - 60 and not call.text.startswith("HTTP "))
