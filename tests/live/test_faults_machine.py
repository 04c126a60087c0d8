"""The machine itself: a full disk, a login node that was rebooted, two login nodes that see one state folder."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from slurmtui.config import load_config
from slurmtui.control import server
from slurmtui.control.cancel import cancel_run
from slurmtui.control.rescue import repair
from slurmtui.control.retry import retry_run
from slurmtui.control.run_lock import hold
from slurmtui.errors import RunFolderError
from slurmtui.models.run_record import DriverStatus
from slurmtui.session import open_session
from slurmtui.sources.processes import SILENCE, host_name
from slurmtui.store.once import gather
from tests.live.staging import Stage, server_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from slurmtui.models.server import ServerRecord

pytestmark = [pytest.mark.live, pytest.mark.timeout(420)]


@pytest.fixture(scope="module")
def root() -> None:
    """Only root can mount, and name the machine anew; in CI that is no reason to skip."""
    if os.geteuid() == 0 and shutil.which("unshare") and shutil.which("mount"):
        return
    if os.environ.get("CI"):
        pytest.fail("a live test may not be skipped in CI, and only root can mount and name a machine")
    pytest.skip("only root can mount and name a machine")


# --- a full disk


class Disk:
    """A small file system for a state folder, which can be filled to its last byte."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._filler = folder, folder / "filler"

    def fill(self) -> None:
        with self._filler.open("ab", buffering=0) as stream, contextlib.suppress(OSError):
            for size in (65536, 512, 1):
                with contextlib.suppress(OSError):
                    while stream.write(b"x" * size):
                        pass

    def make_room(self) -> None:
        self._filler.unlink()


@pytest.fixture
def disk(root: None, live_root: Path) -> Iterator[Disk]:  # noqa: ARG001 - must come first
    folder = live_root / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m,mode=0700", "tmpfs", str(folder)], check=True)
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def password() -> str:
    """``user:password`` of the private server."""
    return Path(os.environ["SLURMTUI_STATE"], "server", "auth").read_text().strip()


