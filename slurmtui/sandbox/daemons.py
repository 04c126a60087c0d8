"""The sandbox's daemons: how each is started, where it listens, what it said.

Each runs in the foreground of a session of its own, so that its pid is known at once, its end is noticed at once,
and the terminal that started it can go away. What it prints is in ``logs/<name>.out``, from its last start on.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import SandboxError
from slurmtui.models.text import visible
from slurmtui.sandbox.layout import NODES, Layout
from slurmtui.sandbox.packages import find, search_path

if TYPE_CHECKING:
    from pathlib import Path

_SHOWN_LINES = 15
_KEPT_VARIABLES = ("HOME", "USER", "LOGNAME", "TZ")
# Popen warns when it is thrown away while its process runs; these are meant to outlive us.
_STARTED: list[subprocess.Popen[bytes]] = []


class Daemon(msgspec.Struct, frozen=True, kw_only=True):
    """How one daemon is run. ``port`` is where it listens, None for munged."""

    name: str
    argv: tuple[str, ...]
    port: int | None = None


class DaemonFailed(SandboxError):
    """A daemon ended, or never became ready."""

    def __init__(self, daemon: Daemon, what: str, layout: Layout) -> None:
        self.daemon = daemon
        log = out_file(layout, daemon.name)
        said = tail(log)
        quoted = "\n".join(f"  | {line}" for line in said) if said else "  (it is empty)"
        super().__init__(f"{daemon.name} {what}. The end of its log, {log}:\n{quoted}")


def out_file(layout: Layout, name: str) -> Path:
    """What a daemon printed since its last start."""
    return layout.logs / f"{name}.out"


def tail(file: Path, lines: int = _SHOWN_LINES) -> list[str]:
    """The last lines of a log, fit for a terminal."""
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - 8192))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [visible(line) for line in text.splitlines()[-lines:]]


def program(name: str) -> str:
    """The full path of a program.

    Raises:
        SandboxError: it is not installed.
    """
    path = find(name)
    if path is None:
        message = f"{name} is not installed here; `make setup` installs what the sandbox needs"
        raise SandboxError(message)
    return path


def all_daemons(layout: Layout) -> dict[str, Daemon]:
    """Every daemon of the sandbox, in the order of their starts.

    Raises:
        SandboxError: a program is not installed.
    """
    base, conf = layout.base, str(layout.slurm_conf)
    argv = {
        # --force: the folder above the socket is the user's alone, which munged warns about and we want.
        "munged": (
            program("munged"), "--foreground", "--force", f"--key-file={base}/munge.key",
            f"--socket={layout.munge_socket}", f"--pid-file={base}/munged.pid", f"--seed-file={base}/munge.seed",
        ),
        "mariadbd": (program("mariadbd"), *database_options(layout)),
        "slurmdbd": (program("slurmdbd"), "-D"),
        "slurmctld": (program("slurmctld"), "-D", "-f", conf),
        **{f"slurmd-{node}": (program("slurmd"), "-D", "-N", node, "-f", conf) for node in NODES},
    }  # fmt: skip
    return {name: Daemon(name=name, argv=argv[name], port=port_of(layout, name)) for name in NAMES}


def slurmd_names() -> tuple[str, ...]:
    """The names of the nodes' daemons."""
    return tuple(f"slurmd-{node}" for node in NODES)


NAMES = ("munged", "mariadbd", "slurmdbd", "slurmctld", *slurmd_names())
"""Every daemon's name, in the order of their starts."""


def port_of(layout: Layout, name: str) -> int | None:
    """Where a daemon listens; None for munged, which has a socket only."""
    own = {
        "mariadbd": layout.database_port,
        "slurmdbd": layout.slurmdbd_port,
        "slurmctld": layout.slurmctld_port,
        **{f"slurmd-{node}": port for node, port in layout.node_ports.items()},
    }
    return own.get(name)


def database_options(layout: Layout) -> tuple[str, ...]:
    """The options of mariadbd."""
    base = layout.base
    return (
        "--no-defaults",
        *as_root(),
        f"--datadir={base}/mysql",
        f"--socket={layout.database_socket}",
        f"--pid-file={base}/mariadbd.pid",
        f"--tmpdir={base}/scratch",
        f"--port={layout.database_port}",
        "--bind-address=127.0.0.1",
        "--skip-name-resolve",
        "--innodb-buffer-pool-size=64M",
        "--innodb-log-file-size=16M",
        "--innodb-lock-wait-timeout=900",  # what slurmdbd asks for
        "--innodb-flush-log-at-trx-commit=2",  # survives kill -9 of the daemon; a laptop's disk is spared
        "--innodb-use-native-aio=0",  # needs locked memory that an ordinary user may not have
    )


def as_root() -> tuple[str, ...]:
    """What MariaDB wants to hear before it runs as root."""
    return ("--user=root",) if os.geteuid() == 0 else ()


def environment(layout: Layout) -> dict[str, str]:
    """The environment of the daemons and of the commands that ask them: little of the caller's own."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return {**kept, "PATH": search_path(), "LC_ALL": "C.UTF-8", "SLURM_CONF": str(layout.slurm_conf)}


def start(daemon: Daemon, layout: Layout) -> subprocess.Popen[bytes]:
    """Start one daemon, detached from this terminal; return its process.

    Raises:
        SandboxError: it could not even be started.
    """
    out = out_file(layout, daemon.name)
    with contextlib.suppress(FileNotFoundError):
        out.replace(out.with_suffix(".out.1"))
    try:
        out.touch(mode=0o600)
        with out.open("wb") as stream:
            process = subprocess.Popen(
                daemon.argv,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                cwd=layout.base,
                env=environment(layout),
                start_new_session=True,
            )
    except OSError as error:
        message = f"{daemon.argv[0]} could not be started: {error.strerror}"
        raise SandboxError(message) from error
    _STARTED.append(process)
    return process
