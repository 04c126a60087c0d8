"""A shared cluster on a real SLURM: flows on the same warm workers, idle jobs given back, and ends of every kind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui import paths
from slurmtui.control.cancel import cancel_run
from slurmtui.models.marks import comment
from slurmtui.sources.cluster_folder import keeper_process, read_clusters

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from slurmtui.models.run_record import RunSpec
    from slurmtui.session import Session

    Submit = Callable[..., Awaitable[RunSpec]]
    Eventually = Callable[..., Awaitable[Any]]

CODE = """
import os, time
from prefect import flow, task
from prefect.runtime import flow_run
from slurmtui.flows import slurm_runner

@task
def where(seconds):
    time.sleep(seconds)
    return os.environ["SLURM_JOB_ID"]

@flow(task_runner=slurm_runner("batch", shared=True), log_prints=True)
def shared(seconds: float, together: str, flows: int = 1):
    found = {where.submit(0).result()}
    open(os.path.join(together, flow_run.id), "w").close()
    until = time.time() + 240
    while (len(os.listdir(together)) < flows or os.path.exists(together + "/wait")) and time.time() < until:
        time.sleep(0.1)
    found |= {future.result() for future in [where.submit(seconds) for _ in range(4)]}
    print("JOBS " + ",".join(sorted(found)))
"""


async def verb(*words: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(
        subprocess.run, [sys.executable, "-m", "slurmtui", *words],
        env=dict(os.environ), capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip


async def cluster() -> dict[str, Any]:
    """What ``cluster ls`` says of the one that is up."""
    done = await verb("cluster", "ls", "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    return dict(found)


async def jobs_of(session: Session, cluster_id: str) -> list[str]:
    table = await session.slurm.queue(everyone=False)
    return sorted(job.id for job in table.jobs() if job.comment == comment(cluster_id) and job.state != "COMPLETING")


@pytest.fixture
async def up(session: Session) -> AsyncIterator[Callable[..., Awaitable[dict[str, Any]]]]:
    """Starts the shared cluster of the profile ``batch``; nothing of it may be left."""

    async def start(*words: str) -> dict[str, Any]:
        done = await verb("cluster", "up", "batch", "--json", *words)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    yield start
    await verb("cluster", "down", "batch")
    for record in read_clusters().values():
        assert not await jobs_of(session, record.spec.id)
        assert not (Path(record.folder) / "tls").exists()
        assert record.keeper is not None
        assert not lives(record.spec.id)


async def state_of(session: Session, spec: RunSpec) -> str:
    assert session.prefect is not None
    return (await session.prefect.flow_run(spec.id)).state_type


def lives(cluster_id: str) -> bool:
    return keeper_process(read_clusters()[cluster_id]) is not None


def submitted(cluster_id: str) -> set[str]:
    """Every job that the cluster has ever made."""
    return {entry.job_id for entry in read_clusters()[cluster_id].submissions if entry.job_id}


async def jobs_told(session: Session, spec: RunSpec, eventually: Eventually) -> set[str]:
    """The jobs in which the flow's tasks ran, as it told itself."""
    await eventually(lambda: _ended(session, spec), 150, "the flow to end")
    log = (paths.runs_folder() / spec.id / "driver.log").read_text()
    assert await state_of(session, spec) == "COMPLETED", log
    (told,) = [line.partition("JOBS ")[2] for line in log.splitlines() if "JOBS " in line]
    return set(told.split(","))


@pytest.mark.timeout(600)
async def test_flows_share_warm_workers_and_none_ends_them(
    session: Session, submit: Submit, eventually: Eventually, up: Any, tmp_path: Path
) -> None:
    started = await up("--idle", "300")  # nothing here waits for that
    assert (started["state"], started["jobs"], started["maximum"]) == ("idle", [], 2)
    again = await up()
    assert (again["id"], again["started"]) == (started["id"], False), "there is one of a profile"
    use = {"profile": None, "together": str(tmp_path / "together")}
    (tmp_path / "together").mkdir()
    wait = tmp_path / "together" / "wait"  # until it is gone no flow ends
    wait.touch()

    specs = [await submit(CODE, "shared", seconds=1, flows=2, **use) for _ in range(2)]
    await eventually(lambda: _is(flows=2), 150, "both flows to be connected at one time")
    wait.unlink()
    one, other = [await jobs_told(session, spec, eventually) for spec in specs]
    made = submitted(started["id"])
    assert len(made) == 2
    assert one & other, "they shared a worker"
    assert one | other <= made
    third = await submit(CODE, "shared", seconds=0, **use)
    assert await jobs_told(session, third, eventually) <= made
    assert submitted(started["id"]) == made, "the workers were warm: no job was made for the third"

    long = await submit(CODE, "shared", seconds=600, **use)
    await eventually(lambda: _is(tasks=4, workers=2), 120, "the tasks to run")
    assert long.id in (await cluster())["runs"]
    before = await jobs_of(session, started["id"])
    report = await cancel_run(session, long.id)
    assert report.ok, report.problems
    assert report.state_type == "CANCELLED"
    assert await jobs_of(session, started["id"]) == before, "the jobs are the cluster's, not the run's"
    log = Path(started["folder"]) / "keeper.log"
    await eventually(lambda: "for their run was cancelled" in log.read_text(), 60, "no worker to go on for nobody")

    down = await verb("cluster", "down", "--json")
    assert json.loads(down.stdout) == {
        "id": started["id"], "name": "batch", "ok": True, "left_jobs": [], "problems": []
    }  # fmt: skip
    assert not lives(started["id"])
    assert "None is up" in (await verb("cluster", "down")).stderr


