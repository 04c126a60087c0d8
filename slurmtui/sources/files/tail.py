"""Following a log file that grows, is emptied, rotated, removed, made again, or is not there yet.

By ``stat``, never by notification: a compute node's writes to a network file system are notified to nobody. All
functions block on the file system, so call them in a thread; memory is bounded whatever the size of the file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from pathlib import Path

from slurmtui.sources.files.open_log import GONE, Identity, OpenLog, identity_of

TAIL_BUDGET = 2 * 1024 * 1024
READ_LIMIT = 4 * 1024 * 1024
_LEAVE_TAKING = 20.0  # seconds for which a rotated file is still looked at: its writer learns of it late


class FileTail:
    """Follows what stands under one path.

    Attributes:
        path: the file.
        problem: a sentence why nothing can be read, "" when all is well.
        unread: bytes that the last call of ``read_new`` left; with some, ``behind``, call it again at once.
        starts: where each line starts that the last call gave out, ``GONE`` for those that cannot be read again.
        generation: how often the file began anew: places in it are of no use from one to the next.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.problem = ""
        self.unread = 0
        self.starts: list[int] = []
        self.generation = 0
        self._logs: list[OpenLog] = []  # the current file last; before it those that it has replaced
        self._left: dict[OpenLog, float] = {}  # when something last came from a replaced file
        self._notices: list[str] = []

    # --- reading

    def last_lines(self, count: int) -> list[bytes]:
        """The last ``count`` whole lines, in milliseconds whatever the size; ``read_new`` goes on from there."""
        self.unread = 0
        self.starts = []
        try:
            self.close()
            self._look()
            if not self._logs:
                return []
            lines = self._logs[-1].start_at_end(count, TAIL_BUDGET)
            self.starts = self._logs[-1].starts
        except OSError as error:
            self._failed(error)
            return []
        return lines

    def read_new(self, limit: int = READ_LIMIT) -> list[bytes]:
        """The whole lines written since the last call, at most about ``limit`` bytes of them."""
        self.unread = 0
        self.starts = []
        lines: list[bytes] = []
        try:
            self._look()
            for log in tuple(self._logs):
                self._read_one(log, lines, limit)
                if self.behind:
                    break
        except OSError as error:
            self._failed(error)
        return lines

    def skip(self, most: int) -> tuple[int, int] | None:
        """Go on at the end of the file if more than ``most`` bytes were written; what was passed over, from and to."""
        log = self._logs[-1] if self._logs else None
        try:
            if log is None or len(self._logs) > 1 or self.path.stat().st_size - log.settled <= most:
                return None
            self._look()
            if len(self._logs) > 1 or not self._wake(log) or not log.still_the_same():
                return None
            begin = log.settled
            log.start_at_end(0, TAIL_BUDGET)
        except OSError as error:
            self._failed(error)
            return None
        return begin, log.settled

    @property
    def behind(self) -> bool:
        """Whether more is there than was read."""
        return self.unread > 0

    @property
    def position(self) -> int:
        """How much of the current file has been read, from its start."""
        return self._logs[-1].position if self._logs else 0

    @property
    def identity(self) -> Identity | None:
        """Which file it is that is followed; None before there is one."""
        return self._logs[-1].identity if self._logs else None

    @property
    def settled(self) -> int:
        """Where the line starts that is not finished yet: all before it has been given out."""
        return self._logs[-1].settled if self._logs else 0

    @property
    def partial(self) -> bytes:
        """The last line as far as it has been written, without its newline."""
        return self._logs[-1].partial if self._logs else b""

    def finish(self) -> list[bytes]:
        """Nothing more will be written: what stands without a newline is a line."""
        lines: list[bytes] = []
        self.starts = []
        for log in self._logs:
            self._finish(log, lines)
        return lines

    def take_notices(self) -> list[str]:
        """Sentences on what has happened to the file since the last call."""
        notices, self._notices = self._notices, []
        return notices

    # --- handles

    @property
    def open(self) -> bool:
        """Whether a handle is held."""
        return any(not log.resting for log in self._logs)

    def rest(self) -> None:
        """Give the handles back (a process has few) and remember the place."""
        for log in self._logs:
            log.rest()

    def close(self) -> None:
        """Forget the file."""
        self.rest()
        self._logs.clear()
        self._left.clear()

    # --- inside

    def _look(self) -> None:
        """See what stands under the path now."""
        current = self._logs[-1] if self._logs else None
        try:
            status = self.path.stat()
        except FileNotFoundError as error:
            if current is None:
                self._failed(error)
            elif not self.problem:
                self.problem = f"{self.path} has been removed; waiting for it to come back."
                self._notices.append(self.problem)
            return
        if not stat.S_ISREG(status.st_mode):
            self.problem = _no_file(self.path, status.st_mode)
            return
        if current is None or current.identity != identity_of(status):
            self._open(replaces=current)
        self.problem = ""

    def _open(self, *, replaces: OpenLog | None) -> None:
        log = OpenLog(self._handle())
        if replaces is not None:
            if log.identity == replaces.identity:
                log.rest()
                return
            self._left[replaces] = time.monotonic()
            self._notices.append(f"{self.path.name} was replaced by a new file.")
            self._begin_anew()
        self._logs.append(log)

    def _begin_anew(self) -> None:
        self.generation += 1

    def _handle(self) -> int:
        return os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)

    def _wake(self, log: OpenLog) -> bool:
        """Make sure that ``log`` has a handle; a replaced file that gave its own back cannot be had again."""
        if not log.resting:
            return True
        if log is not self._logs[-1]:
            self._logs.remove(log)
            return False
        log.wake(self._handle())
        return True

    def _read_one(self, log: OpenLog, lines: list[bytes], limit: int) -> None:
        if log.resting and log is self._logs[-1] and log.unchanged(self.path.stat()):
            return
        if not self._wake(log):
            self._finish(log, lines)
            return
        new, anew = log.read(limit)
        self.unread = log.unread
        lines += new
        self._starting(log)
        if anew:
            self._notices.append(f"{self.path.name} was emptied and begins anew.")
            if log is self._logs[-1]:
                self._begin_anew()
        if log is self._logs[-1] or self.behind:
            return
        self._finish(log, lines)  # a line left open by a rotation is whole now
        if new:
            self._left[log] = time.monotonic()
        elif time.monotonic() - self._left[log] > _LEAVE_TAKING:
            log.rest()
            self._logs.remove(log)
            del self._left[log]

    def _finish(self, log: OpenLog, lines: list[bytes]) -> None:
        lines += log.finish()
        self._starting(log)

    def _starting(self, log: OpenLog) -> None:
        """Note where the lines start that ``log`` has just given out."""
        current = bool(self._logs) and log is self._logs[-1]
        self.starts += log.starts if current else [GONE] * len(log.starts)

    def _failed(self, error: OSError) -> None:
        self.problem = _why(self.path, error)
        if error.errno == errno.ESTALE:  # a network file system has lost the handle: open the file again
            for log in self._logs:
                with contextlib.suppress(OSError):
                    log.rest()


def _why(path: Path, error: OSError) -> str:
    """A sentence for a file that cannot be read."""
    if isinstance(error, FileNotFoundError):
        if path.parent.is_dir():
            return f"{path} is not there yet."
        return f"{path} is not there, nor is its folder."
    if isinstance(error, PermissionError):
        return f"{path} may not be read: permission denied."
    return f"{path} cannot be read: {error.strerror or error}."


def _no_file(path: Path, mode: int) -> str:
    """A sentence for what is no regular file."""
    if str(path) == os.devnull or stat.S_ISCHR(mode):
        return f"The output goes to {path}: nothing of it is kept."
    return f"{path} is a folder, not a file." if stat.S_ISDIR(mode) else f"{path} is not a regular file."
