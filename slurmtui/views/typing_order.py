"""Keys are understood in the order in which they were typed, also when many arrive at once."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.events import Key

from slurmtui.widgets.keys_in_turn import KeysInTurn
from slurmtui.widgets.line_input import LineInput


class TypingOrder(App[int]):
    """The app's part of it: it is where keys arrive."""

    async def on_event(self, event: Any) -> None:
        """A key goes into the line that has the focus at once, or waits for its turn where the screen wants that."""
        typed = type(event).__name__ in {"Key", "Paste"} and not event.is_forwarded
        if typed and isinstance(self.screen, KeysInTurn) and not self.screen.takes(event):
            return
        if not typed or not self.app_focus or not await self._typed(event):
            await super().on_event(event)

    async def _typed(self, event: Any) -> bool:
        """Into a line that has the focus, at once; False when none has it, or the key means nothing there."""
        line = self.focused
        if not isinstance(line, LineInput):
            return False
        is_key = isinstance(event, Key)
        if is_key and await self._check_bindings(event.key, priority=True):
            return True
        return line.take(event) or (is_key and await self._check_bindings(event.key))
