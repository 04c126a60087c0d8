"""Tracebacks in a log: which lines belong together, so that they can be folded into one."""

from __future__ import annotations

_BEGINS = "Traceback (most recent call last)"
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")


class Tracebacks:
    """Follows the lines of one writer; tells of each what it is."""

    BEGINS = "begins"
    GOES_ON = "goes on"
    NONE = ""

    def __init__(self) -> None:
        self._inside = False
        self._chained = False

    def part(self, text: str) -> str:
        """Whether a traceback begins with this line, goes on, or neither. One that follows from another is the same."""
        if _BEGINS in text:
            joins, self._inside, self._chained = self._chained, True, False
            return self.GOES_ON if joins else self.BEGINS
        if self._inside:
            if text.strip() and text[0] not in " \t|+":
                self._inside, self._chained = False, True  # the exception itself; another may follow from it
            return self.GOES_ON
        if self._chained:
            if not text.strip() or text.startswith(_CHAINED):
                return self.GOES_ON
            self._chained = False
        return self.NONE
