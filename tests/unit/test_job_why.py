"""Why a job waits and whether it can ever start: tables of facts and what a person is told."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from slurmtui.models.gres import Gres, parse_gres
from slurmtui.models.job import Job
from slurmtui.models.job_limits import PER_JOB, PER_USER, TOGETHER, Limit, parse_assoc_mgr, parse_sacctmgr
from slurmtui.models.job_never import judge_partition
from slurmtui.models.job_request import JobRequest, request_of
from slurmtui.models.job_why import Precondition, Waiting, WhyFacts
from slurmtui.models.job_why_judge import judge, line_words
from slurmtui.models.node import parse_node_state
from slurmtui.models.partition_rules import NodeKind, PartitionRules, features_fit, parse_partitions
from slurmtui.models.values import Special

NOW = 1_796_000_000.0
GPU = PartitionRules(name="gpu", state="UP", max_time=86400, total_nodes=3, total_cpus=40, nodes="gpu[1-3]")
KINDS = (
    NodeKind(partition="gpu", state=parse_node_state("mixed"), count=2, cpus=16, memory=64_000,
             gres=parse_gres("gpu:a100:4(S:0-1)"), features=frozenset({"ib", "a100"}), names="gpu[1-2]"),
    NodeKind(partition="gpu", state=parse_node_state("idle"), count=1, cpus=8, memory=256_000,
             gres=parse_gres("gpu:v100:2"), features=frozenset({"v100"}), names="gpu3"),
)  # fmt: skip


def asks(**changed: Any) -> JobRequest:
    return JobRequest(**{"partitions": ("gpu",), "time_limit": 3600, **changed})


@pytest.mark.parametrize(
    ("request_made", "words"),
    [
        (asks(), ""),
        (asks(gres_per_node=(Gres("gpu", "a100", 8),)), "asks for 8 a100 GPUs on a node; the largest node of gpu"),
        (asks(gres_per_node=(Gres("gpu", "", 5),)), "asks for 5 GPUs on a node; the largest node of gpu has 4"),
        (asks(gres_per_node=(Gres("gpu", "", 4),)), ""),
        (asks(gres_per_node=(Gres("gpu", "h100", 1),)), "no node of gpu has one (there are a100, v100)"),
        (asks(gres_per_node=(Gres("gpu", "v100", 1),), nodes=2), "only 1 node of gpu would do: 1 CPU, 1 v100 GPU"),
        (asks(gres_per_job=(Gres("gpu", "a100", 9),)), "asks for 9 a100 GPUs; all of gpu has 8"),
        (asks(memory_per_node=300_000.0), "asks for 293 GB on a node; the largest node of gpu has 250 GB"),
        (asks(memory_per_cpu=40_000.0, cpus_per_node=8), "asks for 312 GB on a node"),
        (asks(cpus_per_node=17), "asks for 17 CPUs on a node; the largest node of gpu has 16"),
        (asks(cpus=41), "asks for 41 CPUs; gpu has 40"),
        (asks(nodes=4), "asks for 4 nodes; gpu has 3"),
        (asks(time_limit=90_000), "asks for 1-01:00:00; gpu allows 1-00:00:00"),
        (asks(time_limit=Special.UNLIMITED), "asks for no limit; gpu allows 1-00:00:00"),
        (asks(time_limit=Special.PARTITION_LIMIT), ""),
        (asks(memory_per_node=100_000.0, gres_per_node=(Gres("gpu", "a100", 1),)),
         "no node of gpu has all of that together: 1 CPU, 97.7 GB, 1 a100 GPU"),
        (asks(features="h100"), "no node of gpu has the feature it asks for: h100"),
        (asks(features="a100&ib"), ""),
        (asks(features="a100&v100"), "no node of gpu has the feature"),
        (asks(features="h100|v100"), ""),
        (asks(features="[rack1|rack2]"), ""),  # cannot be said from here: not judged
        (asks(only_nodes=("n1",)), "asks for node n1, which gpu does not have"),
        (asks(not_nodes=("gpu1", "gpu2"), gres_per_node=(Gres("gpu", "a100", 1),)), "no node of gpu has all of that"),
    ],
)  # fmt: skip
def test_whether_a_request_can_ever_be_met(request_made: JobRequest, words: str) -> None:
    never = " · ".join(judge_partition(request_made, GPU, KINDS).never)
    assert (words in never) if words else never == ""


@pytest.mark.parametrize(
    ("rules", "request_made", "words"),
    [
        ({"max_nodes": 1}, asks(nodes=2), "asks for 2 nodes; gpu allows 1 for a job"),
        ({"min_nodes": 2}, asks(), "gpu wants 2 at least"),
        ({"max_cpus_per_node": 4}, asks(cpus_per_node=5), "asks for 5 CPUs on a node; gpu allows 4"),
        ({"max_memory_per_node": 1000.0}, asks(memory_per_node=2000.0), "gpu allows 1,000 MB"),
        ({"allow_accounts": ("physics",)}, asks(account="art"), "its account art may not use gpu (only physics)"),
        ({"deny_accounts": ("art",)}, asks(account="art"), "its account art may not use gpu"),
        ({"allow_qos": ("high",)}, asks(qos="low"), "its QOS low may not use gpu (only high)"),
        ({"allow_accounts": ("art",)}, asks(account="art"), ""),
    ],
)
def test_what_a_partition_does_not_allow(rules: dict[str, Any], request_made: JobRequest, words: str) -> None:
    never = " · ".join(judge_partition(request_made, msgspec.structs.replace(GPU, **rules), KINDS).never)
    assert (words in never) if words else never == ""


def test_what_the_scheduler_let_through_is_not_called_impossible() -> None:
    long = asks(time_limit=90_000)
    assert judge_partition(long, GPU, KINDS).never
    assert not judge_partition(long, GPU, KINDS, passed=True).never, "a QOS may lift the limit of a partition"


def test_nodes_out_of_service_are_no_impossibility() -> None:
    down = (msgspec.structs.replace(KINDS[0], state=parse_node_state("drained*")), KINDS[1])
    found = judge_partition(asks(gres_per_node=(Gres("gpu", "a100", 4),)), GPU, down)
    assert not found.never
    assert "of the 2 nodes of gpu that would do, 2 are out of service (gpu[1-2] drained" in found.blocked[0]
    shut = judge_partition(asks(), msgspec.structs.replace(GPU, state="DOWN"), KINDS)
    assert shut.blocked == ("partition gpu starts no jobs now (it is down)",)


def facts(reason: str, **changed: Any) -> WhyFacts:
    job = Job(id="12", raw_id=12, user="alice", state="PENDING", reason=reason, partition="gpu", priority=50)
    debug = PartitionRules(name="debug", state="UP", max_time=1800, total_nodes=1, total_cpus=64, nodes="n1")
    plain = NodeKind(partition="debug", state=parse_node_state("idle"), count=1, cpus=64, memory=512_000, names="n1")
    base: dict[str, Any] = {
        "job": job, "now": NOW, "request": asks(), "rules": {"gpu": GPU, "debug": debug}, "kinds": (*KINDS, plain),
        "line": (
            Waiting(id="9", raw_id=9, user="bob", priority=90), Waiting(id="10", raw_id=10, user="bob", priority=80),
            Waiting(id="11", raw_id=11, user="carol", priority=70, could_start=False),
            Waiting(id="12", raw_id=12, user="alice", priority=50, start=NOW + 600, nodes_planned="gpu2"),
            Waiting(id="13", raw_id=13, user="carol", priority=10),
        ),
    }  # fmt: skip
    return WhyFacts(**{**base, **changed})


def test_priority_names_those_before_and_the_estimate() -> None:
    why = judge(facts("Priority"))
    assert why.place is not None
    assert (why.place.place, why.place.total, why.place.before, why.place.others) == (3, 4, (("bob", 2),), 1)
    assert line_words(why.place, ("gpu",)) == (
        "number 3 of 4 that could start in gpu", "before it: bob 2", "1 other job there waits for something else",
    )  # fmt: skip
    assert why.todo[0].startswith("2 jobs of higher priority in gpu have to start first")
    assert (why.start, why.nodes_planned, why.stuck) == (NOW + 600, "gpu2", False)


@pytest.mark.parametrize(
    ("reason", "words", "stuck"),
    [
        ("None", "the scheduler has to look at it first", False),
        ("", "the scheduler has to look at it first", False),
        ("JobHeldUser", "H does", True),
        ("(JobHeldAdmin)", "an administrator has to release it", True),
        ("JobHeldUser,JobArrayTaskLimit", "H does", True),
        ("Resources", "running jobs in gpu have to end until there is room: 1 node with 1 CPU free", False),
        ("PartitionTimeLimit", "its time limit has to be lowered", True),
        ("ReqNodeNotAvail, UnavailableNodes:gpu1", "a node that it needs has to come back", False),
        ("QOSMaxCpuPerUserLimit", "one of this user's running jobs has to end", False),
        ("AssocGrpCpuLimit", "running jobs that count towards the limit have to end", False),
        ("AssocGrpCPUMinutesLimit", "time used so far has to decay", False),
        ("Dependency", "a job that it depends on has to end", False),
        ("NeverHeardOfIt", "SLURM says no more than this word", False),
    ],
)
def test_what_would_have_to_happen(reason: str, words: str, stuck: bool) -> None:  # noqa: FBT001 - of a table
    why = judge(facts(reason))
    assert words in why.todo[0]
    assert why.stuck == stuck


def test_dependencies_are_named_with_their_states() -> None:
    wanted = (
        Precondition(condition="afterok", id="7", name="prepare", state="RUNNING", end=NOW + 60),
        Precondition(condition="afterany", id="8_*"),
        Precondition(condition="singleton", id=""),
    )
    todo = judge(facts("Dependency", preconditions=wanted)).todo
    assert todo[0].startswith("job 7 (prepare) has to end well: it is running, at the latest ")
    assert todo[1] == "job 8_* has to end: it is in the queue no more"
    assert todo[2] == "every other job of this name has to end"


def test_one_partition_that_would_do_is_enough() -> None:
    wide = asks(partitions=("gpu", "debug"), cpus_per_node=40, cpus=40, time_limit=1200)
    assert not judge(facts("Priority", request=wide)).never
    both = asks(partitions=("gpu", "debug"), cpus_per_node=80, time_limit=1200)
    assert len(judge(facts("Priority", request=both)).never) == 2


def test_what_never_starts_is_told_where_it_would() -> None:
    why = judge(facts("Priority", request=asks(cpus_per_node=40, cpus=40, time_limit=1200)))
    assert why.stuck
    assert why.remedies[0] == "it would fit in partition debug"
    nowhere = judge(facts("Priority", request=asks(cpus_per_node=400, cpus=400)))
    assert not any("would fit" in text for text in nowhere.remedies)


def test_the_limit_that_holds_it_comes_first() -> None:
    limits = (
        Limit(whose="account research", tres="cpu", per=TOGETHER, limit=100, used=99),
        Limit(whose="QOS normal", what="running jobs", per=PER_USER, limit=10, used=2),
        Limit(whose="QOS normal", tres="cpu", per=PER_USER, limit=8, used=6),
    )
    request = asks(cpus=4, total={"cpu": "4"})
    why = judge(facts("QOSMaxCpuPerUserLimit", limits=limits, request=request))
    first, is_the_one = why.limits[0]
    assert (first.whose, first.tres, is_the_one) == ("QOS normal", "cpu", True)
    assert not why.never
    assert not any(is_the_one for _, is_the_one in judge(facts("Priority", limits=limits, request=request)).limits)


def test_more_than_a_limit_will_ever_allow_is_never_met() -> None:
    limits = (
        Limit(whose="QOS small", what="wall time", per=PER_JOB, limit=30),
        Limit(whose="QOS small", tres="mem", per=PER_USER, limit=4096, used=0),
    )
    request = asks(total={"mem": "8G"})
    why = judge(facts("QOSMaxMemoryPerUser", limits=limits, request=request))
    assert why.never == (
        "asks for 1:00:00 wall time; QOS small allows 0:30:00 for one job",
        "asks for 8 GB memory; QOS small allows 4 GB for each user",
    )
    assert not judge(facts("Priority", limits=limits, request=request)).never, "limits may not be enforced here"


def test_nothing_known_of_the_cluster_is_no_verdict() -> None:
    why = judge(facts("Priority", rules={}, kinds=(), line=()))
    assert (why.known, why.never, why.place, why.start) == (False, (), None, None)


# --- the readers' parsers

FIELDS = (
    ("JobId", "208"), ("Partition", "gpu,batch"), ("Account", "research"), ("QOS", "normal"), ("NumNodes", "2-4"),
    ("NumCPUs", "8"), ("CPUs/Task", "4"), ("MinCPUsNode", "4"), ("MinMemoryNode", "64G"), ("TresPerNode",
    "gres:gpu:a100:2"), ("Features", "(null)"), ("TimeLimit", "2-00:00:00"), ("ReqNodeList", "gpu[1-2]"),
    ("TRES", "cpu=8,mem=128G,node=2,billing=8,gres/gpu=4"), ("OverSubscribe", "OK"), ("Partition", "forged"),
)  # fmt: skip


def test_a_request_is_read_from_the_fields_of_a_job() -> None:
    found = request_of(FIELDS)
    assert (found.partitions, found.nodes, found.cpus, found.cpus_per_node) == (("gpu", "batch"), 2, 8, 4)
    assert (found.memory_per_node, found.gres_per_node) == (65536, (Gres("gpu", "a100", 2),))
    assert (found.features, found.time_limit, found.only_nodes) == ("", 172800, ("gpu1", "gpu2"))
    assert not found.exclusive
    newer = request_of((("NumNodes", "1-1"), ("NumCPUs", "6"), ("OverSubscribe", "NO"), ("Exclusive", "NO"),
                        ("MinMemoryCPU", "500M"), ("TresPerNode", "gres/gpu:2")))  # fmt: skip
    assert (newer.cpus_per_node, newer.memory_needed, newer.exclusive) == (6, 3000, False)
    assert newer.gres_per_node == (Gres("gpu", "", 2),)
    assert request_of(()).nodes == 1


PARTITIONS = (
    "PartitionName=debug AllowGroups=ALL AllowAccounts=ALL DenyAccounts=art,law AllowQos=normal,high Default=YES"
    " QoS=part_q MaxNodes=2 MaxTime=00:30:00 MinNodes=0 MaxCPUsPerNode=UNLIMITED Nodes=n[1-2] RootOnly=NO State=UP"
    " TotalCPUs=16 TotalNodes=2 MaxMemPerNode=4000\n"
    "PartitionName=free AllowGroups=ALL AllowAccounts=a,b AllowQos=ALL QoS=N/A MaxNodes=UNLIMITED MaxTime=UNLIMITED"
    " MinNodes=1 Nodes=(null) RootOnly=YES State=DRAIN TotalCPUs=0 TotalNodes=0 MaxMemPerNode=UNLIMITED\n"
)


def test_partitions_are_read() -> None:
    found = parse_partitions(PARTITIONS)
    debug, free = found["debug"], found["free"]
    assert (debug.max_time, debug.max_nodes, debug.min_nodes, debug.max_cpus_per_node) == (1800, 2, None, None)
    assert (debug.allow_accounts, debug.deny_accounts, debug.allow_qos) == (None, ("art", "law"), ("normal", "high"))
    assert (debug.qos, debug.max_memory_per_node, debug.open) == ("part_q", 4000, True)
    assert (free.max_time, free.allow_accounts, free.qos, free.open) == (Special.UNLIMITED, ("a", "b"), "", False)
    assert free.root_only


@pytest.mark.parametrize(
    ("wanted", "features", "fits"),
    [("", frozenset(), True), ("a", frozenset("a"), True), ("a&b", frozenset("a"), False),
     ("a|b", frozenset("a"), True), ("a*2", frozenset("a"), None), ("a", None, None)],
)  # fmt: skip
def test_constraints(wanted: str, features: frozenset[str] | None, fits: bool | None) -> None:  # noqa: FBT001 - a table
    assert features_fit(wanted, features) is fits


ASSOC_MGR = """Current Association Manager state

