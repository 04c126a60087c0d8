"""Reads the files of run and cluster folders: JSON of one struct, lines of JSON; damage is told, never raised."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, TypeVar

import msgspec

from slurmtui.errors import RunFolderError
from slurmtui.models.run_record import Submission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LARGEST = 8_000_000  # bytes of one file that are read; ours stay far below

Facts = TypeVar("Facts")
Signature = tuple[tuple[int, int, int] | None, ...]
"""Of all files of a folder."""


def signature(path: Path) -> tuple[int, int, int] | None:
    """What changes when the file does; None when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def check_owner(folder: Path) -> None:
    """Refuse a folder that is a link, or not this user's.

    Raises:
        RunFolderError: it is one of these, or cannot be read.
    """
    try:
        found = folder.lstat()
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be read: {error.strerror}") from error
    if not stat.S_ISDIR(found.st_mode):
        raise RunFolderError(f"{folder} is not a folder; it is left alone")
    if found.st_uid != os.getuid():
        raise RunFolderError(f"{folder} belongs to another user ({found.st_uid}); it is left alone")


def read_content(path: Path, problems: list[str]) -> bytes | None:
    """The file's bytes; None when it is not there (yet)."""
    try:
        with path.open("rb") as stream:
            return stream.read(_LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        problems.append(f"{path} cannot be read: {error.strerror}")
        return None


def read_facts(path: Path, kind: type[Facts], problems: list[str]) -> Facts | None:
    """The struct in the file; None when it is not there, or damaged."""
    content = read_content(path, problems)
    if content is None:
        return None
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        problems.append(f"{path} is damaged: {error}")
        return None


def read_submissions(path: Path, problems: list[str]) -> tuple[Submission, ...]:
    """The calls of sbatch that its wrapper wrote down, oldest first."""
    content = read_content(path, problems)
    if not content:
        return ()
    lines = content.split(b"\n")[:-1]  # what follows the last newline is still being written
    found = [_submission(line) for line in lines if line]
    if None in found:
        problems.append(f"{path} has {found.count(None)} damaged line(s)")
    return tuple(entry for entry in found if entry is not None)


def _submission(line: bytes) -> Submission | None:
    try:
        return msgspec.json.decode(line, type=Submission)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def read_lines(path: Path, kind: type[Facts]) -> Iterator[Facts]:
    """The structs in the file, one a line; a line cut off by a crash is left out."""
    for line in (read_content(path, []) or b"").splitlines():
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            yield msgspec.json.decode(line, type=kind)
