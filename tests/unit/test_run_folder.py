"""Run folders: written whole, read whatever state they are in, and never another user's."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slurmtui import paths
from slurmtui.control import run_folder as writer
from slurmtui.errors import RunFolderError
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import DriverRecord, LaunchRecord, RunSpec, Submission
from slurmtui.sources import run_folder as reader
from tests.unit.programs import put_shell

if TYPE_CHECKING:
    from pathlib import Path

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
OTHER = "1f8b6f0e-3a52-4c6f-9d0e-0123456789ab"


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))


def spec(run_id: str = RUN) -> RunSpec:
    return RunSpec(
        id=run_id, name="brave-otter", flow_name="train", entrypoint="/a/b.py:train", parameters={"n": [1]},
        profile=Profile(name="gpu"), python=sys.executable,
    )  # fmt: skip


def test_what_is_written_is_read_and_is_for_the_user_alone() -> None:
    folder = writer.create(spec())
    writer.write_credentials(folder, "user:password")
    writer.write_launch(folder, LaunchRecord(host="login01", time=1, attempt=1, job_id="77"))
    (folder / "submissions.jsonl").write_bytes(
        msgspec.json.encode(Submission(time=5, code=0, job_id="78")) + b"\n"
        + msgspec.json.encode(Submission(time=6, code=1, said="no")) + b"\n"
    )  # fmt: skip
    writer.ask_cancel(RUN)
    record = reader.read_run(RUN)  # the submissions are the wrapper's to write; here the test did, openly
    assert record is not None
    assert record.spec == spec()
    assert record.job_ids == ("78",)
    assert record.driver_job_id == "77"
    assert record.cancel is not None
    assert [path.name for path in [folder, *folder.rglob("*")] if path.stat().st_mode & 0o077] == ["submissions.jsonl"]


def test_there_is_no_record_without_a_folder_and_no_folder_for_what_is_no_id() -> None:
    assert reader.read_run(RUN) is None
    for text in ("../../etc", "", "0f8b6f0e", RUN.upper(), RUN + "/.."):
        with pytest.raises(RunFolderError, match="is no id of a flow run"):
            reader.read_run(text)


def test_a_folder_is_made_once() -> None:
    writer.create(spec())
    with pytest.raises(RunFolderError, match="exists already"):
        writer.create(spec())
    assert reader.read_run(RUN) is not None


def test_a_full_disk_leaves_nothing_half_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(writer, "write_private", full)
    with pytest.raises(RunFolderError, match="No space left on device"):
        writer.create(spec())
    assert list(paths.runs_folder().iterdir()) == []
    with pytest.raises(RunFolderError, match="No space left on device"):
        writer.ask_cancel(RUN)


def test_damaged_and_strange_folders_are_named_and_hide_no_other() -> None:
    writer.create(spec())
    root = paths.runs_folder()
    (root / OTHER).mkdir()
    (root / OTHER / "run.json").write_text('{"id": "1f8b')
    wrong = "2f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
    (root / wrong).mkdir()
    (root / wrong / "run.json").write_bytes(msgspec.json.encode(spec()))
    link = "3f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
    (root / link).symlink_to(root / RUN)
    (root / "notes.txt").write_text("x")
    half = "4f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
    (root / half).mkdir()
    records = reader.read_all()
    assert set(records) == {RUN}
    said = "\n".join(records.problems)
    assert f"{OTHER}/run.json is damaged" in said
    assert f"{wrong}/run.json is of another run" in said
    assert f"{link} is not a folder" in said
    assert "notes.txt is no run folder" in said
    assert half not in said, "a folder that is being made is no problem"
    with pytest.raises(RunFolderError, match="is damaged"):
        reader.read_run(OTHER)


def test_another_users_folder_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    writer.create(spec())
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    records = reader.read_all()
    assert not records
    assert "belongs to another user" in records.problems[0]
    with pytest.raises(RunFolderError, match="belongs to another user"):
        reader.read_run(RUN)


def test_a_damaged_driver_record_costs_the_driver_not_the_run() -> None:
    folder = writer.create(spec())
    (folder / "driver.json").write_text("{}")
    records = reader.read_all()
    assert records[RUN].driver is None
    assert "driver.json is damaged" in records.problems[0]


def test_a_request_to_end_counts_even_when_it_is_damaged_and_is_kept_when_put_aside() -> None:
    folder = writer.create(spec())
    (folder / "cancel.json").write_text("")
    record = reader.read_run(RUN)
    assert record is not None
    assert record.cancel is not None
    writer.put_cancel_aside(folder, 1)
    writer.put_cancel_aside(folder, 1)
    assert reader.read_cancel(folder) is None
    assert (folder / "cancel.1.json").exists()


def test_a_request_is_newer_than_the_driver_whose_clock_is_ahead() -> None:
    writer.create(spec())
    assert writer.ask_cancel(RUN, after=9e9).time > 9e9


def test_only_what_has_changed_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = writer.create(spec())
    writer.create(spec(OTHER))
    folders = reader.RunFolders()
    first = folders.read_all()
    assert set(first) == {RUN, OTHER}
    reads: list[str] = []
    original = reader._read_folder

    def counted(run_id: str, place: Path) -> object:
        reads.append(run_id)
        return original(run_id, place)

    monkeypatch.setattr(reader, "_read_folder", counted)
    assert folders.read_all() == first
    assert reads == []
    driver = DriverRecord(host="a", pid=1, pid_started=1.0)
    (folder / "driver.json").write_bytes(msgspec.json.encode(driver))
    assert folders.read_all()[RUN].driver == driver
    assert reads == [RUN]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary(max_size=300), name=st.sampled_from(["driver.json", "launch.json", "submissions.jsonl"]))
def test_any_bytes_in_any_file_leave_the_run_readable(content: bytes, name: str) -> None:
    folder = reader.folder_of(RUN)
    if not folder.exists():
        writer.create(spec())
    (folder / name).write_bytes(content)
    assert reader.read_all()[RUN].spec == spec()
    (folder / name).unlink()


@given(
    times=st.lists(st.floats(0, 1e9), max_size=5),
    tail=st.binary(max_size=20).filter(lambda text: b"\n" not in text),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_line_that_is_still_being_written_waits(times: list[float], tail: bytes) -> None:
    folder = reader.folder_of(RUN)
    if not folder.exists():
        writer.create(spec())
    entries = tuple(Submission(time=when, code=0, job_id=str(number)) for number, when in enumerate(times))
    (folder / "submissions.jsonl").write_bytes(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries) + tail)
    records = reader.read_all()
    assert records[RUN].submissions == entries
    assert records.problems == ()


def test_the_wrapper_runs_by_a_python_with_blanks_in_its_name(tmp_path: Path) -> None:
    python = tmp_path / "a b" / "it's python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    folder = writer.create(msgspec.structs.replace(spec(), python=str(python)))
    fake = tmp_path / "bin" / "sbatch"
    fake.parent.mkdir()
    put_shell(fake, "echo 4711")
    done = subprocess.run(
        [folder / "bin" / "sbatch", "--parsable", "x y"], env={"PATH": f"{fake.parent}:/usr/bin:/bin"},
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "4711\n"), done.stderr
    assert reader.read_run(RUN).job_ids == ("4711",)  # type: ignore[union-attr]
