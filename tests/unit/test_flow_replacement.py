"""Jobs of a fixed cluster that ended are replaced, unless somebody meant their end."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.core import Status

from slurmtui.flows import replacement
from slurmtui.flows.replacement import Replacement


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


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What SLURM will say of each job."""
    found: dict[str, str] = {}

    async def end_of(job_id: str) -> str:
        return found.get(job_id, "")

    monkeypatch.setattr(replacement, "_end_of", end_of)
    monkeypatch.setattr(replacement, "PATIENCE", 0.05)
    monkeypatch.setattr(replacement, "DASK_CLOSES", 0.04)
    monkeypatch.setattr(replacement, "_LOOK_EVERY", 0.02)
    return found


async def settle() -> None:
    await asyncio.sleep(0.3)


@pytest.mark.parametrize("group", [[""], ["-0", "-1"]], ids=["one worker a job", "two"])
async def test_a_job_that_reached_its_time_limit_is_replaced(ends: dict[str, str], group: list[str]) -> None:
    cluster = Cluster(2, group)
    plugin = Replacement(cluster, 2)
    for job in list(cluster.worker_spec):
        cluster.come_up(plugin, job)
    ends["101"] = "TIMEOUT"
    cluster.lose(plugin, "c-0")
    await settle()
    assert set(cluster.worker_spec) == {"c-1", "c-2"}


async def test_a_cancelled_job_is_not_replaced(ends: dict[str, str]) -> None:
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    cluster.come_up(plugin, "c-0")
    ends["101"] = "CANCELLED"
    cluster.lose(plugin, "c-0")
    await settle()
    assert cluster.made == 1


async def test_a_job_that_dask_cancels_after_its_node_failed_is_replaced(
    ends: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacement, "PATIENCE", 0.2)
    monkeypatch.setattr(replacement, "DASK_CLOSES", 0.1)
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    cluster.come_up(plugin, "c-0")
    cluster.lose(plugin, "c-0")  # SLURM has queued it again
    await asyncio.sleep(0.15)
    ends["101"] = "CANCELLED"
    await settle()
    assert cluster.made == 2


async def test_a_worker_that_comes_back_is_no_loss(ends: dict[str, str]) -> None:
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    cluster.come_up(plugin, "c-0")
    cluster.lose(plugin, "c-0")
    cluster.come_up(plugin, "c-0")
    ends["101"] = "TIMEOUT"
    await settle()
    assert cluster.made == 1


async def test_slurms_word_is_waited_for(ends: dict[str, str]) -> None:
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    cluster.come_up(plugin, "c-0")
    cluster.lose(plugin, "c-0")
    await settle()
    assert cluster.made == 1, "SLURM has not said that the job ended"
    ends["101"] = "NODE_FAIL"
    await settle()
    assert cluster.made == 2


async def test_jobs_that_fail_at_once_are_not_submitted_for_ever(ends: dict[str, str]) -> None:
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    for number in range(10):
        name = f"c-{number}"
        if name not in cluster.worker_spec:
            break
        cluster.come_up(plugin, name)
        ends[str(101 + number)] = "FAILED"
        cluster.lose(plugin, name)
        await settle()
    assert cluster.made == 4


async def test_nothing_is_done_while_the_cluster_closes(ends: dict[str, str]) -> None:
    cluster = Cluster(1, [""])
    plugin = Replacement(cluster, 1)
    cluster.come_up(plugin, "c-0")
    ends["101"] = "TIMEOUT"
    cluster.status = Status.closing
    cluster.lose(plugin, "c-0")
    await settle()
    assert cluster.made == 1
