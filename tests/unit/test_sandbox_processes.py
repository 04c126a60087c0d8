"""What is the sandbox's own and what is not; one `up` at a time; failures that tell why."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from slurmtui.errors import SandboxError
from slurmtui.sandbox import daemons, lock, processes, record
from slurmtui.sandbox.cluster import serves
from slurmtui.sandbox.layout import Layout
from slurmtui.sandbox.waiting import until
from tests.unit.begun import begun

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

FOREVER = "import time; time.sleep(600)"


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    found: list[subprocess.Popen[bytes]] = []
    yield found
    for process in found:
        process.kill()
        process.wait()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sandbox"
    made.mkdir()
    return made


def true_when(condition: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    async def ask() -> bool:
        return condition()

    return ask


def pretend(folder: Path, name: str) -> str:
    """A program of this name that sleeps: `sleep` by another name."""
    program = folder.parent / "bin" / name
    program.parent.mkdir(exist_ok=True)
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    return str(program)


def test_daemons_jobs_and_strangers_are_told_apart(folder: Path, started: list[subprocess.Popen[bytes]]) -> None:
    environment = dict(os.environ)
    job = {**environment, "SLURM_CONF": str(folder / "slurm.conf"), "SLURMD_NODENAME": "n1"}
    shell = {**environment, "SLURM_CONF": str(folder / "slurm.conf"), "SLURM_JOB_ID": "7"}
    ours = begun([pretend(folder, "slurmdbd"), "600"], cwd=folder)
    step = begun([pretend(folder, "slurmstepd"), "600"], cwd=folder)
    of_a_job = begun([sys.executable, "-c", FOREVER], env=job)
    strangers = [
        begun([pretend(folder, "slurmctld"), "600"], cwd="/"),
        begun([sys.executable, "-c", FOREVER, str(folder)], cwd=folder),
        begun([sys.executable, "-c", FOREVER], env=shell),
    ]
    started += [ours, step, of_a_job, *strangers]

    found = processes.find_own(folder)

    assert {name: process.pid for name, process in found.daemons.items()} == {"slurmdbd": ours.pid}
    assert {process.pid for process in found.others} == {step.pid, of_a_job.pid}


def test_a_folder_whose_name_begins_alike_is_another_sandbox(
    folder: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    other = folder.parent / "sandbox2"
    other.mkdir()
    started.append(begun([pretend(folder, "slurmd"), "600"], cwd=other))
    assert processes.find_own(folder).all() == []
    assert len(processes.find_own(other).all()) == 1


async def test_what_does_not_end_when_asked_is_killed(folder: Path, started: list[subprocess.Popen[bytes]]) -> None:
    ready = folder / "ready"
    stubborn = (
        f"import signal, time, pathlib; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        f"pathlib.Path({str(ready)!r}).touch(); time.sleep(600)"
    )
    started.append(begun([sys.executable, "-c", stubborn]))
    assert await until(true_when(ready.exists), 20)
    assert await processes.end([psutil.Process(started[0].pid)], 0.2) == []
    assert started[0].wait() == -signal.SIGKILL


async def test_the_lock_is_held_by_one_at_a_time_and_waiting_is_told(folder: Path) -> None:
    said: list[str] = []
    order: list[str] = []

    async def second() -> None:
        async with lock.hold(folder, said.append):
            order.append("second")

    async with lock.hold(folder, said.append):
        waiting = asyncio.create_task(second())
        assert await until(true_when(lambda: bool(said)), 20)
        order.append("first")
    await waiting
    assert order == ["first", "second"]
    assert len(said) == 1


async def test_waiting_for_the_lock_ends(folder: Path) -> None:
    async with lock.hold(folder, lambda _: None):
        with pytest.raises(SandboxError, match="another"):
            async with lock.hold(folder, lambda _: None, seconds=0.2):
                pass


async def test_a_lock_whose_file_was_purged_is_taken_anew(folder: Path) -> None:
    said: list[str] = []

    async def second() -> bool:
        async with lock.hold(folder, said.append):
            return (folder / "lock").exists()

    async with lock.hold(folder, said.append):
        waiting = asyncio.create_task(second())
        assert await until(true_when(lambda: bool(said)), 20)
        shutil.rmtree(folder)
    assert await waiting


def test_a_failed_daemon_quotes_the_end_of_its_log_without_control_characters(folder: Path) -> None:
    layout = Layout(folder=folder, base=folder, first_port=20000, user="ada", database_password="")
    layout.logs.mkdir()
    lines = [f"line {number}" for number in range(40)] + ["fatal: \x1b[31mno\x07"]
    daemons.out_file(layout, "slurmctld").write_text("\n".join(lines))
    daemon = daemons.Daemon(name="slurmctld", argv=("slurmctld",), port=1)
    text = str(daemons.DaemonFailed(daemon, "ended at once (exit code 1)", layout))
    assert "slurmctld ended at once (exit code 1)" in text
    assert "line 39" in text
    assert "line 2\n" not in text
    assert "fatal: ␛[31mno␇" in text


def test_a_daemon_gets_little_of_the_callers_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/conda/lib")
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm/slurm.conf")
    layout = Layout(folder=folder, base=folder, first_port=20000, user="ada", database_password="")
    given = daemons.environment(layout)
    assert "LD_LIBRARY_PATH" not in given
    assert given["SLURM_CONF"] == str(folder / "slurm.conf")


def test_a_damaged_record_is_no_record(folder: Path) -> None:
    file = folder / "settings.json"
    record.write(file, record.Settings(first_port=20000, database_password="x"))
    assert record.read(file, record.Settings) == record.Settings(first_port=20000, database_password="x")
    assert file.stat().st_mode & 0o077 == 0
    for damaged in (b"", b"{", b'{"first_port": "many"}', b"\xff\xfe"):
        file.write_bytes(damaged)
        assert record.read(file, record.Settings) is None
    with contextlib.suppress(OSError):
        file.unlink()
    assert record.read(file, record.Settings) is None


@pytest.mark.parametrize(
    ("state", "well"),
    [("idle", True), ("mixed-", True), ("allocated", True), ("completing", True), ("planned", True),
     ("idle*", False), ("down*", False), ("drained", False), ("draining", False), ("unknown*", False), ("", False)],
)  # fmt: skip
def test_which_states_of_a_node_serve(state: str, well: bool) -> None:  # noqa: FBT001
    assert serves(state) is well
