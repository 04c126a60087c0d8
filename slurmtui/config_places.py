"""Readers of paths and addresses; see ``config_values`` for what a reader is."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from slurmtui.config_values import scalar, word
from slurmtui.config_yaml import items, quoted

if TYPE_CHECKING:
    from slurmtui.config_yaml import Place

_ENVIRONMENT = re.compile(r"\$(\w+|\{\w+\})")


def path(place: Place) -> str | None:
    """A path: ``~`` and variables are filled in; a relative one counts from the configuration's folder."""
    found = scalar(place)
    if found is None:
        return None
    filled = os.path.expandvars(found)
    missing = _ENVIRONMENT.search(filled)
    if missing:
        place.wrong(f"uses the variable {missing[0]}, which is not set here.")
        return None
    return _absolute(place, filled)


def node_path(place: Place) -> str | None:
    """A path on the compute nodes: variables are left for the job's shell to fill in."""
    found = scalar(place)
    if found is None or found.startswith("$"):
        return found
    return _absolute(place, found)


def program(place: Place) -> str | None:
    """A program: a path, or a name that is looked up on PATH where the job runs."""
    found = scalar(place)
    if found is None or ("/" not in found and not found.startswith("~")) or found.startswith("$"):
        return found
    return _absolute(place, found)


def _absolute(place: Place, found: str) -> str | None:
    try:
        return str(Path(place.problems.file).absolute().parent / Path(found).expanduser())
    except RuntimeError:  # ~name of somebody who is not known here
        place.wrong(f"{quoted(found)} begins with the home of somebody unknown here.")
        return None


def paths(place: Place) -> tuple[str, ...] | None:
    """A list of paths; one alone need not be a list."""
    found = items(place)
    return None if found is None else tuple(part for item in found if (part := path(item)) is not None)


def host(place: Place) -> str | None:
    """A host name or address, without scheme and port."""
    found = word(place)
    if found is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*|[0-9A-Fa-f:.]+", found):
        place.wrong(f"must be a host name or an address, without http:// and port, not {quoted(found)}.")
        return None
    return found


def api_url(place: Place) -> str | None:
    """The address of a Prefect API."""
    found = scalar(place)
    if found is None:
        return None
    try:
        parts = urlsplit(found)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        place.wrong(f"must be an address such as http://login01:4200/api, not {quoted(found)}.")
    elif parts.username or parts.password:
        place.wrong("must not hold a password: put user:password into a file (0600) and name it in auth_file.")
    elif "/api" not in parts.path:
        place.wrong(f"must end with /api, the path of Prefect's API: {parts.scheme}://{parts.netloc}/api.")
    else:
        return found.rstrip("/")
    return None
