"""The processes of a shared cluster: how many jobs it has, what a flow on it does when it is gone."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import cloudpickle  # type: ignore[import-untyped]
import msgspec
import pytest
from distributed.core import Status

from slurmtui import paths
from slurmtui.errors import FlowError, UsageError
from slurmtui.flows import jobs, slurm_runner
from slurmtui.flows.certificates import certificates, new_certificates
from slurmtui.flows.keeper_scaling import Abandoned, Following, SharedCluster, job_of_worker
from slurmtui.flows.shared_watch import GONE_FOR, SharedWatch
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import SharedUse, Submission
from tests.unit.test_shared_cluster import GONE_PID, ID, cluster, keeper, write

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = Profile(name="small", workers=3)


# --- the task runner


def test_a_flow_may_be_looked_at_while_no_cluster_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    runner: Any = slurm_runner(PROFILE, shared=True, client_kwargs={"timeout": 7})
    runner = runner.duplicate()
    assert runner.client_kwargs["timeout"] == 7
    with pytest.raises(FlowError, match=r"There is no shared cluster 'small'\. `slurmtui cluster up small` starts one"):
        _ = runner.client


def test_what_jobs_ask_for_is_not_said_by_the_flow() -> None:
    with pytest.raises(UsageError, match=r"'memory' does not go with shared=True.*slurmtui cluster up small"):
        slurm_runner(PROFILE, shared=True, memory="4G")


def test_workers_need_not_have_slurmtui_to_get_the_task_runner() -> None:
    sent = cloudpickle.dumps(slurm_runner(PROFILE, shared=True))
    assert b"SharedTaskRunner" in sent
    assert b"slurmtui.flows.shared\x94\x8c" not in sent, "by reference"


def test_keys_are_readable_by_the_user_alone(tmp_path: Path) -> None:
    new_certificates(tmp_path / "tls")
    files = list((tmp_path / "tls").iterdir())
    assert len(files) == 3
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "tls", *files))
    config = certificates(tmp_path / "tls").get_tls_config_for_role("worker")
    assert "PRIVATE KEY" not in str(config), "the keys themselves must not stand in a job's script"


# --- how many jobs


class Scheduler:
    """What scaling sees of Dask's scheduler."""

    def __init__(self) -> None:
        self.queued: list[int] = []
        self.unrunnable: dict[int, int] = {}
        self.workers: dict[str, Any] = {}
        self.idle = 0
        self.restarted: list[str] = []

    def workers_to_close(self, **_: Any) -> list[str]:
        return list(self.workers)[: self.idle]

    def come_up(self, name: str, tasks: int = 0, **counts: int) -> None:
        self.workers[f"tls://{name}"] = SimpleNamespace(
            name=name, processing=list(range(tasks)), metrics={"task_counts": counts}
        )

    async def restart_workers(self, addresses: list[str], **_: Any) -> None:
        self.restarted += addresses


class Cluster:
    """What scaling sees of dask-jobqueue's cluster."""

    def __init__(self) -> None:
        self.scheduler = Scheduler()
        self.worker_spec: dict[str, dict[str, Any]] = {}
        self.workers: dict[str, Any] = {}

    @property
    def plan(self) -> set[str]:
        return set(self.worker_spec)

    requested = observed = plan

    def add(self, name: str, job_id: str | None) -> None:
        self.worker_spec[name] = {}
        self.workers[name] = SimpleNamespace(job_id=job_id)


@pytest.fixture
def following(monkeypatch: pytest.MonkeyPatch) -> Following:
    """Scaling of a cluster without jobs; SLURM knows the jobs in ``queue``."""
    made = Following(interval=0, cluster=Cluster(), minimum=0, maximum=8, wait_count=5)

    async def alive(known: jobs.Submitted) -> set[str]:
        return set(known.ids) & queue

    queue = {"1"}
    monkeypatch.setattr(jobs, "alive", alive)
    return made


async def test_as_many_workers_as_tasks_can_run_and_no_idle_one(following: Following) -> None:
    scheduler = following.cluster.scheduler
    assert await following.target() == 0
    scheduler.queued = [1, 2, 3]
    scheduler.unrunnable = {4: 4}
    assert await following.target() == 4, "one for each task, however short Dask thinks it is"
    following.threads = 2
    assert await following.target() == 2
    scheduler.queued, scheduler.unrunnable, scheduler.idle = [], {}, 1
    scheduler.come_up("a", tasks=1)
    scheduler.come_up("b")
    assert await following.target() == 1, "one works, one is idle"


