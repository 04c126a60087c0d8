"""Starts a process of this program that outlives it: a driver, a keeper."""

from __future__ import annotations

import subprocess
import threading
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def start_detached(
    words: Sequence[str], *, folder: Path, environment: Mapping[str, str], log: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start ``words`` in ``folder``, in a session of its own, without a terminal; what it says goes to ``log``.

    Not through the Runner: it has no time limit and does not end with the console. While this process lives, the other
    is waited for by a thread, so that it never stands in the process list as a zombie.

    Raises:
        OSError: the program or the folder cannot be used.
    """
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    threading.Thread(target=process.wait, name=f"reaper-{process.pid}", daemon=True).start()
    return process
