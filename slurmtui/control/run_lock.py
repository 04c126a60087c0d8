"""One console acts on a run at a time; another one is told who does.

The lock is a file whose creation is atomic, on local and on shared file systems. It names its holder, so that the lock
of a console that was killed is recognised and broken. A full disk must not keep anybody from ending a run: the lock is
then an empty file, which holds for some seconds only, or none.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import threading
import time
import uuid
from typing import IO, TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.control.unbroken import unbroken
from slurmtui.errors import Refused, RunFolderError
from slurmtui.models.run_record import LockRecord
from slurmtui.sources.processes import find_process, host_name, is_here, started_at
from slurmtui.sources.run_folder import folder_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

LOCK_FILE = "control.lock"
_LONGEST = 300.0  # seconds without a sign after which a holder on another host is taken for gone
_RENEW_EVERY = 20.0
_BEING_WRITTEN = 10.0
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextlib.contextmanager
def hold(run_id: str, doing: str) -> Iterator[None]:
    """Hold the run while ``doing`` something with it (``cancelling``).

    Raises:
        Refused: another console, or another part of this one, is acting on the run.
        RunFolderError: the lock cannot be written.
    """
    with hold_file(_lock_path(run_id), doing, "this run"):
        yield


@contextlib.contextmanager
def hold_file(path: Path, doing: str, what: str) -> Iterator[None]:
    """Hold ``path`` as the lock of ``what`` (``this run``) while ``doing`` something with it.

    Raises:
        Refused: another console, or another part of this one, is acting on it.
        RunFolderError: the lock cannot be written.
    """
    own = LockRecord(
        host=host_name(), pid=os.getpid(), pid_started=started_at(os.getpid()), time=time.time(), doing=doing
    )
    handle = _made(path, msgspec.json.encode(own), what)
    over = threading.Event()
    renewing = threading.Thread(target=_renew, args=(path, handle, over), name="slurmtui-lock", daemon=True)
    renewing.start()
    try:
        yield
    finally:
        over.set()
        renewing.join()  # it uses the handle
        if handle is not None:
            with contextlib.suppress(OSError):
                if _is_it(path, handle):
                    path.unlink()
            os.close(handle)


@contextlib.asynccontextmanager
async def holding(run_id: str, doing: str) -> AsyncIterator[None]:
    """``hold`` for the event loop: the files are looked at in a thread."""
    async with _in_thread(lambda: hold(run_id, doing)):
        yield


@contextlib.asynccontextmanager
async def holding_file(path: Path, doing: str, what: str) -> AsyncIterator[None]:
    """``hold_file`` for the event loop: the files are looked at in a thread."""
    async with _in_thread(lambda: hold_file(path, doing, what)):
        yield


@contextlib.asynccontextmanager
async def _in_thread(lock: Callable[[], AbstractContextManager[None]]) -> AsyncIterator[None]:
    """Take the lock and let it go in a thread; let it go as well when the caller is cancelled while it is taken."""
    with contextlib.ExitStack() as held:  # what the end of the program leaves of it
        try:
            await unbroken(asyncio.to_thread(lambda: held.enter_context(lock())))
            yield
        finally:
            await unbroken(asyncio.to_thread(held.close))


def _made(path: Path, content: bytes, what: str) -> int | None:
    """A handle of the lock; None when the disk is so full that there is none."""
    try:
        handle = _take(path, content)
        if handle is None:
            break_stale(path)
            handle = _take(path, content)
    except OSError as error:
        if error.errno in _NO_ROOM:
            return None
        raise RunFolderError(f"{path} cannot be written: {error.strerror}.") from error
    if handle is None:
        raise _told(path, what)
    return handle


def _renew(path: Path, handle: int | None, over: threading.Event) -> None:
    """Give a sign of life now and then: what is done under the lock may take longer than ``_LONGEST``."""
    while not over.wait(_RENEW_EVERY):
        with contextlib.suppress(OSError):
            if handle is not None and _is_it(path, handle):
                os.utime(path)


def _is_it(path: Path, handle: int) -> bool:
    """Whether ``path`` is the file of the handle: while that is open, no other file looks like it, not even if empty.

    Raises:
        OSError: there is no such file.
    """
    return os.path.samestat(os.fstat(handle), path.lstat())


def is_stale(path: Path) -> bool:
    """Whether the lock's holder is gone, so that the next who wants it breaks it; False when there is no lock."""
    try:
        with path.open("rb") as lock:
            return _stale(lock.read(), lock)
    except OSError:
        return False


def _lock_path(run_id: str) -> Path:
    folder = folder_of(run_id)
    if folder.is_dir():
        return folder / LOCK_FILE
    # A run that was not started from here has no folder; two consoles can still meet on it.
    return paths.private_folder(paths.state_folder() / "locks") / f"{run_id}.lock"


def _take(path: Path, content: bytes) -> int | None:
    """Make the lock; a handle by which it is known again, None when there is one already."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return None
    own = os.dup(handle)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            os.close(own)
            raise
    return own


def _holder(content: bytes) -> LockRecord | None:
    try:
        return msgspec.json.decode(content, type=LockRecord)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _stale(content: bytes, lock: IO[bytes]) -> bool:
    holder, written = _holder(content), os.fstat(lock.fileno()).st_mtime
    if holder is None:
        return time.time() - written > _BEING_WRITTEN
    if is_here(holder.host):
        return find_process(holder.pid, holder.pid_started) is None
    return time.time() - written > _LONGEST


def break_stale(path: Path) -> bool:
    """Remove the lock if its holder is gone; whether that was so.

    Raises:
        Refused: other consoles take and break it in this moment.
        OSError: it cannot be moved.
    """
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with path.open("r+b") as seen:
            content = seen.read()
            if not _stale(content, seen) or not _is_mine_to_break(seen) or not _is_it(path, seen.fileno()):
                return False
            path.rename(aside)
            return _removed(path, aside, content, seen)
    except FileNotFoundError:
        return False  # its holder has just let go, or another console has broken it


def _is_mine_to_break(seen: IO[bytes]) -> bool:
    """Whether no other console is breaking this very lock.

    One that is too late would move away the lock of the console that was first. Where a file system cannot tell, the
    look at what was moved away remains.
    """
    try:
        fcntl.flock(seen, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _removed(path: Path, aside: Path, content: bytes, seen: IO[bytes]) -> bool:
    """Remove the lock that was moved aside, if it is the one that was seen."""
    try:
        if _is_it(aside, seen.fileno()) and aside.read_bytes() == content:
            return True
        # Between the look and the move another console broke the old lock and made its own: give it back.
        os.link(aside, path)
    except FileExistsError:
        raise Refused("Other consoles are acting on it at this moment; try again.") from None
    finally:
        aside.unlink()
    return False


def _told(path: Path, what: str) -> Refused:
    try:
        holder = _holder(path.read_bytes())
    except OSError:
        holder = None
    if holder is None:
        return Refused(f"Another console is acting on {what} at this moment; try again.")
    ago = max(0, round(time.time() - holder.time))
    return Refused(
        f"Another console is {holder.doing or 'acting on'} {what} since {ago} s "
        f"(process {holder.pid} on {holder.host}). Wait for it to end."
    )
