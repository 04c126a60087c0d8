"""The private Prefect server: started, stopped and looked at.

It is never started with Prefect's own ``--background`` (that server dies of its first warning) nor ended with Prefect's
``server stop`` (that kills whatever has the pid). Files and their meaning: ``sources/prefect/server_record.py``.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import getpass
import logging
import os
import secrets
import sys
import time
from typing import TYPE_CHECKING

from slurmtui import paths
from slurmtui.atomic import write_private
from slurmtui.control import server_address, server_process
from slurmtui.control.server_care import note_start
from slurmtui.control.server_database import database_warning
from slurmtui.control.server_probe import version_of
from slurmtui.control.server_ready import READY_SECONDS, wait_ready, write_record
from slurmtui.errors import Refused, ServerError
from slurmtui.models.server import ServerRecord, ServerStatus
from slurmtui.sources.prefect.server_record import auth_file, read_auth, read_record, record_file
from slurmtui.sources.processes import host_name, is_here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import psutil

    from slurmtui.models.config import Config

_LOG = logging.getLogger(__name__)
_LOCK_SECONDS = READY_SECONDS + 20
_PORTS_TRIED = 3
_LOG_LINES_SEARCHED = 200  # a long traceback may follow the sentence
_PORT_TAKEN = ("address already in use", "Errno 98", "is already in use")


def start(config: Config, say: Callable[[str], None] | None = None, *, take_over: bool = False) -> ServerRecord:
    """Start the private server, or find that it runs.

    Args:
        config: its ``server`` part is used.
        say: told what is going on and what is to be known, a sentence at a time.
        take_over: start although the record names another host from which there is no answer.

    Returns:
        The server's record.

    Raises:
        ServerError: it does not come up; the message holds the end of its log.
        Refused: the record names another host, and nothing can be proved from here.
    """
    return start_or_find(config, say, take_over=take_over)[0]


def start_or_find(
    config: Config, say: Callable[[str], None] | None = None, *, take_over: bool = False
) -> tuple[ServerRecord, bool]:
    """Do as ``start``, and tell whether the server was started by this call (it may have run already)."""
    tell = say or _LOG.info
    with _locked():
        crashed = _has_crashed()
        running = _running(tell, take_over=take_over)
        if running is not None:
            return running, False
        folder = paths.server_folder()
        for stray in server_process.strays(folder):
            tell(f"A server of this folder that no record names (process {stray.pid}) is ended first.")
            server_process.end(stray)
        warning = database_warning(config.server, folder)
        if warning:
            tell(warning)
        record = _start_somewhere(config, folder, tell)
        note_start(after_crash=crashed)
        return record, True


def stop(say: Callable[[str], None] | None = None) -> ServerRecord | None:
    """End the private server, if it can be proved that it is ours; its password and port are kept for the next start.

    Returns:
        The record of the server that was ended; None when none was running.

    Raises:
        Refused: it runs on another host.
        ServerError: its process does not end.
    """
    tell = say or _LOG.info
    with _locked():
        record = read_record()
        folder = paths.server_folder()
        if record is not None and not is_here(record.host):
            raise Refused(
                f"The private server was started on {record.host} (process {record.pid}): stop it there "
                f"(ssh {record.host} slurmtui server stop)."
            )
        process = server_process.find_server(record) if record else None
        found = {member.pid: member for member in server_process.strays(folder)}
        if process is not None:
            found.setdefault(process.pid, process)
        elif record is not None:
            tell(f"Process {record.pid} of the record is not the server (any more): it is left alone.")
        for member in found.values():
            if server_process.end(member):
                tell(f"Process {member.pid} did not end when asked; it was killed.")
        record_file().unlink(missing_ok=True)
        return record if found else None


def status(seconds: float = 3.0) -> ServerStatus:
    """What is true of the private server now; asks it, at most ``seconds`` long."""
    record = read_record()
    if record is None:
        return ServerStatus(state="stopped", text="No private Prefect server runs (slurmtui server start).")
    here = is_here(record.host)
    process = server_process.find_server(record) if here else None
    where = f"{record.api_url} on {record.host}, process {record.pid}"
    if here and process is None:
        text = f"The private server ({where}) has died: slurmtui server start brings it back. Log: {record.log}"
        return ServerStatus(state="crashed", text=text, record=record)
    clock = time.perf_counter()
    version = version_of(record.api_url, read_auth(), seconds)
    took = time.perf_counter() - clock
    if version:
        text = f"Prefect {version} runs: {where}."
        return ServerStatus(state="running", text=text, record=record, version=version, seconds=took)
    if not here:
        text = f"The private server ({where}) does not answer from here; look on {record.host}."
        return ServerStatus(state="elsewhere", text=text, record=record)
    if not record.version:
        return ServerStatus(state="starting", text=f"The private server starts: {where}.", record=record)
    text = f"The private server ({where}) is there but does not answer. Log: {record.log}"
    return ServerStatus(state="unresponsive", text=text, record=record)


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """One start or stop at a time; a second one waits for the first. The lock ends with its holder."""
    folder = paths.server_folder()
    try:
        paths.private_folder(folder).chmod(0o700)
        paths.private_folder(folder / "home")
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ServerError(f"{folder} cannot be used: {error.strerror}.") from error
    try:
        until = time.monotonic() + _LOCK_SECONDS
        while not _lock(handle):
            if time.monotonic() > until:
                raise ServerError("Another slurmtui has been starting or stopping the server for minutes; try again.")
            time.sleep(0.2)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
            _LOG.warning("%s has no locks: do not start the server twice at the same moment", paths.server_folder())
            return True
        return False
    return True


def _has_crashed() -> bool:
    """Whether the record names a server of this host that is gone without having been stopped."""
    record = read_record()
    return record is not None and is_here(record.host) and server_process.find_server(record) is None


def _running(tell: Callable[[str], None], *, take_over: bool) -> ServerRecord | None:
    """The server of the record if it runs; a record without a process is cleared away."""
    record = read_record()
    if record is None:
        return None
    if not is_here(record.host):
        version = version_of(record.api_url, read_auth())
        if version:
            tell(f"It runs on {record.host} and answers from here; to move it, stop it there first.")
            return record
        if not take_over:
            raise Refused(
                f"The private server was started on {record.host} ({record.api_url}, process {record.pid}) and does "
                "not answer from here. Two servers on one database destroy it. If it still runs, stop it there "
                f"(ssh {record.host} slurmtui server stop); if {record.host} is gone or was restarted: "
                "slurmtui server start --take-over."
            )
        record_file().unlink(missing_ok=True)
        return None
    process = server_process.find_server(record)
    if process is None:
        tell("The last server ended without being stopped; it is started again.")
        record_file().unlink(missing_ok=True)
        return None
    tell(f"It runs already (process {record.pid}).")
    return wait_ready(record, process, read_auth() or "")


def _start_somewhere(config: Config, folder: Path, tell: Callable[[str], None]) -> ServerRecord:
    """Start it, on another port if the chosen one is taken at the last moment."""
    kept_file = folder / "address.json"
    kept = server_address.read_kept(kept_file)
    host, why = server_address.choose_host(config.server, kept)
    for _ in range(_PORTS_TRIED):
        port = server_address.choose_port(host, config.server.port, kept)
        url = server_address.url_of(host, port)
        moved = kept is not None and kept.port != port
        if kept is not None and kept.api_url not in ("", url):
            tell(f"The address was {kept.api_url}; runs that were started with it do not reach the server any more.")
        # On the old port another program may have been sent the old password by our runs: it is worth nothing now.
        auth = _password(new=moved)
        tell(f"Starting Prefect on {url} ({why}) …")
        try:
            record = _start_once(config, folder, host, port, auth)
        except _PortTaken:
            kept = server_address.Kept(port=port, api_url=url, host=host)
            continue
        server_address.write_kept(kept_file, server_address.Kept(port=port, api_url=url, host=host))
        return record
    raise ServerError(
        f"Port after port was taken by other programs while the server started: {folder}/server.log tells."
    )


class _PortTaken(Exception):
    """Another program took the port between the look and the start."""


def _start_once(config: Config, folder: Path, host: str, port: int, auth: str) -> ServerRecord:
    environment = server_process.environment(folder, auth, config.server.database_url)
    process: psutil.Process | None = None
    try:
        process = server_process.launch(folder, host, port, environment)
        record = ServerRecord(
            host=host_name(),
            pid=process.pid,
            pid_started=process.create_time(),
            api_url=server_address.url_of(host, port),
            port=port,
            bind=host,
            started=time.time(),
            user=getpass.getuser(),
            python=sys.executable,
            database="external" if config.server.database_url else "sqlite",
            log=str(folder / "server.log"),
        )
        write_record(record)
        return wait_ready(record, process, auth)
    except BaseException as error:
        # Also when the person gives up waiting: a server that nobody knows of must not stay.
        if process is not None:
            server_process.end(process)
        record_file().unlink(missing_ok=True)
        if isinstance(error, ServerError) and _port_was_taken(folder, host, port):
            raise _PortTaken from error
        raise


def _port_was_taken(folder: Path, host: str, port: int) -> bool:
    """Whether the server ended because of another program on its port: the log says so, or that one is there now."""
    said = server_process.log_end(folder, lines=_LOG_LINES_SEARCHED)
    return any(word in said for word in _PORT_TAKEN) or not server_address.is_free(host, port)


def _password(*, new: bool) -> str:
    """The server's ``user:password``, made at the first start."""
    auth = None if new else read_auth()
    if not auth or ":" not in auth:
        auth = f"slurmtui:{secrets.token_urlsafe(24)}"
        write_private(auth_file(), auth + "\n")
    return auth
