"""Saving a log, or what is marked in it, to a file of the person's own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from slurmtui.errors import Refused
from slurmtui.models.text import visible
from slurmtui.store.log_open import open_key
from slurmtui.views.logs.rows import row_of
from slurmtui.widgets.log_rows import LogRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slurmtui.store.log_document import LogDocument
    from slurmtui.views.logs.pane import LogPane

_CHUNK = 5_000


async def save_log(pane: LogPane, path: Path, marked: str | None) -> int:
    """Write ``marked``, or without it the whole log as far as its lines are wanted; the number of lines.

    It is written aside, readable by the user alone, and appears under its name when it is whole.

    Raises:
        Refused: there is such a file, or it cannot be written.
    """
    try:
        with _written_aside(path) as (stream, aside):
            count = await (_write_marked(stream, marked) if marked is not None else _write_whole(stream, pane))
            await asyncio.to_thread(_put_into_place, stream, aside, path)
            return count
    except FileExistsError:
        raise Refused(f"{visible(str(path))} is there already: choose another name.") from None
    except OSError as error:
        raise Refused(f"{visible(str(path))} cannot be written: {error.strerror}.") from error


@contextlib.contextmanager
def _written_aside(path: Path) -> Iterator[tuple[IO[str], Path]]:
    """A file in the same folder, which is gone afterwards."""
    if os.path.lexists(path):
        raise FileExistsError
    handle, aside = tempfile.mkstemp(prefix=".slurmtui-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as stream:
            yield stream, Path(aside)
    finally:
        Path(aside).unlink(missing_ok=True)


def _put_into_place(stream: IO[str], aside: Path, path: Path) -> None:
    """Give a file that was written aside its name; one that has appeared there meanwhile is left alone."""
    stream.flush()
    os.fsync(stream.fileno())
    try:
        os.link(aside, path)
    except FileExistsError:
        raise
    except OSError:  # no links here (FAT, some network file systems): take the name first, then what it stands for
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        try:
            aside.replace(path)
        except OSError:
            path.unlink()
            raise


async def _write_marked(stream: IO[str], marked: str) -> int:
    await asyncio.to_thread(stream.write, marked)
    return marked.count("\n")


async def _write_whole(stream: IO[str], pane: LogPane) -> int:
    document = open_key(pane.console.session, pane.console.store.snapshot, pane.log_key)
    if document is None or pane.document is None:
        raise Refused("This log is no longer known.")
    try:
        await document.choose(pane.document.window.filter)
        return await _write(document, stream)
    finally:
        document.close()


async def _write(document: LogDocument, stream: IO[str]) -> int:
    count = 0
    found = await document.to_start(_CHUNK)
    alone = document.single is not None
    while True:
        rows = LogRows()
        rows.append(row_of(one, alone=alone) for one in found if not one.entry.partial)
        if alone:
            rows.lines = [line for line in rows.lines if line.row.source != "note"]
        text = rows.plain_text() if not alone else "".join(f"{line.text}\n" for line in rows.lines)
        await asyncio.to_thread(stream.write, text)
        count += len(rows.lines)
        if document.window.at_end:
            return count
        found = await document.newer(_CHUNK)
