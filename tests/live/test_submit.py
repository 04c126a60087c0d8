"""Submit: what is wrong is refused before anything exists, and what was submitted outlives the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
import yaml

from slurmtui import paths
from slurmtui.control import launch
from slurmtui.control.cancel import cancel_run
from slurmtui.control.slurm import cancel_jobs
from slurmtui.control.submit import SubmitRequest, submit_flow
from slurmtui.errors import FlowError, RunFolderError
from slurmtui.models.run_record import DriverStatus
from slurmtui.sources.processes import command_line, driver_status, environment_of
from slurmtui.sources.run_folder import read_run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slurmtui.models.run_record import RunSpec
    from slurmtui.session import Session

    Submit = Callable[..., Awaitable[RunSpec]]
    Eventually = Callable[..., Awaitable[Any]]

FLOWS = """
import time
from pathlib import Path
from prefect import flow, task

@task
def double(number):
    return 2 * number

@flow
def doubles(numbers: list[int], label: str = "", factor: float = 1):
    return [future.result() for future in double.map(numbers)]

@flow
def waits(until: str):
    while not Path(until).exists():
        time.sleep(0.2)
    double.submit(1).result()

@flow
def fails():
    raise RuntimeError("as it should")
"""


@pytest.fixture
def flows(tmp_path: Path) -> Path:
    file = tmp_path / "flows.py"
    file.write_text(FLOWS)
    return file


async def slurmtui(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of the command."""
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "slurmtui", *arguments],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


async def runs_there_are(session: Session) -> tuple[int, list[str]]:
    """How many runs Prefect knows, and the run folders."""
    assert session.prefect is not None
    folder = paths.runs_folder()
    folders = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    return await session.prefect.request("POST", "/flow_runs/count", {}), folders


def open_to_others(folder: Path) -> list[Path]:
    """What of a run folder others may read; the jobs' own output, behind the closed folder, is SLURM's to make."""
    found = []
    for path in (folder, *(path for path in folder.rglob("*") if path.parent.name != "jobs")):
        with contextlib.suppress(FileNotFoundError):  # a driver that is ending takes its own away
            found += [path] if path.stat().st_mode & 0o077 else []
    return found


async def test_a_submitted_flow_completes_and_carries_its_marks(
    session: Session, flows: Path, eventually: Eventually
) -> None:
    code, out, err = await slurmtui(
        "submit", f"{flows}:doubles", "--profile", "batch", "-p", "numbers=[1, 2]", "-p", "label=1.10",
        "-p", "factor=3", "--name", "my run", "--wait", "--json",
    )  # fmt: skip
    assert code == 0, err
    facts = json.loads(out)
    assert (facts["kind"], facts["name"], facts["flow"], facts["state"]) == ("run", "my run", "doubles", "COMPLETED")
    assert session.prefect is not None
    run = await session.prefect.flow_run(facts["id"])
    assert run.parameters == {"numbers": [1, 2], "label": "1.10", "factor": 3}, (
        "text was not taken as the flow means it"
    )
    assert set(run.tags) >= {"slurmtui", "profile:batch"}
    record = read_run(facts["id"])
    assert record is not None
    assert run.labels["slurmtui.folder"] == record.folder
    assert record.spec.directory == str(Path.cwd())
    assert record.job_ids
    for job_id in record.job_ids:
        job = await session.slurm.job_detail(job_id)
        assert job is not None
        assert (job.name, job.comment) == (f"doubles-{run.id[:8]}", f"slurmtui:{run.id}")
    await eventually(lambda: driver_status(read_run(run.id), ()) is DriverStatus.ENDED, 60, "the driver to end")
    assert open_to_others(Path(record.folder)) == []


async def test_a_flow_that_fails_is_exit_code_three(flows: Path, session: Session) -> None:
    assert session.prefect is not None
    code, out, err = await slurmtui("submit", f"{flows}:fails", "--profile", "none", "--wait")
    assert code == 3, err
    assert "failed" in out
    assert "as it should" in out