Association Records

ClusterName=sandbox Account=research UserName= Partition= Priority=0 ID=3
    SharesRaw/Norm/Level/Factor=1/0.50/2/0.00
    ParentAccount=physics(7) Lft=2 DefAssoc=No
    GrpJobs=N(1) GrpJobsAccrue=N(0)
    GrpSubmitJobs=20(5) GrpWall=N(0.00)
    GrpTRES=cpu=6(4),mem=N(50),node=N(1),gres/gpu=8(0)
    GrpTRESMins=cpu=1000(12),mem=N(0)
    MaxJobs=3 MaxJobsAccrue= MaxSubmitJobs= MaxWallPJ=
ClusterName=sandbox Account=research UserName=alice(1000) Partition= Priority=0 ID=4
    ParentAccount= Lft=3 DefAssoc=No
    GrpJobs=N(1) GrpJobsAccrue=N(0)
    MaxJobs=3(1) MaxJobsAccrue= MaxSubmitJobs= MaxWallPJ=600
    MaxTRESPJ=cpu=2
ClusterName=sandbox Account=research UserName=bob(1001) Partition= Priority=0 ID=5
    MaxJobs=1(1)

QOS Records

QOS=normal(1)
    GrpJobs=N(1) GrpJobsAccrue=N(3) GrpSubmitJobs=N(5) GrpWall=N(0.00)
    MaxWallPJ=
    MinTRESPJ=gres/gpu=1
    Account Limits
      research
        MaxTRESPA=cpu=30(12),mem=N(50)
      art
        MaxTRESPA=cpu=1(1)
    User Limits
      1000
        MaxJobsPU=N(1) MaxSubmitJobsPU=N(5)
        MaxTRESPU=cpu=4(1),mem=1024(50)
      1001
        MaxTRESPU=cpu=4(4)
