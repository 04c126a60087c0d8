"""How a driver is started: what it is given, where it runs, and what its log keeps."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.control import launch, run_folder
from slurmtui.control.launch import driver_environment, driver_script, log_end
from slurmtui.control.wait import progress_words
from slurmtui.errors import FlowError
from slurmtui.models.flow_run import FlowRun
from slurmtui.models.job import Job
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import RunRecord, RunSpec, Submission
from slurmtui.sources.run_folder import read_run
from tests.unit.programs import put_shell

if TYPE_CHECKING:
    from pathlib import Path

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunSpec:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "my state"))
    (tmp_path / "work").mkdir()
    return RunSpec(
        id=RUN, name="otter", flow_name="f", entrypoint=f"{tmp_path}/flow.py:f", python=sys.executable,
        directory=str(tmp_path / "work"),
    )  # fmt: skip


def session(auth: str | None = "user:password") -> Any:
    connection = SimpleNamespace(auth=auth, api_url="http://server/api", key=None)
    return SimpleNamespace(connection=connection, environment=lambda: {"SLURM_CONF": "/a b/slurm.conf"})


def driver_module(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the launcher start a module of the test's in place of the driver."""
    (folder / "driver_in_test.py").write_text(body)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(launch, "_MODULE", "driver_in_test")
    monkeypatch.setattr(launch, "_WATCHED_SECONDS", 60.0)


def test_no_secret_is_in_the_environment_or_the_script_only_in_the_closed_folder(spec: RunSpec) -> None:
    folder = run_folder.create(spec)
    environment = driver_environment(session(), spec, folder)
    assert environment["SLURM_CONF"] == "/a b/slurm.conf"
    assert environment["SLURMTUI_RUN_ID"] == RUN
    script = driver_script(session(), spec, folder, ["module load x"]).decode()
    assert "password" not in f"{environment} {script}"
    run_folder.write_credentials(folder, "user:password")
    assert (folder / "credentials").stat().st_mode & 0o077 == 0
    run_folder.write_credentials(folder, None)
    assert not (folder / "credentials").exists()


def test_the_script_quotes_what_it_names(spec: RunSpec, tmp_path: Path) -> None:
    folder = run_folder.create(spec)
    printing = tmp_path / "it's a python"
    put_shell(printing, 'echo "$SLURM_CONF" "$3"')
    script = driver_script(session(), msgspec.structs.replace(spec, python=str(printing)), folder)
    done = subprocess.run(["/bin/sh"], input=script, capture_output=True, timeout=20, check=True)
    assert done.stdout.decode() == f"/a b/slurm.conf {folder}\n"


async def test_a_driver_that_takes_the_run_is_recorded_and_runs_where_the_user_was(
    spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver_module(
        tmp_path,
        "import json, os, pathlib, sys, psutil\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "print('here', os.getcwd(), os.getsid(0) == os.getpid(), sys.stdin.read() == '', flush=True)\n"
        "facts = dict(host='h', pid=os.getpid(), pid_started=psutil.Process().create_time(), started=1)\n"
        "(folder / 'driver.json').write_text(json.dumps(facts))\n",
        monkeypatch,
    )
    folder = run_folder.create(spec)
    started = await launch.launch(session(), spec, folder, attempt=2)
    record = read_run(RUN)
    assert record is not None
    assert record.launch == started
    assert (started.attempt, started.pid > 0, started.pid_started > 0) == (2, True, True)
    log = (folder / "driver.log").read_text()
    assert "attempt 2" in log
    assert f"here {tmp_path / 'work'} True True" in log
    assert (folder / "driver.log").stat().st_mode & 0o077 == 0


async def test_a_driver_that_dies_at_once_is_reported_with_its_last_words(
    spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver_module(tmp_path, "raise SystemExit('no \\x1b[31mmemory')", monkeypatch)
    folder = run_folder.create(spec)
    with pytest.raises(FlowError, match=r"ended at once \(exit code 1\)") as caught:
        await launch.launch(session(), spec, folder, attempt=1)
    assert "no ␛[31mmemory" in str(caught.value), "its words reached the terminal as a control code, or not at all"


async def test_a_python_that_is_not_there_is_said(spec: RunSpec) -> None:
    gone = msgspec.structs.replace(spec, python="/nowhere/python")
    folder = run_folder.create(gone)
    with pytest.raises(FlowError, match="/nowhere/python: No such file"):
        await launch.launch(session(), gone, folder, attempt=1)


def test_when_the_users_folder_is_gone_the_flows_is_used(spec: RunSpec, tmp_path: Path) -> None:
    assert launch._working_folder(spec) == tmp_path / "work"
    (tmp_path / "work").rmdir()
    assert launch._working_folder(spec) == tmp_path


def test_the_end_of_a_long_log(spec: RunSpec) -> None:
    folder = run_folder.create(spec)
    assert log_end(folder) == ""
    (folder / "driver.log").write_text("".join(f"line {number}\n" for number in range(100_000)) + "\n\n")
    assert log_end(folder, 2) == "line 99998\nline 99999"


RUNNING = FlowRun(id=RUN, name="otter", state_type="RUNNING", state_name="Running")


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        (None, "running"),
        ([], "running, no jobs yet"),
        ([Job(id="1", raw_id=1, state="RUNNING")], "running, 1 job"),
        (
            [Job(id="1", raw_id=1, state="RUNNING"), Job(id="2", raw_id=2, state="PENDING", reason="Priority")],
            "running, 1 of 2 jobs",
        ),
        ([Job(id="2", raw_id=2, state="PENDING", reason="Resources")], "waiting for SLURM: Resources (1 job)"),
    ],
)
def test_what_a_waiting_person_is_told(jobs: list[Job] | None, words: str) -> None:
    assert progress_words(RUNNING, jobs) == words


def test_a_waiting_person_is_told_of_workers_as_the_console_tells_it(spec: RunSpec) -> None:
    spec = msgspec.structs.replace(spec, profile=Profile(name="p", workers=2))
    record = RunRecord(spec=spec, folder="/x", submissions=(Submission(time=100, code=0, job_id="1"),))
    assert progress_words(RUNNING, [Job(id="1", raw_id=1, state="RUNNING")], record, 101) == "running, 1 worker"
    assert progress_words(RUNNING, [], record, 99) == "running, no jobs yet"
    assert progress_words(RUNNING, [], record, 101) == "running, no jobs left"
