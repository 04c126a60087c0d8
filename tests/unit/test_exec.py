"""The runner of commands: what it gives back, what it keeps, and how it ends what takes too long."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from slurmtui.errors import CommandError, CommandMissing
from slurmtui.sources import exec as exec_module
from slurmtui.sources.command_log import CommandLog
from slurmtui.sources.exec import Runner, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def python(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code, *arguments)


async def test_output_arrives_whole_and_as_bytes() -> None:
    finished = await Runner().run(python("import sys; sys.stdout.buffer.write(bytes(range(256)) * 4000)"))
    assert finished.stdout == bytes(range(256)) * 4000
    assert finished.code == 0


async def test_arguments_are_never_seen_by_a_shell(tmp_path: Path) -> None:
    words = ("$(touch hit)", "a b;", "'\"`*")
    finished = await Runner().run(python("import sys; print(sys.argv[1:])", *words), chdir=tmp_path)
    assert finished.stdout.decode().strip() == str(list(words))
    assert not os.path.exists(tmp_path / "hit")  # noqa: ASYNC240, PTH110 - a look, nothing waits for it


async def test_stdin_is_closed_unless_fed() -> None:
    echo = python("import sys; print(repr(sys.stdin.read()))")
    assert (await Runner().run(echo)).stdout == b"''\n"
    assert (await Runner().run(echo, stdin=b"#!/bin/sh\n")).stdout == b"'#!/bin/sh\\n'\n"


async def test_a_failed_command_is_an_error_in_its_own_words() -> None:
    with pytest.raises(CommandError, match="no such partition here, ask your site") as caught:
        await Runner().run(python("import sys; sys.exit('no such partition here,\\n  ask your site')"))
    assert caught.value.exit_code_of_command == 1
    assert "\n" not in str(caught.value)


def test_words_of_several_lines_become_one_sentence_each_part_once() -> None:
    twice = "sacct: error: Sending PersistInit msg\n" * 2
    said = f"sacct: error: Connection refused\n  by host\n{twice}"
    assert sentence(said, "sacct") == "Connection refused by host; Sending PersistInit msg"


async def test_a_command_killed_by_a_signal_is_said_to_be_so() -> None:
    with pytest.raises(CommandError, match="ended by signal 9"):
        await Runner().run(python("import os; os.kill(os.getpid(), 9)"))


async def test_without_check_the_code_is_an_answer() -> None:
    finished = await Runner().run(python("import sys; sys.exit(3)"), check=False)
    assert finished.code == 3


async def test_a_missing_command_is_named() -> None:
    with pytest.raises(CommandMissing, match="no-such-squeue: command not found"):
        await Runner().run(("no-such-squeue",))


async def test_a_missing_folder_is_not_taken_for_a_missing_command() -> None:
    with pytest.raises(CommandError, match="there is no folder /nowhere"):
        await Runner().run(python("pass"), chdir="/nowhere")


def noting(started: list[asyncio.subprocess.Process]) -> Runner:
    """A runner that notes what it has started."""

    class Noting(Runner):
        async def _start(self, *arguments: Any, **named: Any) -> asyncio.subprocess.Process:
            started.append(await super()._start(*arguments, **named))
            return started[-1]

    return Noting()


async def test_a_command_that_does_not_even_follow_a_kill_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    left, started = list[int](), list[asyncio.subprocess.Process]()
    with monkeypatch.context() as patched:
        patched.setattr(exec_module, "_REAP_SECONDS", 0.05)
        patched.setattr(os, "killpg", lambda pid, _number: left.append(pid))  # it waits for a disk that is away
        with pytest.raises(CommandError, match=r"did not answer within 0\.2 s"):
            await asyncio.wait_for(noting(started).run(python("import time; time.sleep(60)"), timeout=0.2), 30)
    os.kill(left[0], 0)  # it lives
    os.killpg(left[0], 9)
    await started[0].wait()  # the event loop reaps it
    await asyncio.sleep(0)


async def test_time_limit_ends_the_command_and_its_children_and_keeps_its_words(tmp_path: Path) -> None:
    # A shell, which is up at once: an interpreter and its child may take longer than the time limit on a busy machine.
    script = "echo slow controller >&2; sleep 60 & echo $! > pid; echo > up; wait"
    runner = Runner()
    with pytest.raises(CommandError, match="did not answer within 3 s; it had said: slow controller") as caught:
        await runner.run(("sh", "-c", script), timeout=3, chdir=tmp_path)
    assert caught.value.exit_code_of_command is None
    assert (tmp_path / "up").exists()
    pid = int((tmp_path / "pid").read_text())
    for _ in range(3000):
        if not _lives(pid):
            break
        await asyncio.sleep(0.01)
    assert not _lives(pid)
    (call,) = runner.log
    assert call.code is None


async def test_cancelling_the_wait_ends_the_command() -> None:
    task = asyncio.create_task(Runner().run(python("import time; time.sleep(60)")))
    await asyncio.sleep(0.2)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < 30


async def test_a_command_is_reaped_also_when_its_end_is_cancelled_once_more() -> None:
    started: list[asyncio.subprocess.Process] = []

    task = asyncio.create_task(noting(started).run(("sleep", "60")))
    while not started:  # noqa: ASYNC110 - no event tells it
        await asyncio.sleep(0.01)
    while not task.done():  # as a program does at its end that ends all tasks, some of them again
        task.cancel()
        await asyncio.sleep(0)
    assert task.cancelled()
    assert started[0].returncode == -9


async def test_what_bends_output_does_not_reach_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SQUEUE_FORMAT", "SLURM_TIME_FORMAT", "SLURM_CLUSTERS", "SACCT_FORMAT", "SLURM_BITSTR_LEN"):
        monkeypatch.setenv(name, "bent")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    show = python("import json, os; print(json.dumps(dict(os.environ)))")
    pinned = (await Runner(environment={"SLURM_CONF": "/srv/slurm.conf"}).run(show)).stdout
    assert b"bent" not in pinned
    assert b'"LC_ALL": "C.UTF-8"' in pinned
    assert b'"SLURM_CONF": "/srv/slurm.conf"' in pinned
    assert b'"SLURM_BITSTR_LEN": "0"' in pinned
    inherited = (await Runner().run(show, pinned=False)).stdout
    assert b'"LC_ALL": "de_DE.UTF-8"' in inherited
    assert b"bent" not in inherited


async def test_the_log_keeps_calls_with_code_and_words() -> None:
    runner = Runner(CommandLog(kept=2))
    for code in (0, 1, 2):
        await runner.run(python(f"import sys; print('word {code}', file=sys.stderr); sys.exit({code})"), check=False)
    assert [(call.code, call.said) for call in runner.log] == [(1, "word 1"), (2, "word 2")]
    assert runner.log.count == 3
    assert runner.log.per_minute(time.time()) == 2


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_output_is_digested_while_it_is_written(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    code = (
        "import pathlib, sys, time\n"
        "print('x' * 9, flush=True)\n"
        "while not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.01)\n"
        "sys.stdout.write('y' * 25)"
    )

    def digest(read: Callable[[int], Iterator[bytes]]) -> list[bytes]:
        pieces = []
        for piece in read(10):
            pieces.append(piece)
            seen.touch()
        return pieces

    finished = await Runner().run(python(code, str(seen)), digest=digest)
    assert finished.digested == [b"x" * 9 + b"\n", b"y" * 10, b"y" * 10, b"y" * 5]
    assert finished.stdout == b""


async def test_the_digest_of_a_command_that_fails_or_is_late_is_nobodys() -> None:
    def digest(read: Callable[[int], Iterator[bytes]]) -> int:
        return 1 // (len(b"".join(read(10))) - 5)

    failed = await Runner().run(python("import sys; print('word'); sys.exit(3)"), check=False, digest=digest)
    assert (failed.code, failed.digested) == (3, None)
    with pytest.raises(CommandError, match="did not answer within"):
        await Runner().run(python("import time; print('word', flush=True); time.sleep(60)"), timeout=1, digest=digest)


async def test_a_cancelled_wait_leaves_the_output_open_until_its_digest_has_ended() -> None:
    at_work, go_on, seen = threading.Event(), threading.Event(), list[bytes]()

    def digest(read: Callable[[int], Iterator[bytes]]) -> None:
        at_work.set()
        go_on.wait(30)
        seen.extend(read(4))

    asked = asyncio.create_task(Runner().run(python("print('a' * 9, end='')"), digest=digest))
    await asyncio.to_thread(at_work.wait, 30)
    asked.cancel()
    await asyncio.sleep(0.3)
    assert not asked.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert b"aaaaaaaaa".startswith(b"".join(seen))


async def test_digests_leave_the_threads_to_others() -> None:
    slow = ("sleep", "30")
    asked = [asyncio.create_task(Runner().run(slow, digest=lambda read: list(read(10)))) for _ in range(40)]
    await asyncio.sleep(0.5)
    begun = time.monotonic()
    await asyncio.to_thread(lambda: None)
    waited = time.monotonic() - begun
    for one in asked:
        one.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    assert waited < 10
