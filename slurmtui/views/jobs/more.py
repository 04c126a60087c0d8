"""What squeue does not tell of arrays: tasks that have ended, and lists of waiting tasks that it has cut."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from slurmtui.errors import SlurmtuiError
from slurmtui.models.ids import base_id
from slurmtui.views.jobs.ended import EndedTallies
from slurmtui.widgets.beside import start

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from slurmtui.models.job_group import JobGroup
    from slurmtui.store.query_lines import Listing
    from slurmtui.views.base import ViewScreen


class More:
    """Asks for it when it is looked at; ``again`` is called when more is known."""

    def __init__(self, screen: ViewScreen, again: Callable[[], None]) -> None:
        self._screen, self._again = screen, again
        self.ended = EndedTallies()
        self.whole_ids: dict[str, str] = {}
        self._refused: set[str] = set()  # told once

    def look(self, listing: Listing, shown: range) -> None:
        """Ask for what lacks: ended tasks of the user's arrays on screen, lists of open arrays that were cut."""
        due = self.ended.due(self._mine(listing, shown))
        if due:
            self._run(partial(self._ask_ended, due), "ended tasks")
        for base in listing.opened:
            group = listing.groups.get(base.encode())
            if group is not None and not group.whole and base not in self._refused:
                self._run(partial(self._ask_whole, listing, base), f"whole {base}")

    def _run(self, work: Callable[[], Awaitable[None]], group: str) -> None:
        start(self._screen, work, group, exclusive=True)

    def _mine(self, listing: Listing, shown: range) -> Iterable[JobGroup]:
        user = self._screen.console.session.user
        for place in shown:
            line = listing.line(place) if place < len(listing) else None
            if line and line.group and not line.depth and listing.table.plain(line.row, "user") == user:
                yield line.group

    async def _ask_ended(self, arrays: dict[str, dict[str, int]]) -> None:
        await self.ended.ask(self._screen.console.session.slurm, arrays)
        self._again()

    async def _ask_whole(self, listing: Listing, base: str) -> None:
        found = {}
        for row in listing.names.rests.get(base.encode(), ()):
            shown_id = listing.table.plain(row, "id")
            if listing.names.rest(row) is None and shown_id not in self.whole_ids:
                try:
                    whole = await self._screen.console.session.slurm.whole_id(listing.table.job(row))
                except SlurmtuiError as error:
                    self._refused.add(base)
                    self._screen.console.tell(f"the waiting tasks of {base} are not known: {error}", severity="warning")
                    return
                if whole is not None:
                    found[shown_id] = whole
        if found:
            known = {shown_id: whole for shown_id, whole in self.whole_ids.items() if base_id(shown_id) != base}
            self.whole_ids = known | found
            self._again()
