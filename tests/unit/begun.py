"""Processes for tests, begun for good: right after its start a process may show no command line yet."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECONDS = 30.0


def begun(argv: Sequence[object], **options: Any) -> subprocess.Popen[Any]:
    """Start ``argv``; it can be seen in the process table as what it is."""
    words = [str(word) for word in argv]
    process = subprocess.Popen(words, **options)
    deadline = time.monotonic() + _SECONDS
    while psutil.Process(process.pid).cmdline() != words:
        assert time.monotonic() < deadline, f"{words[0]} did not begin"
        time.sleep(0.005)
    return process
