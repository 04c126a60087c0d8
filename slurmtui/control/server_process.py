"""The process of the private server: how it is started, proved, looked at and ended.

It is started through a short-lived process in between, so that it belongs to no console: it is in a session of its own,
its parent is init, and the console that started it never has to wait for it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from slurmtui.control.log_end import last_lines
from slurmtui.errors import ServerError
from slurmtui.models.text import visible
from slurmtui.sources.processes import command_line, environment_of, find_process, is_here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slurmtui.models.server import ServerRecord

MARK = "SLURMTUI_SERVER"
"""In the environment of a private server: the folder it serves."""

_LOG_LINES = 15
_LAUNCH_SECONDS = 20
_TERM_SECONDS = 15.0
_KILL_SECONDS = 5.0
_LAUNCHER = """
import json, os, subprocess, sys
what = json.loads(sys.argv[1])
log = os.open(what["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
process = subprocess.Popen(what["argv"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=what["cwd"],
                           start_new_session=True, close_fds=True, umask=0o077)
print(process.pid, flush=True)
os._exit(0)
"""


def command() -> list[str]:
    """The beginning of the command that runs a Prefect server: this Python's, else the one installed beside it.

    Raises:
        ServerError: Prefect is not installed.
    """
    if importlib.util.find_spec("prefect") is not None:  # found, not imported
        return [sys.executable, "-m", "prefect"]
    beside = Path(sys.executable).parent / "prefect"
    if beside.is_file():
        return [str(beside)]
    raise ServerError(f"Prefect is not installed beside {sys.executable}: pip install prefect-slurmtui brings it.")


def launch(folder: Path, host: str, port: int, environment: Mapping[str, str]) -> psutil.Process:
    """Start a server with its log in ``folder`` and its PREFECT_HOME in ``folder/home``.

    Raises:
        ServerError: it could not be started, or has ended already. (Whether it lives on is for the caller to see.)
    """
    log = folder / "server.log"
    with contextlib.suppress(FileNotFoundError):
        log.replace(folder / "server.log.1")
    # In its home: a prefect.toml or .env of the folder where the user stands must not change it.
    argv = [*command(), "server", "start", "--host", host, "--port", str(port)]
    what = json.dumps({"argv": argv, "log": str(log), "cwd": str(folder / "home")})
    try:
        launcher = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, what],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_LAUNCH_SECONDS,
            env=dict(environment),
        )
        return _seen(int(launcher.stdout))
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines() or ["no word"]
        raise ServerError(f"The server could not be started: {visible(lines[-1])}") from error
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise ServerError(f"The server could not be started: {error}") from error
    except psutil.NoSuchProcess as error:
        raise ServerError(f"The server ended at once. {log}:\n{log_end(folder)}") from error


def _seen(pid: int) -> psutil.Process:
    """A process whose start time is known from now on, whatever becomes of it."""
    process = psutil.Process(pid)
    process.create_time()
    return process


def environment(folder: Path, auth: str, database_url: str | None) -> dict[str, str]:
    """The server's environment: the user's, without any setting of Prefect's, with the server's own.

    Secrets are given here, never in the command line, which every user of the machine can read.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    own = {
        MARK: str(folder),
        "PREFECT_HOME": str(folder / "home"),
        "PREFECT_SERVER_API_AUTH_STRING": auth,
        "PREFECT_API_AUTH_STRING": auth,  # for the server's own services
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_UI_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PYTHONUNBUFFERED": "1",
        "NO_COLOR": "1",
    }
    if database_url:
        own["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = database_url
        own["PREFECT_API_DATABASE_CONNECTION_URL"] = database_url  # the older name
    return {**kept, **own}


def find_server(record: ServerRecord) -> psutil.Process | None:
    """The recorded server's process if it can be proved: this host, that pid, that start time, that command."""
    process = find_process(record.pid, record.pid_started) if is_here(record.host) else None
    return process if process is not None and _serves(process) else None


def strays(folder: Path) -> list[psutil.Process]:
    """Servers of this folder on this host, by the mark in their environment, recorded or not."""
    return [process for process in psutil.process_iter() if _serves(process) and _mark(process) == str(folder)]


def listens(process: psutil.Process, port: int) -> bool:
    """Whether the process, or a child of it, listens on ``port``: only then is what answers there ours."""
    try:
        family = [process, *process.children(recursive=True)]
        return any(
            socket.status == psutil.CONN_LISTEN and socket.laddr.port == port
            for member in family
            for socket in member.net_connections(kind="tcp")
        )
    except psutil.Error:
        return False


def lives(process: psutil.Process) -> bool:
    """Whether it still runs; a zombie does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def end(process: psutil.Process) -> bool:
    """Ask the process to end; after a while kill its whole group. True when it had to be killed.

    Raises:
        ServerError: it is still there.
    """
    group = _own_group(process)
    with contextlib.suppress(psutil.Error):
        process.send_signal(signal.SIGTERM)
    if _wait_gone(process, _TERM_SECONDS) and not _group_lives(group):
        return False
    if group:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    else:
        with contextlib.suppress(psutil.Error):
            process.kill()
    if not _wait_gone(process, _KILL_SECONDS):
        raise ServerError(f"The server's process {process.pid} does not end, not even when it is killed.")
    return True


def log_end(folder: Path, lines: int = _LOG_LINES) -> str:
    """The last lines of the server's log, fit for a terminal."""
    said = last_lines(folder / "server.log", lines)
    return "(no log)" if said is None else said or "(it wrote nothing)"


def _serves(process: psutil.Process) -> bool:
    """Whether the process is this user's and its command line is that of a Prefect server."""
    try:
        if process.uids().real != os.getuid() or not lives(process):
            return False
        words = command_line(process)
    except psutil.Error:
        return False
    is_prefect = any(Path(word).name == "prefect" for word in words[:4])
    return is_prefect and any(pair == ("server", "start") for pair in itertools.pairwise(words))


def _mark(process: psutil.Process) -> str | None:
    try:
        return environment_of(process).get(MARK)
    except psutil.Error:
        return None


def _own_group(process: psutil.Process) -> int | None:
    """The process group that the server leads; None when it leads none (then only the process is ended)."""
    try:
        return process.pid if os.getpgid(process.pid) == process.pid else None
    except OSError:
        return None


def _group_lives(group: int | None) -> bool:
    if group is None:
        return False
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return any(_group_of(process) == group and lives(process) for process in psutil.process_iter())


def _group_of(process: psutil.Process) -> int:
    try:
        return os.getpgid(process.pid)
    except OSError:
        return 0


def _wait_gone(process: psutil.Process, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while lives(process):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
