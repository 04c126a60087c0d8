"""What the sandbox remembers in its folder: the ports it chose, and, while it is up, its daemons."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, TypeVar

import msgspec

from slurmtui.atomic import write_private

if TYPE_CHECKING:
    from pathlib import Path

_T = TypeVar("_T", bound=msgspec.Struct)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Chosen once, kept as long as the data: the first port of the block, the database's password."""

    first_port: int
    database_password: str


class DaemonRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One daemon. ``pid_started`` (seconds since the epoch) proves that a pid is the same process."""

    name: str
    pid: int
    pid_started: float
    log: str


class SandboxRecord(msgspec.Struct, frozen=True, kw_only=True):
    """``sandbox.json``, there while the sandbox is up."""

    slurm_conf: str
    slurmctld_pid: int
    slurmctld_pid_started: float
    folder: str
    host: str
    version: str
    started: float
    first_port: int
    daemons: tuple[DaemonRecord, ...] = ()


def read(file: Path, kind: type[_T]) -> _T | None:
    """The facts in ``file``; None when it is not there or damaged."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None


def write(file: Path, facts: msgspec.Struct) -> None:
    """Put ``facts`` into ``file``."""
    write_private(file, msgspec.json.format(msgspec.json.encode(facts), indent=2))


def new_password() -> str:
    """A password that needs no quoting anywhere."""
    return secrets.token_hex(16)
