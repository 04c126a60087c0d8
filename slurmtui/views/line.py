"""The line to the person: whether the terminal is still there."""

from __future__ import annotations

import os
import select

_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Line:
    """Looks at the terminal itself: SIGHUP goes to the leader of a session, which may keep it (``make``, a script).

    Nobody can type any more then, and Textual would go on reading the end of its input as fast as it can.
    """

    def __init__(self, handle: int) -> None:
        self._poll = select.poll()
        self._poll.register(handle, 0)
        self._was_there = os.isatty(handle)

    @property
    def gone(self) -> bool:
        """Whether there was a terminal, and is none any more."""
        return self._was_there and any(mask & _GONE for _, mask in self._poll.poll(0))
