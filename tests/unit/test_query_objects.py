"""The filter language for nodes, partitions and ended jobs."""

from __future__ import annotations

import time

import pytest

from slurmtui.errors import PatternTooSlow
from slurmtui.models.gres import parse_gres
from slurmtui.models.history import PastJob, day_of
from slurmtui.models.node import Node, parse_node_state
from slurmtui.models.partition_use import ClusterUse, JobCounts, PartitionFacts, partition_uses
from slurmtui.models.share import Limits, Share
from slurmtui.models.values import Special
from slurmtui.store.query_cluster import NODE_FIELDS, PARTITION_FIELDS, PAST_FIELDS, SHARE_FIELDS
from slurmtui.store.query_objects import ObjectFilter

NOW = time.time()
NODES = [
    Node(name="gpu1", partitions=("gpu",), state=parse_node_state("mixed"), cpus=16, cpus_idle=12, memory=8000.0,
         gres=parse_gres("gpu:a100:4"), gres_used=parse_gres("gpu:a100:1"), features="big,fast"),
    Node(name="n1", partitions=("debug", "batch"), state=parse_node_state("idle+drain"), cpus=8,
         reason="fan [x] \x1b", by="alice", since=NOW - 90000),
    Node(name="n2", partitions=("batch",), state=parse_node_state("idle"), cpus=8, cpus_idle=8, memory=4000.0),
]  # fmt: skip
JOBS = [
    PastJob(id="12_3", raw_id="15", end=NOW - 60, name="train-a", state="COMPLETED", partition="gpu", gpus=2,
            gpu_type="a100", elapsed=600, time_limit=3600, cpus=8, memory=16000.0, nodes="gpu1"),
    PastJob(id="120", raw_id="120", end=NOW - 7200, name="fail:now", state="TIMEOUT", partition="batch", elapsed=7200,
            time_limit=Special.UNLIMITED, exit_code=1, comment="slurmtui:abc", nodes="n1"),
    PastJob(id="13", raw_id="13", end=NOW - 7300, name="x", state="OUT_OF_MEMORY", partition="batch", elapsed=5,
            submit=NOW - 9000, start=NOW - 7305, nodes="n1"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the tests take."""
    monkeypatch.setattr(time, "time", lambda: NOW)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["gpu1", "n1", "n2"]),
        ("batch", ["n1", "n2"]),
        ("!batch", ["gpu1"]),
        ("state:drain", ["n1"]),
        ("state:idle", ["n1", "n2"]),  # n1 is IDLE+DRAIN in SLURM's words
        ("gpu:a100", ["gpu1"]),
        ("freegpus>=3", ["gpu1"]),
        ("freegpus>3", []),
        ("free>0", ["gpu1", "n2"]),
        ("mem>5G", ["gpu1"]),
        ("partition=batch", ["n1", "n2"]),
        ("since>1d", ["n1"]),
        ("feature:fast cpus=16", ["gpu1"]),
        ("reason:␛", ["n1"]),
        ("/^n[12]$/", ["n1", "n2"]),
        ("load>0", []),
    ],
)
def test_nodes(text: str, names: list[str]) -> None:
    sieve = ObjectFilter(NODE_FIELDS)
    assert sieve.set(text)
    assert [node.name for node in sieve.sift(NODES)] == names


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("gpu", ["12_3"]),
        ("state:to", ["120"]),
        ("state=cd", ["12_3"]),
        ("state:out_of", ["13"]),
        ("state:oom,to", ["120", "13"]),
        ("!state:cd", ["120", "13"]),
        ("id:12", ["12_3", "120"]),
        ("id=15", ["12_3"]),
        ("time>1h", ["120"]),
        ("limit>1d", ["120"]),
        ("wait>20m", ["13"]),
        ("mem>4G gpus>1", ["12_3"]),
        ("exit!=0", ["120"]),
        ("run:abc", ["120"]),
        ("fail:now", ["120"]),
        ("id:/^12_.$/", ["12_3"]),
        ("state:/^time/", ["120"]),
        ("age<5m", ["12_3"]),
        (f"day={day_of(NOW - 60)} train", ["12_3"]),
    ],
)
def test_ended_jobs(text: str, ids: list[str]) -> None:
    sieve = ObjectFilter(PAST_FIELDS)
    assert sieve.set(text), sieve.error
    assert [job.id for job in sieve.sift(JOBS)] == ids


def test_partitions() -> None:
    cluster = ClusterUse(tuple(NODES), (
        PartitionFacts(name="batch", state="up", max_time=172800), PartitionFacts(name="gpu", state="down"),
        PartitionFacts(name="debug", state="up", max_time=1800),
    ))  # fmt: skip
    uses = partition_uses(cluster, {"batch": JobCounts(1, 50)})
    sieve = ObjectFilter(PARTITION_FIELDS)
    for text, names in (
        ("pending>10", ["batch"]), ("state:down", ["gpu"]), ("limit<1h", ["debug"]), ("node:n1", ["batch", "debug"]),
        ("free>0", ["batch"]),
    ):  # fmt: skip
        assert sieve.set(text)
        assert [use.facts.name for use in sieve.sift(uses)] == names


def test_shares_and_limits() -> None:
    things: list[Share | Limits] = [
        Share(account="research", user="alice", fair_share=0.2),
        Limits(kind="qos", name="long"),
    ]
    sieve = ObjectFilter(SHARE_FIELDS)
    assert sieve.set("fair<0.5")
    assert sieve.sift(things) == things[:1]
    assert sieve.set("qos:long")
    assert sieve.sift(things) == things[1:]


def test_a_wrong_filter_leaves_the_last_good_one_in_force() -> None:
    sieve = ObjectFilter(NODE_FIELDS)
    sieve.set("n2")
    assert not sieve.set("cpus>many")
    assert "cpus>many" in sieve.error
    assert [node.name for node in sieve.sift(NODES)] == ["n2"]
    assert sieve.text == "n2"
    assert not sieve.set("stat:idle")
    assert "state" in sieve.error


def test_an_expression_that_takes_too_long_gives_way_to_the_filter_of_before() -> None:
    sieve, told = ObjectFilter(NODE_FIELDS), []
    sieve.refused = lambda: told.append(sieve.error)
    nodes = [Node(name="a" * 60 + "b"), Node(name="gpu1")]
    assert sieve.set("gpu")
    assert [node.name for node in sieve.sift(nodes)] == ["gpu1"]
    assert sieve.set("/(a|aa)+/")  # typed, and replaced before it was used
    assert sieve.set("/(a|aa)+$/")
    assert [node.name for node in sieve.sift(nodes)] == ["gpu1"]
    assert sieve.text == "gpu"
    assert len(told) == 1
    assert "takes too long for this list" in told[0]
    assert not sieve.set("/(a|aa)+$/"), "it is known by now"
    assert sieve.text == "gpu"


def test_a_refusal_that_comes_late_does_not_touch_another_filter() -> None:
    sieve = ObjectFilter(NODE_FIELDS)
    nodes = [Node(name="a" * 60 + "b"), Node(name="gpu1")]
    assert sieve.set("/(a|aa)+$/ ")
    with pytest.raises(PatternTooSlow) as caught:
        sieve.sifted(nodes, sieve.text)
    assert sieve.set("gpu1")
    sieve.refuse("/(a|aa)+$/ ", caught.value)
    assert sieve.text == "gpu1"
    assert not sieve.error
