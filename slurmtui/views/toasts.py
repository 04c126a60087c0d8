"""The sentences at the edge of the screen: each is there once, and goes when it is no longer true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App

from slurmtui.models.text import visible

if TYPE_CHECKING:
    from textual.notifications import Notify

_SECONDS = 6


class Toasts(App[int]):
    """An app that says sentences."""

    def tell(self, text: str, *, severity: Any = "information") -> None:
        """One sentence at the edge of the screen; control characters in it are made visible."""
        self.notify(_shown(text), severity=severity, markup=False, timeout=_SECONDS)

    def take_back(self, text: str) -> None:
        """Take a sentence away that was told."""
        self._forget(_shown(text))
        self._refresh_notifications()

    def _on_notify(self, event: Notify) -> None:
        """One that is still there is told anew, in place of a second time."""
        self._forget(event.notification.message)

    def _forget(self, message: str) -> None:
        for told in list(self._notifications):
            if told.message == message:
                self._unnotify(told, refresh=False)


def _shown(text: str) -> str:
    return "\n".join(visible(line) for line in text.splitlines())