@pytest.mark.parametrize(
    ("target", "more", "code", "said"),
    [
        ("broken.py", [], 1, "No module named 'there_is_no_such_module'"),
        ("empty.py", [], 1, "has no flow"),
        ("flows.py", [], 1, "3 flows: doubles, waits, fails"),
        ("flows.py:missing", [], 1, "no flow 'missing'. It has: doubles, waits, fails"),
        ("flows.py:doubles", [], 1, "numbers: no value was given"),
        ("flows.py:doubles", ["-p", "numbers=7"], 1, "numbers"),
        ("flows.py:doubles", ["-p", "numbers=[1]", "-p", "nombers=[1]"], 1, "nombers: flow 'doubles' has no such"),
        ("flows.py:doubles", ["-p", "numbers"], 2, "-p wants NAME=VALUE"),
        ("flows.py:fails", ["--profile", "bach"], 2, "did you mean 'batch'"),
        ("flows.py:fails", ["--profile", "wrong"], 1, "nosuchpartition"),
        ("flows.py:fails", ["--profile", "broke"], 1, "account"),
        ("nowhere.py", [], 2, "does not exist"),
    ],
)
async def test_what_is_wrong_is_refused_and_leaves_nothing(  # noqa: PLR0917 - a table
    session: Session, flows: Path, target: str, more: list[str], code: int, said: str
) -> None:
    (flows.parent / "broken.py").write_text("import there_is_no_such_module\n")
    (flows.parent / "empty.py").write_text("x = 1\n")
    config = flows.parent / "config.yaml"
    good = {"partition": "batch", "cores": 1, "memory": "500M", "walltime": "00:10:00"}
    wrong = {**good, "partition": "nosuchpartition"}
    broke = {**good, "account": "nosuchaccount"}
    config.write_text(
        yaml.safe_dump({"default_profile": "batch", "profiles": {"batch": good, "wrong": wrong, "broke": broke}})
    )
    before = await runs_there_are(session)
    answer, out, err = await slurmtui("submit", f"{flows.parent}/{target}", *more, SLURMTUI_CONFIG=str(config))
    assert answer == code, err
    assert said in err
    assert "Traceback" not in err
    assert out == ""
    assert await runs_there_are(session) == before


async def test_without_a_server_the_next_step_is_named(session: Session, flows: Path, tmp_path: Path) -> None:
    assert session.prefect is not None
    code, _, err = await slurmtui("submit", f"{flows}:fails", SLURMTUI_STATE=str(tmp_path / "elsewhere"))
    assert code == 1
    assert "slurmtui server start" in err
    code, _, err = await slurmtui("submit", f"{flows}:fails", PREFECT_API_URL="http://127.0.0.1:9/api")
    assert code == 1
    assert "does not answer" in err
    assert "slurmtui server start" in err


async def test_a_run_folder_that_cannot_be_made_leaves_a_crashed_run_not_a_waiting_one(
    session: Session, flows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert session.prefect is not None
    await session.prefect.version()
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "runs").write_text("a file where the folder should be")
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    with pytest.raises(RunFolderError, match="cannot be made"):
        await submit_flow(session, SubmitRequest(target=f"{flows}:fails", profile="none", name="nowhere to be"))
    runs, _ = await session.prefect.flow_runs()
    (run,) = [run for run in runs if run.name == "nowhere to be"]
    assert run.state_type == "CRASHED"
    assert "cannot be made" in run.state_message


