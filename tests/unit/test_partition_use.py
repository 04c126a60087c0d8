"""What is free by partition and type of GPU."""

from __future__ import annotations

from slurmtui.models.gres import parse_gres
from slurmtui.models.node import Node, parse_node_state
from slurmtui.models.partition_use import ClusterUse, GpuUse, JobCounts, PartitionFacts, partition_uses


def node(name: str, state: str, partitions: str, cpus: str, *things: str) -> Node:
    gpus, used = (*things, "", "")[:2]
    taken, idle, total = (int(part) for part in cpus.split("/"))
    return Node(
        name=name,
        partitions=tuple(partitions.split(",")),
        state=parse_node_state(state),
        cpus=total,
        cpus_used=taken,
        cpus_idle=idle,
        memory=1000,
        memory_used=100.0 * taken,
        gres=parse_gres(gpus),
        gres_used=parse_gres(used),
    )


CLUSTER = ClusterUse(
    nodes=(
        node("g1", "mixed", "gpu,all", "4/4/8", "gpu:a100:4(S:0-1)", "gpu:a100:1(IDX:0)"),
        node("g2", "mixed+drain", "gpu,all", "2/0/8", "gpu:a100:4", "gpu:a100:2(IDX:0-1)"),
        node("g3", "allocated", "gpu,all", "8/0/8", "gpu:a100:2,gpu:v100:2", "gpu:a100:2(IDX:0-1),gpu:v100:0"),
        node("n1", "idle", "batch,all", "0/8/8"),
        node("n2", "down*", "batch,all", "0/0/8"),
        node("n3", "maint", "batch,all", "0/8/8"),
    ),
    partitions=(
        PartitionFacts(name="all", state="down"),
        PartitionFacts(name="batch", state="up", default=True),
        PartitionFacts(name="empty", state="up"),
        PartitionFacts(name="gpu", state="up"),
    ),
)


def test_sums_of_partitions() -> None:
    closed, batch, empty, gpu = partition_uses(CLUSTER)
    assert (gpu.cpus, gpu.cpus_used, gpu.cpus_free, gpu.idle, gpu.wrong) == (24, 14, 4, 0, 1)
    assert (gpu.memory, gpu.memory_free) == (3000, 600 + 200)
    assert (batch.cpus_free, batch.idle, batch.wrong, batch.closed) == (8, 1, 1, 1)
    assert (empty.cpus, empty.gpus, empty.unhealthy) == (0, (), False)
    assert closed.unhealthy
    assert not batch.unhealthy


def test_gpus_by_type_are_free_where_jobs_are_taken_only() -> None:
    gpu = partition_uses(CLUSTER)[3]
    assert gpu.gpus == (
        GpuUse("a100", total=10, used=5, free=3, stranded=0),
        GpuUse("v100", total=2, used=0, free=2, stranded=2),  # beside no free CPU
    )


def test_nothing_is_free_in_a_partition_that_is_not_open() -> None:
    closed = partition_uses(CLUSTER)[0]
    assert (closed.cpus_free, closed.memory_free, [gpu.free for gpu in closed.gpus]) == (0, 0, [0, 0])
    assert closed.cpus_used == 14


def test_used_gpus_of_unknown_type_are_taken_from_no_type() -> None:
    cluster = ClusterUse((node("g1", "mixed", "gpu", "1/7/8", "gpu:a100:2,gpu:v100:2", "gpu:(null):3"),), (
        PartitionFacts(name="gpu", state="up"),
    ))  # fmt: skip
    assert partition_uses(cluster)[0].gpus == (
        GpuUse("a100", total=2), GpuUse("v100", total=2), GpuUse("", used=3, free=1),
    )  # fmt: skip


def test_counts_are_unknown_or_those_of_the_partition() -> None:
    assert partition_uses(CLUSTER)[1].jobs is None
    uses = partition_uses(CLUSTER, {"batch": JobCounts(2, 40)})
    assert [use.jobs for use in uses] == [JobCounts(), JobCounts(2, 40), JobCounts(), JobCounts()]
