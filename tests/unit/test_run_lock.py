"""Two consoles, one run: one holds it, the other is told; the lock of a dead one is broken."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from slurmtui import paths
from slurmtui.control import run_lock
from slurmtui.control.run_lock import LOCK_FILE, hold, holding
from slurmtui.errors import Refused, RunFolderError
from slurmtui.models.run_record import LockRecord
from slurmtui.sources.processes import host_name, started_at

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    folder = paths.private_folder(paths.runs_folder() / RUN)
    return folder / LOCK_FILE


def put(lock: Path, holder: LockRecord) -> None:
    lock.write_bytes(msgspec.json.encode(holder))


def test_one_holds_and_the_other_is_told_who_and_what(lock: Path) -> None:
    with hold(RUN, "cancelling"):
        told = rf"Another console is cancelling this run since \d+ s \(process {os.getpid()} on "
        with pytest.raises(Refused, match=told), hold(RUN, "retrying"):
            pass
        assert lock.exists(), "the refused one took the lock away"
    assert not lock.exists()
    with hold(RUN, "retrying"):
        pass


def test_it_is_let_go_when_the_work_fails(lock: Path) -> None:
    with pytest.raises(ZeroDivisionError), hold(RUN, "cancelling"):
        _ = 1 // 0
    assert not lock.exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("where", ["created", "written"])
def test_a_full_disk_keeps_nobody_from_acting(
    lock: Path, monkeypatch: pytest.MonkeyPatch, number: int, where: str
) -> None:
    def no_room(handle: int | str, *_more: object) -> None:
        if isinstance(handle, int):
            os.close(handle)
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("slurmtui.control.run_lock.os." + ("open" if where == "created" else "fdopen"), no_room)
    with hold(RUN, "cancelling"):
        assert lock.exists() is (where == "written")
        if where == "written":
            with pytest.raises(Refused, match="Another console is acting"), hold(RUN, "retrying"):
                pass
    assert not lock.exists()


def test_the_lock_of_a_killed_console_is_broken(lock: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    put(lock, LockRecord(host=host_name(), pid=dead.pid, pid_started=1.0, time=time.time(), doing="cancelling"))
    with hold(RUN, "retrying"):
        assert b"retrying" in lock.read_bytes()


def test_the_lock_of_a_living_process_is_not_broken_however_old(lock: Path) -> None:
    put(lock, LockRecord(host=host_name(), pid=os.getpid(), pid_started=started_at(os.getpid()), time=0))
    with pytest.raises(Refused), hold(RUN, "retrying"):
        pass


def test_a_lock_of_another_host_counts_while_it_is_young(lock: Path) -> None:
    put(lock, LockRecord(host="elsewhere", pid=1, pid_started=1.0, time=time.time() - 3600))
    with pytest.raises(Refused, match="on elsewhere"), hold(RUN, "retrying"):
        pass
    os.utime(lock, (1, 1))
    with hold(RUN, "retrying"):
        pass


def test_a_lock_is_renewed_while_it_is_held(lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_lock, "_RENEW_EVERY", 0.01)
    with hold(RUN, "cancelling"):
        os.utime(lock, (1, 1))
        until = time.monotonic() + 30
        while lock.stat().st_mtime < 2 and time.monotonic() < until:
            time.sleep(0.01)
        assert lock.stat().st_mtime > 2, "another host would have taken it for left behind"


def test_a_lock_that_was_taken_away_by_mistake_is_given_back_or_said(
    lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = LockRecord(host="second", pid=1, pid_started=1.0, time=time.time())
    third = LockRecord(host="third", pid=1, pid_started=1.0, time=time.time())
    rename = Path.rename

    def raced(path: Path, target: Path, *, crowded: bool) -> Path:
        put(path, second)  # another console has broken the old one and made its own
        moved = rename(path, target)
        if crowded:
            put(path, third)
        return moved

    for crowded, holder in ((False, b"second"), (True, b"third")):
        put(lock, LockRecord(host="elsewhere", pid=1, pid_started=1.0, time=1))
        os.utime(lock, (1, 1))
        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", lambda path, target, crowded=crowded: raced(path, target, crowded=crowded))
            with pytest.raises(Refused), hold(RUN, "retrying"):
                pass
        assert holder in lock.read_bytes()
        assert len(list(lock.parent.iterdir())) == 1


def test_an_empty_lock_that_was_taken_away_by_mistake_is_given_back(
    lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def raced(path: Path, target: Path) -> Path:
        path.unlink()
        path.write_bytes(b"")  # on a full disk another console has broken the old one and made its own
        return rename(path, target)

    lock.write_bytes(b"")
    os.utime(lock, (1, 1))
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", raced)
        with pytest.raises(Refused), hold(RUN, "retrying"):
            pass
    assert time.time() - lock.stat().st_mtime < 60


@pytest.mark.parametrize("where", ["open", "fdopen"])
def test_an_empty_lock_of_another_console_is_not_taken_away_on_a_full_disk(
    lock: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def no_room(handle: int | str, *_more: object) -> None:
        if isinstance(handle, int):
            os.close(handle)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(f"slurmtui.control.run_lock.os.{where}", no_room)
        holding = hold(RUN, "cancelling")
        holding.__enter__()
    lock.unlink(missing_ok=True)  # too long an empty one: another console has broken it …
    lock.write_bytes(b"")  # … and has no room either
    holding.__exit__(None, None, None)
    assert lock.exists()


def test_breaking_a_lock_tells_whether_its_holder_was_gone(lock: Path) -> None:
    put(lock, LockRecord(host=host_name(), pid=os.getpid(), pid_started=started_at(os.getpid()), time=0))
    assert not run_lock.break_stale(lock)
    assert lock.exists()
    put(lock, LockRecord(host=host_name(), pid=2**30, pid_started=1, time=0))
    assert run_lock.break_stale(lock)
    assert list(lock.parent.iterdir()) == []
    assert not run_lock.break_stale(lock), "there is none"


def test_a_lock_that_is_just_being_written_counts_and_an_old_broken_one_does_not(lock: Path) -> None:
    lock.write_bytes(b"")
    with pytest.raises(Refused, match="at this moment"), hold(RUN, "retrying"):
        pass
    os.utime(lock, (1, 1))
    with hold(RUN, "retrying"):
        pass


def test_who_comes_while_a_stale_lock_is_being_broken_is_told(lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it breaks the lock as well, takes it, and has it moved away by the first: a third could take it, too."""
    put(lock, LockRecord(host="elsewhere", pid=1, pid_started=1.0, time=1))
    os.utime(lock, (1, 1))
    rename, told = Path.rename, list[str]()

    def late(path: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "rename", rename)
        with pytest.raises(Refused) as refused, hold(RUN, "retrying"):
            pass
        told.append(str(refused.value))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", late)
    with hold(RUN, "cancelling"):
        assert lock.exists()
    assert len(told) == 1
    assert list(lock.parent.iterdir()) == []