async def test_a_driver_that_dies_at_once_is_reported_with_the_end_of_its_log(
    session: Session, flows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert session.prefect is not None
    monkeypatch.setattr(launch, "_MODULE", "slurmtui.there_is_no_driver")
    monkeypatch.setattr(launch, "_WATCHED_SECONDS", 60.0)
    with pytest.raises(FlowError, match=r"No module named slurmtui\.there_is_no_driver"):
        await submit_flow(session, SubmitRequest(target=f"{flows}:fails", profile="none", name="stillborn"))
    runs, _ = await session.prefect.flow_runs()
    (run,) = [run for run in runs if run.name == "stillborn"]
    assert run.state_type == "CRASHED"


async def test_a_batch_script(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "a job.sh"
    script.write_text("#!/bin/sh\n#SBATCH --mem=50M\n#SBATCH --output=/dev/null\nsleep 600\n")
    code, out, err = await slurmtui("submit", str(script), "--profile", "batch", "--name", "night", "--json")
    assert code == 0, err
    facts = json.loads(out)
    assert facts["kind"] == "job"
    job = (await session.slurm.jobs_by_id([facts["id"]]))[facts["id"]]
    assert (job.name, job.partition) == ("night", "batch")
    await cancel_jobs(session.runner, [facts["id"]])
    code, _, err = await slurmtui("submit", str(script), "-p", "n=1")
    assert code == 2
    assert "-p is for flows" in err


async def test_a_driver_as_a_job_completes_and_no_secret_is_where_others_look(
    session: Session, submit: Submit, eventually: Eventually, tmp_path: Path
) -> None:
    spec = await submit(FLOWS, "waits", driver="slurm", until=str(tmp_path / "go"))

    async def alive() -> bool:
        ids = {job.id for job in (await session.slurm.queue(everyone=False)).jobs()}
        return driver_status(read_run(spec.id), ids) is DriverStatus.ALIVE

    await eventually(alive, 60, "the driver's job to run")
    record = read_run(spec.id)
    assert record is not None
    assert record.driver is not None
    assert record.driver_job_id is not None
    job = (await session.slurm.jobs_by_id([record.driver_job_id]))[record.driver_job_id]
    assert (job.name, job.comment, job.partition) == (spec.job_name, spec.comment, "batch")
    assert session.connection is not None
    assert session.connection.auth
    password = session.connection.auth.partition(":")[2]
    process = psutil.Process(record.driver.pid)
    assert password not in " ".join([*command_line(process), *environment_of(process).values()])
    stored = await session.runner.run(("scontrol", "write", "batch_script", record.driver_job_id, "-"))
    assert password not in stored.stdout.decode()
    (tmp_path / "go").touch()

    async def completed() -> bool:
        assert session.prefect is not None
        return (await session.prefect.flow_run(spec.id)).state_type == "COMPLETED"

    await eventually(completed, 90, "the run to complete")


def in_a_terminal(*arguments: str) -> tuple[subprocess.Popen[bytes], int]:
    """The command as the leader of a terminal of its own; the process, and the end whose closing hangs it up."""
    mine, theirs = pty.openpty()
    argv = ["setsid", "--ctty", "--wait", sys.executable, "-m", "slurmtui", *arguments]
    process = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=dict(os.environ))
    os.close(theirs)
    return process, mine


async def test_a_lost_terminal_touches_nothing(
    session: Session, flows: Path, tmp_path: Path, eventually: Eventually
) -> None:
    """The terminal goes away under ``submit --wait``: its whole session gets SIGHUP, and the run goes on."""
    assert session.prefect is not None
    waiting, terminal = in_a_terminal(
        "submit",
        f"{flows}:waits",
        "-p",
        f"until={tmp_path / 'go'}",
        "--profile",
        "batch",
        "--name",
        "hung up",
        "--wait",
    )

    async def begun() -> list[str]:
        assert session.prefect is not None
        runs, _ = await session.prefect.flow_runs()
        return [run.id for run in runs if run.name == "hung up" and run.state_type == "RUNNING"]

    (run_id,) = await eventually(begun, 60, "the run to begin")
    os.close(terminal)
    await eventually(lambda: waiting.poll() is not None, 60, "the command to be hung up")
    record = read_run(run_id)
    assert driver_status(record, None) is DriverStatus.ALIVE
    (tmp_path / "go").touch()

    async def completed() -> bool:
        assert session.prefect is not None
        return (await session.prefect.flow_run(run_id)).state_type == "COMPLETED"

    try:
        await eventually(completed, 90, "the run to complete without its terminal")
    except BaseException:
        await cancel_run(session, run_id)
        raise
    await eventually(lambda: driver_status(read_run(run_id), ()) is DriverStatus.ENDED, 30, "the driver to end")
