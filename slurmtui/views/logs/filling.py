"""Keeps the part of a log that a pane shows filled: follows the end, reads on where one comes near an end of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from slurmtui.errors import PatternTooSlow
from slurmtui.models.text import visible
from slurmtui.store.log_live import spot_of
from slurmtui.store.log_merge import Found
from slurmtui.views.faults import told
from slurmtui.views.logs.rows import library_words, row_of

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator, Sequence

    from slurmtui.store.log_document import LogDocument
    from slurmtui.store.log_filter import LogFilter
    from slurmtui.store.log_live import Spot
    from slurmtui.views.logs.pane import LogPane
    from slurmtui.widgets.log_rows import Line, LogRow

SHOWN_SECONDS = 1.0
"""How often the files and the server are asked while a log is on screen."""
HIDDEN_SECONDS = 5.0
FIRST_LINES = 300
CHUNK = 400
FOLLOWED = 2_000
"""Lines that are kept while the end is followed."""
MOST = 8_000
"""Lines that are kept while one reads."""


class Filling:
    """Between a pane and its log."""

    def __init__(self, pane: LogPane) -> None:
        self._pane = pane
        self._extending = False
        self._failed = False
        self._said = ""  # what went wrong at the last look

    def stop(self) -> None:
        """The pane shows nothing any more."""
        for group in ("log", "log-more"):
            self._pane.workers.cancel_group(self._pane, group)
        self._extending = False

    # --- moving

    async def to_end(self) -> None:
        """Show the end, and follow."""
        document = self._pane.document
        if document is not None and document.window.at_end:
            self._pane.follow = True
        elif document is not None:
            self.put(await document.to_end(self._first))

    async def to_start(self) -> None:
        """Show the beginning."""
        document = self._pane.document
        if document is not None and not document.window.at_start:
            self.put(await document.to_start(self._first), 0)
        self._pane.follow = False
        self._pane.scroll_rows(0)

    async def to_spot(self, spot: Spot) -> int:
        """Show the lines around a spot; the number of the line there."""
        document = self._pane.document
        if document is None:
            return 0
        found, at = await document.to_spot(spot, self._first, self._first)
        self.put(found, at)
        return at

    async def want(self, wanted: LogFilter) -> None:
        """Show other lines; one stays where one was.

        Raises:
            PatternTooSlow: it cannot be told in time which lines those are; all are shown then.
        """
        try:
            await self._want(wanted)
        except PatternTooSlow:
            await self._want(wanted._replace(needle=None))
            raise

    async def _want(self, wanted: LogFilter) -> None:
        pane, document = self._pane, self._pane.document
        if document is None:
            return
        anchor = next(origins(pane.shown_lines), None)
        following = pane.follow
        await document.choose(wanted)
        pane.show_title()
        if following or anchor is None:
            self.put(await document.to_end(self._first))
        else:
            await self.to_spot(spot_of(anchor))

    def put(self, found: Sequence[Found], at: int | None = None) -> None:
        """Show this part of the log: at its end, following it, or with the line number ``at`` in view."""
        self._pane.show(self.rows(found), at)
        self._pane.numbering.assign()
        self.extend()

    def rows(self, found: Iterable[Found]) -> list[LogRow]:
        """The lines as the pane shows them."""
        document = self._pane.document
        alone = document is not None and document.single is not None
        one_job = document is not None and document.one_job
        return [row_of(one, alone=alone, one_job=one_job) for one in found]

    @property
    def _first(self) -> int:
        """How many lines a window begins with."""
        return max(FIRST_LINES, 3 * self._pane.page_rows)

    # --- following

    async def follow(self, document: LogDocument) -> None:
        """Show the end of a log, then what is new, as long as the pane shows it."""
        await self._guarded(self._begin(document))
        while True:
            await asyncio.sleep(SHOWN_SECONDS if self._pane.on_screen else HIDDEN_SECONDS)
            await self._guarded(self._look(document))

    async def _begin(self, document: LogDocument) -> None:
        found = await document.to_end(self._first)
        self._pane.begin()
        self.put(found)
        self._explain(document)

    async def _look(self, document: LogDocument) -> None:
        pane = self._pane
        news = await document.look(self._first, following=pane.follow)
        if news.reset:
            self.put(news.found)
        elif news.found:
            pane.append(self.rows(news.found))
            pane.numbering.assign()
        if pane.follow and len(pane.kept.lines) > FOLLOWED + CHUNK:
            self._let_go(pane.drop_first(len(pane.kept.lines) - FOLLOWED), oldest=True)
        self._explain(document)
        pane.looked()

    async def _guarded(self, working: Coroutine[None, None, None]) -> None:
        """What goes wrong is said: in the empty pane, or once beside the lines that are there."""
        self._failed = False
        with told(self._say):
            try:
                await working
            except PatternTooSlow:
                if self._pane.document is not None:
                    await self._want(self._pane.document.window.filter._replace(needle=None))
                raise
        if not self._failed:
            self._said = ""

    def _say(self, text: str) -> None:
        self._failed = True
        self._pane.empty_text = visible(text)
        if self._pane.kept.lines and text != self._said:
            self._pane.complain(text)
        self._said = text

    def _explain(self, document: LogDocument) -> None:
        """Why there is no line."""
        text, elsewhere = document.why_empty, self._pane.facts().elsewhere
        if not document.window.filter.empty and document.window.at_start and document.window.at_end:
            text = "No line of this log is wanted: & and e choose other lines."
        elif document.hidden_library and document.window.at_start:
            text = f"Nothing of your own yet: {library_words(document.hidden_library)}."
        self._pane.empty_text = f"{text} Press T to read it there, on {elsewhere[1]}." if elsewhere else text

    # --- reading on

    def extend(self) -> None:
        """Read more where one comes near an end of the window."""
        document = self._pane.document
        if document is not None and not self._extending and self._step():
            self._extending, self._failed = True, False
            self._pane.work("log-more", self._extend, document)

    def _step(self) -> int:
        """-1 for older lines, 1 for newer ones, 0 when there are enough or no more."""
        pane, document = self._pane, self._pane.document
        if document is None or not pane.page_rows:
            return 0
        if not document.window.at_start and pane.rows_above < pane.margin:
            few = len(pane.kept.places) < pane.page_rows
            if few or not pane.follow:
                return -1
        return 1 if not document.window.at_end and pane.rows_below < pane.margin else 0

    async def _extend(self, document: LogDocument) -> None:
        try:
            while document is self._pane.document and (step := self._step()) and not self._failed:
                await self._guarded(self._extend_once(document, step))
        finally:
            self._extending = False

    async def _extend_once(self, document: LogDocument, step: int) -> None:
        pane = self._pane
        if step < 0:
            pane.prepend(self.rows(await document.older(CHUNK)))
            spare = min(len(pane.kept.lines) - MOST, pane.rows_below - pane.margin)
            if spare > 0 and not pane.follow:
                self._let_go(pane.drop_last(spare), oldest=False)
        else:
            pane.append(self.rows(await document.newer(CHUNK)))
            spare = min(len(pane.kept.lines) - MOST, pane.rows_above - pane.margin)
            if spare > 0:
                self._let_go(pane.drop_first(spare), oldest=True)
        pane.numbering.assign()

    def _let_go(self, dropped: Sequence[Line], *, oldest: bool) -> None:
        document = self._pane.document
        if document is None:
            return
        gone, kept = list(origins(dropped)), origins(self._pane.kept.lines)
        if oldest:
            document.let_go_oldest(gone, kept)
        else:
            document.let_go_newest(gone, kept)


def origins(lines: Iterable[Line]) -> Iterator[Found]:
    """The lines of the log that are shown by these."""
    return (line.row.origin for line in lines if isinstance(line.row.origin, Found))
