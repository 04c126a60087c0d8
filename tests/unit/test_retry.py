"""What a retry would reuse, and what stands in its way."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.control import run_folder
from slurmtui.control.retry import is_reusable, last_attempt, plan_retry
from slurmtui.errors import CommandError, Refused
from slurmtui.models.flow_run import FlowRun, TaskRun
from slurmtui.models.job import Job
from slurmtui.models.marks import comment
from slurmtui.models.run_record import DriverRecord, LaunchRecord, RunSpec
from slurmtui.sources.processes import host_name

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"


class World:
    """A run in some state, its tasks, and the queue."""

    def __init__(self, folder: Path, state: str = "FAILED") -> None:
        self.flow_file = folder / "flow.py"
        self.flow_file.write_text("")
        self.kept = folder / "result"
        self.kept.write_text("")
        self.run = FlowRun(id=RUN, name="brave-otter", state_type=state, state_name=state.capitalize())
        self.tasks: tuple[TaskRun, ...] = ()
        self.jobs: list[Job] | CommandError = []
        self.user = "me"
        self.prefect = self.slurm = self

    async def flow_run(self, _run_id: str) -> FlowRun:
        return self.run

    async def task_runs(self, _run_id: str) -> tuple[TaskRun, ...]:
        return self.tasks

    async def queue(self, *, everyone: bool) -> Any:
        jobs = self.jobs
        if isinstance(jobs, CommandError):
            raise jobs
        return SimpleNamespace(jobs=lambda: iter([] if everyone else jobs))

    def make_folder(self, driver: DriverRecord | None = None) -> Path:
        spec = RunSpec(
            id=RUN, name="brave-otter", flow_name="train", entrypoint=f"{self.flow_file}:train", python="python3"
        )
        folder = run_folder.create(spec)
        if driver is None:
            run_folder.write_launch(folder, LaunchRecord(host=host_name(), time=1, pid=1, pid_started=1.0))
        else:
            (folder / "driver.json").write_bytes(msgspec.json.encode(driver))
        return folder


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    return World(tmp_path)


async def refusal(world: World) -> str:
    session: Any = world
    return (await plan_retry(session, RUN)).refused


def task(number: int, attempt: int, state: str = "COMPLETED", result: Path | str | None = None) -> TaskRun:
    return TaskRun(
        id=str(number), name="t", state_type=state, attempt=attempt, result_file=str(result) if result else None
    )


@contextlib.contextmanager
def looked_at_beside_the_event_loop() -> Iterator[None]:
    """Fails when a file is looked for where it would hold up every key: there may be thousands of results."""
    here = threading.get_ident()
    with pytest.MonkeyPatch.context() as patched:
        is_file, access = Path.is_file, os.access

        def looking(path: Path) -> bool:
            assert threading.get_ident() != here
            return is_file(path)

        def asking(path: str, mode: int) -> bool:
            assert threading.get_ident() != here
            return access(path, mode)

        patched.setattr(Path, "is_file", looking)
        patched.setattr(os, "access", asking)
        yield


async def test_of_the_last_attempt_those_with_a_result_that_is_there_are_reused(world: World, tmp_path: Path) -> None:
    world.make_folder()
    world.tasks = (
        task(1, 1, result=world.kept), task(2, 1, "FAILED"),
        task(3, 2, result=world.kept), task(4, 2, result=tmp_path / "deleted"), task(5, 2),
        task(6, 2, "FAILED", result=world.kept), task(7, 2, "RUNNING"),
    )  # fmt: skip
    session: Any = world
    with looked_at_beside_the_event_loop():
        plan = await plan_retry(session, RUN)
    assert (plan.refused, plan.repair, plan.reused, plan.total) == ("", "", 1, 5)
    assert [one.id for one in last_attempt(world.tasks)] == ["3", "4", "5", "6", "7"]
    assert not is_reusable(task(1, 1, result=tmp_path)), "a folder is no result"


@pytest.mark.parametrize(("state", "said"), [("COMPLETED", "nothing to retry"), ("PAUSED", "is Paused")])
async def test_a_run_that_is_not_over_or_went_well_is_refused(world: World, state: str, said: str) -> None:
    world.run = FlowRun(id=RUN, name="brave-otter", state_type=state, state_name=state.capitalize())
    world.make_folder()
    assert said in await refusal(world)


async def test_a_run_of_somebody_else_is_refused(world: World) -> None:
    assert "was not started by slurmtui" in await refusal(world)


async def test_without_its_file_it_is_refused(world: World) -> None:
    world.make_folder()
    world.flow_file.unlink()
    assert f"{world.flow_file} is not there" in await refusal(world)


async def test_what_lives_is_named(world: World) -> None:
    world.make_folder()
    world.jobs = [Job(id="7", raw_id=7, user="me", comment=comment(RUN), state="PENDING")]
    said = await refusal(world)
    assert "has jobs in the queue (7)" in said
    assert "slurmtui cancel 0f8b6f0e" in said


async def test_a_queue_that_is_not_known_is_no_empty_one(world: World) -> None:
    world.make_folder()
    world.jobs = CommandError("squeue: no answer", argv=("squeue",), code=1)
    assert "It is not known whether jobs of brave-otter are alive: squeue: no answer" in await refusal(world)


async def test_a_driver_on_another_host_counts_until_it_is_silent_for_long(world: World) -> None:
    far = DriverRecord(host="elsewhere", pid=1, pid_started=1.0, started=1.0)
    folder = world.make_folder(far)
    assert await refusal(world) == "", "a driver that gave no sign for years was taken for alive"
    (folder / "attempt-1.lock").touch()
    assert "has a driver on another host (process 1 on elsewhere)" in await refusal(world)


@pytest.mark.parametrize("state", ["RUNNING", "PENDING", "CANCELLING"])
async def test_a_run_of_which_nothing_lives_is_put_right_first(world: World, state: str) -> None:
    world.run = FlowRun(id=RUN, name="brave-otter", state_type=state, state_name=state.capitalize())
    world.make_folder()
    session: Any = world
    plan = await plan_retry(session, RUN)
    assert plan.refused == ""
    assert "its driver is gone and no job of it is left" in plan.repair


async def test_without_a_server_it_is_refused(world: World) -> None:
    session: Any = SimpleNamespace(prefect=None)
    with pytest.raises(Refused, match="slurmtui server start"):
        await plan_retry(session, RUN)
    assert world.run.id == RUN