async def _ended(session: Session, spec: RunSpec) -> bool:
    assert session.prefect is not None
    return (await session.prefect.flow_run(spec.id)).final


async def _has_failed(session: Session, spec: RunSpec) -> bool:
    return await state_of(session, spec) == "FAILED"


async def _is(**wanted: int) -> bool:
    found = await cluster()
    return all(found[name] == number for name, number in wanted.items())


async def suspend(session: Session, cluster_id: str) -> None:
    """Have SLURM stop the cluster's workers, so that they stay as they are until somebody ends their jobs."""
    await session.runner.run(["scontrol", "suspend", ",".join(await jobs_of(session, cluster_id))])


async def _no_jobs(session: Session, cluster_id: str) -> bool:
    return not await jobs_of(session, cluster_id)


@pytest.mark.timeout(600)
async def test_a_keeper_that_was_killed_ends_its_flows_and_is_offered_for_rescue(
    session: Session, submit: Submit, eventually: Eventually, up: Any, tmp_path: Path
) -> None:
    started = await up()
    together = tmp_path / "together"
    together.mkdir()
    spec = await submit(CODE, "shared", profile=None, seconds=600, together=str(together))
    await eventually(lambda: _is(tasks=4, workers=2), 120, "the tasks to run")
    await suspend(session, started["id"])  # they would end by themselves, sooner or later, once the keeper is gone
    os.kill(started["pid"], signal.SIGKILL)
    await eventually(lambda: _has_failed(session, spec), 120, "the flow to fail")
    (view,) = json.loads((await verb("runs", spec.id, "--json")).stdout)
    assert "shared cluster" in view["verdict_text"], view
    left = await jobs_of(session, started["id"])
    assert left, "nobody has ended them yet"
    refused = await verb("cluster", "up", "batch")
    assert refused.returncode == 1
    assert "slurmtui cluster down batch" in refused.stderr
    cases = json.loads((await verb("rescue", "--json")).stdout)
    (case,) = (one for one in cases if one["kind"] == "dead-cluster")
    assert set(case["job_ids"]) == set(left)
    repaired = await verb("rescue", case["id"], "--do", "end-cluster", "--json")
    assert repaired.returncode == 0, repaired.stderr
    assert not await jobs_of(session, started["id"])
    assert not (Path(started["folder"]) / "tls").exists()
    cases = json.loads((await verb("rescue", "--json")).stdout)
    assert not [one for one in cases if one["kind"] == "dead-cluster"]


@pytest.mark.timeout(600)
async def test_refusals_are_told_and_tried_again_idle_jobs_given_back_and_sigterm_leaves_nothing(
    session: Session, submit: Submit, eventually: Eventually, up: Any, tmp_path: Path
) -> None:
    config = tmp_path / "wrong.yaml"
    config.write_text("profiles:\n  a: {partition: nowhere}\n")
    refused = await verb("--config", str(config), "cluster", "up", "a")
    assert refused.returncode == 1
    assert "invalid partition" in refused.stderr
    assert "nowhere" not in str(read_clusters()), "nothing was created"

    started = await up("--idle", "5")
    together = tmp_path / "together"
    together.mkdir()
    await session.runner.run(["scontrol", "update", "partition=batch", "state=DRAIN"])
    try:
        spec = await submit(CODE, "shared", profile=None, seconds=1, together=str(together))
        await eventually(lambda: _has_failed(session, spec), 120, "the flow to fail")
        (view,) = json.loads((await verb("runs", spec.id, "--json")).stdout)
        assert view["verdict"] == "sbatch-refused"
        assert "inactive or drain" in view["verdict_text"]
    finally:
        await session.runner.run(["scontrol", "update", "partition=batch", "state=UP"])
    spec = await submit(CODE, "shared", profile=None, seconds=0, together=str(together))
    assert await jobs_told(session, spec, eventually) <= submitted(started["id"]), "it was tried again"
    await eventually(lambda: _no_jobs(session, started["id"]), 60, "the idle jobs to be given back")
    now = await cluster()
    assert (now["state"], now["pid"]) == ("idle", started["pid"]), "the cluster itself lives on"
    os.kill(started["pid"], signal.SIGTERM)
    await eventually(lambda: not lives(started["id"]), 60, "the keeper to end")
    record = read_clusters()[started["id"]]
    assert record.keeper is not None
    assert "SIGTERM" in record.keeper.message
    missing = await submit(CODE, "shared", profile=None, seconds=1, together=str(together))
    await eventually(lambda: _ended(session, missing), 90, "the flow to end")
    (view,) = json.loads((await verb("runs", missing.id, "--json")).stdout)
    assert "slurmtui cluster up batch" in json.dumps(view), "the next step is told"
