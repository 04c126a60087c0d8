"""Log file patterns and node lists."""

from __future__ import annotations

import pytest

from slurmtui.models.job import JobDetail
from slurmtui.models.log_path import expand_log_path
from slurmtui.models.nodes import expand_nodes, first_node
from slurmtui.models.records import Records
from slurmtui.sources.slurm.detail import WIDE, make_detail
from tests.records import record_of


@pytest.mark.parametrize(
    ("pattern", "job_id", "expected"),
    [
        ("slurm-%j.out", "19_7", "/home/alice/slurm-33.out"),
        ("/logs/%x-%A_%4a.out", "19_7", "/logs/train-19_0007.out"),
        ("/logs/%A_%a", "19_7", "/logs/19_7"),
        ("/logs/%A_%a", "19", "/logs/19_4294967294"),
        ("100%%-%N-%u.log", "19", "/home/alice/100%-gpu1-alice.log"),
        ("/logs/%6j", "19", "/logs/000033"),
        ("/logs/%n-%t", "19", "/logs/0-0"),
        ("/logs/%q%", "19", "/logs/%q%"),
        ("/my logs/$(x) ;'\"%j", "19", "/my logs/$(x) ;'\"33"),
        ("/logs/\\%j", "19", "/logs/%j"),
        ("/dev/null", "19", "/dev/null"),
        ("/logs/%A_%a", "19_[3-9]", None),
        ("/logs/%A", "19_[3-9]", "/logs/19"),
        ("/logs/%j", "19_[3-", None),
    ],
)
def test_patterns(pattern: str, job_id: str, expected: str | None) -> None:
    job = JobDetail(id=job_id, name="train", user="alice", nodes="gpu[1-2]", work_dir="/home/alice")
    assert expand_log_path(pattern, job, "33") == expected


def test_a_waiting_job_has_no_node_yet() -> None:
    assert expand_log_path("/logs/%N", JobDetail(id="1", work_dir="/"), "1") is None


@pytest.mark.parametrize(
    ("job_id", "raw_id", "said", "path"),
    [
        ("19_7", "33", "/home/alice/slurm-33.out", "/home/alice/slurm-19_7.out"),  # as squeue of 22.05 has it
        ("19_7", "33", "/home/alice/slurm-19_7.out", "/home/alice/slurm-19_7.out"),
        ("33", "33", "/home/alice/slurm-33.out", "/home/alice/slurm-33.out"),
        ("19_7", "33", "/home/alice/slurm-%j.out", "/home/alice/slurm-33.out"),  # wanted so
        ("19_[3-9]", "19", "/home/alice/slurm-19.out", None),
    ],
)
def test_the_file_of_a_job_that_was_told_nothing(job_id: str, raw_id: str, said: str, path: str | None) -> None:
    data = record_of(WIDE, id=job_id, raw_id=raw_id, work_dir="/home/alice", stdout=said, stderr=said)
    detail = make_detail(Records(WIDE, data), 0, "")
    assert (detail.stdout, detail.stderr) == (path, path)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ["n1"]),
        ("n[1-3,7],gpu2", ["n1", "n2", "n3", "n7", "gpu2"]),
        ("n[1-2]-ib", ["n1-ib", "n2-ib"]),
        ("cn_[01-02]", ["cn_01", "cn_02"]),
        ("a[1-2]b[1-2]", ["a1b1", "a1b2", "a2b1", "a2b2"]),
        ("(null)", []),
        ("None assigned", []),
        ("", []),
        ("n[1-", ["n[1-"]),
        ("@all", ["@all"]),
    ],
)
def test_node_lists(text: str, names: list[str]) -> None:
    assert sorted(expand_nodes(text)) == sorted(names)


def test_large_node_list_and_first_node() -> None:
    assert len(expand_nodes("unit[0-31]rack[0-41]")) == 32 * 42
    assert first_node("n[03-12]") == "n03"
    assert first_node("") == ""
