"""All actions, in one place: keys, footer, help, palette and docs/keys.md are made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions import cluster, clusters, general, logs, rescue, tables, touch_jobs, touch_runs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slurmtui.actions.model import Action, Context

ACTIONS: tuple[Action, ...] = (
    *general.ACTIONS, *cluster.ACTIONS, *tables.ACTIONS, *touch_runs.ACTIONS, *touch_jobs.ACTIONS,
    *clusters.ACTIONS, *rescue.ACTIONS, *logs.ACTIONS,
)  # fmt: skip
BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}

_KEY_NAMES = {
    "slash": "/", "question_mark": "?", "colon": ":", "at": "@", "asterisk": "*", "escape": "esc", "plus": "+",
    "underscore": "_", "less_than_sign": "<", "greater_than_sign": ">", "equals_sign": "=", "exclamation_mark": "!",
    "left": "←", "right": "→", "ampersand": "&", "vertical_line": "|", "minus": "-", "number_sign": "#",
}  # fmt: skip


def at(place: str) -> tuple[Action, ...]:
    """The actions of a place, in the order of the registry; a key of the place goes before one that is everywhere."""
    own = {key for action in ACTIONS if place in action.places for key in (action.key, *action.aliases)}
    return tuple(action for action in ACTIONS if place in action.places or (action.at(place) and action.key not in own))


def key_of(action: Action, keymap: Mapping[str, str]) -> str:
    """The first key of an action, as Textual names it."""
    return keys_of(action, keymap)[0]


def keys_of(action: Action, keymap: Mapping[str, str]) -> tuple[str, ...]:
    """All keys of an action, as Textual names them; a person's own take the place of the usual ones."""
    return tuple(keymap[action.id].split(",")) if action.id in keymap else (action.key, *action.aliases)


def key_label(key: str) -> str:
    """A key as a person calls it (``slash`` is ``/``)."""
    return _KEY_NAMES.get(key, key)


def key_line(context: Context, keymap: Mapping[str, str]) -> list[tuple[str, str]]:
    """(key, words) of the actions that can be used now, most useful first."""
    usable = [
        action
        for action in at(context.place)
        if action.footer and not action.refusal(context) and not (action.touches and context.console.read_only)
    ]
    usable.sort(key=lambda action: action.footer)
    return [(key_label(key_of(action, keymap)), action.words(context)) for action in usable]


def keys_page() -> str:
    """docs/keys.md: every action with its key, place and meaning."""
    lines = [
        "# Keys",
        "",
        "Made from the registry of actions by `python -m slurmtui.actions.registry`.",
        "Lower case looks, upper case touches (in a log, `N` and `G` look as well).",
        "Any of them can be changed in the configuration: `keys: {run.cancel: ctrl+x}`.",
        "",
        "| key | action | where | what it does |",
        "|---|---|---|---|",
    ]
    for action in ACTIONS:
        shown = [key_label(key).replace("|", "\\|") for key in (action.key, *action.aliases)]  # | parts the table
        keys = ", ".join(f"`{key}`" for key in shown)
        where = "everywhere" if "any" in action.places else ", ".join(action.places)
        lines.append(f"| {keys} | {action.title} (`{action.id}`) | {where} | {action.help} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(keys_page(), end="")  # noqa: T201 - this is the command that writes the page
