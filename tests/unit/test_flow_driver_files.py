"""One driver a run: taking it, and writing down its ends; its environment; its control channel; refusals."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING

import msgspec
import pytest

from slurmtui.errors import RunFolderError
from slurmtui.flows import jobs, network_folder, refusal, run_files, watcher
from slurmtui.flows.control_channel import CANCEL, ControlChannel
from slurmtui.flows.environment import driver_environment
from slurmtui.models.run_record import CancelRequest, DriverRecord, RunSpec, Submission
from slurmtui.sources.processes import SILENCE, started_at
from tests.unit.run_folders import RUN, submitted_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return submitted_run(tmp_path)


def held_by(folder: Path, attempt: int, **fields: object) -> None:
    """Let another driver hold the run."""
    record = {"host": socket.gethostname(), "pid": os.getpid(), "pid_started": started_at(os.getpid()), **fields}
    run_files.lock_file(folder, attempt).write_text(json.dumps({**record, "attempt": attempt}))


def test_the_first_driver_takes_the_run(folder: Path) -> None:
    record = run_files.take(folder, job_id="77")
    assert (record.attempt, record.pid, record.job_id) == (1, os.getpid(), "77")
    assert msgspec.json.decode((folder / "driver.json").read_bytes(), type=DriverRecord) == record
    assert run_files.lock_file(folder, 1).stat().st_mode & 0o777 == 0o600


def test_a_living_driver_is_not_disturbed(folder: Path) -> None:
    held_by(folder, 1)
    with pytest.raises(RunFolderError, match=f"held by its living driver, pid {os.getpid()}"):
        run_files.take(folder)
    assert not (folder / "driver.json").exists()


def test_a_dead_drivers_run_is_taken(folder: Path) -> None:
    held_by(folder, 1, pid_started=1.0)  # the pid lives, but is another process by now
    assert run_files.take(folder).attempt == 2


def test_an_ended_driver_whose_process_lingers_is_over(folder: Path) -> None:
    first = run_files.take(folder)
    run_files.end_record(folder, msgspec.structs.replace(first, ended=time.time(), outcome="FAILED"))
    assert run_files.take(folder).attempt == 2
    assert run_files.last_end(folder, 2) > 0


@pytest.mark.parametrize(("silent", "taken"), [(0, False), (SILENCE + 60, True)])
def test_a_driver_on_another_host_counts_by_its_signs_of_life(folder: Path, silent: float, taken: bool) -> None:  # noqa: FBT001
    held_by(folder, 1, host="another-host")
    os.utime(run_files.lock_file(folder, 1), (time.time() - silent,) * 2)
    if taken:
        assert run_files.take(folder).attempt == 2
        return
    with pytest.raises(RunFolderError, match="on another-host, which gave a sign"):
        run_files.take(folder)


def test_a_lock_that_is_being_written_is_respected(folder: Path) -> None:
    run_files.lock_file(folder, 1).touch()
    with pytest.raises(RunFolderError, match="just taking"):
        run_files.take(folder)
    os.utime(run_files.lock_file(folder, 1), (time.time() - 100,) * 2)  # its writer died half way
    assert run_files.take(folder).attempt == 2


def test_only_one_of_many_takes_the_run(folder: Path) -> None:
    taken: list[int] = []
    refused: list[str] = []
    start = threading.Barrier(8)

    def try_it() -> None:
        start.wait()
        try:
            taken.append(run_files.take(folder).attempt)
        except RunFolderError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=try_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken == [1]
    assert len(refused) == 7


def test_the_environment_of_a_driver(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURMTUI_STATE", str(folder.parent / "state"))
    (folder / "credentials").write_text("user:secret\n")
    spec = RunSpec(
        id=RUN, name="n", flow_name="f", entrypoint="/x.py:f", job_name="f-0123", api_url="http://login1:42/api"
    )
    current = {"PATH": "/usr/bin", "http_proxy": "http://proxy", "DASK_DISTRIBUTED__WORKER__PRELOAD": '["mine"]'}
    found = driver_environment(spec, folder, 2, current)
    assert found["PATH"] == f"{folder}/bin:/usr/bin"
    assert found["PREFECT_API_AUTH_STRING"] == "user:secret"
    assert found["PREFECT_RESULTS_PERSIST_BY_DEFAULT"] == "true"
    assert found["PREFECT_LOCAL_STORAGE_PATH"] == str(folder.parent / "state" / "results")
    assert (found["SBATCH_JOB_NAME"], found["SBATCH_OUTPUT"]) == ("f-0123", f"{folder}/jobs/%j.out")
    assert found["SLURMTUI_ATTEMPT"] == "2"
    assert found["NO_PROXY"] == "login1", "a proxy must not swallow the calls to the server"
    mine, ours = json.loads(found["DASK_DISTRIBUTED__WORKER__PRELOAD"])
    assert mine == "mine"
    assert ours.endswith("worker_preload.py")


@pytest.mark.parametrize(("own", "tries"), [({}, "7"), ({"PREFECT_CLIENT_MAX_RETRIES": "20"}, "20")])
def test_prefect_is_asked_again_for_minutes_unless_the_user_says_otherwise(
    folder: Path, own: dict[str, str], tries: str
) -> None:
    spec = RunSpec(id=RUN, name="n", flow_name="f", entrypoint="/x.py:f", api_url="http://h:1/api")
    assert driver_environment(spec, folder, 1, own)["PREFECT_CLIENT_MAX_RETRIES"] == tries


def test_a_percent_sign_in_the_folders_name_is_no_pattern_of_slurms(tmp_path: Path) -> None:
    spec = RunSpec(id=RUN, name="n", flow_name="f", entrypoint="/x.py:f", api_url="http://h:1/api")
    found = driver_environment(spec, tmp_path / "100%u", 1, {})
    assert found["SBATCH_OUTPUT"] == f"{tmp_path}/100%%u/jobs/%j.out"


def engine(channel: ControlChannel, token: str | None = None) -> socket.socket:
    """What Prefect's engine does: connect, and say the token and its greeting."""
    found = socket.create_connection(("127.0.0.1", int(channel.environment["PREFECT__CONTROL_PORT"])), timeout=30)
    found.sendall((token or channel.environment["PREFECT__CONTROL_TOKEN"]).encode() + b"\n\x00PF\x02\x01")
    return found


