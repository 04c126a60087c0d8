"""Has listings made: at once while the queue is small, in a thread when it is large; of several wishes the newest."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from slurmtui.errors import PatternTooSlow
from slurmtui.models.records import PIECE_ROWS
from slurmtui.store.arrange import Arranger, Superseded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slurmtui.models.job_table import JobTable
    from slurmtui.store.arrange import Wanted
    from slurmtui.store.query_lines import Listing

SMALL = PIECE_ROWS
"""So many jobs are arranged in a few milliseconds: nobody would notice that the console did nothing else."""


class Lister:
    """Gives each listing to ``deliver`` in the event loop, and a filter that takes too long to ``refuse``.

    ``start`` runs it beside the keys. Of several wishes only the newest is answered.
    """

    def __init__(
        self,
        deliver: Callable[[Wanted, Listing], None],
        refuse: Callable[[str, PatternTooSlow], None],
        start: Callable[[Callable[[], Awaitable[None]]], object],
    ) -> None:
        self._deliver, self._refuse, self._start = deliver, refuse, start
        self._arranger = Arranger()
        self._wish: tuple[JobTable, Wanted] | None = None
        self._done: tuple[JobTable, Wanted, Listing] | None = None
        self._busy = False

    @property
    def busy(self) -> bool:
        """Whether a listing is on its way."""
        return self._busy

    def ask(self, table: JobTable, wanted: Wanted) -> None:
        """Have ``wanted`` shown of ``table``: now, or as soon as a thread has arranged it."""
        wish, done = (table, wanted), self._done
        self._wish = wish
        if done is not None and done[0] is table and done[1] == wanted:
            self._wish = None
            self._deliver(wanted, done[2])
        elif self._busy:
            return
        elif len(table) <= SMALL:
            try:
                listing = self._arranger.arrange(table, wanted)
            except PatternTooSlow as error:
                self._give_up(wish, error)
            else:
                self._finish(wish, listing)
        else:
            self._busy = True
            self._start(self._work)

    def _finish(self, wish: tuple[JobTable, Wanted], listing: Listing) -> None:
        self._wish, self._done = None, (*wish, listing)
        self._deliver(wish[1], listing)

    def _give_up(self, wish: tuple[JobTable, Wanted], error: PatternTooSlow) -> None:
        self._wish = None
        self._refuse(wish[1].filter, error)

    async def _work(self) -> None:
        try:
            while (wish := self._wish) is not None:
                try:
                    listing = await asyncio.to_thread(self._arrange, wish)
                except Superseded:
                    continue
                except PatternTooSlow as error:
                    if self._wish is wish:
                        self._give_up(wish, error)
                    continue
                if self._wish is wish:
                    self._finish(wish, listing)
        finally:
            self._busy = False

    def _arrange(self, wish: tuple[JobTable, Wanted]) -> Listing:
        return self._arranger.arrange(*wish, lambda: self._wish is not wish)
