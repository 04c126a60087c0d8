"""Keeps how the views were left: written a moment after the last change, and when the console ends."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from slurmtui.store.view_state import ViewMemory, cluster_name

if TYPE_CHECKING:
    from slurmtui.session import Session
    from slurmtui.store.view_state import ViewState

SAVE_SECONDS = 1.0

_log = logging.getLogger(__name__)


class Keeper:
    """Writes the memory of the views behind the console's back."""

    def __init__(self, session: Session) -> None:
        place = session.place
        self.memory = ViewMemory.of(cluster_name(place.environment, place.label))
        self._task: asyncio.Task[None] | None = None

    def remember(self, place: str, state: ViewState) -> None:
        """Remember how a view is left."""
        self.memory.keep(place, state)
        self.soon()

    def remember_view(self, place: str) -> None:
        """Remember which view is shown."""
        self.memory.keep_last(place)
        self.soon()

    def keep_filter(self, place: str, name: str, text: str) -> None:
        """Give a filter of a view a name; without a text the name is forgotten."""
        self.memory.keep_filter(place, name, text)
        self.soon()

    def soon(self) -> None:
        """Write what has changed, a moment from now."""
        if self.memory.dirty and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._later(), name="keep the views")

    async def _later(self) -> None:
        await asyncio.sleep(SAVE_SECONDS)
        await self.now()

    async def now(self) -> None:
        """Write what has changed. That it cannot be written is no reason to disturb anybody."""
        if not self.memory.dirty:
            return
        try:
            await asyncio.to_thread(self.memory.save)
        except OSError as error:
            _log.warning("how the views were left cannot be written to %s: %s", self.memory.path, error)

    async def end(self) -> None:
        """Write the last changes, and stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.now()
