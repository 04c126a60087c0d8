"""The end of a driver: every step of it is taken, whatever became of the one before."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import psutil
import pytest

from slurmtui.errors import RunFolderError
from slurmtui.flows import again, driver, jobs, run_files, state
from slurmtui.flows.state import RunState
from slurmtui.sources.run_folder import read_attempts
from tests.unit.run_folders import SPEC, submitted_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def stumble(*_arguments: object) -> None:
    raise RunFolderError("run.json is damaged")


@pytest.fixture
def driving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[driver.Driver]:
    folder = submitted_run(tmp_path)
    monkeypatch.setattr(state, "read_state", lambda _run: RunState("FAILED", "Failed", "no"))
    made = driver.Driver(folder, SPEC, run_files.take(folder))
    yield made
    made.watcher.finish()
    made.channel.close()


def test_the_end_is_written_down_though_the_jobs_cannot_be_looked_up(
    driving: driver.Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "submitted", stumble)
    monkeypatch.setattr(again, "judged", stumble)
    assert driving._close() == 1
    assert [ended.outcome for ended in read_attempts(driving.folder)] == ["FAILED"]
    assert not driving.again


def test_a_driver_that_cannot_write_its_end_does_not_begin_another_attempt(
    driving: driver.Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(again, "judged", lambda _folder, _spec, ended: msgspec.structs.replace(ended, again="again"))
    monkeypatch.setattr(run_files, "end_record", full)
    monkeypatch.setattr(state, "set_state", lambda _run, kind, _message, *, force: RunState(kind if force else ""))
    assert driving._close() == 1
    assert not driving.again


def test_a_driver_that_is_given_up_ends_in_any_case(driving: driver.Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []

    def no_state(_run: str) -> RunState:
        raise ValueError("an answer nobody expected")

    monkeypatch.setattr(state, "read_state", no_state)
    monkeypatch.setattr(os, "_exit", codes.append)
    with pytest.raises(ValueError, match="nobody expected"):
        driving._end_without_the_flow()
    assert codes == [1]


def test_a_submission_that_has_not_reached_sbatch_yet_is_waited_for(tmp_path: Path) -> None:
    wrapper = tmp_path / "bin" / "sbatch.py"
    wrapper.parent.mkdir()
    wrapper.write_text("print('here', flush=True)\ninput()\n")
    call = [sys.executable, "-I", "-S", str(wrapper), "job.sh"]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        process = psutil.Process(child.pid)
        assert jobs._is_sbatch(process, tmp_path), "it has not called the real one yet"
        assert not jobs._is_sbatch(process, tmp_path / "another run")
        child.kill()
    assert not jobs._is_sbatch(process, tmp_path)
