"""Finding in a pane: what is in the part that is shown at once, what lies beyond it in a thread that can be stopped."""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slurmtui.errors import PatternTooSlow
from slurmtui.models.text import visible
from slurmtui.sources.files.needle import Needle
from slurmtui.store.log_errors import ERRORS
from slurmtui.store.log_finding import Finder
from slurmtui.store.log_merge import Found, Mark
from slurmtui.views.faults import told
from slurmtui.views.logs.matches import find, nearest
from slurmtui.widgets.line_bar import BUCKETS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slurmtui.store.log_live import Spot
    from slurmtui.views.logs.pane import LogPane
    from slurmtui.widgets.log_rows import Line

_TRIES = 30
_NEAR = 3
_MOST_OF_IT = 0.99


class Finding:
    """What is sought in a pane.

    Attributes:
        needle: what is sought, None for nothing.
    """

    def __init__(self, pane: LogPane) -> None:
        self._pane = pane
        self.needle: Needle | None = None
        self._finder: Finder | None = None
        self._searching = False

    # --- what the keys ask for

    def seek(self, text: str) -> str:
        """Seek a text or a regular expression, upwards from the end of the screen; what is wrong with it, or ""."""
        if not text:
            self.clear()
            return ""
        try:
            needle = Needle(text)
        except re.error as error:
            return f"/{visible(text)}/ is no regular expression: {error}"
        self._begin(needle)
        shown = self._pane.shown_lines
        last = self._number(shown[-1]) if shown else len(self._pane.kept.lines) - 1
        self._go(-1, last)
        return ""

    def step(self, step: int) -> None:
        """Go to the next match, or the one before."""
        self._go(step, self._start(step))

    def last_error(self) -> None:
        """Go to the last failure that is told of; the next time to the one before it."""
        if self.needle is ERRORS and self._pane.cursor.current is not None:
            self._go(-1, self._before_this_error())
            return
        self._begin(ERRORS)
        document = self._pane.document
        if document is not None and document.window.at_end:
            self._go(-1, len(self._pane.kept.lines) - 1)
        else:
            self._go(-1, -1, whole=True)

    def stop(self) -> bool:
        """Stop a search that goes on; whether one did."""
        if not self._searching or self._finder is None:
            return False
        self._finder.stop()
        for group in ("log-find", "log-count"):
            self._pane.workers.cancel_group(self._pane, group)
        self._searching = False
        self._tell("")
        return True

    def clear(self) -> None:
        """Seek nothing."""
        if self._finder is not None:
            self._finder.stop()
        for group in ("log-find", "log-count"):
            self._pane.workers.cancel_group(self._pane, group)
        self.needle, self._finder, self._searching = None, None, False
        self._pane.marks = frozenset()
        self._pane.news = ""
        self._pane.seek(None)
        self._pane.paint_bar()

    def go_on(self) -> None:
        """The log has grown: count what is new."""
        if self._finder is not None and self._finder.complete and self._finder.share < 1:
            self._count_on()

    # --- going

    def _begin(self, needle: Needle) -> None:
        document = self._pane.document
        self.clear()
        if document is None:
            return
        self.needle, self._finder = needle, Finder(document, needle)
        self._pane.seek(needle.pattern)

    def _go(self, step: int, start: int, *, whole: bool = False) -> None:
        if self.needle is None or self._finder is None:
            return
        if self._finder.stopped:
            self._begin(self.needle)
        here = not whole and not self.needle.pattern.limited
        number = find(self._pane.kept.lines, self.needle, start, step) if here else None
        if number is not None:
            self._pane.reveal(self._pane.kept.lines[number])
            self._count_on()
            return
        self._searching = True
        self._pane.workers.cancel_group(self._pane, "log-count")
        self._tell("searching… esc stops")
        self._pane.work("log-find", self._beyond, self._finder, step, None if whole else start)

    async def _beyond(self, finder: Finder, step: int, start: int | None) -> None:
        """Seek beyond what is shown; without ``start`` in the whole log."""
        whole = start is None
        try:
            with self._guarded(finder):
                if start is not None and finder.needle.pattern.limited:
                    line = await self._in_window(finder, start, step)
                    if line is not None:
                        self._pane.reveal(line)
                        return
                spot = await finder.from_end(step) if whole else await finder.beyond(step)
                if spot is not None:
                    await self._show(finder, spot, step)
                elif not finder.stopped and (whole or not await self._round(finder, step)) and not finder.stopped:
                    self._pane.complain(self._nowhere())
        finally:
            if finder is self._finder:
                self._searching = False
                self._count_on()

    async def _in_window(self, finder: Finder, start: int, step: int) -> Line | None:
        """The next match in what the pane holds; an expression is tried beside the keys."""
        lines, needle = list(self._pane.kept.lines), finder.needle
        if needle.pattern.limited:
            number = await asyncio.to_thread(find, lines, needle, start, step)
        else:
            number = find(lines, needle, start, step)
        return None if number is None else lines[number]

    def _nowhere(self) -> str:
        """That there is no match, as far as it is known."""
        document = self._pane.document
        if document is None or (document.window.filter.empty and not document.hidden_library):
            return f"not in this log: {self._words}"
        return f"not in the lines of this log that are shown: {self._words}; e, & and a choose which are"

    @contextmanager
    def _guarded(self, finder: Finder) -> Iterator[None]:
        """What goes wrong is said; an expression that takes too long is given up."""
        with told(self._pane.complain):
            try:
                yield
            except PatternTooSlow:
                finder.stop()
                raise

    async def _round(self, finder: Finder, step: int) -> bool:
        """From the other end of the log to what is shown, and in that from its other end; whether there is a match."""
        spot = await finder.from_end(step, to_window=True)
        lines = self._pane.kept.lines
        if spot is not None:
            await self._show(finder, spot, step)
        else:
            line = await self._in_window(finder, len(lines) - 1 if step < 0 else 0, step)
            if line is None:
                return False
            self._pane.reveal(line)
        self._pane.complain("from the other end again", severity="information")
        return True

    async def _show(self, finder: Finder, spot: Spot, step: int) -> None:
        """Show the line at a spot; where it is not shown as it was written, go on to the next."""
        pane, found = self._pane, spot
        for _ in range(_TRIES):
            at = await pane.filling.to_spot(found)
            line = nearest(pane.kept.lines, at, step, finder.needle)
            if line is not None:
                pane.reveal(line)
                return
            following = await finder.further(found, step)
            if following is None:
                break
            found = following
        self._pane.complain(self._nowhere())

    def _start(self, step: int) -> int:
        """From where to go on."""
        lines, current = self._pane.kept.lines, self._pane.cursor.current
        number = self._number(current) if current is not None else -1
        if number >= 0:
            return number + step
        shown = self._pane.shown_lines
        if not shown:
            return 0 if step > 0 else len(lines) - 1
        return self._number(shown[0 if step > 0 else -1])

    def _before_this_error(self) -> int:
        """Before the traceback in which one is, and before what belongs to the same failure."""
        lines, current = self._pane.kept.lines, self._pane.cursor.current
        number = self._number(current)
        head = current.head if current is not None else None
        if head is not None:
            number = self._number(head)
        start = number - 1
        while start >= 0 and number - start <= _NEAR and ERRORS.pattern.matches(lines[start].text):
            number, start = start, start - 1
        return start

    def _number(self, line: object) -> int:
        return next((number for number, one in enumerate(self._pane.kept.lines) if one is line), -1)

    # --- counting

    def _count_on(self) -> None:
        """Count what has not been counted yet; one thing after the other, for two searches would hold up the keys."""
        finder = self._finder
        if finder is not None and not finder.stopped and not self._searching:
            finder.complete = False
            self._pane.work("log-count", self._count, finder)
        self._tell("")

    async def _count(self, finder: Finder) -> None:
        with self._guarded(finder):
            while not finder.stopped and not await finder.count():
                self._tell("")
        place = self._pane.single
        if place is not None and finder is self._finder:
            self._pane.marks = finder.marks(place, BUCKETS)
            self._pane.paint_bar()
        self._tell("")

    @property
    def _words(self) -> str:
        if self.needle is None:
            return ""
        return "failures" if self.needle is ERRORS else f"/{visible(self.needle.text)}/"

    def _tell(self, what: str) -> None:
        """What the search does; else how many matches there are, and soon which of them one is at."""
        finder = self._finder
        if finder is None:
            return
        what = "stopped" if finder.stopped else what
        if not what and finder.known and not finder.complete:
            return  # only what has been written since is counted: soon enough
        counted = "" if finder.complete or finder.share > _MOST_OF_IT else f", {finder.share:.0%} counted"
        self._pane.news = f"{self._words} {what or f'{finder.total:,}{counted}'}"
        if finder.complete and not what:
            self._pane.work("log-which", self._which, finder)

    async def _which(self, finder: Finder) -> None:
        """Which of the matches one is at; that is known in the log of one file."""
        place, current = self._pane.single, self._pane.cursor.current
        origin = current.row.origin if current is not None else None
        mark = origin.mark if isinstance(origin, Found) else None
        if place is None or current is None or not isinstance(mark, Mark):
            return
        pattern = finder.needle.pattern
        if pattern.slow or not pattern.matches(current.text):
            return
        number = await asyncio.to_thread(finder.number_of, place, mark.start)
        if number is not None and finder is self._finder:
            self._pane.news = f"{self._words} {number:,} of {finder.total:,}"
