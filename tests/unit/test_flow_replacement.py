"""Jobs of a fixed cluster that ended are replaced, unless somebody meant their end."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.core import Status

from slurmtui.flows import replacement
from slurmtui.flows.replacement import DASK_CLOSES, PATIENCE, Replacement


class Cluster:
    """What Replacement sees of dask-jobqueue's cluster, and of its scheduler."""

    def __init__(self, jobs: int, group: list[str]) -> None:
        self.status = Status.running
        self.group = group
        self.made = 0
        self.worker_spec: dict[str, dict[str, Any]] = {}
        self.workers: dict[str, Any] = {}
        self.scheduler = SimpleNamespace(workers={})
        self.scale(jobs=jobs)

    def scale(self, jobs: int) -> None:
        while len(self.worker_spec) < jobs:
            name = f"c-{self.made}"
            self.made += 1
            self.worker_spec[name] = {"group": self.group} if self.group != [""] else {}
            self.workers[name] = SimpleNamespace(job_id=str(100 + self.made))

    def come_up(self, plugin: Replacement, job: str) -> None:
        for suffix in self.group:
            self.scheduler.workers[f"tcp://{job}{suffix}"] = SimpleNamespace(name=f"{job}{suffix}")
            plugin.add_worker(self.scheduler, f"tcp://{job}{suffix}")

    def lose(self, plugin: Replacement, job: str) -> None:
        for suffix in self.group:
            del self.scheduler.workers[f"tcp://{job}{suffix}"]
            plugin.remove_worker(self.scheduler, f"tcp://{job}{suffix}")


class World:
    """What SLURM says of each job, how often it was asked, and the time, which stands still unless a test moves it."""

    def __init__(self) -> None:
        self.ends: dict[str, str] = {}
        self.asked = 0
        self.now = 1000.0

    async def end_of(self, job_id: str) -> str:
        self.asked += 1
        return self.ends.get(job_id, "")

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(replacement, "_end_of", made.end_of)
    monkeypatch.setattr(replacement, "time", made)
    monkeypatch.setattr(replacement, "_LOOK_EVERY", 0.001)
    return made


async def asked(world: World) -> None:
    """Wait until SLURM has been asked, and what it said was considered: it is asked for the next time."""
    wanted = world.asked + 2
    for _ in range(60_000):
        if world.asked >= wanted:
            return
        await asyncio.sleep(0.001)
    pytest.fail("SLURM was not asked")


async def settled(plugin: Replacement, world: World) -> None:
    """Time enough has passed; wait until nothing is looked after any more."""
    world.now += PATIENCE + 1
    assert plugin._planned is not None
    await asyncio.wait_for(plugin._planned, 60)


@pytest.mark.parametrize("group", [[""], ["-0", "-1"]], ids=["one worker a job", "two"])
async def test_a_job_that_reached_its_time_limit_is_replaced(world: World, group: list[str]) -> None:
    cluster = Cluster(2, group)
    plugin = Replacement(cluster, 2)
    for job in list(cluster.worker_spec):
        cluster.come_up(plugin, job)
    world.ends["101"] = "TIMEOUT"
    cluster.lose(plugin, "c-0")
    await settled(plugin, world)
    assert set(cluster.worker_spec) == {"c-1", "c-2"}


async def test_a_cancelled_job_is_not_replaced(world: World) -> None:
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    cluster.come_up(plugin, "c-0")
    world.ends["101"] = "CANCELLED"
    cluster.lose(plugin, "c-0")
    await settled(plugin, world)
    assert cluster.made == 1


async def test_a_job_that_dask_cancels_after_its_node_failed_is_replaced(world: World) -> None:
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    cluster.come_up(plugin, "c-0")
    cluster.lose(plugin, "c-0")  # SLURM has queued it again
    await asked(world)
    world.now += DASK_CLOSES + 1
    world.ends["101"] = "CANCELLED"
    await settled(plugin, world)
    assert cluster.made == 2


async def test_a_worker_that_comes_back_is_no_loss(world: World) -> None:
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    cluster.come_up(plugin, "c-0")
    cluster.lose(plugin, "c-0")
    cluster.come_up(plugin, "c-0")
    world.ends["101"] = "TIMEOUT"
    await settled(plugin, world)
    assert cluster.made == 1


async def test_slurms_word_is_waited_for(world: World) -> None:
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    cluster.come_up(plugin, "c-0")
    cluster.lose(plugin, "c-0")
    world.now += PATIENCE + 1
    await asked(world)
    assert cluster.made == 1, "SLURM has not said that the job ended"
    world.ends["101"] = "NODE_FAIL"
    await settled(plugin, world)
    assert cluster.made == 2


async def test_jobs_that_fail_at_once_are_not_submitted_for_ever(world: World) -> None:
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    for number in range(10):
        name = f"c-{number}"
        if name not in cluster.worker_spec:
            break
        cluster.come_up(plugin, name)
        world.ends[str(101 + number)] = "FAILED"
        cluster.lose(plugin, name)
        await settled(plugin, world)
    assert cluster.made == 4


async def test_nothing_is_done_while_the_cluster_closes(world: World) -> None:
    cluster = Cluster(2, [""])
    plugin = Replacement(cluster, 2)
    for job in list(cluster.worker_spec):
        cluster.come_up(plugin, job)
    world.ends |= {"101": "TIMEOUT", "102": "TIMEOUT"}
    cluster.lose(plugin, "c-0")
    cluster.status = Status.closing
    cluster.lose(plugin, "c-1")
    await settled(plugin, world)
    assert cluster.made == 2
    assert "c-1" not in plugin._gone, "its end was noted while the cluster closes"
