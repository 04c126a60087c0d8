"""The readers against what real SLURMs of several versions wrote (tests/data/slurm; record.py made it)."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from slurmtui.control.slurm import read_test_only, words_by_id
from slurmtui.models.gres import gpus, parse_gres
from slurmtui.models.job import ENDED_STATES, EndedJob, Job, JobDetail
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.records import Records
from slurmtui.models.values import Special
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm.accounting import ENDED, collect_ended
from slurmtui.sources.slurm.ask import knows_no_such_job
from slurmtui.sources.slurm.cluster import PARTITIONS, collect_partitions, read_config
from slurmtui.sources.slurm.detail import WIDE, make_detail, row_of
from tests.unit.recordings import Recorded, versions_with

VERSIONS = versions_with("queue.out")
NAMES = {
    "hostile": "h\n|\x1f\x1b[31m名前😀" + "x" * 80,
    "forged": "f\n   UserId=root(0)\n   StdOut=/etc/passwd JobState=FAILED",
    "markup": "x[/y] [red]a|b,c\td",
    "cjk": "名" * 40,
    "exact": "e" * 64,
    "none": "None",
}


class Recording(Recorded):
    """What one version said."""

    def __init__(self, version: str) -> None:
        super().__init__(version, "words.json")
        self.ids: dict[str, str] = json.loads(self.read("ids.json"))

    def table(self) -> JobTable:
        return JobTable(self.laid_out("queue", QUEUE))

    def job(self, purpose: str) -> Job:
        table = self.table()
        row = table.index(self.ids[purpose])
        assert row is not None, purpose
        return table.job(row)

    def detail(self, purpose: str) -> JobDetail:
        raw = gzip.decompress((self.folder / "wide.out.gz").read_bytes())
        offset = 0
        for name, length in json.loads(self.read("wide.json")):
            if name == purpose:
                records = Records(WIDE, self.laid_out("wide", WIDE, raw[offset : offset + length]))
                row = row_of(records, self.ids[purpose])
                assert row is not None
                return make_detail(records, row, self.read(f"show-{purpose}.out"))
            offset += length
        raise KeyError(purpose)

    def ended(self) -> dict[str, EndedJob]:
        return collect_ended(Records(ENDED, self.laid_out("ended", ENDED)))


@pytest.fixture(params=VERSIONS)
def recording(request: pytest.FixtureRequest) -> Recording:
    return Recording(request.param)


def test_four_versions_are_there() -> None:
    assert VERSIONS == ["20.11", "22.05", "24.11", "26.05"]


@pytest.mark.parametrize("purpose", NAMES)
def test_hostile_names_stand_in_the_queue_and_shift_nothing(recording: Recording, purpose: str) -> None:
    job = recording.job(purpose)
    raw = NAMES[purpose].encode()
    assert job.name == raw[:64].decode(errors="ignore")
    assert (job.user, job.account, job.partition, job.qos) == ("alice", "research", "debug", "normal")
    assert job.state in {"RUNNING", "PENDING"}
    assert (job.cpus, job.node_count, job.memory, job.time_limit) == (1, 1, "50M", 1200)


def test_every_row_of_the_queue_is_typed(recording: Recording) -> None:
    jobs = list(recording.table().jobs())
    assert len(jobs) >= 20
    for job in jobs:
        assert job.raw_id > 0
        assert job.submit is not None
        assert job.submit > 1_700_000_000
        assert job.priority is not None
        assert isinstance(job.time_limit, int)
        assert job.active
        assert job.work_dir == "/home/alice"
        if job.state == "RUNNING":
            assert isinstance(job.elapsed, int)
            assert job.start is not None
            assert job.nodes
        else:
            assert job.elapsed is Special.UNKNOWN
            assert job.nodes == ""
            assert job.reason


def test_the_mark_in_the_comment_is_found(recording: Recording) -> None:
    table = recording.table()
    marked = {table.job(row).id: table.job(row).comment for row in table.marked()}
    assert marked == {
        recording.ids["hostile"]: "slurmtui:0b7cbd0d-6f3a-4a53-9d6a-2f6f0a3f9a10",
        recording.ids["two_nodes"]: "slurmtui:other",
    }
    assert recording.job("held").comment == ""


def test_arrays(recording: Recording) -> None:
    table = recording.table()
    base = recording.ids["sparse"].partition("_")[0]
    (row,) = table.rows_of(base)
    job = table.job(row)
    assert table.id_is_whole(row) == (job.id == f"{base}_[1-79:2%5]")
    assert job.array_id == int(base)
    task = recording.ids["array"]
    array = task.partition("_")[0]
    rows = [table.job(row) for row in table.rows_of(array)]
    assert {job.state for job in rows} == {"RUNNING", "PENDING"}
    rest = next(job for job in rows if job.state == "PENDING")
    assert rest.id == f"{array}_[3-19%3]"
    assert table.rows_of(f"{array}_15") == [table.index(rest.id)]


def test_stepped_array_ids_are_whole_and_count_their_tasks(recording: Recording) -> None:
    table = recording.table()
    (row,) = table.rows_of(recording.ids["stepped"])
    assert table.id_is_whole(row)
    assert table.rows_of(f"{recording.ids['stepped']}_16") == [row]
    assert table.rows_of(f"{recording.ids['stepped']}_17") == []


def test_components_of_a_het_job(recording: Recording) -> None:
    het = recording.ids["het"]
    first, second = recording.job("het_0"), recording.job("het_1")
    assert (first.id, second.id) == (f"{het}+0", f"{het}+1")
    assert (first.het_id, second.het_offset, second.cpus, second.memory) == (int(het), 1, 2, "60M")


def test_gpus(recording: Recording) -> None:
    table = recording.table()
    assert recording.job("gpu_typed").gres == "a100:2"
    assert recording.job("gpus").gres == "gpu:1"
    assert recording.job("gpu_waiting").gres == "gpu:4"
    assert recording.job("held").gres == ""
    row = table.index(recording.ids["gpu_typed"])
    assert row is not None
    assert [gpus(parse_gres(text)) for text in table.gpu_texts(row)] == [2, 0, 2]


def test_why_jobs_wait(recording: Recording) -> None:
    assert recording.job("held").reason == "JobHeldUser"
    assert recording.job("gpu_waiting").reason == "Resources"
    later = recording.job("later")
    assert later.reason == "BeginTime"
    assert later.start is None or later.start > (later.submit or 0)
    after = recording.job("after")
    assert after.reason == "Dependency"
    assert after.dependency.startswith(f"afterok:{recording.ids['hostile']}")


@pytest.mark.parametrize("purpose", NAMES)
def test_details_of_hostile_names(recording: Recording, purpose: str) -> None:
    detail = recording.detail(purpose)
    fields = dict(detail.fields)
    assert detail.name == fields["JobName"] == NAMES[purpose]
    assert (detail.user, fields["UserId"], fields["JobState"]) == ("alice", "alice(2001)", detail.state)
    assert detail.command == fields["Command"] == "/home/alice/job.sh"
    assert detail.work_dir == fields["WorkDir"] == "/home/alice"
    assert detail.exit_code == "0:0"


def test_details_of_a_forged_comment(recording: Recording) -> None:
    detail = recording.detail("forged")
    assert detail.comment.startswith("c\n   StdOut=/etc/shadow")
    assert detail.stdout == detail.stderr == f"/home/alice/slurm-{recording.ids['forged']}.out"
    assert dict(detail.fields)["StdOut"] == detail.stdout


def test_log_paths(recording: Recording) -> None:
    ids = recording.ids
    array = ids["array"].partition("_")[0]
    assert recording.detail("array").stdout == f"/home/alice/logs/arr-{array}_0001.out"
    assert recording.detail("array_waiting").stdout == f"/home/alice/logs/arr-{array}_0015.out"
    assert recording.detail("cjk").stdout == "/home/alice/logs/名.out"
    assert recording.detail("none").stdout == "/dev/null"
    spaces = recording.detail("spaces")
    assert spaces.stdout == f"/home/alice/my logs/$(x) ;'\"  two  words  -{ids['spaces']}.out"
    assert spaces.stderr == f"/home/alice/logs/{ids['spaces']}.err"
    percent = recording.detail("percent")
    node = percent.nodes or None
    assert percent.stdout == (node and f"/home/alice/logs/100%-{node}-alice-{ids['percent']}.out")
    interactive = recording.detail("interactive")
    assert (interactive.stdout, interactive.stderr) == (None, None)


def test_details_of_parts(recording: Recording) -> None:
    assert recording.detail("array").id == recording.ids["array"]
    assert recording.detail("array_waiting").id == recording.ids["array_waiting"]
    assert dict(recording.detail("array_waiting").fields)["ArrayTaskId"] == "15"
    assert recording.detail("het_1").id == recording.ids["het_1"]
    assert dict(recording.detail("het_1").fields)["HetJobOffset"] == "1"


def test_ended_jobs(recording: Recording) -> None:
    ended, ids = recording.ended(), recording.ids
    states = {purpose: ended[ids[purpose]].state for purpose in ("done", "failed", "cancelled", "late", "node_fail")}
    assert states == {
        "done": "COMPLETED", "failed": "FAILED", "cancelled": "CANCELLED", "late": "TIMEOUT", "node_fail": "NODE_FAIL",
    }  # fmt: skip
    assert ended[ids["cancelled_waiting"]].state == "CANCELLED"
    assert ended[ids["cancelled_waiting"]].start is None or ended[ids["cancelled_waiting"]].elapsed == 0
    failed = ended[ids["failed"]]
    assert (failed.exit_code, failed.signal, failed.partition, failed.user) == (3, 0, "debug", "alice")
    assert failed.requested_memory == 50
    assert (failed.start or 0) <= (failed.end or 0)
    late = ended[ids["late"]]
    assert isinstance(late.elapsed, int)
    assert late.time_limit == 60
    assert late.elapsed >= 60
    assert ended[ids["done"]].name == "done|\nwell"
    array = ids["ended_array"]
    assert {f"{array}_{task}" for task in (1, 2, 3)} <= set(ended)
    assert all(job.state in ENDED_STATES for job in ended.values())


def test_of_a_requeued_job_the_newest_life_counts(recording: Recording) -> None:
    job = recording.ended()[recording.ids["requeued"]]
    assert job.state == "COMPLETED"
    assert isinstance(job.elapsed, int)
    assert job.elapsed >= 6


def test_jobs_that_have_not_ended_are_not_among_the_ended(recording: Recording) -> None:
    assert not {recording.ids["held"], recording.ids["hostile"]} & set(recording.ended())


def test_partitions(recording: Recording) -> None:
    debug, batch, gpu = collect_partitions(Records(PARTITIONS, recording.laid_out("partitions", PARTITIONS)))
    assert (debug.name, debug.default, debug.max_time, debug.nodes) == ("debug", True, 1800, 2)
    assert (batch.default, batch.max_time, batch.nodes, batch.cpus_per_node) == (False, 172800, 3, 8)
    assert (gpu.max_time, gpu.memory_per_node, gpu.gres) == (Special.UNLIMITED, 8000, ("gpu:a100:4",))


def test_name_and_version(recording: Recording) -> None:
    name, version = read_config((recording.folder / "config.out").read_bytes())
    assert name.startswith("c")
    assert ".".join(f"{part:02}" for part in version[:2]) == recording.version


@pytest.mark.parametrize("case", ["squeue_purged", "scontrol_purged"])
def test_a_purged_job_is_told_from_a_controller_that_is_down(recording: Recording, case: str) -> None:
    assert knows_no_such_job(recording.said(case).stderr)
    assert not knows_no_such_job(recording.said("controller_down").stderr)
    assert "Unable to contact slurm controller" in str(failure(recording.said("controller_down")))


def test_accounting_that_is_down_fails_and_is_not_empty(recording: Recording) -> None:
    down = recording.said("accounting_down")
    assert down.code != 0
    assert re.match(r"sacct: .*Connection refused", str(failure(down)))


def test_estimates(recording: Recording) -> None:
    good = read_test_only(recording.said("test_only_two_nodes"))
    assert good.ok
    assert good.start is not None
    assert good.nodes.startswith("n")
    bad = read_test_only(recording.said("test_only_refused"))
    assert not bad.ok
    assert "not available" in bad.text or "not be satisfied" in bad.text


def test_a_cancel_that_is_not_allowed_has_words_for_each_id(recording: Recording) -> None:
    said = recording.said("scancel_not_owner")
    answer = words_by_id(said.argv[1:], said)
    assert all("denied" in words for words in answer.values())
    gone = recording.said("scancel_purged_two")
    assert set(words_by_id(gone.argv[1:], gone)) == {"99998", "99999"}


def test_refusals_are_one_sentence_in_slurms_words(recording: Recording) -> None:
    for case in ("sbatch_bad_partition", "sbatch_too_much", "sbatch_no_file", "submit_down"):
        text = str(failure(recording.said(case)))
        assert text.startswith("sbatch: ")
        assert "error:" not in text
        assert "\n" not in text