@pytest.fixture
async def stage_on_disk(
    disk: Disk, sandbox: object, prefect_server: ServerRecord, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[Stage]:
    """A stage whose state folder is on the small disk; the server's is not."""
    assert sandbox
    monkeypatch.setenv("PREFECT_API_AUTH_STRING", password())
    monkeypatch.setenv("PREFECT_API_URL", prefect_server.api_url)
    monkeypatch.setenv("SLURMTUI_STATE", str(disk.folder / "state"))
    session = open_session(load_config())
    stage = Stage(session, tmp_path)
    yield stage
    await stage.close()
    await session.close()


def folders_in(runs: Path) -> list[str]:
    return sorted(folder.name for folder in runs.iterdir())


async def refused_without_a_trace(stage: Stage, runs: Path) -> None:
    """A submission says why it cannot be, leaves no folder, and Prefect does not wait for the run."""
    assert stage.session.prefect is not None
    before = folders_in(runs)
    with pytest.raises(RunFolderError, match="No space left on device"):
        await stage.start(until="x")
    assert folders_in(runs) == before, "a half-made folder was left"
    filter_ = {"sort": "EXPECTED_START_TIME_DESC", "limit": 1, "flow_runs": {"state": {"type": {"any_": ["CRASHED"]}}}}
    (refused,) = await stage.session.prefect.request("POST", "/flow_runs/filter", filter_)
    assert "could not start the run" in refused["state"]["message"]
    assert "No space left on device" in refused["state"]["message"]


async def test_a_full_disk_is_told_and_runs_on_it_come_to_their_ends(stage_on_disk: Stage, disk: Disk) -> None:
    stage, until, executed = stage_on_disk, stage_on_disk.folder / "until", stage_on_disk.folder / "executed"
    crashing = await stage.start("steps", until=str(until), executed=str(executed))
    cancelled = await stage.start(until=str(stage.folder / "never"))
    completing = await stage.start(until=str(until))
    await stage.working(crashing, done=2)
    await stage.working(cancelled)
    await stage.working(completing)
    disk.fill()
    await refused_without_a_trace(stage, disk.folder / "state" / "runs")
    report = await cancel_run(stage.session, cancelled)
    assert report.ok, report
    await stage.ended(cancelled, "CANCELLED")
    disk.fill()  # with what the cancelled run has left free
    stage.driver(crashing).terminate()
    assert "termination signal" in await stage.ended(crashing, "CRASHED")
    until.touch()  # the result of the task that ends now has no room; Prefect says so and goes on
    await stage.ended(completing, "COMPLETED")
    for run_id, kind in ((crashing, "crashed"), (cancelled, "cancelled"), (completing, "done")):
        await stage.verdict(run_id, kind)
    disk.make_room()
    await retry_run(stage.session, crashing)
    await stage.ended_again(crashing)
    assert sorted(executed.read_text().split()) == ["0", "1"], "a task whose result was kept was executed again"


# --- a reboot


def give_pid_away(folder: Path, old: int, new: int) -> None:
    """Let the records name a pid that another process has now, as after a boot."""
    for path in folder.iterdir():
        if path.suffix in {".json", ".lock"}:
            text = path.read_text()
            path.write_text(re.sub(rf'("pid": ?){old}\b', rf"\g<1>{new}", text))


@contextlib.contextmanager
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with any of this; begun after the boot, as all that have old pids then are."""
    process = subprocess.Popen(["sleep", "600"])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def test_a_login_node_that_was_rebooted(stage: Stage) -> None:
    """Driver and server are gone at once, their pids are others'; the jobs on the nodes live on."""
    until, executed = stage.folder / "until", stage.folder / "executed"
    run_id = await stage.start("steps", until=str(until), executed=str(executed))
    jobs = await stage.working(run_id, done=2)
    driver, its_server = stage.driver(run_id), server_process()
    driver_began = driver.create_time()
    for process in (*driver.children(recursive=True), driver, its_server):
        process.kill()
    psutil.wait_procs([driver, its_server], timeout=20)
    # A pid is told from its earlier owner by the time its process began, to two seconds: whatever has it after a boot
    # began later than that.
    assert time.time() - driver_began > 3
    with stranger() as other:
        give_pid_away(Path(stage.record(run_id).folder), driver.pid, other.pid)
        give_pid_away(Path(os.environ["SLURMTUI_STATE"], "server"), its_server.pid, other.pid)
        snapshot = await gather(stage.session)
        assert snapshot.flow_runs.error
        case = await stage.server_case()
        assert (await repair(stage.session, case, "start-server")).ok
        view = await stage.verdict(run_id, "driver-gone")
        assert view.verdict.needs_you
        assert {job.id for job in view.jobs} <= {job.id for job in jobs}
        until.touch()
        assert (await repair(stage.session, await stage.case(run_id), "retry")).ok
        await stage.ended_again(run_id)
        assert sorted(executed.read_text().split()) == ["0", "1"], "a task whose result was kept was executed again"
        assert other.poll() is None, "the process that has the driver's pid now was ended"
        assert server.status().state == "running"


# --- two login nodes


async def on_the_other(*words: str) -> subprocess.CompletedProcess[str]:
    """Call slurmtui on another login node: another name of the machine, the same files."""
    call = ["unshare", "--uts", "sh", "-c", 'hostname login-two; exec "$@"', "sh"]
    return await asyncio.to_thread(
        subprocess.run, [*call, sys.executable, "-m", "slurmtui", *words],
        env=dict(os.environ), capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip


async def seen_from_the_other(run_id: str) -> dict[str, Any]:
    done = await on_the_other("runs", run_id, "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


async def rescued_on_the_other() -> list[dict[str, Any]]:
    done = await on_the_other("rescue", "--json")
    assert done.returncode == 0, done.stderr
    return [case for case in json.loads(done.stdout) if isinstance(case, dict)]


async def test_two_login_nodes_that_see_one_state_folder(root: None, stage: Stage) -> None:  # noqa: ARG001
    until = stage.folder / "until"
    here, dead = await stage.start(until=str(stage.folder / "never")), await stage.start(until=str(until))
    await stage.working(here)
    await stage.working(dead)
    stage.driver(dead).kill()
    for run_id in (here, dead):  # of a driver on another host nothing is claimed
        found = await seen_from_the_other(run_id)
        assert (found["driver"]["status"], found["driver"]["host"]) == ("elsewhere", host_name())
        assert found["verdict"] in {"running", "driver-elsewhere"}, found
    cases = await rescued_on_the_other()
    assert not [case for case in cases if case["run_id"] in {here, dead} or case["kind"] == "dead-server"], cases
    await stage.verdict(dead, "driver-gone")
    with hold(here, "retrying"):
        refused = await on_the_other("cancel", here, "--yes")
    assert refused.returncode != 0
    assert "Another console is retrying this run" in refused.stdout + refused.stderr
    assert host_name() in refused.stdout + refused.stderr
    cancelled = await on_the_other("cancel", here, "--yes")
    assert cancelled.returncode == 0, cancelled.stdout + cancelled.stderr
    await stage.ended(here, "CANCELLED")
    await driven_on_after_long_silence(stage, dead, until.touch)


async def driven_on_after_long_silence(stage: Stage, run_id: str, go_on: Callable[[], None]) -> None:
    """A driver on the other host that gives no sign any more counts as gone; the run is taken over from there."""
    let_be_silent(Path(stage.record(run_id).folder), 2 * SILENCE)
    cancelled = await on_the_other("cancel", run_id, "--yes")
    assert cancelled.returncode == 0, cancelled.stdout + cancelled.stderr
    assert "taken for gone" in cancelled.stdout + cancelled.stderr
    await stage.ended(run_id, "CANCELLED")
    again = await on_the_other("retry", run_id)
    assert again.returncode == 0, again.stdout + again.stderr
    view = await stage.verdict(run_id, "running", 120)
    assert view.driver is DriverStatus.ELSEWHERE
    go_on()
    await stage.ended(run_id, "COMPLETED")


def let_be_silent(folder: Path, seconds: float) -> None:
    """Let the driver have begun, and given its last sign, so much earlier."""
    lock, record = folder / "attempt-1.lock", folder / "driver.json"
    moment = lock.stat().st_mtime - seconds
    os.utime(lock, (moment, moment))
    facts = json.loads(record.read_bytes())
    record.write_text(json.dumps({**facts, "started": facts["started"] - seconds}))
