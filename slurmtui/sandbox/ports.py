"""Which ports the sandbox's daemons listen on.

One block of consecutive ports below the range that the kernel hands out by itself. Where the search starts follows
from the sandbox's folder, so that two sandboxes on one machine rarely look at the same block.
"""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable

_FIRST, _LAST = 20000, 30000
_LISTENING = "0A"


def is_free(port: int) -> bool:
    """Whether a daemon could listen on ``port`` on every address of this machine; tries it, for a moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the daemons do: connections of an earlier daemon that are still closing do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - never listens
            probe.listen(1)
        except OSError:
            return False
    return True


def is_served(port: int) -> bool:
    """Whether somebody listens on ``port``; only looks, so that it is in no daemon's way that is about to listen.

    The format is that of Linux, proc_pid_net(5): a line a socket, its local address in hexadecimal, its state.
    """
    wanted = f":{port:04X}"
    for table in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]
        except FileNotFoundError:  # a kernel without IPv6
            continue
        for line in lines:
            _, local, _, state, *_ = line.split()
            if state == _LISTENING and local.endswith(wanted):
                return True
    return False


def choose_block(seed: str, count: int, *, free: Callable[[int], bool] = is_free) -> int:
    """The first port of ``count`` consecutive free ones.

    Raises:
        SandboxError: there is no such block.
    """
    blocks = (_LAST - _FIRST) // count
    start = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big") % blocks
    for step in range(blocks):
        first = _FIRST + (start + step) % blocks * count
        if all(free(port) for port in range(first, first + count)):
            return first
    message = f"no {count} consecutive free ports between {_FIRST} and {_LAST} on this machine"
    raise SandboxError(message)
