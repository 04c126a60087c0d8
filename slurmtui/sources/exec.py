"""The one place that runs a command.

Every command is an argv list, without a shell, with stdin closed (or fed), a time limit and a pinned environment;
each call is kept in a short log that the console shows under ``@``.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.errors import CommandError, CommandMissing
from slurmtui.sources.command_log import Call, CommandLog
from slurmtui.sources.digest import digesting
from slurmtui.sources.within import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slurmtui.sources.digest import Digest


# Variables with which a user bends the output of SLURM's commands; they would change what is parsed here.
_BENDING = (
    "SQUEUE_", "SACCT_", "SINFO_", "SCONTROL_", "SLURM_TIME_FORMAT", "SLURM_CLUSTERS", "SLURM_BITSTR_LEN", "SCANCEL_",
    "SPRIO_", "SSHARE_",
)  # fmt: skip
_SECRET = re.compile(r"PREFECT_.*(AUTH_STRING|API_KEY|PASSWORD|CONNECTION_URL|TOKEN|CUSTOM_HEADERS)$")
_PINNED = {"LC_ALL": "C.UTF-8", "SLURM_BITSTR_LEN": "0"}
_LARGE = 1 << 20
_SHOWN = 400
_LATE = "time limit"
_REAP_SECONDS = 5.0
_REAP_EVERY = 0.005


class Finished(msgspec.Struct, frozen=True):
    """A command that ended by itself: its exit code and what it wrote, or (``digested``) what was made of that."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: str
    seconds: float
    digested: Any = None


def unbent_environment() -> dict[str, str]:
    """The user's own environment without what bends SLURM's output: also for what a job inherits."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_BENDING)}


def inherited_environment() -> dict[str, str]:
    """The environment for sbatch: what a job inherits stands in accounting, so Prefect's secrets stay out of it."""
    return {name: value for name, value in unbent_environment().items() if not _SECRET.match(name)}


