"""When a driver starts its run again by itself, and when it does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.control import run_folder
from slurmtui.flows import again, run_files, state
from slurmtui.flows.state import RunState
from slurmtui.models.cluster import Partition
from slurmtui.models.job import EndedJob
from slurmtui.models.profile import Profile, RetryPolicy
from slurmtui.models.run_record import DriverRecord, MemoryKills, RunSpec
from slurmtui.sources.run_folder import read_attempts, read_folder
from slurmtui.sources.slurm.client import Slurm

if TYPE_CHECKING:
    from pathlib import Path

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
POLICY = RetryPolicy(node_fail=2, timeout=1, out_of_memory=1)


class World:
    """A run whose one job ended in some state, and a Prefect that says yes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ended = {"7": "NODE_FAIL"}
        self.states: list[tuple[str, str]] = []
        self.answers = "PENDING"
        self.task_messages: list[str] = []

    def judged(self, message: str = "KilledWorker", attempt: int = 1, **changes: Any) -> DriverRecord:
        spec = read_folder(self.folder).spec
        profile = read_folder(self.folder).profile
        record = DriverRecord(
            host="h", pid=1, pid_started=1, attempt=attempt, started=10, ended=20, outcome="FAILED", message=message,
            uses_profile=True,
        )  # fmt: skip
        record = msgspec.structs.replace(record, **changes)
        ended = again.judged(self.folder, msgspec.structs.replace(spec, profile=profile), record)
        run_files.end_record(self.folder, ended)
        return ended


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    profile = Profile(name="p", partition="batch", memory="4G", walltime="01:00:00", retry=POLICY)
    folder = run_folder.create(
        RunSpec(id=RUN, name="r", flow_name="f", entrypoint="/f.py:f", profile=profile, python="python3")
    )
    world = World(folder)
    lines = [{"time": 1, "code": 0, "job_id": "7", "attempt": attempt} for attempt in (1, 2, 3, 4)]
    (folder / "submissions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    async def ended(_slurm: Slurm, ids: list[str]) -> dict[str, EndedJob]:
        return {job_id: EndedJob(id=job_id, state=world.ended[job_id]) for job_id in ids}

    async def partitions(_slurm: Slurm) -> tuple[Partition, ...]:
        return (Partition(name="batch", state="up", max_time=7200, memory_per_node=6000),)

    def set_state(_run: str, kind: str, message: str, *, force: bool) -> RunState:
        assert force
        world.states.append((kind, message))
        return RunState(world.answers)

    monkeypatch.setattr(Slurm, "ended_jobs", ended)
    monkeypatch.setattr(Slurm, "partitions", partitions)
    monkeypatch.setattr(state, "set_state", set_state)
    monkeypatch.setattr(state, "failed_task_messages", lambda _run: world.task_messages)
    monkeypatch.setattr(again, "_SETTLE", 0)
    return world


def test_a_failed_node_is_answered_as_often_as_the_policy_says(world: World) -> None:
    assert [world.judged(attempt=number).again for number in (1, 2, 3)] == [
        "run again by itself, 1 of 2", "run again by itself, 2 of 2", "",
    ]  # fmt: skip
    assert world.states[0] == ("PENDING", "node failed: job 7; run again by itself, 1 of 2")
    assert len(world.states) == 2
    assert [attempt.cause for attempt in read_attempts(world.folder)] == ["node_fail"] * 3
    assert world.judged(attempt=4).again, "a start by a person begins the count anew"


def test_a_lack_is_answered_with_more_within_what_the_partition_has(world: World) -> None:
    world.ended["7"] = "OUT_OF_MEMORY"
    assert world.judged().again == "run again by itself, 1 of 1, memory 4G → 6000M"
    (change,) = read_folder(world.folder).overrides
    assert (change.attempt, change.by, change.profile.memory) == (2, "policy", "6000M")
    world.ended["7"] = "TIMEOUT"
    assert world.judged(attempt=2).again == "run again by itself, 1 of 1, time 01:00:00 → 02:00:00"
    profile = read_folder(world.folder).profile
    assert profile is not None
    assert (profile.memory, profile.walltime) == ("6000M", "02:00:00")


KILLED = (
    "Flow run encountered an exception: KilledWorker: Attempted to run task 'eat-6dd9c474805825af3ed00590a54300bf' on "
    "4 different workers, but all those workers died while running it. The last worker that attempt to run the task "
    "was tls://192.0.2.2:34343. Inspecting worker logs is often a good next step to diagnose what went wrong. For more "
    "information see https://distributed.dask.org/en/stable/killed.html."
)
NANNY = """\
2026-11-30 17:58:14,241 - distributed.worker - INFO -                Memory:                   1.00 GiB
2026-11-30 17:58:18,514 - distributed.nanny.memory - WARNING - Worker tls://192.0.2.2:36121 (pid=27032) exceeded 95% \
memory budget. Restarting...
2026-11-30 17:58:18,756 - distributed.nanny - INFO - Worker process 27032 was killed by signal 15
2026-11-30 17:58:29,310 - distributed.nanny.memory - WARNING - Worker tls://192.0.2.2:34343 (pid=27176) exceeded 95% \
memory budget. Restarting...
"""


def test_a_worker_that_dask_killed_for_its_memory_is_a_lack_of_memory(world: World) -> None:
    """SLURM says no more than that the jobs were cancelled, for the cluster closed."""
    world.ended["7"] = "CANCELLED"
    log = world.folder / "jobs" / "7.err"
    log.parent.mkdir(exist_ok=True)
    log.write_text(NANNY)
    ended = world.judged(KILLED)
    assert (ended.cause, ended.again) == ("out_of_memory", "run again by itself, 1 of 1, memory 4G → 6000M")
    assert read_attempts(world.folder)[0].memory_kills == MemoryKills(
        times=2, percent=95, limit=1024.0, logs=(str(log),)
    )


@pytest.mark.parametrize("worker", ["tls://192.0.2.2:42675", "tls://192.0.2.2:3434"])
def test_a_worker_that_died_otherwise_is_none(world: World, worker: str) -> None:
    world.ended["7"] = "CANCELLED"
    (world.folder / "jobs").mkdir(exist_ok=True)
    (world.folder / "jobs" / "7.err").write_text(NANNY)
    ended = world.judged(KILLED.replace("tls://192.0.2.2:34343", worker))
    assert (ended.cause, ended.again, ended.memory_kills) == ("", "", None)


def test_it_is_not_run_again_when_there_is_no_more_to_be_had(world: World) -> None:
    world.ended["7"] = "TIMEOUT"
    world.judged()
    world.judged(attempt=2, message="ValueError: x")
    assert world.judged(attempt=3).again == ""
    assert len(world.states) == 1


@pytest.mark.parametrize(
    ("message", "changes", "cause"),
    [
        ("Flow run encountered an exception: ValueError: no", {}, "code"),
        ("SLURM job 7 failed with exit code 1 (FAILED).", {}, "code"),
        ("", {"outcome": "COMPLETED"}, ""),
        ("", {"outcome": "CANCELLED"}, ""),
    ],
)
def test_code_and_what_was_meant_are_not_run_again(
    world: World, message: str, changes: dict[str, Any], cause: str
) -> None:
    ended = world.judged(message, **changes)
    assert (ended.cause, ended.again) == (cause, "")
    assert world.states == []


def test_where_the_run_only_counts_failed_tasks_their_own_words_decide(world: World) -> None:
    world.task_messages = ["Task run encountered an exception ValueError: no"]
    assert world.judged("1/3 states failed.").cause == "code"
    world.task_messages = ["KilledWorker"]
    assert world.judged("1/3 states failed.").cause == "node_fail"


def test_a_cancel_in_this_moment_and_a_refusing_server_win(world: World) -> None:
    world.answers = "FAILED"
    assert world.judged().again == ""
    world.answers = "PENDING"
    run_folder.ask_cancel(RUN, after=15)
    assert world.judged().again == ""


def test_without_a_policy_the_cause_is_written_down_all_the_same(world: World) -> None:
    spec = msgspec.structs.replace(read_folder(world.folder).spec, profile=None)
    record = DriverRecord(host="h", pid=1, pid_started=1, outcome="CRASHED", message="")
    ended = again.judged(world.folder, spec, record)
    assert (ended.cause, ended.again) == ("node_fail", "")


def test_a_flow_with_its_own_task_runner_is_not_given_more_and_so_not_run_again_for_a_lack(world: World) -> None:
    world.ended["7"] = "OUT_OF_MEMORY"
    assert world.judged(uses_profile=False).again == ""
    world.ended["7"] = "NODE_FAIL"
    assert world.judged(uses_profile=False, attempt=2).again
