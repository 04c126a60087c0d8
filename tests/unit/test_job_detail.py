"""What the detail of a job is made of: dependencies, steps, efficiency, priority; and how a job is submitted again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.errors import CommandError
from slurmtui.models.amounts import counted, limit_words, memory_option, rounded_up, size_words
from slurmtui.models.efficiency import StepUsage, Usage, efficiency
from slurmtui.models.gres import shown_gpus
from slurmtui.models.job_again import array_option, as_argv, from_text, options_of
from slurmtui.models.job_again_files import Texts
from slurmtui.models.job_again_line import arguments_of, options_in
from slurmtui.models.job_dependency import dependencies_of, parse_dependency
from slurmtui.models.job_step import ASKED, LiveStep, parse_sstat
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.job_values import JobValues, common, complaint, inverse
from slurmtui.models.values import Special
from slurmtui.sources.exec import Runner
from slurmtui.sources.slurm.client import Slurm
from slurmtui.sources.slurm.priority import FIRST_COME, factors_of
from slurmtui.sources.slurm.steps import live_steps
from tests.records import record_of
from tests.unit.programs import put_shell

if TYPE_CHECKING:
    from pathlib import Path


def table(*jobs: dict[str, str]) -> JobTable:
    lines = []
    for job in jobs:
        usual = {"user": "alice", "state": "PENDING", "raw_id": job["id"].partition("_")[0]}
        lines.append(record_of(QUEUE, usual, **job))
    return JobTable(b"".join(lines))


# --- dependencies


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("afterok:12(unfulfilled)", [("afterok", "12", False, "unfulfilled", False)]),
        ("afterok:12", [("afterok", "12", False, "", False)]),
        ("afterok:3(unfulfilled)?afterany:2_3(failed)?singleton(u",
         [("afterok", "3", False, "unfulfilled", True), ("afterany", "2_3", False, "failed", True),
          ("singleton", "", False, "", True)]),
        ("afterany:5_*(unfulfilled),after:7+10(unfulfilled)",
         [("afterany", "5", True, "unfulfilled", False), ("after", "7", False, "unfulfilled", False)]),
        ("afterok:1:2:3", [("afterok", "1", False, "", False), ("afterok", "2", False, "", False),
                           ("afterok", "3", False, "", False)]),
        ("afterok:12(unful", [("afterok", "12", False, "", False)]),
        ("after", []),
        ("rubbish", []),
    ],
)  # fmt: skip
def test_dependencies_as_slurm_writes_them(text: str, found: list[tuple[Any, ...]]) -> None:
    terms = parse_dependency(text)
    assert [(term.condition, term.job_id, term.whole_array, term.state, term.any_of) for term in terms] == found


@given(st.text(max_size=60))
def test_no_dependency_is_too_odd(text: str) -> None:
    for term in parse_dependency(text):
        assert term.condition.isascii()


def test_the_tree_goes_both_ways() -> None:
    queue = table(
        {"id": "1", "state": "RUNNING", "name": "first"},
        {"id": "2", "dependency": "afterok:1(unfulfilled)"},
        {"id": "3", "dependency": "afterok:2(unfulfilled),afterany:99(unfulfilled)"},
        {"id": "4_[0-9]", "dependency": "afterok:2(unfulfilled)"},
        {"id": "5", "dependency": "afterany:4_*(unfulfilled)"},
        {"id": "6"},
    )
    tree = dependencies_of(queue)
    third = queue.job(2)
    assert [(one.depth, one.condition, one.id, one.job is not None) for one in tree.before(third)] == [
        (0, "afterok", "2", True), (1, "afterok", "1", True), (0, "afterany", "99", False),
    ]  # fmt: skip
    assert [(one.depth, one.id) for one in tree.after(queue.job(0))] == [(0, "2"), (1, "3"), (1, "4_[0-9]"), (2, "5")]
    assert tree.before(queue.job(5)) == tree.after(queue.job(5)) == ()
    assert [one.id for one in tree.before(queue.job(4))] == ["4_*", "2", "1"]


def test_jobs_that_wait_for_each_other_end() -> None:
    queue = table(
        {"id": "1", "dependency": "afterok:2(unfulfilled)"}, {"id": "2", "dependency": "afterok:1(unfulfilled)"}
    )
    tree = dependencies_of(queue)
    assert len(tree.before(queue.job(0))) < 5
    assert len(tree.after(queue.job(0))) < 5


# --- steps

SSTAT = """245.batch|1|00:00:00|19912K|n1|52181|2157|cpu=00:00:10,energy=0,fs/disk=52181,mem=19912K,pages=1|cpu=00:00:00
245.0|2|00:01.500|1668K|n1|6977|1.00M|cpu=00:01:00,energy=0,mem=3316K|gres/gpuutil=87,gres/gpumem=1G
rubbish
245.1|0|||||||
"""


def test_sstat_is_read() -> None:
    batch, first, bare = parse_sstat(SSTAT)
    assert (batch.id, batch.tasks, batch.cpu, round(batch.memory or 0, 1)) == ("245.batch", 1, 10, 19.4)
    assert (first.cpu, round(first.memory or 0, 2), round(first.memory_task or 0, 2)) == (60, 3.24, 1.63)
    assert first.gpu_percent == 87
    assert (bare.memory, bare.cpu, bare.gpu_percent) == (None, None, None)
    assert LiveStep(id="1.0", elapsed=100, cpu=250).busy == 2.5
    assert LiveStep(id="1.0", elapsed=0, cpu=250).busy is None
    assert len(ASKED) == 9


async def test_a_slurm_that_gathers_nothing_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tmp_path / "asked"
    said = "sstat: error: You are not running a supported jobacct_gather plugin"
    for name, text in (("sstat", f"echo x >> {asked}; echo '{said}' >&2; exit 1"), ("squeue", "true")):
        put_shell(tmp_path / name, text)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    slurm = Slurm(Runner(), "alice")
    for _ in range(3):
        assert "gathers no use of running jobs" in (await live_steps(slurm, 12)).why_no_use
    assert asked.read_text() == "x\n"


# --- priority


def _sprio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, weights: str, code: int = 0) -> Slurm:
    (tmp_path / "own").write_text(own)
    (tmp_path / "weights").write_text(weights)
    script = f'case "$*" in *-w*) cat {tmp_path}/weights;; *) cat {tmp_path}/own;; esac; exit {code}'
    put_shell(tmp_path / "sprio", script)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return Slurm(Runner(), "alice")


async def test_the_parts_of_a_priority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = "".join(text.ljust(16) for text in ("12", "2000", "73", "500", "0", "0", "0", "50")) + "cpu=5,gres/gpu=30\n"
    most = "Weights" + "".join(text.ljust(16) for text in ("1000", "2000", "300", "500", "100", "0", "1", "1")) + "\n"
    found = await factors_of(_sprio(tmp_path, monkeypatch, own, most), 12)
    assert [(factor.name, factor.value, factor.most) for factor in found] == [
        ("fair-share", 2000, 2000), ("partition", 500, 500), ("job size", 73, 300), ("nice", -50, -1),
        ("TRES gres/gpu", 30, None), ("waiting time", 12, 1000), ("TRES cpu", 5, None),
    ]  # fmt: skip


async def test_a_cluster_without_factors_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "You are not running a supported priority plugin\n(priority/basic).\n"
    with pytest.raises(CommandError, match="first come, first served"):
        await factors_of(_sprio(tmp_path, monkeypatch, said, said, 1), 12)
    assert "priority/basic" in FIRST_COME
    assert await factors_of(_sprio(tmp_path, monkeypatch, "", ""), 12) == ()


# --- efficiency


def usage(**changed: Any) -> Usage:
    step = StepUsage(step="batch", memory=9.0 * 1024, cpu=3600)
    base: dict[str, Any] = {
        "id": "1", "state": "COMPLETED", "elapsed": 3600, "time_limit": 7200, "cpus": 8, "cpu": 3600,
        "memory": 64.0 * 1024, "steps": (step,),
    }  # fmt: skip
    return Usage(**{**base, **changed})


def test_what_was_used_and_what_follows() -> None:
    found = efficiency(usage(gpus=4))
    assert (found.cpu_share, found.cpus_busy, found.time_share) == (0.125, 1.0, 0.5)
    assert (found.cpu_hours, found.gpu_hours) == (8.0, 4.0)
    assert found.advice == ("asked for 64 GB, used 9 GB: 12 GB would do", "asked for 8 CPUs, kept 1.0 busy")


@pytest.mark.parametrize(
    ("changed", "advice"),
    [
        ({"state": "OUT_OF_MEMORY"}, "ran out of memory (it had 64 GB): ask for more; R submits it again with more"),
        ({"state": "TIMEOUT"}, "was ended by its time limit of 2:00:00: R submits it again with more"),
        ({"time_limit": 360_000}, "asked for 4-04:00:00, took 1:00:00: a shorter limit lets it start sooner"),
        ({"nodes": 2}, "asked for 32 GB on each of 2 nodes, used 4.5 GB: 6 GB would do"),
        ({"gpus": 1, "steps": (StepUsage(step="0", gpu_percent=10),)}, "its GPUs were 10% busy on average"),
    ],
)
def test_advice(changed: dict[str, Any], advice: str) -> None:
    assert advice in efficiency(usage(**changed)).advice


@pytest.mark.parametrize(
    "changed",
    [
        {"memory": 512.0, "steps": (StepUsage(step="0", memory=1.0),), "cpus": 1, "cpu": 3600},
        {"memory": 10.0 * 1024, "cpus": 1, "cpu": 3600},
        {"cpus": 1, "cpu": 1, "memory": None},
        {"time_limit": Special.UNLIMITED, "memory": None, "cpu": 8 * 3600},
    ],
)
def test_no_advice_where_there_is_nothing_to_say(changed: dict[str, Any]) -> None:
    assert efficiency(usage(**changed)).advice == ()


def test_what_was_not_measured_is_said() -> None:
    assert efficiency(usage(elapsed=0, steps=())).why_unknown == "it never ran"
    assert efficiency(usage(elapsed=0)).why_unknown == "it ended within a second"
    assert efficiency(usage(elapsed=None, steps=())).why_unknown == "it never ran"
    assert efficiency(usage(elapsed=5, steps=())).why_unknown == "it ended before its memory was measured"
    assert efficiency(usage(steps=())).why_unknown == "its memory was not measured here"


# --- again

FIELDS = (
    ("JobId", "12"), ("JobName", "a b"), ("Partition", "gpu"), ("Account", "research"), ("QOS", "normal"),
    ("TimeLimit", "02:00:00"), ("NumNodes", "2"), ("NumTasks", "4"), ("CPUs/Task", "2"), ("MinMemoryNode", "64G"),
    ("NtasksPerN:B:S:C", "2:0:*:*"), ("TresPerNode", "gres/gpu:a100:2"), ("TresPerJob", "gres:gpu:3"),
    ("Features", "(null)"), ("Comment", "it's"), ("WorkDir", "/home/a"), ("Nice", "5"), ("Requeue", "0"),
    ("OverSubscribe", "OK"),
)  # fmt: skip


def test_a_job_is_asked_for_again_as_it_was() -> None:
    files = {"stdout": "/home/a/%j.out", "stderr": "/home/a/%j.err", "stdin": "/dev/null"}
    texts = Texts(raw_id="12", name="a b", comment="it's", folder="/home/a", **files)
    found = options_of("12", FIELDS, texts, b"#!/bin/sh\n")
    assert found == {
        "job-name": "a b", "partition": "gpu", "account": "research", "qos": "normal", "time": "2:00:00", "nodes": "2",
        "ntasks": "4", "ntasks-per-node": "2", "cpus-per-task": "2", "mem": "64G", "gres": "gpu:a100:2", "gpus": "3",
        "comment": "it's", "chdir": "/home/a", "output": "/home/a/%j.out", "error": "/home/a/%j.err", "nice": "5",
        "no-requeue": "",
    }  # fmt: skip
    assert "--job-name=a b" in as_argv(found)
    assert "--no-requeue" in as_argv(found)
    assert from_text("--comment='it is' -H") == ["--comment=it is", "-H"]


@pytest.mark.parametrize(
    ("job_id", "script", "tasks", "option"),
    [
        ("12", b"", "", ""), ("12_3", b"", "", "3"), ("12_[4-9%2]", b"", "", "4-9%2"), ("12", b"", "0-9", "0-9"),
        ("12", b"#!/bin/sh\n#SBATCH --array=0-99\n", "0-9", ""), ("12", b"#SBATCH  -a 0-99\n", "0-9", ""),
        ("12", b"# SBATCH --array=1\necho '#SBATCH --array'\n", "0-9", "0-9"), ("500+1", b"", "", ""),
    ],
)  # fmt: skip
def test_which_tasks_are_submitted_again(job_id: str, script: bytes, tasks: str, option: str) -> None:
    assert array_option(job_id, script, tasks) == option


@pytest.mark.parametrize(
    ("command", "line", "files", "found"),
    [
        ("/a/job.sh 300 x", "", ["/a/job.sh"], ("/a/job.sh", ["300", "x"])),
        ("/a/my job.sh 300", "", ["/a/my job.sh"], ("/a/my job.sh", ["300"])),
        ("/a/job.sh", "sbatch -n2 job.sh 300", ["/a/job.sh"], ("/a/job.sh", ["300"])),
        ("/a/my job.sh", "sbatch -J job.sh -n2 my job.sh 300", ["/a/my job.sh"], ("/a/my job.sh", ["300"])),
        ("/a/job.sh", "sbatch -n2 job.sh", ["/a/job.sh"], ("/a/job.sh", [])),
        ("/gone/job.sh 1", "", [], ("/gone/job.sh", ["1"])),
        ("", "", [], ("", [])),
    ],
)
def test_arguments_of_a_script(command: str, line: str, files: list[str], found: tuple[str, list[str]]) -> None:
    assert arguments_of(command, line, files) == found


@pytest.mark.parametrize(
    ("line", "options", "words"),
    [
        ("sbatch --parsable --mem=50 -o /x/%j.out -A root -p batch --dependency=afterok:1 -J after job.sh 300",
         {"mem": "50", "output": "/x/%j.out", "account": "root", "partition": "batch", "job-name": "after"},
         ["job.sh", "300"]),
        ("sbatch -n4 -c 2 --gres gpu:1 -d afterok:9 -H --exclusive --unheard=of job.sh --epochs=3",
         {"ntasks": "4", "cpus-per-task": "2", "gres": "gpu:1", "exclusive": ""}, ["job.sh", "--epochs=3"]),
        ("sbatch --wrap=sleep 10", {}, []),
        ("sbatch", {}, []),
        ("", {}, []),
        ("sbatch -p", {}, []),
    ],
)  # fmt: skip
def test_what_a_line_of_submission_tells(line: str, options: dict[str, str], words: list[str]) -> None:
    assert options_in(line) == (options, words)


@given(st.text(max_size=80))
def test_no_line_of_submission_is_too_odd(line: str) -> None:
    options, _ = options_in(line)
    assert all(isinstance(value, str) for value in options.values())


# --- values that can be changed


@pytest.mark.parametrize(
    ("name", "text", "well"),
    [
        ("TimeLimit", "2:00:00", True), ("TimeLimit", "+30", True), ("TimeLimit", "UNLIMITED", True),
        ("TimeLimit", "soon", False), ("Nice", "-5", True), ("Nice", "x", False), ("Priority", "-1", False),
        ("Partition", "gpu,batch", True), ("Partition", "gpu QOS=x", False), ("QOS", "a=b", False),
        ("ArrayTaskThrottle", "4", True), ("ArrayTaskThrottle", "4.5", False),
    ],
)  # fmt: skip
def test_what_may_be_written_into_a_form(name: str, text: str, well: bool) -> None:  # noqa: FBT001 - of a table
    assert (complaint(name, text) == "") == well


def test_what_was_before_is_brought_back_by_jobs() -> None:
    before = {
        "1": JobValues(time_limit=3600, nice=0, priority=7), "2": JobValues(time_limit=3600, nice=0, priority=8),
        "3": JobValues(time_limit=Special.UNLIMITED, nice=5), "4": JobValues(time_limit=Special.UNKNOWN),
    }  # fmt: skip
    assert inverse(before, ["TimeLimit", "Nice", "Priority"], ["1", "2", "3", "4", "5"]) == [
        ({"TimeLimit": "1:00:00", "Nice": "0"}, ["1", "2"]), ({"TimeLimit": "UNLIMITED", "Nice": "5"}, ["3"]),
    ]  # fmt: skip
    assert inverse(before, ["Priority"], ["1"]) == []
    assert common(before.values(), "Nice") == ""
    assert common([before["1"], before["2"]], "TimeLimit") == "1:00:00"
    assert JobValues(priority=0).held
    assert not JobValues().held


# --- words


def test_amounts() -> None:
    assert [size_words(value) for value in (50, 1024, 16_281.6, 2.5 * 1024**2)] == [
        "50 MB",
        "1 GB",
        "15.9 GB",
        "2.5 TB",
    ]
    assert [limit_words(value) for value in (90, 90_000, Special.UNLIMITED)] == ["0:01:30", "1-01:00:00", "no limit"]
    assert [counted(number, "job") for number in (0, 1, 1200)] == ["0 jobs", "1 job", "1,200 jobs"]
    assert [rounded_up(value) for value in (1, 950, 1025)] == [100, 1000, 2048]
    assert [memory_option(value) for value in (50.2, 4096, 4000)] == ["51M", "4G", "4000M"]
    assert [shown_gpus(text) for text in ("", "a100:4", "gpu:8", "a100:2,shard:8", "h200_nvl_4g.71gb:1")] == [
        0, 4, 8, 2, 1,
    ]  # fmt: skip
