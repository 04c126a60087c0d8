"""Verdicts on real runs: real SLURM, real Prefect, a store that watches."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

import msgspec
import pytest

from slurmtui.control.cancel import cancel_run
from slurmtui.control.slurm import cancel_jobs, submit_script
from slurmtui.control.submit import SubmitRequest, submit_flow
from slurmtui.errors import Refused
from slurmtui.models.config import SlurmConfig
from slurmtui.sources.processes import host_name
from slurmtui.store.once import gather
from slurmtui.store.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from slurmtui.models.run_record import RunRecord
    from slurmtui.models.run_view import RunView
    from slurmtui.session import Session
    from slurmtui.store.snapshot import Snapshot

FLOWS = """
import time
from pathlib import Path
from prefect import flow, task


@task
def nap(number, until):
    deadline = time.time() + 120
    while not Path(until).exists() and time.time() < deadline:
        time.sleep(0.2)
    return number


@flow
def naps(until: str, count: int = 2):
    return [future.result() for future in nap.map(list(range(count)), until=until)]


@flow
def broken():
    raise ValueError("this flow is broken")
"""

OWN = """
import time
from prefect import flow, task
from prefect_dask import DaskTaskRunner

runner = DaskTaskRunner(
    cluster_class="dask_jobqueue.SLURMCluster",
    cluster_kwargs={{"queue": "{partition}", "cores": 1, "memory": "500MB", "n_workers": 2}},
)


@task
def nap(number):
    time.sleep(120)
    return number


@flow(task_runner=runner)
def own():
    return [future.result() for future in nap.map([1, 2])]
"""
# A flow as people have them, written without slurmtui: its cluster never asks for jobs again.


class Watch:
    """A store on the real sources, with the verdicts of each run in the order in which they were published."""

    def __init__(self, session: Session) -> None:
        self.session = session
        fast = SlurmConfig(poll_seconds=0.5, floor_seconds=0.2)
        session.config = msgspec.structs.replace(session.config, slurm=fast)
        self.store = Store(session)
        self.seen: dict[str, list[tuple[str, str]]] = {}
        self.store.subscribe(self._note)
        self.store.start()

    def _note(self, snapshot: Snapshot) -> None:
        for view in snapshot.runs:
            told = self.seen.setdefault(view.run.id, [])
            if not told or told[-1] != (view.verdict.kind, view.verdict.text):
                told.append((view.verdict.kind, view.verdict.text))

    def kinds(self, run_id: str) -> list[str]:
        """The kinds of verdicts, each once, in the order of their first coming."""
        return list(dict.fromkeys(kind for kind, _ in self.seen.get(run_id, ())))

    async def until(self, run_id: str, condition: Callable[[RunView], object], seconds: float = 120) -> RunView:
        """The run's row as soon as ``condition`` holds for it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            view = self.store.snapshot.find_run(run_id)
            if view is not None and condition(view):
                return view
            await asyncio.sleep(0.1)
        view = self.store.snapshot.find_run(run_id)
        pytest.fail(f"it never came to that; seen: {self.seen.get(run_id)}; now: {view}")


@pytest.fixture
async def watch(session: Session) -> AsyncIterator[Watch]:
    found = Watch(session)
    yield found
    await found.store.stop()
    for view in found.store.snapshot.runs:
        if not view.run.final and view.record is not None:
            with contextlib.suppress(Refused):  # it has ended since
                await cancel_run(session, view.run.id)


@pytest.fixture
def flows(tmp_path: Path) -> Path:
    file = tmp_path / "flows.py"
    file.write_text(FLOWS)
    return file


async def start(watch: Watch, target: str, **changes: object) -> str:
    request = msgspec.convert({"target": target, "profile": "debug", **changes}, SubmitRequest)
    spec = await submit_flow(watch.session, request)
    watch.store.kick()
    return spec.id


def record_of(view: RunView) -> RunRecord:
    assert view.record is not None
    return view.record


async def test_a_run_waits_works_and_is_done(watch: Watch, flows: Path, tmp_path: Path) -> None:
    hog = await submit_script(
        watch.session.runner,
        b"#!/bin/sh\nsleep 300\n",
        ("-p", "gpu", "-N", "2", "--exclusive", "--gres=gpu:a100:4", "-o", "/dev/null"),
    )
    go_on = tmp_path / "go-on"
    try:
        run_id = await start(watch, f"{flows}:naps", profile="gpu", parameters={"until": str(go_on)})
        waiting = await watch.until(run_id, lambda view: view.verdict.text.startswith("waiting for SLURM: "))
        assert {job.state for job in waiting.jobs} == {"PENDING"}
        resources = await watch.until(
            run_id, lambda view: "Resources" in view.verdict.text or "Priority" in view.verdict.text
        )
        assert resources.verdict.kind == "waiting"
    finally:
        await cancel_jobs(watch.session.runner, [hog])
    running = await watch.until(run_id, lambda view: view.verdict.text == "running, 2 workers")
    assert all(watch.store.snapshot.run_of_job[job.id] == run_id for job in running.jobs)
    await watch.until(run_id, lambda view: view.tasks is not None and view.tasks.running == 2)
    go_on.touch()
    done = await watch.until(
        run_id,
        lambda view: (
            view.verdict.kind == "done" and not view.jobs and view.tasks is not None and view.tasks.completed == 2
        ),
    )
    assert done.verdict.text == "done"
    kinds = watch.kinds(run_id)
    assert kinds.index("waiting") < kinds.index("done")
    assert set(kinds) <= {"starting", "waiting", "running", "done"}


