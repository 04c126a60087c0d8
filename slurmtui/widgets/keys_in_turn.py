"""A screen that takes its keys one at a time, in the order in which they were typed.

A key is handed to what has the focus when the key arrives; an enter that moves the focus goes through the whole screen
before it is understood. Of a line typed at once (ahead, over a slow line) what follows the enter would therefore reach
the field before it. Here a key waits until all is done that the key before it led to, and until the screen is not at
work on what the key is meant for.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from textual import events, on
from textual.message import Message
from textual.screen import Screen

if TYPE_CHECKING:
    from textual.widget import Widget

Answer = TypeVar("Answer")
Typed = events.Key | events.Paste

_NEVER_HELD = frozenset({"escape", "ctrl+c", "ctrl+q", "ctrl+z"})
"""Keys that lead away from what is waited for."""


class _Passed(Message):
    """Goes the way of a key, behind it: where it arrives the key has been before."""

    def __init__(self, first: Widget, *, again: bool) -> None:
        super().__init__()
        self.first, self.again = first, again


class KeysInTurn(Screen[Answer], Generic[Answer]):
    """The screen; the app asks it whether it ``takes`` a key."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[Typed] = deque()
        self._turn: Typed | None = None
        self._first: Widget | None = None  # that the key was handed to
        self._held = False

    def takes(self, event: Typed) -> bool:
        """Whether this key may be handed on now; if not it is kept, and comes again when it is its turn."""
        if self._held and isinstance(event, events.Key) and event.key in _NEVER_HELD:
            self.let_go(keep=False)
            return True
        if event is not self._turn:
            if self._first is not None and not self._first.is_attached:  # what followed the key went away with it
                self._turn = self._first = None
            if self._turn is not None or self._held or self._waiting:
                self._waiting.append(event)
                self._next()
                return False
            self._turn = event
        self._first = self.focused or self
        self.app.call_later(self._follow, again=False)
        return True

    def hold(self) -> None:
        """Keys wait from now on."""
        self._held = True

    def let_go(self, *, keep: bool) -> None:
        """Keys wait no longer; without ``keep`` those that did are forgotten: what they were meant for did not come."""
        self._held = False
        if not keep:
            self._waiting.clear()
        self._next()

    def on_screen_suspend(self) -> None:
        """Another screen has the keys now."""
        self._turn = self._first = None
        self._waiting.clear()

    def _next(self) -> None:
        if self._waiting and self._turn is None and not self._held:
            self._turn = self._waiting.popleft()
            self.app.post_message(self._turn)

    def _follow(self, *, again: bool) -> None:
        """In the app, behind the key: once on its way to the app, and again behind what the app has made of it."""
        if self._first is not None and not self._first.post_message(_Passed(self._first, again=again)):
            self._done()

    @on(_Passed)
    def _passed(self, event: _Passed) -> None:
        event.stop()
        if event.first is not self._first:
            return
        if event.again:
            self._done()
        else:
            self.app.call_later(self._follow, again=True)

    def _done(self) -> None:
        self._turn = self._first = None
        self._next()
