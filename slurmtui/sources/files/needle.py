"""What is sought in a log: a text, a regular expression, or any of several texts; and the lines that hold it.

A search works on the bytes of the file, many lines at once, because that is a hundred times faster than line by line.
Lower case letters find capitals as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui.models import dask_noise
from slurmtui.models.pattern import Pattern, compiled, searching

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Needle:
    """Finds lines.

    Attributes:
        text: as it was typed.
        words: see ``__init__``.
        verify: see ``__init__``.
        pattern: the same for a text that is shown.
        context: how many bytes before and behind the lines that are searched it wants to see.
    """

    def __init__(self, text: str, words: Sequence[str] = (), verify: str = "") -> None:
        """Make a needle.

        Args:
            text: a regular expression; one without any special character is a text.
            words: a line that does not hold any of these cannot match (they make ``text`` fast).
            verify: with ``words``, the expression that a line with one of them must match; what Dask logs at a
                shutdown does not count.

        Raises:
            re.error: ``text`` is no regular expression.
        """
        self.text = text
        self.words = tuple(words)
        self.verify = verify
        fold = text == text.lower() and not words
        source = verify or text
        self.pattern = Pattern(source, fold=fold, trusted=bool(words))
        expression = compiled(source.encode("utf-8", "surrogateescape"), fold=False, limited=self.pattern.limited)
        self._search: Callable[..., Any] = searching(expression, text) if self.pattern.limited else expression.search
        self._literal = None if words or self.pattern.limited else (text.lower() if fold else text).encode()
        self._fold = fold and text.lower() != text.upper()  # then it is sought in lower case: faster than either case
        self._words = [word.encode() for word in words]
        self.context = dask_noise.CONTEXT if words else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Needle) and (self.text, self._words) == (other.text, other._words)

    def __hash__(self) -> int:
        return hash(self.text)

    def lines(self, data: bytes, begin: int, end: int) -> list[int]:
        """Where the matching lines start in ``data`` from ``begin`` to ``end``, which are whole lines."""
        if self._words:
            return self._of_words(data, begin, end)
        data = data.lower() if self._fold else data
        if self._literal is not None:
            return _holding(data, self._literal, begin, end)
        return self._matching(data, begin, end)

    def _matching(self, data: bytes, begin: int, end: int) -> list[int]:
        found: list[int] = []
        search = self._search
        position = begin
        while (match := search(data, position, end)) is not None:
            start = _line_start(data, begin, match.start())
            if start >= end:
                break
            newline = data.find(b"\n", match.start(), end)
            stop = newline if newline >= 0 else end
            # An expression may have matched over the end of a line: only what one line holds is a match.
            if start >= position and (match.end() <= stop or search(data[start:stop])):
                found.append(start)
            if stop >= end - 1:
                break
            position = stop + 1
        return found

    def _of_words(self, data: bytes, begin: int, end: int) -> list[int]:
        found = []
        for start in sorted({start for word in self._words for start in _holding(data, word, begin, end)}):
            newline = data.find(b"\n", start, end)
            if self._search(data[start : newline if newline >= 0 else end]):
                found.append(start)
        noise = dask_noise.noise(data, begin, end) if found else []
        return [start for start in found if not any(first <= start < last for first, last in noise)]


def _holding(data: bytes, word: bytes, begin: int, end: int) -> list[int]:
    """Where the lines start that hold ``word``."""
    found: list[int] = []
    position = data.find(word, begin, end)
    while position >= 0:
        found.append(_line_start(data, begin, position))
        newline = data.find(b"\n", position, end)
        if newline < 0:
            break
        position = data.find(word, newline + 1, end)
    return found


def _line_start(data: bytes, begin: int, position: int) -> int:
    """Where the line starts in which ``position`` lies."""
    newline = data.rfind(b"\n", begin, position)
    return newline + 1 if newline >= 0 else begin
