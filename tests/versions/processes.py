"""Runs commands so that nothing of theirs is left, however this ends: no process, no mount."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

NEEDED = {"unshare": "util-linux", "setpriv": "util-linux", "mount": "mount", "debootstrap": "debootstrap"}
"""The programs that are called here and beside, and Debian's package of each."""


def private(argv: Sequence[str]) -> tuple[str, ...]:
    """The command with mounts and process numbers of its own.

    When its first process ends, by itself or by kill -9, the kernel ends all others and undoes every mount; and that
    process ends when this one does.
    """
    apart = ("unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc")
    return ("setpriv", "--pdeathsig", "KILL", *apart, *argv)


async def run(argv: Sequence[str], log: Path, seconds: float, environment: Mapping[str, str]) -> int | None:
    """Run a command to its end with its words in ``log``; its exit code, None when its time was up."""
    with log.open("ab") as words:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            env=environment,
            start_new_session=True,  # ctrl+c is for this process alone, which then ends the others
        )
    try:
        return await asyncio.wait_for(process.wait(), seconds)
    except asyncio.TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