def connected(channel: ControlChannel) -> bool:
    until = time.monotonic() + 30
    while not channel.connected and time.monotonic() < until:
        time.sleep(0.01)
    return channel.connected


def test_the_engine_is_told_what_the_signal_means() -> None:
    channel = ControlChannel()
    assert not channel.tell(CANCEL, 0.1), "nobody is there yet"
    with engine(channel) as peer:
        assert connected(channel)

        def answer() -> None:
            assert peer.recv(1) == b"c"
            peer.sendall(b"a")

        thread = threading.Thread(target=answer)
        thread.start()
        assert channel.tell(CANCEL, 5)
        thread.join()
    channel.close()


def test_an_engine_that_does_not_answer_is_not_waited_for_long() -> None:
    channel = ControlChannel()
    with engine(channel):
        assert connected(channel)
        assert not channel.tell(CANCEL, 0.2)
    channel.close()


def test_who_does_not_know_the_token_is_not_the_engine() -> None:
    channel = ControlChannel()
    with engine(channel, token="guessed") as stranger, engine(channel) as peer:
        assert connected(channel)
        telling = threading.Thread(target=channel.tell, args=(CANCEL, 0.5))
        telling.start()
        assert peer.recv(1) == b"c"
        telling.join()
        with contextlib.suppress(ConnectionResetError):
            assert stranger.recv(1) == b"", "the stranger was shown out"
    channel.close()


def entry(number: int, *, refused: bool = False, by: str = "") -> Submission:
    return Submission(time=number, code=int(refused), job_id=None if refused else str(number), by=by)


@pytest.mark.parametrize(
    ("submissions", "times"),
    [
        ([], []),
        ([entry(1)], []),
        ([entry(1, refused=True), entry(2, refused=True)], [1, 2]),
        ([entry(1, refused=True), entry(2)], []),
        ([entry(1), entry(2, refused=True)], [2]),
        ([entry(1, refused=True), entry(2, by="batch_job")], [1]),
        ([entry(1, refused=True, by="batch_job")], []),
    ],
    ids=["none", "taken", "refused", "then taken", "first taken", "batch job taken", "batch job refused"],
)
def test_refusals_that_leave_the_workers_without_a_job(submissions: list[Submission], times: list[float]) -> None:
    assert [found.time for found in refusal.trailing_refusals(submissions)] == times


