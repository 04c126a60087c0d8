"""When a private server counts as running: it is our process that listens, it answers, and its password is needed."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.atomic import write_private
from slurmtui.control import server_process
from slurmtui.control.server_probe import ask, version_of
from slurmtui.errors import ServerError
from slurmtui.sources.prefect.server_record import auth_file, record_file

if TYPE_CHECKING:
    import psutil

    from slurmtui.models.server import ServerRecord

READY_SECONDS = 180.0
"""Prefect takes 7 s on a local disk, many times that on a slow shared one."""

BUSY_SECONDS = 20.0
"""So long one that was ready before may keep silent: a busy one answers by then, one that hangs never will."""

_LOOK_EVERY = 0.1


def wait_ready(record: ServerRecord, process: psutil.Process, auth: str) -> ServerRecord:
    """Wait until the server answers, knows its password and refuses another; the record then holds its version.

    One whose record holds a version was ready before: it is given less time.

    Raises:
        ServerError: it does not come to that; the message holds the end of its log.
    """
    folder = paths.server_folder()
    until = time.monotonic() + (BUSY_SECONDS if record.version else READY_SECONDS)
    while True:
        if not server_process.lives(process):
            said = server_process.log_end(folder)
            raise ServerError(f"The server ended while it started{_with(record)}. {record.log}:\n{said}")
        if server_process.listens(process, record.port) and ask(record.api_url, "/ready").status == 200:
            break
        if time.monotonic() > until and record.version:
            raise ServerError(
                f"The server runs (process {record.pid} on {record.api_url}) but has not answered for "
                f"{BUSY_SECONDS:g} s. `slurmtui server stop` ends it, then `slurmtui server start` brings it back; "
                f"runs outlive that. Log: {record.log}"
            )
        if time.monotonic() > until:
            said = server_process.log_end(folder)
            raise ServerError(f"The server was not ready within {READY_SECONDS:g} s. {record.log}:\n{said}")
        time.sleep(_LOOK_EVERY)
    version = version_of(record.api_url, auth, seconds=10)
    if version is None:
        raise ServerError(f"The server at {record.api_url} does not accept its own password ({auth_file()}).")
    wrong = ask(record.api_url, "/admin/version", f"slurmtui:{secrets.token_urlsafe(8)}", seconds=10)
    if wrong.status != 401:
        raise ServerError(
            f"The server (Prefect {version}) did not refuse a wrong password ({wrong.status or wrong.said}): "
            "anybody on this machine could use it."
        )
    if record.version != version:
        record = msgspec.structs.replace(record, version=version)
        write_record(record)
    return record


def write_record(record: ServerRecord) -> None:
    """Write the record, whole or not at all."""
    write_private(record_file(), msgspec.json.format(msgspec.json.encode(record)))


def _with(record: ServerRecord) -> str:
    return " (with server.database_url of the configuration: is it right?)" if record.database == "external" else ""
