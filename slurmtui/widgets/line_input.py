"""A line to type into, in which keys that arrive together do what they do in the order in which they were typed.

Textual's own hears a key that types when the key reaches it, and a key that edits (backspace, left, enter) only after
that key has gone up through every widget around it: what is typed behind overtakes it. So the app hands the keys to
the line that has the focus at once, one after another, and nothing of what a key does waits for a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import events
from textual.widgets import Input

if TYPE_CHECKING:
    from collections.abc import Callable


class LineInput(Input):
    """``entered`` is told at once what enter was pressed on; where it answers False, a message is posted as well."""

    def __init__(self, value: str = "", *, entered: Callable[[str], object] | None = None, **options: Any) -> None:
        super().__init__(value, compact=True, **options)
        self._entered = entered

    def take(self, event: events.Key | events.Paste) -> bool:
        """Put in what is typed or pasted; False for a key that types nothing."""
        if isinstance(event, events.Paste):
            self._on_paste(event)
            return True
        self._restart_blink()
        if not event.is_printable or event.character is None:
            return False
        self.replace(event.character, *self.selection)
        return True

    async def action_submit(self) -> None:
        """Tell what was entered."""
        if self._entered is None or self._entered(self.value) is False:
            await super().action_submit()
