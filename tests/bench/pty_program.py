"""Runs a program on a pseudo-terminal and measures it as the person at the far end of the line sees it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil
import pyte

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

QUIET = 0.12
"""A key's output has ended after this many seconds without a byte."""
_WATCH_SECONDS = 0.05
_END_SECONDS = 5.0
_PAGE = os.sysconf("SC_PAGE_SIZE")
_ANSWERS = ((b"\x1b[c", b"\x1b[?62;c"), (b"\x1b[6n", b"\x1b[1;1R"))


class KeyTime(NamedTuple):
    """Milliseconds from a key to the first and to the last byte it caused, how many bytes those were, and when."""

    first: float
    last: float
    size: int
    at: float = 0.0


class Cpu(NamedTuple):
    """CPU seconds: of the program itself, and of the children that it has waited for."""

    own: float
    children: float


class PtyProgram:
    """A program on a terminal of ``size`` (columns, rows)."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], size: tuple[int, int] = (160, 48)) -> None:
        columns, rows = size
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.bytes = 0
        self.ended = False
        self.tree_peak = 0.0
        self._watched = 0.0
        self.started = time.perf_counter()
        self.pid, self._handle = pty.fork()
        if self.pid == 0:
            terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
            os.execvpe(argv[0], list(argv), {**environment, **terminal})  # noqa: S606 - this is the child of the fork
        fcntl.ioctl(self._handle, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(self.screen.display)

    def pump(self, seconds: float) -> int:
        """Take what comes within ``seconds`` at most; the number of bytes, 0 for silence."""
        if self.ended or not select.select([self._handle], [], [], max(0.0, seconds))[0]:
            return 0
        try:
            data = os.read(self._handle, 65536)
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return 0
        self.bytes += len(data)
        self._stream.feed(data)
        for question, answer in _ANSWERS:
            if question in data:
                os.write(self._handle, answer)
        return len(data)

    def wait_for(self, pattern: str, seconds: float = 60) -> float:
        """Seconds since the start until the screen matches.

        Raises:
            TimeoutError: it did not within ``seconds``.
        """
        deadline = time.perf_counter() + seconds
        while not re.search(pattern, self.text, re.MULTILINE):
            if time.perf_counter() > deadline or self.ended:
                raise TimeoutError(f"{pattern!r} was not seen within {seconds} s:\n{self.text}")
            self.pump(0.01)
        return time.perf_counter() - self.started

    def idle(self, seconds: float) -> tuple[int, float]:
        """Bytes written and CPU seconds used, by it and its children, while nobody does anything."""
        size, cpu = self.rest(seconds)
        return size, cpu.own + cpu.children

    def rest(self, seconds: float) -> tuple[int, Cpu]:
        """The same, with its own CPU seconds and those of its children told apart."""
        before, cpu = self.bytes, self.cpu()
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            self.pump(min(left, _WATCH_SECONDS))
            self._watch_tree()
        now = self.cpu()
        return self.bytes - before, Cpu(now.own - cpu.own, now.children - cpu.children)

    def send(self, keys: str) -> None:
        """Send keys, or what else a terminal tells, without waiting."""
        os.write(self._handle, keys.encode())

    def press(self, keys: str, quiet: float = QUIET) -> KeyTime:
        """Send keys and time what they cause, until nothing has come for ``quiet`` seconds."""
        while self.pump(QUIET):
            pass
        before, start, at = self.bytes, time.perf_counter(), time.time()
        os.write(self._handle, keys.encode())
        first = last = start
        limit = 2.0
        while time.perf_counter() - start < 10 and self.pump(limit):
            last = time.perf_counter()
            first = first if first > start else last
            limit = quiet
        return KeyTime((first - start) * 1000, (last - start) * 1000, self.bytes - before, at)

    def cpu(self) -> Cpu:
        """CPU seconds of the program, and of the children it has waited for."""
        times = psutil.Process(self.pid).cpu_times()
        return Cpu(times.user + times.system, times.children_user + times.children_system)

    def memory(self) -> float:
        """Resident megabytes of the program alone."""
        return float(psutil.Process(self.pid).memory_info().rss) / 1e6

    def peak(self) -> float:
        """The most resident megabytes that the program alone ever had, as the kernel counts them."""
        line = next(line for line in Path(f"/proc/{self.pid}/status").read_text().splitlines() if "VmHWM" in line)
        return int(line.split()[1]) * 1024 / 1e6

    def _watch_tree(self) -> None:
        """Note the memory of the program and its children, found cheaply enough to be done twenty times a second.

        A child that is not yet another program shares the memory of its parent, and is not counted.
        """
        if (now := time.perf_counter()) < self._watched + _WATCH_SECONDS:
            return
        self._watched = now
        total, pids, program = 0, [self.pid], Path(f"/proc/{self.pid}/exe").readlink()
        while pids:
            pid = pids.pop()
            with contextlib.suppress(OSError):
                if pid != self.pid and Path(f"/proc/{pid}/exe").readlink() == program:
                    continue
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
                for children in Path(f"/proc/{pid}/task").glob("*/children"):
                    pids += map(int, children.read_text().split())
        self.tree_peak = max(self.tree_peak, total / 1e6)

    def end(self) -> None:
        """End it, by force if it takes no notice of a lost line."""
        for sign in (signal.SIGHUP, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self.pid, sign)
            if self._gone_within(_END_SECONDS):
                break
        os.close(self._handle)

    def _gone_within(self, seconds: float) -> bool:
        deadline = time.perf_counter() + seconds
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
                if time.perf_counter() > deadline:
                    return False
                self.pump(0.01)  # what it still writes must not hold it up
        return True
