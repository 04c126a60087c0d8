"""The private server's files: where they are and how they are read.

``<state>/server/``: ``server.json`` (ServerRecord, there while the server is meant to run), ``auth``
(``user:password``, 0600), ``address.json`` (port and address, kept from start to start), ``server.log``, ``lock``,
``home/`` (its PREFECT_HOME with the database).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.models.server import ServerRecord

if TYPE_CHECKING:
    from pathlib import Path

_LOG = logging.getLogger(__name__)


def record_file() -> Path:
    """The record of the private server."""
    return paths.server_folder() / "server.json"


def auth_file() -> Path:
    """The file that holds the private server's ``user:password``."""
    return paths.server_folder() / "auth"


def read_record() -> ServerRecord | None:
    """The record, None when there is none or when it cannot be understood (which is logged)."""
    try:
        return msgspec.json.decode(record_file().read_bytes(), type=ServerRecord)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        _LOG.warning("%s cannot be used: %s", record_file(), error)
        return None


def read_auth() -> str | None:
    """The private server's ``user:password``, None when there is none yet."""
    try:
        return auth_file().read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        _LOG.warning("%s cannot be used: %s", auth_file(), error)
        return None
