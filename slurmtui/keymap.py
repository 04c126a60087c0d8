"""Keys that a user gives to actions: understood as they are written, and checked before Textual sees them.

Textual takes unknown actions and impossible keys in silence, and tells of few clashes; so all of it is checked here.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

from slurmtui.models.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

ANYWHERE = "any"

_SIGNS = {
    " ": "space", "!": "exclamation_mark", '"': "quotation_mark", "#": "number_sign", "$": "dollar_sign",
    "%": "percent_sign", "&": "ampersand", "'": "apostrophe", "(": "left_parenthesis", ")": "right_parenthesis",
    "*": "asterisk", "+": "plus", ",": "comma", "-": "minus", ".": "full_stop", "/": "slash", ":": "colon",
    ";": "semicolon", "<": "less_than_sign", "=": "equals_sign", ">": "greater_than_sign", "?": "question_mark",
    "@": "at", "[": "left_square_bracket", "\\": "backslash", "]": "right_square_bracket", "^": "circumflex_accent",
    "_": "underscore", "`": "grave_accent", "{": "left_curly_bracket", "|": "vertical_line",
    "}": "right_curly_bracket", "~": "tilde",
}  # fmt: skip
_NAMED = frozenset({
    "enter", "escape", "tab", "space", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown", "up",
    "down", "left", "right", *(f"f{number}" for number in range(1, 13)), *_SIGNS.values(),
})  # fmt: skip
_OTHER_WORDS = {
    "esc": "escape", "return": "enter", "del": "delete", "ins": "insert", "pgup": "pageup", "page_up": "pageup",
    "pgdn": "pagedown", "pgdown": "pagedown", "page_down": "pagedown", "bs": "backspace", "spacebar": "space",
}  # fmt: skip
_SAME_AS = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+j": "enter", "ctrl+h": "backspace", "ctrl+[": "escape"}
_TAKEN = {
    "ctrl+c": "leaves the console, whatever else is wrong",
    "ctrl+s": "stops the output of many terminals",
    "ctrl+q": "resumes the output of many terminals",
    "ctrl+z": "suspends the console",
}
_MODIFIED = frozenset({"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "delete", "insert", "tab"})


def key_name(written: str) -> str | None:
    """A key as Textual names it (``/`` is ``slash``); None when there is no such key."""
    text = written if written == " " else written.strip()
    if text in _SIGNS:
        return _SIGNS[text]
    if re.fullmatch(r"[A-Za-z0-9]", text):
        return text
    folded = text.lower().replace("-", "+") if re.match(r"(?i)(ctrl|shift|alt|control)-", text) else text.lower()
    *modifiers, last = folded.split("+")
    modifiers = ["ctrl" if part == "control" else part for part in modifiers]
    last = _OTHER_WORDS.get(last, last)
    if not modifiers:
        return last if last in _NAMED else None
    if modifiers == ["shift"]:
        letter = last.upper() if re.fullmatch(r"[a-z]", last) else None
        return letter or (f"shift+{last}" if last in _MODIFIED else None)
    if modifiers == ["ctrl"] and (re.fullmatch(r"[a-z]", last) or last in _MODIFIED - {"tab"}):
        return f"ctrl+{last}"
    return None


def normalised(keys: Mapping[str, str], touching: Collection[str] = ()) -> dict[str, str]:
    """The keymap as Textual takes it; what is refused is left out (``validate`` tells of it)."""
    found = {}
    for action, written in keys.items():
        taken = [part for part in split(written) if not refusal(part, touches=action in touching)]
        names = [name for name in map(key_name, taken) if name is not None]
        if names:
            found[action] = ",".join(names)
    return found


def is_printable(key: str) -> bool:
    """Whether a key, as Textual names it, types a character."""
    return len(key) == 1 or key == "space" or key in _SIGNS.values()


def split(written: str) -> list[str]:
    """The keys of ``x, ctrl+x``; a comma alone is the comma."""
    return [written] if written.strip() in {",", ""} else [part for part in written.split(",") if part.strip()]


def validate(
    keys: Mapping[str, str],
    defaults: Mapping[str, str],
    *,
    places: Mapping[str, Collection[str]] | None = None,
    touching: Collection[str] = (),
) -> list[str]:
    """What is wrong with a user's keys, one sentence each, beginning with ``keys.<action>:``.

    Args:
        keys: action id to key, or keys with commas between, as the user wrote them.
        defaults: every action id with its keys without the user.
        places: where each action works; two clash only in the same place. Without it, everywhere.
        touching: the actions that touch something; those must not lie on a key that is pressed by accident.
    """
    problems: list[str] = []
    for action, written in keys.items():
        if action not in defaults:
            problems.append(f"keys.{action}: there is no action {action!r}: {did_you_mean(action, defaults)}")
            continue
        for part in split(written):
            sentence = refusal(part, touches=action in touching)
            if sentence:
                problems.append(f"keys.{action}: {sentence}")
    return problems + _clashes(keys, defaults, places or {})


def refusal(written: str, *, touches: bool = False) -> str:
    """Why a key cannot be used, "" when it can."""
    name = key_name(written)
    text = written.strip()
    if name is None:
        return f"there is no key {text!r}: {_what_instead(text)}"
    if name in _SAME_AS:
        return f"{text} cannot be told from {_SAME_AS[name]} by a terminal."
    if name in _TAKEN:
        return f"{text} {_TAKEN[name]}: take another."
    if touches and (name in _NAMED or (len(name) == 1 and not name.isupper())):
        return f"{text} is too easily pressed for an action that touches: take a capital letter or ctrl+letter."
    return ""


def _what_instead(text: str) -> str:
    folded = text.lower()
    if not text:
        return "write one, such as x, X, ctrl+x or f5."
    if re.match(r"(alt|meta|super|cmd|hyper)[+-]", folded):
        return "terminals do not send it reliably: use a letter, a capital or ctrl+letter."
    if folded.count("+") > 1 and len(folded) > 2:
        return "terminals do not tell several modifiers apart: use one."
    if len(text) <= 3 and all(letter in string.ascii_letters for letter in text):
        return f"keys one after the other are not known: write {text[0]!r}, or '{text[0]},{text[-1]}' for either."
    return did_you_mean(folded, sorted(_NAMED | set(_OTHER_WORDS)))


def _clashes(keys: Mapping[str, str], defaults: Mapping[str, str], places: Mapping[str, Collection[str]]) -> list[str]:
    """Two actions on one key in one place, when the user moved at least one of them there."""
    users: dict[str, list[str]] = {}
    for action in defaults:
        for part in dict.fromkeys(split(keys.get(action, defaults[action]))):
            name = key_name(part)
            if name is not None:
                users.setdefault(name, []).append(action)
    problems = []
    for name, actions in users.items():
        for number, one in enumerate(actions):
            for other in actions[number + 1 :]:
                moved = one if one in keys else other if other in keys else None
                if moved is None or one == other or not _meet(places.get(one), places.get(other)):
                    continue
                rest = other if moved == one else one
                problems.append(f"keys.{moved}: {name} is the key of {rest!r} as well: move one of the two.")
    return problems


def _meet(one: Collection[str] | None, other: Collection[str] | None) -> bool:
    if one is None or other is None or ANYWHERE in one or ANYWHERE in other:
        return True
    return bool(set(one) & set(other))