def pinned_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a command: the user's own, without what bends SLURM's output, in a fixed locale."""
    return {**unbent_environment(), **_PINNED, **(extra or {})}


class Runner:
    """Runs commands and logs them.

    Attributes:
        log: every call.
        lacks: what the SLURM that its commands speak to was once found not to offer, and a sentence on what is off.
    """

    def __init__(self, log: CommandLog | None = None, environment: Mapping[str, str] | None = None) -> None:
        self.log = log if log is not None else CommandLog()
        self.lacks: dict[str, str] = {}
        self._environment = dict(environment or {})

    async def run(  # noqa: PLR0913 - one call, every option by name
        self,
        argv: Sequence[str],
        *,
        timeout: float = 20,
        check: bool = True,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        chdir: str | os.PathLike[str] | None = None,
        pinned: bool = True,
        digest: Digest | None = None,
    ) -> Finished:
        """Run ``argv`` and wait for its end, at most ``timeout`` seconds.

        Args:
            argv: the program and its arguments; never a shell.
            timeout: seconds after which it is killed with its children.
            check: raise when the exit code is not 0.
            stdin: what it reads; without it stdin is closed.
            env: more variables, over everything else.
            chdir: the folder it runs in.
            pinned: False for sbatch, whose environment the job inherits: the locale as the user has it, no secrets.
            digest: makes something of the output instead of keeping it, in a thread, while it is still being written.
                It is given the output of a command that fails as well; what it makes of that is nobody's to use.

        Raises:
            CommandMissing: the program is not on PATH.
            CommandError: it took too long, or (with ``check``) its exit code was not 0.
        """
        started, clock = time.time(), time.perf_counter()
        base = pinned_environment() if pinned else inherited_environment()
        environment = {**base, **self._environment, **(env or {})}
        with _memory_file("stdout") as out, _memory_file("stderr") as err:
            process = await self._start(argv, out, err, feeds=stdin is not None, env=environment, chdir=chdir)
            async with digesting(out, digest) as digested:
                code = await _wait(process, stdin, timeout)
            stdout, stderr = await _taken(out) if digest is None else b"", _written(err)
        seconds = time.perf_counter() - clock
        words = stderr.decode("utf-8", "replace").strip()
        said = sentence(words, argv[0])
        self.log.add(Call(started, " ".join(argv), seconds, code, _LATE if code is None else said[:_SHOWN]))
        if code is None:
            raise _too_late(argv, timeout, said)
        finished = Finished(
            tuple(argv), code, stdout, words, seconds, digested.result() if digested and not code else None
        )
        if check and code:
            raise failure(finished)
        return finished

    async def _start(  # noqa: PLR0913 - as above
        self,
        argv: Sequence[str],
        out: int,
        err: int,
        *,
        feeds: bool,
        env: Mapping[str, str],
        chdir: str | os.PathLike[str] | None,
    ) -> asyncio.subprocess.Process:
        """The process, in a session of its own, writing to ``out`` and ``err``; one that cannot be is logged too."""
        started, feed = time.time(), asyncio.subprocess.PIPE if feeds else asyncio.subprocess.DEVNULL
        try:
            return await asyncio.create_subprocess_exec(
                *argv, stdin=feed, stdout=out, stderr=err, env=env, cwd=chdir, start_new_session=True
            )
        except OSError as error:
            self.log.add(Call(started, " ".join(argv), 0, 127, error.strerror or "not started"))
            raise _not_started(error, argv, chdir) from error

    def run_in_terminal(self, argv: Sequence[str]) -> int:
        """Run a program with this process' own terminal and wait for its end; its exit code, 127 if it is missing.

        There is no time limit: a person is in it. Nothing else of this process goes on meanwhile.
        """
        started, clock = time.time(), time.perf_counter()
        environment = {**inherited_environment(), **self._environment}
        before = signal.signal(signal.SIGINT, lambda *_: None)  # ctrl+c is for the program; it gets the default back
        try:
            code = subprocess.run(argv, env=environment, check=False).returncode
            said = ""
        except OSError as error:
            code, said = 127, error.strerror or "not started"
        finally:
            signal.signal(signal.SIGINT, before)
        self.log.add(Call(started, " ".join(argv), time.perf_counter() - clock, code, said))
        return code


async def _wait(process: asyncio.subprocess.Process, stdin: bytes | None, timeout: float) -> int | None:
    """The exit code, or None when the time limit came first; the process is then gone, as after a cancelled wait."""
    try:
        await within(process.communicate(stdin), timeout)
    except asyncio.TimeoutError:
        await _end(process)
        return None
    except asyncio.CancelledError:
        await _end(process)
        raise
    return process.returncode or 0


@contextlib.contextmanager
def _memory_file(name: str) -> Iterator[int]:
    """A file in memory that a command writes to: no wake-up for each piece, and what it wrote is there at any time."""
    handle = os.memfd_create(name)
    try:
        yield handle
    finally:
        os.close(handle)


def _written(handle: int) -> bytes:
    """Everything written so far; memory always gives as much as there is."""
    return os.pread(handle, os.fstat(handle).st_size, 0)


async def _taken(handle: int) -> bytes:
    """What was written; read in a thread where that would hold up a key."""
    if os.fstat(handle).st_size > _LARGE:
        return await asyncio.to_thread(_written, handle)
    return _written(handle)


def _not_started(error: OSError, argv: Sequence[str], chdir: str | os.PathLike[str] | None) -> CommandError:
    """The error for a command that could not be started, which says whether it or its folder is missing."""
    if chdir is not None and not Path(chdir).is_dir():
        return CommandError(f"{argv[0]} could not be started: there is no folder {chdir}", argv=argv, code=None)
    if isinstance(error, FileNotFoundError):
        message = f"{argv[0]}: command not found. Is SLURM installed here and on PATH? (slurmtui doctor tells)"
        return CommandMissing(message, argv=argv, code=127)
    return CommandError(f"{argv[0]} could not be started: {error.strerror}", argv=argv, code=None)


def _too_late(argv: Sequence[str], timeout: float, said: str) -> CommandError:
    """The error for a command that was ended by its time limit."""
    message = f"{argv[0]} did not answer within {timeout:g} s" + (f"; it had said: {said}" if said else "")
    return CommandError(message, argv=argv, code=None, stderr=said)


def failure(finished: Finished) -> CommandError:
    """The error for a command that ended with a code other than 0, in the command's own words."""
    name, code = finished.argv[0], finished.code
    ended = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
    said = sentence(finished.stderr, name) or f"{ended}, without a word"
    return CommandError(f"{name}: {said}", argv=finished.argv, code=code, stderr=finished.stderr)


def sentence(stderr: str, name: str) -> str:
    """What the command ``name`` said, on one line: without its name before each part, and each part once."""
    parts: list[str] = []
    for line in filter(None, (line.strip() for line in stderr.splitlines())):
        words = line.removeprefix(f"{name}: ").removeprefix("error: ")
        if words == line and parts:  # a line that goes on
            parts[-1] += f" {words}"
        elif words not in parts:
            parts.append(words)
    return "; ".join(parts)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill a process and the children it may have started, and reap it, also when the wait for that is cancelled again.

    One that waits for a file system that is away does not even follow SIGKILL: it is left to itself after a while.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # No task of its own waits for it: whoever ends all tasks at once would end that one too, and leave a zombie.
    until, cancelled = time.monotonic() + _REAP_SECONDS, False
    while process.returncode is None and time.monotonic() < until:
        cancelled = not await _slept(_REAP_EVERY) or cancelled
    if not await _slept(0) or cancelled:  # a turn of the loop, in which it lets go of the process
        raise asyncio.CancelledError


async def _slept(seconds: float) -> bool:
    """Sleep; False when that was cancelled."""
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        return False
    return True
