"""The API settings in Prefect's own profiles file (``$PREFECT_HOME/profiles.toml``)."""

from __future__ import annotations

import importlib
import logging
import os
import re
from pathlib import Path
from typing import Any

import msgspec

from slurmtui.paths import typed_path

_LOG = logging.getLogger(__name__)
_TABLE = re.compile(r"""^\s*\[\s*profiles\s*\.\s*["']?([^"'\]]+?)["']?\s*\]""")
_SETTING = re.compile(r"""^\s*["']?(\w+)["']?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(true|false))\s*(?:\#.*)?$""")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class PrefectProfile(msgspec.Struct, frozen=True):
    """One profile of Prefect's: its name and its settings, as text."""

    name: str
    settings: dict[str, str]


def profiles_path() -> Path:
    """Where Prefect looks for its profiles."""
    named = os.environ.get("PREFECT_PROFILES_PATH")
    if named:
        return typed_path(named)
    home = os.environ.get("PREFECT_HOME")
    return (typed_path(home) if home else Path.home() / ".prefect") / "profiles.toml"


def active_profile() -> PrefectProfile | None:
    """The profile that Prefect would use; None without a file, without such a profile, or when it cannot be read."""
    path = profiles_path()
    try:
        text = path.read_text(encoding="utf-8")
        document = parse(text)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        _LOG.warning("%s cannot be used: %s", path, error)
        return None
    name = os.environ.get("PREFECT_PROFILE") or document.get("active")
    profiles = document.get("profiles")
    settings = profiles.get(name) if isinstance(profiles, dict) and isinstance(name, str) else None
    if not isinstance(settings, dict):
        return None
    return PrefectProfile(name=str(name), settings={key: _plain(value) for key, value in settings.items()})


def parse(text: str) -> dict[str, Any]:
    """Read TOML; before Python 3.11, and without tomli, the small part of it that Prefect writes.

    Raises:
        ValueError: it is no TOML.
    """
    for name in ("tomllib", "tomli"):
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        document: dict[str, Any] = module.loads(text)
        return document
    return read_plain(text)


def read_plain(text: str) -> dict[str, Any]:
    """Read ``active = "x"`` and the string settings of ``[profiles.x]``; every other line is passed over."""
    document: dict[str, Any] = {"profiles": {}}
    table: dict[str, Any] | None = document
    for line in text.splitlines():
        head = _TABLE.match(line)
        if head:
            table = document["profiles"].setdefault(head[1], {})
        elif line.lstrip().startswith("["):
            table = None
        else:
            setting = _SETTING.match(line)
            if setting and table is not None:
                table[setting[1]] = _value(setting)
    return document


def _value(setting: re.Match[str]) -> str:
    """The text of a setting: a basic string with its escapes read, a literal one as it stands, or a truth value."""
    if setting[2] is not None:
        return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), setting[2])
    return setting[3] if setting[3] is not None else setting[4]


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
