"""What a person wishes for, and where it could start now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.errors import UsageError
from slurmtui.models.fits import answers
from slurmtui.models.gres import parse_gres
from slurmtui.models.node import Node, parse_node_state
from slurmtui.models.partition_use import ClusterUse, PartitionFacts, partition_uses
from slurmtui.models.wish import Wish, parse_wish, wish_words

TYPES = ("a100", "v100", "nvidia_h200_nvl")


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("2 gpus 16 cores 64G 2 nodes 4h", Wish(gpus=2, cpus=16, memory=65536, nodes=2, time=14400)),
        ("2gpu,16c,500M", Wish(gpus=2, cpus=16, memory=500)),
        ("2 a100", Wish(gpus=2, gpu_type="a100")),
        ("h200", Wish(gpus=1, gpu_type="nvidia_h200_nvl")),
        ("gpu:v100:4 mem=1.5G time:2-00", Wish(gpus=4, gpu_type="v100", memory=1536, time=172800)),
        ("gpus=2 type:a100", Wish(gpus=2, gpu_type="a100")),
        ("gpu:a100", Wish(gpus=1, gpu_type="a100")),
        ("a100:3", Wish(gpus=3, gpu_type="a100")),
        ("30m 4 CPUs", Wish(time=1800, cpus=4)),
        ("time=90m partition:batch", Wish(time=5400, partition="batch")),
        ("cpus:8 nodes:0", Wish(cpus=8, nodes=1)),
        ("", Wish()),
    ],
)
def test_wishes(text: str, wish: Wish) -> None:
    assert parse_wish(text, TYPES) == wish


@pytest.mark.parametrize("text", ["2", "2 x100", "banana", "mem:lots", "1.5 gpus", "time:soon", "100"])
def test_what_is_not_understood_is_told_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"2 gpus 16 cores|may be"):
        parse_wish(text, TYPES)


@given(st.text(alphabet="0123456789 gpucoresMGhdatimen:=.,a100", max_size=40))
def test_no_wish_breaks_the_parser(text: str) -> None:
    try:
        wish = parse_wish(text, TYPES)
    except UsageError:
        return
    assert wish.nodes >= 1
    assert wish_words(wish)


def cluster() -> ClusterUse:
    def node(name: str, part: str, state: str, cpus: tuple[int, int], memory: float, *gpus: str) -> Node:
        gres, used = (parse_gres(text) for text in (*gpus, "", "")[:2])
        return Node(
            name=name, partitions=(part,), state=parse_node_state(state), cpus=cpus[0], cpus_idle=cpus[1],
            cpus_used=cpus[0] - cpus[1], memory=memory, memory_used=0, gres=gres, gres_used=used,
        )  # fmt: skip

    return ClusterUse(
        (
            node("g1", "gpu", "mixed", (16, 12), 64000, "gpu:a100:4", "gpu:a100:1"),
            node("g2", "gpu", "idle", (16, 16), 64000, "gpu:a100:4", "gpu:a100:0"),
            node("g3", "gpu", "idle+drain", (16, 0), 64000, "gpu:a100:4", "gpu:a100:0"),
            node("n1", "batch", "idle~", (8, 8), 16000),
            node("n2", "batch", "allocated", (8, 0), 16000),
            node("d1", "debug", "idle", (8, 8), 16000),
            node("x1", "shut", "idle", (64, 64), 999000, "gpu:a100:8"),
        ),
        (
            PartitionFacts(name="gpu", state="up", max_time=86400, size="1-2"),
            PartitionFacts(name="batch", state="up", max_time=864000, size="1-infinite"),
            PartitionFacts(name="debug", state="up", max_time=1800, size="1-infinite"),
            PartitionFacts(name="shut", state="drain"),
        ),
    )


def fit(text: str) -> dict[str, tuple[bool, int, tuple[str, ...], str]]:
    found = answers(parse_wish(text, TYPES), partition_uses(cluster()))
    return {one.partition: (one.starts, one.copies, one.now, one.why_not) for one in found}


def test_gpus_have_room_where_cpus_and_state_allow() -> None:
    found = fit("2 a100 4 cores")
    assert found["gpu"] == (True, 3, ("g1", "g2"), "")
    assert found["batch"][3] == "it has no a100"
    assert found["shut"][3] == "the partition is drain"
    assert next(iter(found)) == "gpu"  # what starts now stands first


def test_all_gpus_of_a_node() -> None:
    assert fit("4 gpus")["gpu"] == (True, 1, ("g2",), "")
    assert fit("4 gpus 2 nodes")["gpu"] == (False, 0, ("g2",), "1 of its 3 nodes of that size has room now")
    assert fit("5 gpus")["gpu"][3] == "no node has more than 4 GPUs"
    assert fit("1 gpu 3 nodes")["gpu"][3] == "a job may have 2 nodes at most"


def test_cpus_memory_and_time() -> None:
    assert fit("8 cores")["batch"] == (True, 1, ("n1",), "")
    assert answers(parse_wish("8 cores partition:batch", ()), partition_uses(cluster()))[0].asleep
    assert fit("9 cores")["debug"][3] == "no node has more than 8 cores"
    assert fit("17G")["debug"][3] == "no node has more than 15.6 GB"
    assert fit("1 core 1h")["debug"][3] == "its time limit is 0:30:00"
    assert fit("2 nodes 8 cores")["batch"][:3] == (False, 0, ("n1",))
    assert fit("5 cores 8G")["debug"][:2] == (True, 1)
    assert fit("3 cores 8G")["debug"][:2] == (True, 1)  # memory for one only
