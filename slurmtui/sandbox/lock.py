"""One ``up`` or ``down`` at a time for one sandbox."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING

from slurmtui.errors import SandboxError
from slurmtui.paths import private_folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

_PAUSE = 0.1


@contextlib.asynccontextmanager
async def hold(folder: Path, say: Callable[[str], None], seconds: float = 120) -> AsyncIterator[None]:
    """Hold the sandbox's lock; wait for another that holds it.

    Raises:
        SandboxError: the other did not finish in time, or the folder cannot be used.
    """
    file, deadline, told = folder / "lock", time.monotonic() + seconds, False
    while True:
        try:
            private_folder(folder)
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            message = f"the sandbox's folder {folder} cannot be used: {error.strerror}"
            raise SandboxError(message) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            if not told:
                say("another `slurmtui sandbox` is at work on this sandbox; waiting for it")
                told = True
            if time.monotonic() > deadline:
                message = f"another `slurmtui sandbox` has held {file} for {seconds:g} s; look for it with `ps`"
                raise SandboxError(message) from None
            await asyncio.sleep(_PAUSE)
            continue
        if _is_still(file, handle):
            break
        os.close(handle)  # `down --purge` removed the file while we waited for it
    try:
        yield
    finally:
        os.close(handle)


def _is_still(file: Path, handle: int) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(handle), file.stat())
    return False
