"""Batch jobs: what is submitted, how their end is told, how their output is followed, how they are watched."""

from __future__ import annotations

import logging
import pickle
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.errors import CommandError, UsageError
from slurmtui.flows import job_watch
from slurmtui.flows.batch import BatchJobFailed
from slurmtui.flows.batch_log import JobOutput
from slurmtui.flows.batch_script import batch_script
from slurmtui.flows.job_watch import JobNews, JobWatch
from slurmtui.models.job import EndedJob, Job, JobDetail
from slurmtui.models.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PROFILE = Profile(name="p", partition="batch", memory="2G", walltime="01:00:00", prologue=("module load x",))


@pytest.fixture(autouse=True)
def _no_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SLURMTUI_RUN_FOLDER", raising=False)
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))


def test_a_command_becomes_a_script() -> None:
    found = batch_script(None, ["echo", "it's $HOME; rm -rf"], PROFILE, ["--exclusive"], {"nodes": 2})
    assert found.script == b"#!/usr/bin/env bash\nmodule load x\nset -e\necho 'it'\"'\"'s $HOME; rm -rf'\n"
    assert found.options[-1] == "--exclusive"
    assert {"--partition=batch", "--nodes=2", "--mem=2G", "--time=01:00:00"} <= set(found.options)


def test_a_script_stands_for_itself(tmp_path: Path) -> None:
    assert batch_script("\n#!/bin/sh\ntrue\n", None, None, [], {}).script == b"#!/bin/sh\ntrue\n"
    file = tmp_path / "job.sh"
    file.touch()
    found = batch_script(str(file), None, None, [], {})
    assert (found.script, found.options) == (file, ())


def test_the_marks_are_said_again_for_nodes_that_know_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "0123%4"
    monkeypatch.setenv("SLURMTUI_RUN_FOLDER", str(folder))
    found = batch_script("#!/bin/sh", None, None, [], {})
    assert "--comment=slurmtui:0123%4" in found.options
    assert f"--output={tmp_path}/runs/0123%%4/jobs/%j.out" in found.options
    assert found.environment["PATH"].startswith(f"{folder}/bin:")
    assert found.environment["SLURMTUI_SUBMITTER"] == "batch_job"