async def test_a_driver_killed_is_told_with_its_host_and_its_jobs(watch: Watch, flows: Path, tmp_path: Path) -> None:
    run_id = await start(watch, f"{flows}:naps", parameters={"until": str(tmp_path / "never")})
    running = await watch.until(run_id, lambda view: view.verdict.text == "running, 2 workers")
    driver = record_of(running).driver
    assert driver is not None
    os.kill(driver.pid, signal.SIGKILL)
    gone = await watch.until(run_id, lambda view: view.verdict.kind == "driver-gone", 60)
    assert gone.verdict.text.startswith(f"driver gone ({host_name()})")
    assert gone.verdict.needs_you
    assert any(f"process {driver.pid} on" in sentence for sentence in gone.verdict.evidence)
    report = await cancel_run(watch.session, run_id)
    assert report.ok
    watch.store.kick()
    await watch.until(run_id, lambda view: view.verdict.kind == "cancelled" and not view.jobs)


def at_work_since(watch: Watch, run_id: str, moment: float) -> list[bool]:
    """For each task run whether it began before ``moment``."""
    task_runs = watch.store.snapshot.task_runs.data.get(run_id, ())
    return [task.start is not None and task.start < moment for task in task_runs] or [False]


async def test_jobs_cancelled_behind_the_back_leave_the_run_lost(watch: Watch, tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN.format(partition="debug"))
    run_id = await start(watch, f"{file}:own", profile="none")
    running = await watch.until(
        run_id,
        lambda view: view.tasks is not None and view.tasks.running == 2 and view.verdict.text == "running, 2 jobs",
    )
    watch.store.watch_runs([run_id])
    running = await watch.until(run_id, lambda _view: all(at_work_since(watch, run_id, time.time() - 5)))
    cancelled_at = time.time()
    await cancel_jobs(watch.session.runner, [job.id for job in running.jobs])
    lost = await watch.until(run_id, lambda view: view.verdict.kind == "lost", 90)
    assert time.time() - cancelled_at >= 29  # not at the first look at an empty queue
    assert lost.verdict.text == "lost: no jobs left, 2 tasks waiting"
    assert sum("ended CANCELLED" in sentence for sentence in lost.verdict.evidence) == 2
    once = await gather(watch.session)
    found = once.find_run(run_id)
    assert found is not None
    assert found.verdict.kind == "lost", (found.verdict, once.counts, once.ended, once.task_runs)


async def test_a_refused_sbatch_is_told_in_slurms_words(watch: Watch, tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN.format(partition="no-such-partition"))
    run_id = await start(watch, f"{file}:own", profile="none")
    refused = await watch.until(run_id, lambda view: view.verdict.kind == "sbatch-refused")
    assert "partition" in refused.verdict.text.lower()
    ended = await watch.until(run_id, lambda view: view.run.final)
    assert ended.verdict.kind == "sbatch-refused"


async def test_a_fault_of_the_code_is_told_by_its_last_line(watch: Watch, flows: Path) -> None:
    run_id = await start(watch, f"{flows}:broken")
    failed = await watch.until(run_id, lambda view: view.run.final and view.verdict.kind != "starting")
    assert (failed.verdict.kind, failed.verdict.text) == ("failed", "failed: ValueError: this flow is broken")


async def test_a_driver_that_is_a_job_is_told_apart_from_its_workers(watch: Watch, flows: Path, tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"
    run_id = await start(watch, f"{flows}:naps", driver="slurm", parameters={"until": str(go_on)})
    running = await watch.until(run_id, lambda view: view.verdict.text == "running, 2 workers", 90)
    assert len(running.jobs) == 3
    assert record_of(running).driver_job_id in {job.id for job in running.jobs}
    go_on.touch()
    await watch.until(run_id, lambda view: view.verdict.kind == "done" and not view.jobs)
    assert not {"lost", "driver-gone", "failed", "driver-elsewhere"} & set(watch.kinds(run_id))
