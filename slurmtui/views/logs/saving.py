"""Saving a log, or what is marked in it, to a file of the person's own."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from slurmtui.errors import Refused
from slurmtui.models.text import visible
from slurmtui.store.log_open import open_key
from slurmtui.views.logs.rows import row_of
from slurmtui.widgets.log_rows import LogRows

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.store.log_document import LogDocument
    from slurmtui.views.logs.pane import LogPane

_CHUNK = 5_000


async def save_log(pane: LogPane, path: Path, marked: str | None) -> int:
    """Write ``marked``, or without it the whole log as far as its lines are wanted; the number of lines.

    Raises:
        Refused: there is such a file, or it cannot be written.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        raise Refused(f"{visible(str(path))} is there already: choose another name.") from None
    except OSError as error:
        raise Refused(f"{visible(str(path))} cannot be written: {error.strerror}.") from error
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as stream:
        if marked is not None:
            stream.write(marked)
            return marked.count("\n")
        snapshot = pane.console.store.snapshot
        document = open_key(pane.console.session, snapshot, pane.log_key)
        if document is None or pane.document is None:
            raise Refused("This log is no longer known.")
        try:
            await document.choose(pane.document.window.filter)
            return await _write(document, stream)
        except OSError as error:
            raise Refused(f"{visible(str(path))} cannot be written: {error.strerror}.") from error
        finally:
            document.close()


async def _write(document: LogDocument, stream: object) -> int:
    count = 0
    found = await document.to_start(_CHUNK)
    alone = document.single is not None
    while True:
        rows = LogRows()
        rows.append(row_of(one, alone=alone) for one in found if not one.entry.partial)
        if alone:
            rows.lines = [line for line in rows.lines if line.row.source != "note"]
        text = rows.plain_text() if not alone else "".join(f"{line.text}\n" for line in rows.lines)
        await asyncio.to_thread(stream.write, text)  # type: ignore[attr-defined] # a text file
        count += len(rows.lines)
        if document.window.at_end:
            return count
        found = await document.newer(_CHUNK)
