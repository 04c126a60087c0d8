"""Asking sinfo and squeue about nodes: what versions and sites make necessary is found out once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.errors import CommandError
from slurmtui.models.history import Lives, PastJob, marks_of, run_of
from slurmtui.models.job_table import QUEUE
from slurmtui.models.partition_use import JobCounts
from slurmtui.models.records import Layout, Records
from slurmtui.sources.exec import Finished
from slurmtui.sources.slurm.history import HISTORY, ended_between
from slurmtui.sources.slurm.nodes_reader import COUNTS, STATE_WITH_FLAGS, NodesReader, collect_counts, nodes_layout
from slurmtui.sources.slurm.shares import ASSOCIATIONS, NO_FAIR_SHARE, QUALITIES, SHARES, read_shares
from tests.records import record_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class FakeRunner:
    """Answers by a function of the command."""

    def __init__(self, answer: Callable[[Sequence[str]], tuple[bytes, str, int]]) -> None:
        self._answer = answer
        self.calls: list[tuple[str, ...]] = []
        self.lacks: dict[str, str] = {}

    async def run(self, argv: Sequence[str], *, check: bool = True, **_: Any) -> Finished:
        self.calls.append(tuple(argv))
        stdout, stderr, code = self._answer(argv)
        finished = Finished(tuple(argv), code, stdout, stderr, 0.01)
        if check and code:
            raise CommandError(f"{argv[0]}: {stderr}", argv=argv, code=code, stderr=stderr)
        return finished


def reader(answer: Callable[[Sequence[str]], tuple[bytes, str, int]]) -> tuple[NodesReader, FakeRunner]:
    runner = FakeRunner(answer)
    return NodesReader(runner, 20), runner  # type: ignore[arg-type]


async def test_a_column_that_a_version_lacks_is_asked_for_once() -> None:
    old = Layout(*(field for field in nodes_layout().fields if field.ask != STATE_WITH_FLAGS))

    def sinfo(argv: Sequence[str]) -> tuple[bytes, str, int]:
        said = "sinfo: error: Invalid job format specification: StateComplete" if "StateComplete" in argv[-1] else ""
        node = record_of(old, name="n1", partition="batch*", available="up", state_long="drained*", cpus="0/0/8/8")
        return node, said, 0

    nodes, runner = reader(sinfo)
    for _ in range(3):
        cluster = await nodes.read()
        assert cluster.nodes[0].state.words == "drained, not responding"
    assert ["StateComplete" in call[-1] for call in runner.calls] == [True, False, False, False]
    assert list(runner.lacks) == ["sinfo StateComplete"]


async def test_long_lists_of_things_widen_the_column_for_good() -> None:
    things = ",".join(f"gpu:nvidia_h200_nvl_{number}g.71gb:2(S:0-1)" for number in range(8))

    def sinfo(argv: Sequence[str]) -> tuple[bytes, str, int]:
        layout = nodes_layout(2048 if "Gres:2048" in argv[-1] else 160)
        return record_of(layout, name="g1", partition="gpu", available="up", state="idle", gres=things), "", 0

    nodes, runner = reader(sinfo)
    for _ in range(2):
        cluster = await nodes.read()
        assert sum(thing.count for thing in cluster.nodes[0].gpus) == 16
    assert ["Gres:2048" in call[-1] for call in runner.calls] == [False, True, True]


async def test_half_an_answer_is_an_error_and_no_empty_cluster() -> None:
    half = record_of(nodes_layout(), name="n1", partition="batch", state="idle")[:-40]
    nodes, _ = reader(lambda _argv: (half, "", 0))
    with pytest.raises(CommandError, match="cannot be read"):
        await nodes.read()
    nodes, _ = reader(lambda _argv: (b"", "slurm_load_partitions: Unable to contact slurm controller", 1))
    with pytest.raises(CommandError, match="Unable to contact"):
        await nodes.read()


async def test_jobs_on_nodes_are_asked_for_in_chunks() -> None:
    nodes, runner = reader(lambda _argv: (record_of(QUEUE, id="1", raw_id="1", nodes="n1"), "", 0))
    table = await nodes.jobs_on([f"n{number}" for number in range(120)])
    assert len(table) == 3
    assert [call[4].count(",") + 1 for call in runner.calls] == [50, 50, 20]


def test_a_job_that_may_start_in_several_partitions_waits_in_each() -> None:
    data = (
        record_of(COUNTS, state="PENDING", partition="debug,batch") * 3
        + record_of(COUNTS, state="RUNNING", partition="batch")
        + record_of(COUNTS, state="COMPLETING", partition="batch")
    )
    counts = collect_counts(Records(COUNTS, data))
    assert counts == {"debug": JobCounts(0, 3, 0), "batch": JobCounts(1, 3, 1)}


async def test_history_asks_for_moments_and_not_for_local_time() -> None:
    line = record_of(
        HISTORY, id="7_3", raw_id="9", state="OUT_OF_ME+", exit="0:125", end="1796026899", submit="1796026000",
        eligible="1796026000", start="1796026800", elapsed="00:01:39", nodes="n1", name="x" * 80,
        tres="billing=2,cpu=2,gres/gpu:a100=1,gres/gpu=1,mem=8000M,node=1", comment="slurmtui:abc",
    )  # fmt: skip
    step = record_of(HISTORY, id="7_3.batch", end="1796026899")
    runs = record_of(HISTORY, id="8", end="Unknown", state="RUNNING")
    runner = FakeRunner(lambda _argv: (line + step + runs, "", 0))
    (job,) = await ended_between(runner, "alice", 1796000000.4, 1796026900.0, 20)  # type: ignore[arg-type]
    call = runner.calls[0]
    assert call[call.index("-S") : call.index("-S") + 4] == ("-S", "uts1796000000", "-E", "uts1796026900")
    assert {"-D", "-X"} <= set(call)
    assert (job.id, job.state, job.signal, job.gpus, job.gpu_type, job.memory) == (
        "7_3", "OUT_OF_MEMORY", 125, 1, "a100", 8000,
    )  # fmt: skip
    assert (job.wait, job.run_mark) == (800, "abc")


def test_lives_and_runs_of_jobs() -> None:
    jobs = [
        PastJob(id="1", raw_id="1", end=200, start=150, name="a", state="COMPLETED"),
        PastJob(id="1", raw_id="1", end=100, start=50, name="a", state="REQUEUED"),
        PastJob(id="1", raw_id="1", end=10, start=5, name="another job of that number"),
        PastJob(id="2", raw_id="2", end=10, name="train-0b7cbd0d"),
        PastJob(id="3", raw_id="3", end=10, name="train-0b7cbd0d", comment="slurmtui:ffffffff-0000"),
        PastJob(id="4", raw_id="4", end=10, name="0b7cbd0d"),
        PastJob(id="5", raw_id="5", end=20, start=15, name="real", state="COMPLETED"),
        PastJob(id="5", raw_id="5", end=10, name="allocation", state="REQUEUED"),
    ]
    lives = Lives(jobs)
    assert [lives.of(job) for job in jobs[:4]] == [(2, 2), (1, 2), (1, 1), (1, 1)]
    assert [lives.of(job) for job in jobs[6:]] == [(2, 2), (1, 2)]  # slurmdbd was not told the first one's name
    known = marks_of(["0b7cbd0d-6f3a-4a53-9d6a-2f6f0a3f9a10"])
    assert [run_of(job, known)[:8] for job in jobs[3:6]] == ["0b7cbd0d", "ffffffff", ""]
    assert run_of(jobs[3], {}) == ""


async def test_shares_of_a_cluster_without_fair_share_say_so_and_still_show_limits() -> None:
    def answer(argv: Sequence[str]) -> tuple[bytes, str, int]:
        if argv[0] == "sshare":
            none = {"usage": "0.000000", "fair_share": "0.000000"}
            return record_of(SHARES, none, account="research", user="alice", shares="1"), "", 0
        if "assoc" in argv:
            return record_of(ASSOCIATIONS, account="research", qos="normal", default_qos="normal"), "", 0
        return record_of(QUALITIES, name="normal", priority="0", counts="2.000000", flags="DenyOnLimit"), "", 0

    runner = FakeRunner(answer)
    shares = await read_shares(runner, "alice", "alps", 20)  # type: ignore[arg-type]
    assert shares.why_none == NO_FAIR_SHARE
    assert [limits.key for limits in shares.limits] == ["account:research:", "qos:normal:"]
    assert shares.limits[1].values == (("use counts", "2 times"), ("flags", "DenyOnLimit"))
    assert any("cluster=alps" in call for call in runner.calls)


async def test_limits_that_cannot_be_had_leave_the_shares() -> None:
    def answer(argv: Sequence[str]) -> tuple[bytes, str, int]:
        if argv[0] == "sshare":
            return record_of(SHARES, account="research", user="alice", usage="0.25", fair_share="0.5"), "", 0
        return b"", "sacctmgr: error: Problem talking to the database: Connection refused", 1

    shares = await read_shares(FakeRunner(answer), "alice", "", 20)  # type: ignore[arg-type]
    assert shares.why_none == ""
    assert "Connection refused" in shares.limits_error
    assert shares.shares[-1].fair_share == 0.5
