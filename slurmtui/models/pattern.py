"""Regular expressions that people write, tried within a time limit: some would need years for one line.

A plain text, and what this program itself has written, is matched by Python's ``re``; any other by the package
``regex``, which knows the same language, can give up, and lets other threads run meanwhile. In a list, texts that are
short enough for the expression (``pattern_shape``) are matched by ``re`` as well: the limit costs more than the search.
"""

from __future__ import annotations

import re
import time
import warnings
from typing import TYPE_CHECKING, Any

from slurmtui.errors import PatternTooSlow
from slurmtui.models.pattern_shape import Shape, shape_of
from slurmtui.models.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
"""A text without any of these is no more than a text."""
_LINE_SECONDS = 0.01
_BLOCK_SECONDS = 2.0  # of the processor's time, for many lines at once
_TEXT_SECONDS = 0.03
_QUICK_ONES = 16  # so many texts that take some milliseconds at most are tried before the clock is looked at
_USUAL_SECONDS = 0.0005
_MOST_SECONDS = 0.03


class Pattern:
    """An expression for lines.

    Attributes:
        text: as it was typed.
        limited: it may take long, so it is tried within a limit.
        slow: it took too long for a line, and is not tried any more.
        unmarked: it takes too long to be marked in what is on screen.
        shape: what can be told of it beforehand.
    """

    def __init__(self, text: str, *, fold: bool = False, trusted: bool = False) -> None:
        """Make a pattern.

        Args:
            text: the expression.
            fold: find capitals as well.
            trusted: it was written for this program, and is known to be fast.

        Raises:
            re.error: it is no regular expression.
        """
        self.text = text
        self.slow = self.unmarked = False
        self.limited = not trusted and SPECIAL.search(text) is not None
        self.shape = shape_of(text) if self.limited else Shape()
        self._plain = compiled(text, fold=fold, limited=False)
        self._compiled = compiled(text, fold=fold, limited=True) if self.limited else self._plain
        self._over = 0.0  # seconds that were needed for marking beyond what is usual

    def matches(self, text: str) -> bool:
        """Whether a line has a match.

        Raises:
            PatternTooSlow: that cannot be told in time.
        """
        if not self.limited:
            return self._compiled.search(text) is not None
        if self.slow:
            raise too_slow(self.text)
        try:
            return self._compiled.search(text, timeout=_LINE_SECONDS) is not None
        except TimeoutError:
            self.slow = self.unmarked = True
            raise too_slow(self.text) from None

    def within(self, seconds: float) -> Callable[[str], bool]:
        """A test of the many texts of a list, which may take so much of the processor's time for all of them together.

        It raises PatternTooSlow when that is over, or one text takes very long; the pattern is ``slow`` then.
        """
        if not self.limited:
            return lambda text: self._compiled.search(text) is not None
        last = time.thread_time() + seconds  # of this thread's own time: it may have to wait for others
        at_once, longest, asked = self._plain.search, self.shape.longest, 0

        def matches(text: str) -> bool:
            nonlocal asked
            asked += 1
            quick = 0 < longest >= len(text)
            if self.slow or (not (quick and asked % _QUICK_ONES) and time.thread_time() > last):
                self.slow = self.unmarked = True
                raise too_slow(self.text, "this list")
            if quick:
                return at_once(text) is not None
            try:
                return self._found_in_time(text)
            except TimeoutError:
                self.slow = self.unmarked = True
                raise too_slow(self.text, "this list") from None

        return matches

    def _found_in_time(self, text: str) -> bool:
        try:
            return self._compiled.search(text, timeout=_TEXT_SECONDS) is not None
        except TimeoutError:  # the time is the whole process': once, others may have needed it
            return self._compiled.search(text, timeout=_TEXT_SECONDS) is not None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where a line that is shown has matches; nowhere, once that has taken too long."""
        if not self.limited:
            return _spans(self._compiled.finditer(text))
        if self.unmarked:
            return []
        begun = time.perf_counter()
        try:
            found = _spans(self._compiled.finditer(text, timeout=_LINE_SECONDS))
        except TimeoutError:
            self.unmarked = True
            return []
        self._over = max(0.0, self._over + time.perf_counter() - begun - _USUAL_SECONDS)
        self.unmarked = self._over > _MOST_SECONDS
        return found


def compiled(text: str | bytes, *, fold: bool, limited: bool) -> Any:
    """The expression as ``re`` has it, or ``regex`` if it is to be limited; over many lines.

    Raises:
        re.error: it is none.
    """
    flags = re.IGNORECASE if fold else 0
    flags |= re.MULTILINE if isinstance(text, bytes) else 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "possible nested set": as it was typed is as it is meant
        plain: Any = re.compile(text, flags)
        if not limited:
            return plain
        import regex  # noqa: PLC0415 - only a person who seeks an expression waits for it

        try:
            return regex.compile(text, flags)
        except regex.error as error:
            raise re.error(str(error)) from error


def searching(expression: Any, text: str) -> Callable[..., Any]:
    """The search of a limited expression for ``text`` in blocks of many lines, for a thread or a process of its own."""

    def search(data: bytes, *where: int) -> Any:
        try:
            return expression.search(data, *where, concurrent=True, timeout=_BLOCK_SECONDS)
        except TimeoutError:
            raise too_slow(text) from None

    return search


def too_slow(text: str, what: str = "a line of this log") -> PatternTooSlow:
    """What is said of such an expression."""
    return PatternTooSlow(
        f"/{visible(text)}/ takes too long for {what}, so it was given up. Write it simpler: without a repetition "
        "inside of a repetition."
    )


def _spans(found: Iterator[Any]) -> list[tuple[int, int]]:
    return [one.span() for one in found if one.end() > one.start()]