def test_the_words_of_a_refusal() -> None:
    said = (
        "sbatch: error: invalid partition specified: x\nsbatch: error: Batch job submission failed: Invalid partition"
    )
    assert refusal.words_of(Submission(time=0, code=1, said=said)) == (
        "Invalid partition (invalid partition specified: x)"
    )
    assert refusal.words_of(Submission(time=0, code=9)) == "exit code 9, without a word"


@pytest.mark.parametrize(
    ("asked", "meant"), [(None, False), (100.0, False), (201.0, True), (0.0, True)],
    ids=["nobody", "an earlier attempt", "this one", "damaged"],
)  # fmt: skip
def test_whom_a_request_to_cancel_means(folder: Path, asked: float | None, meant: bool) -> None:  # noqa: FBT001
    first = DriverRecord(host="h", pid=1, pid_started=1, attempt=1, ended=200.0)
    run_files.end_record(folder, first)
    if asked is not None:
        (folder / "cancel.json").write_bytes(msgspec.json.encode(CancelRequest(time=asked)) if asked else b"{")
    with watching(folder, attempt=2) as watched:
        assert (watched._look() is not None) is meant


@contextlib.contextmanager
def watching(folder: Path, attempt: int) -> Iterator[watcher.Watcher]:
    """A watcher whose thread has not begun."""
    channel = ControlChannel()
    record = DriverRecord(host="h", pid=1, pid_started=1, attempt=attempt)
    watched = watcher.Watcher(folder, record, channel, engine_ends=lambda: False, give_up=lambda: None)
    yield watched
    watched.finish()
    channel.close()


@pytest.mark.parametrize("error", [OSError(errno.ESTALE, "Stale file handle"), RunFolderError("run.json is damaged")])
def test_a_file_system_that_stumbles_ends_no_watching(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def stumble(*_arguments: object) -> None:
        raise error

    lock = run_files.lock_file(folder, 1)
    lock.touch()
    os.utime(lock, (1, 1))
    with watching(folder, attempt=1) as watched, monkeypatch.context() as patched:
        patched.setattr(watcher, "read_cancel", stumble)
        patched.setattr(watched._refusals, "for_good", stumble)
        assert watched._look() is None
        assert lock.stat().st_mtime > 1, "the sign of life was given all the same"
        patched.undo()
        (folder / "cancel.json").write_bytes(msgspec.json.encode(CancelRequest(time=time.time())))
        stop = watched._look()
        assert stop is not None
        assert stop.state == "CANCELLED"


def test_the_answers_of_sbatch_end_the_run_only_when_all_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dask_jobqueue", sys)
    living = {"5"}

    async def alive(known: jobs.Submitted) -> set[str]:
        return living & set(known.ids)

    monkeypatch.setattr(jobs, "alive", alive)
    looking = refusal.Refusals(folder, 1)

    def answered(**fields: object) -> str:
        with (folder / "submissions.jsonl").open("a") as stream:
            stream.write(json.dumps({"attempt": 1, "code": 0, "time": time.time() - 60, **fields}) + "\n")
        return looking.for_good()

    assert looking.for_good() == "", "nothing was asked yet"
    assert answered(job_id="5") == ""
    assert answered(code=1, said="sbatch: error: Invalid account") == "", "a job of the run still lives"
    living.clear()
    assert looking.for_good() == "Invalid account"
    assert answered(job_id="6") == ""
    assert answered(code=1, said="sbatch: error: Invalid qos", time=time.time()) == "", "some time is left for a change"


def test_a_folder_on_nfs_is_looked_at_afresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(tmp_path, (1, 1))
    changed = tmp_path.stat().st_mtime_ns
    network_folder.refresher(tmp_path)()
    assert tmp_path.stat().st_mtime_ns == changed, "this is no network file system"
    monkeypatch.setattr(network_folder, "file_system_of", lambda _folder: "nfs4")
    network_folder.refresher(tmp_path)()
    assert tmp_path.stat().st_mtime_ns != changed
    assert list(tmp_path.iterdir()) == []
