# ruff: noqa: INP001 - a script
"""Runs a command within a time limit and sees to it that nothing that it started outlives it.

Daemons leave their parents; here they cannot get away: this process asks the kernel to be the parent of every orphan
among its descendants, and ends them all when the command has ended. Standard library only.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_TIMED_OUT = 124
_GRACE = 10


def main() -> int:
    """Run the command; return its exit code, 124 when its time was up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.stderr.write("guard: the kernel does not let this process adopt orphans\n")
        return 1
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda got, _: sys.exit(128 + got))
    try:
        return _run(arguments.command, arguments.minutes * 60)
    finally:
        _end_all()


def _run(command: list[str], seconds: float) -> int:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    deadline = time.monotonic() + seconds
    while process.poll() is None:
        if time.monotonic() > deadline:
            sys.stderr.write(f"guard: not done after {seconds / 60:g} minutes; ending it\n")
            return _TIMED_OUT
        _reap(spare=process.pid)
        time.sleep(1)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def _end_all() -> None:
    """End every descendant: ask, then kill, until there is none."""
    asked_until = time.monotonic() + _GRACE
    told: set[int] = set()
    while descendants := _descendants():
        for pid, name in descendants.items():
            if pid not in told:
                told.add(pid)
                sys.stderr.write(f"guard: still there: {pid} {name}\n")
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM if time.monotonic() < asked_until else signal.SIGKILL)
        if time.monotonic() > asked_until + _GRACE:
            sys.stderr.write(f"guard: cannot be ended: {sorted(descendants)}\n")
            return
        time.sleep(0.2)
        _reap()


def _reap(spare: int | None = None) -> None:
    """Let go of adopted processes that have ended (not of ``spare``, whose exit code is wanted)."""
    for pid in _descendants(of_ours_only=True, ended=True):
        if pid != spare:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _descendants(*, of_ours_only: bool = False, ended: bool = False) -> dict[int, str]:
    """The pids below this process and their names; those that have ended instead, with ``ended``."""
    parents: dict[int, tuple[int, str, str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            state, parent = rest.split()[:2]
            parents[int(folder.name)] = (int(parent), state, name)
    below = {os.getpid()}
    grew = True
    while grew:
        more = {pid for pid, (parent, _, _) in parents.items() if parent in below and pid not in below}
        grew = bool(more) and not of_ours_only
        below |= more
    return {
        pid: parents[pid][2] for pid in below - {os.getpid()} if pid in parents and (parents[pid][1] == "Z") is ended
    }


if __name__ == "__main__":
    sys.exit(main())