async def test_a_refused_job_is_forgotten_and_asked_for_again_later(following: Following) -> None:
    following.cluster.add("c-0", None)
    following.cluster.scheduler.unrunnable = {1: 1}
    assert (await following.recommendations(1))["status"] == "same", "not at once"
    assert not following.cluster.worker_spec
    assert await following.target() == 0
    following._not_before = 0
    assert await following.recommendations(await following.target()) == {"status": "up", "n": 1}


async def test_a_job_that_left_the_queue_without_workers_is_not_waited_for(following: Following) -> None:
    following.cluster.add("c-0", "1")  # waits in the queue
    following.cluster.add("c-1", "2")  # was cancelled before it began
    for _ in range(2):
        following._next_look = 0
        await following.recommendations(2)
    assert set(following.cluster.worker_spec) == {"c-0"}


async def test_a_worker_that_served_its_time_is_not_replaced_without_work(following: Following) -> None:
    following.cluster.add("c-0", "1")
    await following.recommendations(1)
    del following.cluster.workers["c-0"]  # as Dask does when a worker is gone
    await following.recommendations(0)
    assert not following.cluster.worker_spec


async def test_no_two_jobs_have_one_name() -> None:
    made: Any = SharedCluster.__new__(SharedCluster)  # Dask wants one that was started to be closed
    made.__dict__.update(_cluster_info={"name": "c"}, _i=0, worker_spec={}, new_spec={}, status=Status.closed)
    names = set()
    for _ in range(3):
        (name,) = made.new_worker_spec()
        names.add(name)
        assert job_of_worker(SimpleNamespace(name=f"{name}-1")) == name
    assert len(names) == 3, "Dask would cancel the new job when it tidies up after the old one"


async def test_a_worker_that_only_works_for_a_cancelled_run_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("slurmtui.flows.keeper_scaling.time.monotonic", lambda: now[0])
    scheduler = Scheduler()
    scheduler.come_up("a", cancelled=1)
    scheduler.come_up("b", cancelled=1, executing=1)  # it works for another run as well
    scheduler.come_up("c", tasks=1, executing=1)
    abandoned = Abandoned(scheduler)
    await abandoned.end()
    assert not scheduler.restarted, "it may just be ending"
    now[0] += 10
    await abandoned.end()
    assert scheduler.restarted == ["tls://a"]


# --- a run on it


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SharedWatch:
    """What a driver sees of the cluster that its run uses."""
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    use = SharedUse(cluster_id=ID, name="small", time=time.time())
    (tmp_path / "shared.json").write_bytes(msgspec.json.encode(use))
    return SharedWatch(tmp_path, 1)


def looked(watch: SharedWatch, monkeypatch: pytest.MonkeyPatch, *moments: float) -> str:
    said = ""
    for moment in moments:
        monkeypatch.setattr("slurmtui.flows.shared_watch.time.monotonic", lambda at=moment: at)
        said = watch.for_good()
    return said


def test_a_run_ends_when_its_cluster_is_gone(watch: SharedWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    own = write(paths.clusters_folder(), cluster())
    assert looked(watch, monkeypatch, 100, 200) == ""
    (own / "keeper.json").write_bytes(msgspec.json.encode(keeper(pid=GONE_PID)))
    assert looked(watch, monkeypatch, 300) == "", "it may be ending itself"
    assert looked(watch, monkeypatch, 300 + GONE_FOR) == "the shared cluster 'small' is gone"


def test_a_run_that_uses_no_shared_cluster_is_left_alone(
    watch: SharedWatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert looked(SharedWatch(tmp_path, 2), monkeypatch, 100, 900) == "", "that was an earlier attempt"
    (tmp_path / "shared.json").unlink()
    assert looked(watch, monkeypatch, 100, 900) == ""


def test_a_run_ends_with_slurms_words_when_its_cluster_gets_no_job(
    watch: SharedWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = write(paths.clusters_folder(), cluster())
    words = "sbatch: error: Batch job submission failed: Invalid account"
    begun = time.time()

    def refuse(at: float) -> None:
        call = Submission(time=at, code=1, said=words)
        (own / "submissions.jsonl").write_bytes(msgspec.json.encode(call) + b"\n")
        monkeypatch.setattr("slurmtui.flows.shared_watch.time.time", lambda: begun + 60)

    refuse(begun - 100)
    assert looked(watch, monkeypatch, 100) == "", "that was before the run came"
    refuse(begun + 5)
    assert looked(watch, monkeypatch, 200) == "sbatch refused: Invalid account (shared cluster 'small')"
