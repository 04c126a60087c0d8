"""The palette: all actions of this place by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from slurmtui.actions import registry
from slurmtui.views.base import ViewScreen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slurmtui.actions.model import Action
    from slurmtui.app import SlurmtuiApp


class ActionProvider(Provider):
    """Offers the actions of the view; one that cannot be used now says why when it is chosen."""

    def _actions(self) -> Iterator[tuple[Action, str]]:
        if isinstance(self.screen, ViewScreen):
            own = cast("SlurmtuiApp", self.app).own_keys
            for action in registry.at(self.screen.PLACE):
                yield action, f"{action.title}  ({registry.key_label(registry.key_of(action, own))})"

    def _start(self, action: Action) -> None:
        screen = cast("ViewScreen", self.screen)
        cast("SlurmtuiApp", self.app).start(action, screen.context())

    async def discover(self) -> Hits:
        """All of them."""
        for action, title in self._actions():
            yield DiscoveryHit(title, lambda action=action: self._start(action), help=action.help)

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for action, title in self._actions():
            score = matcher.match(f"{title} {action.help}")
            if score > 0:
                yield Hit(score, matcher.highlight(title), lambda action=action: self._start(action), help=action.help)
