"""What ``config show`` prints: every value in force, and where it came from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.theme import suitable_theme

if TYPE_CHECKING:
    from slurmtui.config import Loaded
    from slurmtui.session import Session

Value = tuple[str, Any, str]
"""A key's path, its value, and where that came from."""

BUILT_IN = "built in"


def effective(loaded: Loaded, session: Session) -> list[Value]:
    """All values; passwords are masked."""
    config = session.config
    found: list[Value] = []
    plain = msgspec.to_builtins(config)
    del plain["source"]
    profiles = plain.pop("profiles")
    for key, value in plain.items():
        if isinstance(value, dict):
            found += [(f"{key}.{inner}", part, "") for inner, part in value.items()]
        else:
            found.append((key, value, ""))
    for name, profile in profiles.items():
        del profile["name"]
        found += [(f"profiles.{name}.{key}", value, "") for key, value in profile.items()]
    built_in = "built in for the sandbox" if config.profiles and not loaded.config.profiles else BUILT_IN
    placed = [
        (key, masked(value) if isinstance(value, str) else value, _origin(loaded, key, built_in))
        for key, value, _ in found
    ]
    return [_overruled(entry, session) for entry in placed]


def _origin(loaded: Loaded, key: str, built_in: str) -> str:
    line = loaded.lines.get(key)
    if line is not None:
        return f"line {line}"
    return built_in if key.startswith("profiles.") or key == "default_profile" else BUILT_IN


def _overruled(entry: Value, session: Session) -> Value:
    """A value that something outside the file decides."""
    key, value, _ = entry
    if key == "prefect.api_url" and session.connection is not None and session.connection.origin != "configuration":
        return key, masked(session.connection.api_url), session.connection.origin
    if key == "theme" and value is None:
        return key, suitable_theme(), "this terminal"
    return entry


def masked(text: str) -> str:
    """A text without the passwords of the addresses in it."""
    return re.sub(r"(://[^:/@\s]*):\S*@", r"\1:…@", text)


def table(values: list[Value], source: str) -> str:
    """The values for a person: those without a value are left out."""
    shown = [(key, _words(value), origin) for key, value, origin in values if value not in (None, [], {}, ())]
    wide = max(len(key) for key, _, _ in shown)
    longest = min(50, max(len(value) for _, value, _ in shown))
    lines = [f"file  {source}", ""]
    lines += [f"{key:<{wide}}  {value:<{longest}}  {origin}".rstrip() for key, value, origin in shown]
    return "\n".join(lines)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_words(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_words(part) for part in value) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)
