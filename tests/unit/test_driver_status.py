"""What can be proved about a driver, and what is not claimed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from slurmtui.models.run_record import DriverRecord, DriverStatus, LaunchRecord, RunRecord, RunSpec
from slurmtui.sources import processes
from slurmtui.sources.processes import driver_status, find_process, host_name, orphans, same_host, silence, started_at
from tests.unit.begun import begun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
NOW = time.time()


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = begun([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def record(
    driver: DriverRecord | None = None, launch: LaunchRecord | None = None, *, created: float = 0, folder: str = "/none"
) -> RunRecord:
    spec = RunSpec(id=RUN, name="x", flow_name="x", entrypoint="/a.py:x", created=created)
    return RunRecord(
        spec=spec, folder=folder, driver=driver, launch=launch, driver_job_id=launch.job_id if launch else None
    )


def here(pid: int, **more: object) -> DriverRecord:
    facts = {"host": host_name(), "pid": pid, "pid_started": started_at(pid), "started": NOW, **more}
    return DriverRecord(**facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("login01", "login01", True),
        ("login01", "LOGIN01.cluster.example", True),
        ("login01.cluster.example.", "login01.cluster.example", True),
        ("login01.a.example", "login01.b.example", False),
        ("login01", "login02", False),
        ("login01", "login011", False),
        ("", "", False),
    ],
)
def test_names_of_one_host(one: str, other: str, *, same: bool) -> None:
    assert same_host(one, other) is same
    assert same_host(other, one) is same


def test_a_driver_that_runs_here_is_alive_and_one_that_was_killed_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    alive = record(here(sleeper.pid))
    assert driver_status(alive, None) is DriverStatus.ALIVE
    sleeper.kill()
    deadline = time.monotonic() + 30
    while driver_status(alive, None) is DriverStatus.ALIVE and time.monotonic() < deadline:
        time.sleep(0.01)
    # Nobody has waited for it: it is a zombie, and a zombie does nothing any more.
    assert driver_status(alive, None) is DriverStatus.GONE
    sleeper.wait()
    assert driver_status(alive, None) is DriverStatus.GONE


def test_a_pid_that_another_process_has_now_is_not_the_driver(sleeper: subprocess.Popen[bytes]) -> None:
    driver = here(sleeper.pid, pid_started=started_at(sleeper.pid) - 60)
    assert driver_status(record(driver), None) is DriverStatus.GONE
    assert find_process(sleeper.pid, driver.pid_started) is None


def test_another_users_process_is_not_the_driver(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = here(sleeper.pid)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert driver_status(record(driver), None) is DriverStatus.GONE


def test_a_driver_that_said_so_has_ended_even_where_its_pid_lives(sleeper: subprocess.Popen[bytes]) -> None:
    assert driver_status(record(here(sleeper.pid, ended=NOW)), None) is DriverStatus.ENDED


def test_of_another_host_nothing_is_claimed_unless_squeue_shows_its_job() -> None:
    far = DriverRecord(host="elsewhere", pid=1, pid_started=1.0, started=NOW)
    assert driver_status(record(far), ()) is DriverStatus.ELSEWHERE
    job = LaunchRecord(host="elsewhere", time=NOW, job_id="7")
    as_job = record(DriverRecord(host="n1", pid=1, pid_started=1.0, started=NOW, job_id="7"), job)
    assert driver_status(as_job, {"7"}) is DriverStatus.ALIVE
    assert driver_status(as_job, set()) is DriverStatus.GONE
    assert driver_status(as_job, None) is DriverStatus.ELSEWHERE


def test_a_driver_starts_until_it_has_written_its_record(sleeper: subprocess.Popen[bytes]) -> None:
    started = started_at(sleeper.pid)
    launch = LaunchRecord(host=host_name(), time=NOW, pid=sleeper.pid, pid_started=started)
    assert driver_status(record(None, launch), None) is DriverStatus.STARTING
    assert driver_status(record(here(sleeper.pid), launch), None) is DriverStatus.ALIVE
    sleeper.kill()
    sleeper.wait()
    assert driver_status(record(None, launch), None) is DriverStatus.GONE


def test_a_second_attempt_is_not_judged_by_the_record_of_the_first(sleeper: subprocess.Popen[bytes]) -> None:
    first = DriverRecord(host=host_name(), pid=1, pid_started=1.0, started=NOW - 500, ended=NOW - 400)
    again = LaunchRecord(host=host_name(), time=NOW, attempt=2, pid=sleeper.pid, pid_started=started_at(sleeper.pid))
    assert driver_status(record(first, again), None) is DriverStatus.STARTING


def test_a_driver_job_in_the_queue_starts_and_one_that_left_it_is_gone() -> None:
    launch = LaunchRecord(host="elsewhere", time=NOW, job_id="7")
    waiting = record(None, launch)
    hours_later = NOW + 9999
    assert driver_status(waiting, {"7"}, now=hours_later) is DriverStatus.STARTING
    assert driver_status(waiting, set(), now=hours_later) is DriverStatus.GONE
    assert driver_status(waiting, None, now=hours_later) is DriverStatus.ELSEWHERE
    # An answer of squeue from before the launch knows nothing of it; one from after it does.
    assert driver_status(waiting, set(), now=NOW + 1) is DriverStatus.STARTING
    assert driver_status(waiting, set(), now=NOW + 1, asked_at=NOW - 1) is DriverStatus.STARTING
    assert driver_status(waiting, set(), now=NOW + 1, asked_at=NOW + 0.5) is DriverStatus.GONE


def test_without_a_folder_there_is_none_and_without_a_launch_it_starts_for_a_minute() -> None:
    assert driver_status(None, ()) is DriverStatus.NONE
    assert driver_status(record(created=NOW), (), now=NOW + 30) is DriverStatus.STARTING
    assert driver_status(record(created=NOW), (), now=NOW + 61) is DriverStatus.GONE


def test_silence_is_counted_from_the_last_touch_of_the_lock(tmp_path: Path) -> None:
    far = DriverRecord(host="elsewhere", pid=1, pid_started=1.0, started=time.time() - 1000, attempt=2)
    quiet = record(far, folder=str(tmp_path))
    assert silence(quiet) > processes.SILENCE
    (tmp_path / "attempt-2.lock").touch()
    assert silence(quiet) < 60


def test_what_a_killed_driver_left_behind_is_told_by_session_and_run(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)"
    )
    driver = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, processes.RUN_VARIABLE: RUN},
    )  # fmt: skip
    assert driver.stdout is not None
    child = int(driver.stdout.readline())
    killed = record(here(driver.pid))
    driver.kill()
    driver.wait()
    driver.stdout.close()
    looked_at: list[int] = []

    class JustBegun(psutil.Process):
        """The driver was killed just as it had started this one, which shows no environment yet."""

        looks = 0

        def environ(self) -> dict[str, str]:
            self.looks += 1
            return super().environ() if self.looks > 1 else {}

    def process_of(pid: int) -> psutil.Process:
        looked_at.append(pid)
        return JustBegun(pid)

    monkeypatch.setattr(processes, "_BEGIN_SECONDS", 30.0)  # on however busy a machine
    monkeypatch.setattr(processes, "_process", process_of)
    assert [process.pid for process in orphans(killed)] == [child]
    assert looked_at == [child], "every process of a login node was looked at"
    other = RunRecord(spec=RunSpec(id=RUN[::-1], name="", flow_name="", entrypoint=""), folder="", driver=killed.driver)
    assert orphans(other) == (), "a process of another run was taken for one of this"
    os.kill(child, 9)


@pytest.mark.parametrize(
    ("status", "lives", "may_live", "dead"),
    [
        (DriverStatus.NONE, False, False, False),  # nobody knows of one: neither is claimed
        (DriverStatus.STARTING, True, True, False),
        (DriverStatus.ALIVE, True, True, False),
        (DriverStatus.ELSEWHERE, False, True, False),
        (DriverStatus.ENDED, False, False, True),
        (DriverStatus.GONE, False, False, True),
    ],
)
def test_what_a_status_proves(status: DriverStatus, lives: bool, may_live: bool, dead: bool) -> None:  # noqa: FBT001
    assert (status.lives, status.may_live, status.dead) == (lives, may_live, dead)


def test_every_status_proves_something_or_is_none() -> None:
    assert [one for one in DriverStatus if not one.may_live and not one.dead] == [DriverStatus.NONE]
