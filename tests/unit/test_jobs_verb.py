"""``slurmtui jobs`` with a squeue that says what was recorded."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from slurmtui.cli import main
from slurmtui.models.job_table import QUEUE
from slurmtui.models.text import cells
from tests.records import record_of
from tests.unit.programs import put_program

if TYPE_CHECKING:
    from pathlib import Path

RUN_ID = "0b7cbd0d-6f3a-4a53-9d6a-2f6f0a3f9a10"


def row(**fields: str) -> bytes:
    usual = {
        "id": "1", "raw_id": "1", "name": "x", "user": "alice", "partition": "debug", "state": "RUNNING",
        "nodes": "n1", "node_count": "1", "cpus": "1", "tres": "cpu=1,mem=50M", "elapsed": "1:00",
        "time_limit": "20:00", "submit": "1796023000", "start": "1796023000", "comment": "(null)",
    }  # fmt: skip
    return record_of(QUEUE, usual, **fields)


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of its own, with sh and cat and the commands that a test adds; no Prefect, no configuration."""
    for name in [name for name in os.environ if name.startswith(("PREFECT_", "SLURM"))]:
        monkeypatch.delenv(name)
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "cat"):
        (folder / name).symlink_to(shutil.which(name) or name)
    for name, value in {"PATH": folder, "SLURMTUI_STATE": tmp_path, "PREFECT_HOME": tmp_path, "HOME": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("SLURMTUI_CONFIG", str(tmp_path / "config.yaml"))
    (tmp_path / "config.yaml").write_text("{}\n")
    return folder


def squeue(folder: Path, data: bytes, *, stderr: str = "", code: int = 0) -> None:
    (folder / "queue").write_bytes(data)
    put_program(folder / "squeue", f"#!{folder}/sh\ncat {folder}/queue\necho '{stderr}' >&2\nexit {code}\n")


def test_json_holds_the_promised_facts(bin_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    squeue(
        bin_folder,
        row(name="a\n|\x1b[31m", comment=f"slurmtui:{RUN_ID}")
        + row(id="2_[1-9%2]", raw_id="2", state="PENDING", reason="Priority", nodes="", elapsed="0:00", start="N/A")
        + row(id="3", time_limit="UNLIMITED", user="bob"),
    )
    assert main(["jobs", "--json"]) == 0
    first, second, third = json.loads(capsys.readouterr().out)
    wanted = {
        "id": "1", "name": "a\n|\x1b[31m", "user": "alice", "partition": "debug", "state": "RUNNING", "reason": None,
        "nodes": "n1", "elapsed": 60, "time_limit": 1200,
    }  # fmt: skip
    assert {name: first[name] for name in wanted} == wanted
    assert (second["state"], second["elapsed"], second["nodes"], second["start"]) == ("PENDING", None, None, None)
    assert third["time_limit"] == "unlimited"


def test_a_marked_job_of_the_user_names_its_run(
    bin_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slurmtui.session.user_name", lambda: "alice")
    squeue(bin_folder, row(comment=f"slurmtui:{RUN_ID}") + row(id="2"))
    assert main(["jobs", "--json"]) == 0
    assert [job["run"] for job in json.loads(capsys.readouterr().out)] == [RUN_ID, None]


def test_lines_are_aligned_and_hold_no_control_characters(bin_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    squeue(
        bin_folder,
        row(name="a\n\x1b[31m|名前😀", nodes="WHERE1")
        + row(id="12345", name="plain", nodes="WHERE2")
        + row(id="6", state="PENDING", reason="Priority", start="4102444800", nodes=""),
    )
    assert main(["jobs"]) == 0
    out = capsys.readouterr().out
    lines = out.split("\n")
    assert len(lines) == 5
    assert "a␊␛[31m|名前😀" in lines[1]
    assert cells(lines[1].split("WHERE1")[0]) == cells(lines[2].split("WHERE2")[0])
    assert "Priority, est. " in lines[3]
    assert not any(ord(character) < 32 for line in lines for character in line)


def test_filter_words(bin_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    squeue(
        bin_folder, row(id="1", name="train") + row(id="2", name="sweep", state="PENDING") + row(id="3", name="train")
    )
    assert main(["jobs", "--json", "train", "!state:pd"]) == 0
    assert [job["id"] for job in json.loads(capsys.readouterr().out)] == ["1", "3"]
    assert main(["jobs", "nothing-like-it"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no jobs" in captured.err
    assert main(["jobs", "cpus>many"]) == 2


def test_a_queue_that_is_not_known_is_an_error_and_no_empty_list(
    bin_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    squeue(bin_folder, b"", stderr="slurm_load_jobs error: Unable to contact slurm controller", code=1)
    assert main(["jobs", "--json"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("slurmtui: squeue: slurm_load_jobs error: Unable to contact slurm controller")


def test_without_slurm(bin_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bin_folder.exists()
    assert main(["jobs"]) == 1
    assert "squeue: command not found" in capsys.readouterr().err


def test_a_cut_id_is_told(bin_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    squeue(bin_folder, row(id=f"7_[{','.join(map(str, range(1, 90, 3)))}]", state="PENDING"))
    assert main(["jobs", "--json"]) == 0
    (job,) = json.loads(capsys.readouterr().out)
    assert job["id_whole"] is False


def test_a_cut_name_is_told(bin_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    squeue(bin_folder, row(id="1", name="n" * 64) + row(id="2", name="n" * 63))
    assert main(["jobs", "--json"]) == 0
    assert [job["name_whole"] for job in json.loads(capsys.readouterr().out)] == [False, True]