@pytest.mark.parametrize(
    ("script", "command", "overrides", "words"),
    [
        (None, None, {}, "a script or a command"),
        ("#!/bin/sh", "true", {}, "a script or a command"),
        ("missing.sh", None, {}, "is no file"),
        (None, "true", {"node": 2}, "no key 'node'; did you mean 'nodes'"),
        (None, "true", {"nodes": "two"}, "nodes"),
    ],
)
def test_what_does_not_go_together(
    script: str | None, command: str | None, overrides: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        batch_script(script, command, PROFILE, [], overrides)


@pytest.mark.parametrize(
    ("news", "words"),
    [
        (JobNews(state="FAILED", exit_code=3, elapsed=12), "SLURM job 7 failed with exit code 3 after 12 s (FAILED)."),
        (JobNews(state="FAILED", signal=9), "SLURM job 7 was ended by signal 9 (FAILED)."),
        (JobNews(state="TIMEOUT", elapsed=60), "SLURM job 7 reached its time limit after 60 s (TIMEOUT)."),
        (
            JobNews(state="OUT_OF_MEMORY", used_memory=16281.6, requested_memory=16384),
            "SLURM job 7 ran out of memory (used 16282 of 16384 MiB) (OUT_OF_MEMORY).",
        ),
        (JobNews(state="NODE_FAIL", nodes="n[1-2]"), "SLURM job 7 lost its node (n[1-2]) (NODE_FAIL)."),
        (JobNews(state="CANCELLED"), "SLURM job 7 was cancelled (CANCELLED)."),
        (JobNews(state="NEW_IN_SLURM_99", exit_code=1), "SLURM job 7 failed with exit code 1 (NEW_IN_SLURM_99)."),
    ],
)
def test_a_failure_in_slurms_own_reason(news: JobNews, words: str) -> None:
    assert str(BatchJobFailed("7", news)) == words


def test_a_failure_survives_pickling_and_names_its_last_line() -> None:
    error = pickle.loads(pickle.dumps(BatchJobFailed("7", JobNews(state="FAILED", exit_code=3), "a\nlast words")))  # noqa: S301
    assert (error.job_id, error.state, error.exit_code, error.log_tail) == ("7", "FAILED", 3, "a\nlast words")
    assert str(error).endswith("Its last line: last words")


def test_the_output_is_passed_on_line_by_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    out, err = tmp_path / "o", tmp_path / "e"
    output = JobOutput(JobDetail(id="7", stdout=str(out), stderr=str(err)), logging.getLogger("test"))
    assert not output.pass_on(), "files that are not there yet are no error"
    out.write_bytes(b"one\n 10 %\r 90 %\rdone\nhalf")
    err.write_bytes(b"slurmstepd: error: *** JOB 7 CANCELLED DUE TO TIME LIMIT ***\n")
    assert output.pass_on(), "SLURM itself says that it ends the job"
    assert caplog.messages == ["one", "done", "stderr: slurmstepd: error: *** JOB 7 CANCELLED DUE TO TIME LIMIT ***"]
    output.pass_on(finish=True)
    assert caplog.messages[-1] == "half"
    assert output.last_lines().startswith("slurmstepd")
    output.close()


def test_a_flood_of_output_is_left_in_its_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    out = tmp_path / "o"
    out.write_text("".join(f"{number}\n" for number in range(5000)))
    output = JobOutput(JobDetail(id="7", stdout=str(out), stderr=str(out)), logging.getLogger("test"))
    output.pass_on(finish=True)
    assert len(caplog.messages) == 2001
    assert str(out) in caplog.messages[-1]
    assert output.last_lines().endswith("4999")
    output.close()


class FakeSlurm:
    """Answers from a script: for each look, what squeue, the controller and accounting know of job 7."""

    queue: Job | CommandError | None = None
    detail: JobDetail | None = None
    ended: EndedJob | CommandError | None = None

    def __init__(self, *_arguments: object) -> None: ...

    async def jobs_by_id(self, ids: Sequence[str]) -> dict[str, Job]:
        if isinstance(self.queue, CommandError):
            raise self.queue
        return {} if self.queue is None else dict.fromkeys(ids, self.queue)

    async def job_detail(self, job_id: str) -> JobDetail | None:
        assert job_id == "7"
        return self.detail

    async def ended_jobs(self, ids: Sequence[str]) -> dict[str, EndedJob]:
        if isinstance(self.ended, CommandError):
            raise self.ended
        return {} if self.ended is None else dict.fromkeys(ids, self.ended)


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> type[FakeSlurm]:
    class Fresh(FakeSlurm):
        pass

    monkeypatch.setattr(job_watch, "Slurm", Fresh)
    return Fresh


def looked(watch: JobWatch) -> JobNews:
    watch._look(["7"])
    return watch.news("7")


@pytest.fixture
def watch() -> JobWatch:
    found = JobWatch()
    found._news["7"] = JobNews()
    return found


def test_a_job_on_its_way(slurm: type[FakeSlurm], watch: JobWatch) -> None:
    slurm.queue = Job(id="7", raw_id=7, state="PENDING", reason="Priority")
    assert (looked(watch).state, looked(watch).reason) == ("PENDING", "Priority")
    slurm.queue = Job(id="7", raw_id=7, state="RUNNING", nodes="n1")
    assert (looked(watch).state, looked(watch).nodes, looked(watch).ended) == ("RUNNING", "n1", False)


def test_missing_from_the_queue_is_no_end(slurm: type[FakeSlurm], watch: JobWatch, monkeypatch: Any) -> None:
    slurm.ended = CommandError("sacct: connection refused", argv=["sacct"], code=1)
    assert not looked(watch).ended
    assert looked(watch).problem == "sacct: connection refused"
    monkeypatch.setattr(job_watch, "UNKNOWN_FOR", -1.0)
    assert looked(watch).ended
    assert looked(watch).state == "UNKNOWN"


def test_the_controller_down_is_no_end(slurm: type[FakeSlurm], watch: JobWatch) -> None:
    slurm.queue = CommandError("squeue: Unable to contact slurm controller", argv=["squeue"], code=1)
    assert not looked(watch).ended
    assert "Unable to contact" in looked(watch).problem


def test_the_controllers_word_on_the_end(slurm: type[FakeSlurm], watch: JobWatch) -> None:
    slurm.detail = JobDetail(id="7", state="FAILED", fields=(("ExitCode", "3:0"), ("RunTime", "00:01:02")))
    found = looked(watch)
    assert (found.state, found.exit_code, found.elapsed) == ("FAILED", 3, 62)


def test_a_lack_of_memory_that_only_a_step_tells_of(slurm: type[FakeSlurm], watch: JobWatch) -> None:
    slurm.detail = JobDetail(id="7", state="FAILED", fields=(("ExitCode", "0:9"),))
    slurm.ended = EndedJob(id="7", state="OUT_OF_MEMORY", max_rss=990, requested_memory=1000)
    found = looked(watch)
    assert (found.state, found.used_memory, found.requested_memory) == ("OUT_OF_MEMORY", 990, 1000)


def test_accountings_word_when_the_controller_has_forgotten(slurm: type[FakeSlurm], watch: JobWatch) -> None:
    slurm.ended = EndedJob(id="7", state="NODE_FAIL", nodes="n3", elapsed=5)
    assert (looked(watch).state, looked(watch).nodes) == ("NODE_FAIL", "n3")


def test_one_thread_looks_for_all_and_ends_with_them(slurm: type[FakeSlurm], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_watch, "FIRST_LOOK", 0.02)
    slurm.detail = JobDetail(id="7", state="COMPLETED")
    watch = JobWatch()
    watch.add("7")
    until = time.monotonic() + 30
    while not watch.news("7").ended and time.monotonic() < until:
        time.sleep(0.02)
    assert watch.news("7").state == "COMPLETED"
    watch.forget("7")
    while watch._thread is not None and time.monotonic() < until:
        time.sleep(0.02)
    assert watch._thread is None, "no thread is left when there is nothing to watch"


@pytest.mark.parametrize("answers", [True, False])
def test_a_job_that_is_forgotten_during_a_look_ends_no_look(
    slurm: type[FakeSlurm], watch: JobWatch, monkeypatch: pytest.MonkeyPatch, *, answers: bool
) -> None:
    async def slow(_self: FakeSlurm, _ids: Sequence[str]) -> dict[str, Job]:
        watch.forget("7")
        if answers:
            return {}
        raise CommandError("squeue did not answer within 20 s", argv=["squeue"], code=None)

    monkeypatch.setattr(slurm, "jobs_by_id", slow)
    watch._look(["7"])
    assert watch._news == {}


def test_a_look_that_fails_in_any_way_is_told_and_is_not_the_last(
    slurm: type[FakeSlurm], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = threading.Event()

    async def fails_first(_self: FakeSlurm, _ids: Sequence[str]) -> dict[str, Job]:
        if not told.is_set():
            raise OSError(24, "Too many open files")
        return {}

    monkeypatch.setattr(job_watch, "FIRST_LOOK", 0.02)
    monkeypatch.setattr(job_watch, "LONGEST_PAUSE", 0.02)
    monkeypatch.setattr(slurm, "jobs_by_id", fails_first)
    slurm.detail = JobDetail(id="7", state="COMPLETED")
    watch, until = JobWatch(), time.monotonic() + 30
    watch.add("7")
    while not watch.news("7").problem and time.monotonic() < until:
        time.sleep(0.02)
    assert watch.news("7").problem == "OSError: [Errno 24] Too many open files"
    told.set()
    while not watch.news("7").ended and time.monotonic() < until:
        time.sleep(0.02)
    assert watch.news("7").state == "COMPLETED"
    watch.forget("7")
