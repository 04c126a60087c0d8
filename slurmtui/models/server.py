"""The private Prefect server as its record in the state folder tells it."""

from __future__ import annotations

import msgspec


class ServerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Who runs the private server and where.

    ``pid_started`` proves that a pid is the same process (psutil create_time). ``started`` is seconds since the epoch.
    The password is never here, it has a file of its own.
    """

    host: str
    pid: int
    pid_started: float
    api_url: str
    port: int
    bind: str = ""
    started: float = 0
    user: str = ""
    python: str = ""
    database: str = "sqlite"  # or "external": never the address, it may hold a password
    version: str = ""
    log: str = ""


class ServerStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What is true of the private server now.

    ``state`` is ``running`` (answers, and knows the password), ``starting``, ``stopped``, ``crashed`` (a record without
    a process), ``unresponsive`` (its process lives, it does not answer) or ``elsewhere`` (recorded on another host, and
    it does not answer from here).
    """

    state: str
    text: str
    record: ServerRecord | None = None
    version: str = ""
    seconds: float | None = None  # the answer's time


class ServerCare(msgspec.Struct, frozen=True, kw_only=True):
    """How the private server fares.

    ``database`` is the file, or ``external``; sizes are bytes, None where they are not known from here; ``starts`` and
    ``crashes`` count since the state folder is there; ``hints`` are sentences on what could be better.
    """

    database: str
    database_bytes: int | None = None
    file_system: str = ""
    on_network: bool = False
    memory_bytes: int | None = None
    starts: int = 0
    crashes: int = 0
    last_crash: float | None = None
    hints: tuple[str, ...] = ()
