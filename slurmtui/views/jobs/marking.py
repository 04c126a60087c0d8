"""Marks many rows at once: a range, or all that are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from slurmtui.store.query_lines import Listing
    from slurmtui.views.base import ViewScreen


class Marking:
    """Marks of a list of jobs. ``listing`` gives what is shown now, None before the first answer."""

    def __init__(self, screen: ViewScreen, listing: Callable[[], Listing | None]) -> None:
        self._screen, self._listing = screen, listing
        self._anchor = self._begun = ""

    def doing(self) -> dict[str, Callable[[], None]]:
        """What the screen does at the keys for it."""
        return {"mark-range": self.mark_range, "mark-all": self.mark_all}

    def mark_range(self) -> None:
        """The first time: remember the row; the second time: mark all rows from there to here."""
        screen, listing, here = self._screen, self._listing(), self._screen.table.cursor_key
        if not here or listing is None:
            screen.console.tell(screen.context().no_job or "There is nothing under the cursor")
            return
        start = listing.nearest(self._anchor) if self._anchor else None
        end = listing.nearest(here)
        if start is None or end is None:
            self._anchor = here
            screen.table.marks |= {here}
            screen.paint_lines()
            self._begun = f"A range begins at {here}: go to its other end and press v again"
            screen.console.tell(self._begun)
            return
        self._anchor = ""
        screen.console.take_back(self._begun)
        low, high = sorted((start, end))
        self._mark(_keys_between(listing, low, high))

    def mark_all(self) -> None:
        """Mark every row that is shown; again, when all are marked, none.

        An array of which a filter hides some tasks is not marked as a whole, but task by task.
        """
        listing = self._listing()
        if listing is None:
            self._screen.console.tell(self._screen.context().no_job or "There is nothing to be marked")
            return
        self._anchor = ""
        self._mark(_all_keys(listing))

    def _mark(self, keys: Iterable[str]) -> None:
        table, wanted = self._screen.table, frozenset(keys)
        table.marks = table.marks - wanted if wanted <= table.marks else table.marks | wanted
        self._screen.paint_lines()


def _all_keys(listing: Listing) -> Iterable[str]:
    for place in range(len(listing)):
        line = listing.line(place)
        if line.group is None or (not line.depth and not line.group.hidden):
            yield line.key
        elif not line.depth:
            yield from listing.parts(line.group.id)


def _keys_between(listing: Listing, low: int, high: int) -> Iterable[str]:
    """The rows of a range. An array that is open is meant as a whole only when all its tasks are in the range too."""
    for place in range(low, high + 1):
        line = listing.line(place)
        if line.group is None:
            yield line.key
            continue
        last = place
        while last + 1 < len(listing) and listing.line(last + 1).depth > line.depth:
            last += 1
        if last > place and place < high < last:
            continue  # the range ends among its tasks: those are meant
        if line.group.hidden:
            yield from listing.parts(line.group.id) if last == place else ()
        else:
            yield line.key
