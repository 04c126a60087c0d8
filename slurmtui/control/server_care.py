"""How the private server fares: its database, the file system under it, how often it had to be started again."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

import msgspec
import psutil

from slurmtui import paths
from slurmtui.control import server_process
from slurmtui.control.server_database import file_system, is_network
from slurmtui.models.server import ServerCare, ServerStatus

if TYPE_CHECKING:
    from pathlib import Path

_STARTS = "starts.jsonl"
_DATABASE_FILES = ("prefect.db", "prefect.db-wal", "prefect.db-shm")
_LARGE = 5_000_000_000
_SLOW = 1.0


class _Start(msgspec.Struct, frozen=True, kw_only=True):
    time: float
    after_crash: bool = False


def note_start(*, after_crash: bool) -> None:
    """Write down a start of the server; that it cannot be written is no reason not to start."""
    line = msgspec.json.encode(_Start(time=time.time(), after_crash=after_crash)) + b"\n"
    with contextlib.suppress(OSError):
        path = paths.server_folder() / _STARTS
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(line)


def care(status: ServerStatus) -> ServerCare:
    """What is to be known of the server beside its status."""
    folder = paths.server_folder()
    external = status.record is not None and status.record.database == "external"
    starts = _starts(folder / _STARTS)
    crashes = [start.time for start in starts if start.after_crash]
    kind = file_system(folder)
    size = 0 if external else sum(_size(folder / "home" / name) for name in _DATABASE_FILES)
    process = server_process.find_server(status.record) if status.record is not None else None
    return ServerCare(
        database="external" if external else str(folder / "home" / "prefect.db"),
        database_bytes=None if external else size,
        file_system=kind,
        on_network=is_network(kind) and not external,
        memory_bytes=_memory(process),
        starts=len(starts),
        crashes=len(crashes),
        last_crash=crashes[-1] if crashes else None,
        hints=_hints(status, size, on_network=is_network(kind) and not external),
    )


def _hints(status: ServerStatus, size: int, *, on_network: bool) -> tuple[str, ...]:
    hints = []
    if on_network:
        hints.append("its SQLite database is on a network file system: a Postgres is better (docs/how-to/postgres.md)")
    if size > _LARGE:
        hints.append("its database is large: delete old runs, or give it a Postgres (docs/how-to/postgres.md)")
    if status.seconds is not None and status.seconds > _SLOW:
        hints.append("it answers slowly: is this host or its file system under load?")
    return tuple(hints)


def _starts(path: Path) -> list[_Start]:
    found = []
    with contextlib.suppress(OSError):
        for line in path.read_bytes().splitlines():
            with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                found.append(msgspec.json.decode(line, type=_Start))
    return found


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _memory(process: psutil.Process | None) -> int | None:
    if process is None:
        return None
    try:
        return sum(one.memory_info().rss for one in (process, *process.children(recursive=True)))
    except psutil.Error:
        return None
