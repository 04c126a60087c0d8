"""What the console says of rescue by itself: a sentence at its start, and one when its own server has died."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from slurmtui.store.rescue import find_cases, words
from slurmtui.widgets.beside import start

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slurmtui.app import SlurmtuiApp
    from slurmtui.store.snapshot import Part, Snapshot


class FirstLook:
    """On the start of the console one sentence on how much there is to rescue, and one whenever its server has died."""

    def __init__(self, console: SlurmtuiApp) -> None:
        self._console = console
        self._looked = False
        self._failing: float | None = None
        console.store.subscribe(self._published)
        self._published(console.store.snapshot)

    def _published(self, snapshot: Snapshot) -> None:
        prefect = snapshot.flow_runs
        if not self._looked and _answered(snapshot.queue) and _answered(prefect):
            self._looked = True
            self._failing = prefect.failing_since
            self._start(self._tell)
        elif prefect.failing_since != self._failing:
            self._failing = prefect.failing_since
            if self._looked and prefect.error:
                self._start(self._look_at_server)

    def _start(self, work: Callable[[], Awaitable[None]]) -> None:
        # Without a snapshot: Textual keeps the worker for long, and a queue of many jobs would be kept with it.
        start(self._console, work, "rescue")

    async def _tell(self) -> None:
        from slurmtui.store.rescue_look import look_beyond  # noqa: PLC0415 - the console starts without paying for it

        beyond = await look_beyond(self._console.session, self._console.store.snapshot)
        said = words(find_cases(self._console.store.snapshot, beyond))
        if said:
            self._console.tell(said, severity="warning")

    async def _look_at_server(self) -> None:
        from slurmtui.control import server  # noqa: PLC0415 - as above

        if (await asyncio.to_thread(server.status, 1.0)).state == "crashed":
            self._console.tell("The private Prefect server has died:  !  offers to start it again", severity="error")


def _answered(part: Part[Any]) -> bool:
    """Whether the source has said something, if only that it cannot."""
    return part.at is not None or bool(part.error)
