"""Keeps how the views were left: written a moment after the last change, and when the console ends."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from slurmtui.atomic import write_private
from slurmtui.store.poller import woken
from slurmtui.store.view_state import ViewMemory, cluster_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slurmtui.session import Session
    from slurmtui.store.log_panes import Tree
    from slurmtui.store.view_state import ViewState

SAVE_SECONDS = 1.0

_log = logging.getLogger(__name__)


class Keeper:
    """Writes the memory of the views behind the console's back."""

    def __init__(self, session: Session) -> None:
        place = session.place
        self.memory = ViewMemory.of(cluster_name(place.environment, place.label))
        self.panes_file = self.memory.path.with_suffix(".panes")
        self._plan: Tree | None = None
        self._plan_changed = False
        self._task: asyncio.Task[None] | None = None
        self._more = False  # something has changed since the last write began
        self._at_once = asyncio.Event()

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

    def remember_panes(self, plan: Tree | None) -> None:
        """Remember how the panes of the Logs view lie."""
        self._plan, self._plan_changed = plan, True
        self.soon()

    def soon(self) -> None:
        """Write what has changed, a moment from now."""
        if not self.memory.dirty and not self._plan_changed:
            return
        self._more = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._later(), name="keep the views")

    async def _later(self) -> None:
        """One write after the other: of two side by side, the older could be moved into place last."""
        while self._more:
            await woken(self._at_once, SAVE_SECONDS)
            self._at_once.clear()
            self._more = False
            await self._write()

    async def _write(self) -> None:
        if self.memory.dirty:
            await self._safely(self.memory.path, self.memory.save)
        if self._plan_changed:
            self._plan_changed = False  # before it is read: what changes while it is written is news again
            await self._safely(self.panes_file, self._save_panes)

    def _save_panes(self) -> None:
        from slurmtui.store import log_panes  # noqa: PLC0415 - the console starts without paying for it

        write_private(self.panes_file, log_panes.encode(self._plan))

    async def _safely(self, path: Path, write: Callable[[], None]) -> None:
        """That it cannot be written is no reason to disturb anybody."""
        try:
            await asyncio.to_thread(write)
        except OSError as error:
            _log.warning("how the views were left cannot be written to %s: %s", path, error)
        except Exception:  # noqa: BLE001 - a fault of the program: its log file tells, and the console goes on
            _log.exception("how the views were left was not written to %s", path)

    async def end(self) -> None:
        """Write the last changes, and stop; what is being written already is waited for."""
        if self._task is not None and not self._task.done():
            self._at_once.set()
            await asyncio.wait((self._task,))
        await self._write()
