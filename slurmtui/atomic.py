"""Files written aside and moved into place, readable by the user alone."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from slurmtui.paths import private_folder


def write_private(path: Path, content: str | bytes, *, mode: int = 0o600) -> None:
    """Write ``content`` to ``path`` so that a reader sees the old file or the new one, never half.

    Raises:
        OSError: no room, no permission; the old file is then untouched.
    """
    private_folder(path.parent)
    data = content.encode() if isinstance(content, str) else content
    handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(aside).chmod(mode)
        Path(aside).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(aside).unlink()
        raise
