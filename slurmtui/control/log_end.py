"""The end of a log of a process that was started from here: driver, keeper, Prefect server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from slurmtui.models.text import visible

if TYPE_CHECKING:
    from pathlib import Path

_READ_BYTES = 16_000


def last_lines(path: Path, lines: int) -> str | None:
    """The last lines that hold something, fit for a terminal; None when the file cannot be read."""
    try:
        with path.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - _READ_BYTES))
            content = stream.read()
    except OSError:
        return None
    shown = [visible(line) for line in content.decode("utf-8", "replace").splitlines() if line.strip()]
    return "\n".join(shown[-lines:])