"""


def test_limits_are_read_from_the_controller_with_what_is_used() -> None:
    found, parents = parse_assoc_mgr(ASSOC_MGR, user="alice", account="research")
    assert parents["research"] == "physics"
    told = {(limit.whose, limit.thing, limit.per): (limit.limit, limit.used) for limit in found}
    assert told == {
        ("account research", "jobs in the queue", TOGETHER): (20, 5),
        ("account research", "CPUs", TOGETHER): (6, 4),
        ("account research", "GPUs", TOGETHER): (8, 0),
        ("account research", "CPUs minutes", TOGETHER): (1000, 12),
        ("alice in research", "running jobs", PER_USER): (3, 1),
        ("alice in research", "wall time", PER_JOB): (600, None),
        ("alice in research", "CPUs", PER_JOB): (2, None),
        ("QOS normal", "at least GPUs", PER_JOB): (1, None),
        ("QOS normal", "CPUs", "for each account"): (30, 12),
        ("QOS normal", "CPUs", PER_USER): (4, 1),
        ("QOS normal", "memory", PER_USER): (1024, 50),
    }
    assert next(limit for limit in found if limit.what == "wall time").amount(600) == "10:00:00"
    assert parse_assoc_mgr("Current Association Manager state\n\nNo QOS currently cached in Slurm.\n\n",
                           user="a", account="b") == ([], {})  # fmt: skip


def test_limits_are_read_from_accounting_without_what_is_used() -> None:
    text = (
        "Name|Priority|Flags|GrpTRES|GrpJobs|GrpSubmit|GrpWall|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|NeverHeardOf\n"
        "normal|0|||||||1-00:00:00|cpu=4,mem=64G|7|x\n"
    )
    told = {(limit.whose, limit.thing): (limit.limit, limit.used) for limit in parse_sacctmgr(text)}
    assert told == {
        ("QOS normal", "wall time"): (1440, None), ("QOS normal", "CPUs"): (4, None),
        ("QOS normal", "memory"): (65536, None), ("QOS normal", "running jobs"): (7, None),
    }  # fmt: skip
    assert parse_sacctmgr("Cluster|Account|User|MaxJobs\nc|research|alice|3\n")[0].whose == "alice in research"
    assert parse_sacctmgr("") == []
