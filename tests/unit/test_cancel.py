"""Cancel where a real cluster cannot be made to be: hosts out of reach, servers away, folders of others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import psutil
import pytest

from slurmtui.control import cancel, end_driver, end_jobs, run_folder, server_process
from slurmtui.control.cancel import cancel_run
from slurmtui.control.prefect import StateAnswer
from slurmtui.errors import CommandMissing, PrefectError, PrefectUnreachable, Refused
from slurmtui.models.flow_run import FlowRun
from slurmtui.models.run_record import DriverRecord, RunSpec, Submission
from slurmtui.sources.processes import RUN_VARIABLE, host_name, started_at

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.models.steps import CancelReport

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"


class World:
    """A Prefect that holds one run, and a SLURM with an empty queue."""

    connection = SimpleNamespace(where="http://server/api")
    user = "me"
    runner = None

    def __init__(self) -> None:
        self.run: FlowRun | PrefectError = FlowRun(id=RUN, name="otter", state_type="RUNNING", state_name="Running")
        self.jobs: Any = ()
        self.asked: list[str] = []
        self.prefect = self.slurm = self

    async def flow_run(self, _run_id: str) -> FlowRun:
        if isinstance(self.run, PrefectError):
            raise self.run
        return self.run

    async def queue(self, *, everyone: bool) -> Any:
        assert not everyone
        if isinstance(self.jobs, Exception):
            raise self.jobs
        return SimpleNamespace(jobs=lambda: iter(self.jobs))

    async def jobs_by_id(self, _ids: list[str]) -> dict[str, Any]:
        return {}

    async def set_state(self, _client: object, _run_id: str, state: str, *_: object, **__: object) -> StateAnswer:
        self.asked.append(state)
        self.run = FlowRun(id=RUN, name="otter", state_type=state, state_name=state.capitalize())
        return StateAnswer(accepted=True, state_type=state)

    async def cancel(self) -> CancelReport:
        session: Any = self
        return await cancel_run(session, RUN)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(cancel, "set_state", made.set_state)
    monkeypatch.setattr(end_driver, "_LOOK_EVERY", 0.01)
    monkeypatch.setattr(end_jobs, "_LOOK_EVERY", 0.01)
    return made


def make_folder(driver: DriverRecord) -> Path:
    folder = run_folder.create(RunSpec(id=RUN, name="otter", flow_name="f", entrypoint="/a.py:f", python="python3"))
    (folder / "driver.json").write_bytes(msgspec.json.encode(driver))
    return folder


def steps(report: CancelReport) -> dict[str, str]:
    return {step.key: step.state for step in report.steps}


async def test_a_driver_on_another_host_that_does_not_answer_is_named_with_what_to_do(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(end_driver, "_ELSEWHERE_SECONDS", 0.1)
    folder = make_folder(DriverRecord(host="login02", pid=77, pid_started=1.0, started=time.time()))
    report = await world.cancel()
    assert not report.ok
    assert steps(report) == {
        "prefect": "done",
        "driver": "failed",
        "jobs": "skipped",
        "empty": "done",
        "final": "failed",
    }
    assert f"run `slurmtui cancel {RUN}` on login02" in " ".join(report.problems)
    assert world.asked == ["CANCELLING"], "a run that may be alive was called cancelled"
    assert (folder / "cancel.json").exists()


async def test_a_driver_on_another_host_that_answers_is_enough(world: World) -> None:
    far = DriverRecord(host="login02", pid=77, pid_started=1.0, started=time.time())
    folder = make_folder(far)
    ended = msgspec.json.encode(msgspec.structs.replace(far, ended=time.time()))
    original = world.flow_run

    async def answer_meanwhile(_run_id: str) -> FlowRun:
        if (folder / "cancel.json").exists():
            (folder / "driver.json").write_bytes(ended)
        return await original(_run_id)

    world.flow_run = answer_meanwhile  # type: ignore[method-assign]
    report = await world.cancel()
    assert report.ok
    assert report.state_type == "CANCELLED"
    assert world.asked == ["CANCELLING", "CANCELLED"]


async def test_a_driver_that_was_silent_for_long_is_taken_for_gone(world: World) -> None:
    make_folder(DriverRecord(host="login02", pid=77, pid_started=1.0, started=time.time() - 9999))
    report = await world.cancel()
    assert report.ok
    assert "gave no sign for 167 min" in report.steps[1].detail


async def test_a_driver_whose_clock_is_ahead_is_asked_so_that_it_listens(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(end_driver, "_ELSEWHERE_SECONDS", 0.1)
    ahead = time.time() + 300
    folder = make_folder(DriverRecord(host="login02", pid=77, pid_started=1.0, started=ahead))
    await world.cancel()
    assert msgspec.json.decode((folder / "cancel.json").read_bytes())["time"] > ahead


def family() -> tuple[subprocess.Popen[str], psutil.Process]:
    """A process that stands for a driver of the run, and a child of its."""
    code = (
        "import subprocess, sys, time\n"
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid, flush=True)\n"
        "time.sleep(60)"
    )
    driver = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, RUN_VARIABLE: RUN},
    )  # fmt: skip
    assert driver.stdout is not None
    child = psutil.Process(int(driver.stdout.readline()))
    driver.stdout.close()
    return driver, child


async def test_what_a_killed_driver_left_running_is_ended(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_driver, "TERM_AFTER", 0.1)
    monkeypatch.setattr(end_driver, "KILL_AFTER", 0.3)
    monkeypatch.setattr("slurmtui.sources.processes._BEGIN_SECONDS", 30.0)  # on however busy a machine
    driver, child = family()
    make_folder(DriverRecord(host=host_name(), pid=driver.pid, pid_started=started_at(driver.pid), started=time.time()))
    driver.kill()
    driver.wait()
    report = await world.cancel()
    assert report.ok, report
    psutil.wait_procs([child], timeout=5)
    assert not server_process.lives(child)


async def test_while_prefect_is_away_the_jobs_are_ended_and_the_rest_is_said(world: World) -> None:
    folder = make_folder(DriverRecord(host=host_name(), pid=1, pid_started=1.0, started=time.time()))
    (folder / "submissions.jsonl").write_bytes(msgspec.json.encode(Submission(time=1, code=0, job_id="7")) + b"\n")
    world.run = PrefectUnreachable("Prefect does not answer")
    report = await world.cancel()
    assert not report.ok
    assert steps(report) == {
        "prefect": "failed",
        "driver": "skipped",
        "jobs": "skipped",
        "empty": "done",
        "final": "failed",
    }
    assert report.left_jobs == ()


async def test_a_run_that_was_deleted_in_prefect(world: World) -> None:
    make_folder(DriverRecord(host=host_name(), pid=1, pid_started=1.0, started=1.0))
    world.run = PrefectError("Flow run not found", status=404)
    with pytest.raises(Refused, match=r"does not know this run.*nothing of it is left"):
        await world.cancel()


async def test_where_there_is_no_slurm_a_run_without_jobs_can_be_cancelled(world: World) -> None:
    world.jobs = CommandMissing("squeue: command not found", argv=("squeue",), code=127)
    folder = make_folder(DriverRecord(host=host_name(), pid=1, pid_started=1.0, started=1.0))
    assert (await world.cancel()).ok
    world.run = FlowRun(id=RUN, name="otter", state_type="RUNNING", state_name="Running")
    (folder / "submissions.jsonl").write_bytes(msgspec.json.encode(Submission(time=1, code=0, job_id="7")) + b"\n")
    report = await world.cancel()
    assert not report.ok
    assert report.left_jobs == ("7",)


async def test_a_folder_of_another_user_is_not_acted_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(DriverRecord(host=host_name(), pid=1, pid_started=1.0, started=1.0))
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    report = await world.cancel()
    assert not report.ok
    assert "belongs to another user" in " ".join(report.problems)
    assert not (folder / "cancel.json").exists()


async def test_a_run_that_completed_meanwhile_keeps_its_state(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    make_folder(DriverRecord(host=host_name(), pid=1, pid_started=1.0, started=1.0, ended=2.0))

    async def refused(*_: object, **__: object) -> StateAnswer:
        world.run = FlowRun(id=RUN, name="otter", state_type="COMPLETED", state_name="Completed")
        return StateAnswer(accepted=False, state_type="COMPLETED", reason="it is over")

    monkeypatch.setattr(cancel, "set_state", refused)
    report = await world.cancel()
    assert report.ok
    assert report.state_type == "COMPLETED"
    assert "completed before the cancel reached it" in report.steps[-1].detail


async def test_of_a_run_nobody_knows_it_is_said(world: World) -> None:
    world.run = PrefectError("Flow run not found", status=404)
    with pytest.raises(Refused, match="Nothing is known of run"):
        await world.cancel()