def test_of_many_that_break_one_stale_lock_one_gets_it(lock: Path) -> None:
    put(lock, LockRecord(host="elsewhere", pid=1, pid_started=1.0, time=1))
    os.utime(lock, (1, 1))
    code = (
        "import sys, time\n"
        "from slurmtui.control.run_lock import hold\n"
        "from slurmtui.errors import Refused\n"
        "sys.stdin.readline()\n"
        "try:\n"
        f"    with hold('{RUN}', 'cancelling'):\n"
        "        print('held', flush=True)\n"
        "        sys.stdin.readline()\n"
        "except Refused:\n"
        "    print('told', flush=True)\n"
    )
    racers = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    answers = sorted(racer.stdout.readline().strip() for racer in racers if racer.stdout)
    for racer in racers:
        racer.communicate("\n", timeout=30)
    assert answers == ["held", "told", "told", "told"]


def is_there(lock: Path) -> bool:
    return lock.exists()


class Slow:
    """A file system on which a lock takes until it is let go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.may_go_on = threading.Event(), threading.Event()
        self._made = run_lock._made
        monkeypatch.setattr(run_lock, "_made", self._slowly)

    def _slowly(self, path: Path, content: bytes, what: str) -> int | None:
        self.begun.set()
        assert self.may_go_on.wait(30)
        return self._made(path, content, what)


async def _act(ended: list[str]) -> None:
    async with holding(RUN, "retrying"):
        ended.append("held")


async def test_a_slow_lock_holds_up_nothing_else(lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, ended = Slow(monkeypatch), list[str]()
    acting = asyncio.ensure_future(_act(ended))
    assert await asyncio.to_thread(slow.begun.wait, 30)
    assert not acting.done()
    slow.may_go_on.set()
    await acting
    assert ended == ["held"]
    assert not is_there(lock)


async def test_a_lock_that_is_taken_for_somebody_who_waits_no_more_is_let_go(
    lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, ended = Slow(monkeypatch), list[str]()
    acting = asyncio.ensure_future(_act(ended))
    assert await asyncio.to_thread(slow.begun.wait, 30)
    acting.cancel()
    done, _ = await asyncio.wait((acting,), timeout=0.2)
    assert not done, "it left before the lock was there to be let go"
    slow.may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await acting
    assert ended == []
    assert not is_there(lock)


async def test_one_who_is_refused_in_a_thread_leaves_the_lock(lock: Path) -> None:
    async with holding(RUN, "cancelling"):
        with pytest.raises(Refused, match="cancelling this run"):
            await _act([])
        assert is_there(lock)
    assert not is_there(lock)


def test_a_run_without_a_folder_is_locked_as_well(lock: Path) -> None:
    lock.parent.rmdir()
    with hold(RUN, "cancelling"), pytest.raises(Refused), hold(RUN, "cancelling"):
        pass
    assert not lock.parent.exists(), "a lock made a run folder of a run that has none"


def test_a_lock_that_cannot_be_written_is_said(lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*_: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(RunFolderError, match=f"{LOCK_FILE} cannot be written: Read-only"), hold(RUN, "x"):
        pass
    assert lock.parent.exists()
