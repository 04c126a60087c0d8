"""The keys of a view, made from the registry of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.binding import Binding

from slurmtui.actions import registry

if TYPE_CHECKING:
    from textual.binding import BindingType

FIRST = frozenset({"ctrl+c", "ctrl+p", "tab", "slash", "colon"})
"""Keys that are heard before any widget: what is typed right after the slash belongs to the prompt already."""


def bindings_for(place: str) -> list[BindingType]:
    """The bindings of a place, made from the registry; each has the action's id, so that a keymap can move it."""
    return [
        Binding(
            ",".join((action.key, *action.aliases)), f"act('{action.id}')", action.title, id=action.id, show=False,
            priority=action.key in FIRST,
        )
        for action in registry.at(place)
    ]  # fmt: skip


def keys_of(place: str) -> list[BindingType]:
    """The keys that a widget has while it has the focus: those of its own place; its screen carries them out."""
    return [
        Binding(",".join((action.key, *action.aliases)), f"screen.act('{action.id}')", action.title, id=action.id)
        for action in registry.ACTIONS
        if place in action.places
    ]
