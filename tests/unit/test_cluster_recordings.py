"""Nodes, ended jobs and shares as real SLURMs of several versions told them (tests/data/slurm/record_cluster.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slurmtui.models.gres import Gres
from slurmtui.models.history import Lives, PastJob
from slurmtui.models.partition_use import ClusterUse, GpuUse, JobCounts, partition_uses
from slurmtui.models.records import Layout, Records
from slurmtui.models.share import Limits
from slurmtui.sources.exec import Finished
from slurmtui.sources.slurm.history import HISTORY, AccountingOff, TooWide, collect_past, understood
from slurmtui.sources.slurm.nodes_reader import COUNTS, STATE_WITH_FLAGS, collect_counts, collect_nodes, nodes_layout
from slurmtui.sources.slurm.shares import (
    ASSOCIATIONS,
    QUALITIES,
    SHARES,
    collect_associations,
    collect_qualities,
    collect_shares,
)
from tests.unit.recordings import Recorded, versions_with

if TYPE_CHECKING:
    from slurmtui.models.node import Node

VERSIONS = versions_with("node_list.out")
RUN_ID = "0b7cbd0d-6f3a-4a53-9d6a-2f6f0a3f9a10"


class Told(Recorded):
    """What one version told."""

    def records(self, name: str, layout: Layout) -> Records:
        """The recorded records; 20.11 knows no state with flags."""
        return Records(layout, self.laid_out(name, layout, may_lack=(STATE_WITH_FLAGS,)))

    def cluster(self) -> ClusterUse:
        return collect_nodes(self.records("node_list", nodes_layout()))

    def node(self, name: str) -> Node:
        return next(node for node in self.cluster().nodes if node.name == name)

    def past(self) -> list[PastJob]:
        return collect_past(self.records("past", HISTORY))


@pytest.fixture(params=VERSIONS)
def told(request: pytest.FixtureRequest) -> Told:
    return Told(request.param, "cluster_words.json")


def test_four_versions_are_there() -> None:
    assert VERSIONS == ["20.11", "22.05", "24.11", "26.05"]


def test_each_node_once_in_natural_order(told: Told) -> None:
    cluster = told.cluster()
    assert [node.name for node in cluster.nodes] == ["gpu1", "gpu2", "n1", "n2", "n3", "n4"]
    assert [facts.name for facts in cluster.partitions] == ["batch", "closed", "debug", "gpu"]
    assert told.node("n2").partitions in {("debug", "batch"), ("batch", "debug")}
    by_name = {facts.name: facts for facts in cluster.partitions}
    assert (by_name["debug"].default, by_name["batch"].default) == (True, False)
    assert (by_name["debug"].max_time, by_name["closed"].open, by_name["gpu"].size) == (1800, False, "1")


def test_reasons_of_any_content_stand_with_their_node(told: Told) -> None:
    drained, down = told.node("n3"), told.node("n4")
    assert drained.reason == "bad |disk\n\x1b[31m名"
    assert (drained.state.words, drained.by, drained.free_cpus) == ("drained", "root", 0)
    assert drained.since is not None
    assert 1.7e9 < drained.since < 2e9
    assert (down.state.words, down.reason) == ("down", "fan [x]")
    assert told.node("n2").reason == ""
    assert told.node("n2").since is None


def test_a_node_that_drains_while_a_job_runs_has_nothing_free(told: Told) -> None:
    draining = told.node("n1")
    assert draining.state.words == "draining"
    assert (draining.cpus, draining.cpus_used, draining.free_cpus) == (8, 3, 0)
    assert (draining.memory, draining.memory_used, draining.free_memory) == (4000, 500, 0)


def test_maintenance_is_not_free_and_not_out_of_order(told: Told) -> None:
    node = told.node("gpu2")
    assert "maintenance" in node.state.words
    assert not node.state.wrong
    assert node.gpus == (Gres("gpu", "a100", 2), Gres("gpu", "v100", 1))
    assert all(thing.count == 0 for thing in node.free_gpus)


def test_gpus_of_a_partition_by_type(told: Told) -> None:
    gpu = next(use for use in partition_uses(told.cluster()) if use.facts.name == "gpu")
    assert gpu.gpus == (GpuUse("a100", total=6, used=1, free=3), GpuUse("v100", total=1))
    assert (gpu.cpus, gpu.cpus_used, gpu.cpus_free, gpu.closed) == (32, 2, 14, 1)


def test_jobs_by_partition_count_every_task(told: Told) -> None:
    counts = collect_counts(told.records("job_counts", COUNTS))
    assert counts["gpu"] == JobCounts(running=1)
    assert (counts["batch"].running, counts["batch"].pending) == (1, 10)


def test_every_life_of_a_job_is_there(told: Told) -> None:
    jobs = told.past()
    lives = Lives(jobs)
    requeued = [job for job in jobs if job.name.startswith("re|q\n")]
    assert sorted(job.state for job in requeued) == ["COMPLETED", "REQUEUED"]
    first, last = sorted(requeued, key=lambda job: job.end)
    assert (lives.of(first), lives.of(last)) == ((1, 2), (2, 2))
    assert first.raw_id == last.raw_id
    assert first.key != last.key


def test_ended_jobs_tell_states_times_and_what_they_had(told: Told) -> None:
    jobs = {job.name: job for job in told.past()}
    failed = jobs["train-0b7cbd0d"]
    assert (failed.state, failed.exit_code, failed.partition, failed.account) == ("FAILED", 3, "debug", "research")
    assert failed.run_mark == "0b7cbd0d"
    assert failed.wait is not None
    assert failed.wait >= 0
    gpus = next(job for job in told.past() if job.gpus == 2)
    assert (gpus.gpus, gpus.gpu_type, gpus.cpus, gpus.memory) == (2, "a100", 2, 1000)
    held = next(job for job in told.past() if job.state == "CANCELLED")
    assert (held.ran, held.wait) == (False, None)
    assert sum("_" in job.id for job in told.past()) == 3


def test_the_run_of_a_job_is_known_by_its_comment(told: Told) -> None:
    marked = next(job for job in told.past() if job.comment)
    assert marked.run_mark == RUN_ID


def test_shares(told: Told) -> None:
    shares = {(share.account, share.partition): share for share in collect_shares(told.records("shares", SHARES))}
    assert set(shares) == {("research", ""), ("teaching", "debug")}
    mine = shares["research", ""]
    assert (mine.user, mine.shares, mine.norm_shares) == ("alice", "3", 0.75)
    assert mine.fair_share is not None
    assert mine.raw_usage is not None


def test_limits_of_accounts_and_qos(told: Told) -> None:
    teaching, research = sorted(
        collect_associations(told.records("limits", ASSOCIATIONS)), key=lambda one: one.name, reverse=True
    )
    assert research.values == (("a job", "cpu=8"), ("running jobs", "20"))
    assert research.qos == ("normal", "long")
    assert teaching.values == (("time limit", "01:00:00"),)
    assert teaching.partition == "debug"
    long, normal = collect_qualities(told.records("qos", QUALITIES))
    assert long == Limits(
        kind="qos",
        name="long",
        priority="5",
        values=(
            ("time limit", "7-00:00:00"),
            ("each user", "cpu=16,gres/gpu=2"),
            ("running jobs of a user", "4"),
        ),
    )
    assert normal.values == ()


def test_what_accounting_says_instead_of_an_answer_is_understood(told: Told) -> None:
    wide = understood(told.said("too_wide"))
    assert isinstance(wide, TooWide)
    off = understood(told.said("off"))
    assert isinstance(off, AccountingOff)
    assert str(off) == "Accounting is off on this cluster: SLURM keeps no record of jobs that have ended."
    assert isinstance(understood(told.said("manager_off")), AccountingOff)
    refused = Finished(("sacct",), 1, b"", "sacct: error: Access/permission denied", 0)
    assert isinstance(understood(refused), AccountingOff)
    down = Finished(("sacct",), 1, b"", "sacct: error: Problem talking to the database: Connection refused", 0)
    assert not isinstance(understood(down), AccountingOff)
    assert str(understood(down)) == "sacct: Problem talking to the database: Connection refused"
