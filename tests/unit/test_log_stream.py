"""The log of a run and of a job: every line once, whoever writes when; and a sentence where there is none."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.errors import CommandError, PrefectError, PrefectUnreachable
from slurmtui.models.flow_run import FlowRun, LogLine
from slurmtui.models.job import Job, JobDetail
from slurmtui.models.run_view import RunView
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.store import log_files, log_folder
from slurmtui.store.log_stream import JobLog, RunLog

if TYPE_CHECKING:
    from slurmtui.store.log_entry import LogEntry

RUN = "0a1b2c3d-0000-4000-8000-000000000001"


class Prefect:
    """A server that holds log lines."""

    def __init__(self) -> None:
        self.lines: list[LogLine] = []
        self.error: PrefectError | None = None
        self.questions = 0
        self.pending: set[str] = set()  # task runs of which only that they are to begin has arrived

    def add(self, message: str, moment: float, *, task: str | None = None, logger: str = "prefect.flow_runs") -> None:
        number = f"id-{len(self.lines)}"
        self.lines.append(
            LogLine(id=number, timestamp=moment, level=20, message=message, logger=logger, task_run_id=task)
        )

    async def log_tail(self, _run_id: str, limit: int) -> tuple[LogLine, ...]:
        return self._answer(self.lines)[-limit:]

    async def logs_after(self, _run_id: str, after: float) -> tuple[LogLine, ...]:
        return self._answer([line for line in self.lines if line.timestamp > after - 10])

    async def request(self, _method: str, path: str, body: dict[str, Any]) -> list[dict[str, str]]:
        assert path == "/task_runs/filter"
        return [
            {"id": one, "name": "fit-0", "state_type": "PENDING"}
            if one in self.pending
            else {"id": one, "name": one.removeprefix("task-"), "state_type": "RUNNING"}
            for one in body["task_runs"]["id"]["any_"]
        ]

    def _answer(self, lines: list[LogLine]) -> tuple[LogLine, ...]:
        self.questions += 1
        if self.error:
            raise self.error
        return tuple(sorted(lines, key=lambda line: line.timestamp))


class Slurm:
    """A SLURM that knows one job."""

    def __init__(self, detail: JobDetail | None) -> None:
        self.detail = detail
        self.error: CommandError | None = None

    async def job_detail(self, _job_id: str) -> JobDetail | None:
        if self.error:
            raise self.error
        return self.detail

    async def jobs_by_id(self, ids: list[str]) -> dict[str, Job]:
        detail = self.detail
        if detail is None or detail.state == "COMPLETED":
            return {}
        return {ids[0]: Job(id=ids[0], raw_id=7, state=detail.state, reason=detail.reason, nodes=detail.nodes)}


class Session:
    """What a log asks of a session."""

    def __init__(self, *, prefect: Prefect | None = None, slurm: Slurm | None = None) -> None:
        self.prefect = prefect
        self.slurm = slurm


def view(state: str = "RUNNING", mood: Mood = Mood.RUNNING, words: str = "running") -> RunView:
    return RunView(
        run=FlowRun(id=RUN, name="otter", state_type=state), verdict=Verdict(kind="x", text=words, mood=mood)
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    folder = tmp_path / "runs" / RUN
    (folder / "jobs").mkdir(parents=True)
    return folder


def run_log(session: Session, of: RunView | None = None, lines: int | None = 500) -> RunLog:
    return RunLog(session, of or view(), lines)  # type: ignore[arg-type] # a session as far as it is used here


def job_log(slurm: Slurm, job_id: str = "7") -> JobLog:
    return JobLog(Session(slurm=slurm), job_id)  # type: ignore[arg-type] # the same


def texts(entries: list[LogEntry]) -> list[str]:
    return [entry.text for entry in entries]


def append(path: Path, text: str) -> None:
    with path.open("a") as stream:
        stream.write(text)


def console(moment: float, who: str, message: str) -> str:
    clock = time.strftime("%H:%M:%S", time.localtime(moment))
    return f"{clock}.{int(moment % 1 * 1000):03d} | INFO    | {who} - {message}\n"


async def test_places_are_merged_by_time_and_each_line_is_shown_once(folder: Path) -> None:
    now = time.time() - 60
    prefect = Prefect()
    prefect.add("starts", now)
    prefect.add("epoch 1", now + 2, task="task-fit-1", logger="prefect.task_runs")
    append(folder / "driver.log", console(now, "Flow run 'otter'", "starts") + "dask says so\n")
    append(folder / "jobs" / "11.err", console(now + 2, "Task run 'fit-1'", "epoch 1"))
    append(folder / "jobs" / "11.out", "printed without time\n")
    entries = await run_log(Session(prefect=prefect)).read_new()
    words = [text.split(" - ")[-1] for text in texts(entries)]
    assert words in (
        ["starts", "dask says so", "epoch 1", "printed without time"],
        ["starts", "epoch 1", "dask says so", "printed without time"],
    )
    (epoch,) = [entry for entry in entries if "epoch" in entry.text]
    assert epoch.task == "fit-1"


async def test_the_name_that_a_task_run_has_before_it_begins_is_nobodys(folder: Path) -> None:
    """Its own comes with the news that it runs, which arrives late: each of its lines would be shown twice for ever."""
    now, prefect = time.time() - 60, Prefect()
    log = run_log(Session(prefect=prefect))
    prefect.pending.add("task-fit-red")
    entries = []
    for number in range(3):
        prefect.add(f"epoch {number}", now + number, task="task-fit-red", logger="prefect.task_runs")
        append(folder / "jobs" / "11.err", console(now + number, "Task run 'fit-red'", f"epoch {number}"))
        log.prefect._next = 0.0  # asked at once
        entries += await log.read_new()
        prefect.pending.clear()
    assert sorted(text.split(" - ")[-1] for text in texts(entries)) == ["epoch 0", "epoch 1", "epoch 2"]
    assert {entry.task for entry in entries} <= {"fit-red", ""}


async def test_new_jobs_files_are_read_from_their_beginning(folder: Path) -> None:
    log = run_log(Session(prefect=Prefect()))
    assert await log.read_new() == []
    append(folder / "jobs" / "12_3.out", "first\nsecond\n")
    entries = await log.read_new()
    assert [(entry.text, entry.job_id, entry.source) for entry in entries] == [
        ("first", "12_3", "out"), ("second", "12_3", "out"),
    ]  # fmt: skip


async def test_no_line_lost_and_none_twice_with_everybody_writing(folder: Path) -> None:
    prefect = Prefect()
    log = run_log(Session(prefect=prefect))
    await log.read_new()
    late: list[tuple[str, float, str]] = []

    def write() -> None:
        for number in range(400):
            moment = time.time()
            task = f"fit-{number % 5}"
            append(folder / "jobs" / f"{number % 7}.err", console(moment, f"Task run '{task}'", f"step {number}"))
            late.append((f"step {number}", round(moment, 3), f"task-{task}"))
            append(folder / "jobs" / f"{number % 7}.out", f"printed {number}\n")
            if number % 3 == 0 and late:
                for message, at, task_id in late:
                    prefect.add(message, at, task=task_id, logger="prefect.task_runs")
                late.clear()
            time.sleep(0.001)

    writer = threading.Thread(target=write)
    writer.start()
    entries: list[LogEntry] = []
    while writer.is_alive():
        entries += await log.read_new()
        await asyncio.sleep(0.02)
    for message, at, task_id in late:
        prefect.add(message, at, task=task_id, logger="prefect.task_runs")
    entries += await log.read_rest()
    words = [entry.text.split(" - ")[-1] for entry in entries]
    assert sorted(words) == sorted([f"step {n}" for n in range(400)] + [f"printed {n}" for n in range(400)])


@pytest.mark.usefixtures("folder")
async def test_lines_left_out_of_the_tail_do_not_come_later_as_new() -> None:
    now = time.time()
    prefect = Prefect()
    for number in range(1000):
        prefect.add(f"old {number}", now - 5 + number / 1000)
    log = run_log(Session(prefect=prefect), lines=100)
    assert texts(await log.read_new()) == [f"old {number}" for number in range(900, 1000)]
    prefect.add("new", now)
    log.prefect._next = 0
    assert texts(await log.read_new()) == ["new"]
    assert await log.read_rest() == []


async def test_prefect_that_fails_is_told_once_and_goes_on_later(folder: Path) -> None:
    now = time.time()
    prefect = Prefect()
    prefect.add("one", now - 5)
    log = run_log(Session(prefect=prefect))
    assert texts(await log.read_new()) == ["one"]
    prefect.error = PrefectUnreachable("no answer from http://login01:4200")
    entries: list[LogEntry] = []
    for _ in range(3):
        log.prefect._next = 0
        entries += await log.read_new()
    assert [entry.source for entry in entries] == ["note"]
    assert "no answer from http://login01:4200" in entries[0].text
    assert any("no answer" in problem for problem in log.problems)
    append(folder / "driver.log", "still read\n")
    assert texts(await log.read_new()) == ["still read"]
    prefect.error = None
    prefect.add("two", now)
    log.prefect._next = 0
    assert texts(await log.read_new()) == ["two"]
    assert log.problems == []


@pytest.mark.usefixtures("folder")
async def test_server_is_not_asked_all_the_time_about_a_run_that_has_ended() -> None:
    prefect = Prefect()
    prefect.add("one", time.time() - 100)
    log = run_log(Session(prefect=prefect), view("COMPLETED", Mood.DONE, "done"))
    for _ in range(20):
        await log.read_new()
    assert prefect.questions == 1


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (view(mood=Mood.WAITING, words="waiting for SLURM: Resources"), "No line yet: waiting for SLURM: Resources."),
        (view("FAILED", Mood.FAILED, "sbatch refused"), "wrote nothing: sbatch refused"),
        (view(), "No line yet (running)"),
    ],
)
@pytest.mark.usefixtures("folder")
async def test_why_a_run_has_no_line(of: RunView, words: str) -> None:
    log = run_log(Session(prefect=Prefect()), of)
    assert await log.read_new() == []
    assert words in log.why_empty


async def test_without_any_server_the_files_are_read(folder: Path) -> None:
    append(folder / "driver.log", "hello\n")
    log = run_log(Session())
    assert texts(await log.read_new()) == ["hello"]
    assert "No Prefect server is known" in log.problems[0]


async def test_hundreds_of_old_files_are_not_all_read_but_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_folder, "_TAIL_FILES", 10)
    monkeypatch.setattr(log_folder, "_OPEN_FILES", 5)
    for number in range(40):
        path = folder / "jobs" / f"{number}.out"
        append(path, f"old {number}\n")
        os.utime(path, (number, number))
    log = run_log(Session(prefect=Prefect()))
    entries = await log.read_new()
    assert [text for text in texts(entries) if text.startswith("old")] == [f"old {number}" for number in range(30, 40)]
    assert any("31 files" in entry.text for entry in entries if entry.source == "note"), "driver.log is one too"
    append(folder / "jobs" / "3.out", "new\n")
    assert texts(await log.read_new()) == ["new"]
    assert sum(lines.tail.open for lines in log._folder_lines._files.values()) <= 5


async def test_whole_log_is_given_when_all_lines_are_wanted(folder: Path) -> None:
    append(folder / "driver.log", "".join(f"line {number}\n" for number in range(30_000)))
    entries = await run_log(Session(prefect=Prefect()), lines=None).read_new()
    assert texts(entries) == [f"line {number}" for number in range(30_000)]


async def test_progress_bar_is_given_while_it_moves_and_its_end_once(folder: Path) -> None:
    path = folder / "jobs" / "5.err"
    log = run_log(Session(prefect=Prefect()))
    await log.read_new()
    append(path, "\r 1%")
    (first,) = await log.read_new()
    assert (first.text, first.partial) == ("\r 1%", True)
    assert await log.read_new() == []
    append(path, "\r 2%")
    (second,) = await log.read_new()
    assert second.key == first.key
    append(path, "\r100%\nnext\n")
    end = await log.read_new()
    assert [(entry.text, entry.partial, entry.key) for entry in end] == [
        ("\r 1%\r 2%\r100%", False, first.key), ("next", False, first.key),
    ]  # fmt: skip


async def test_unfinished_line_is_shown_when_its_writer_pauses_and_at_the_end(folder: Path) -> None:
    path = folder / "jobs" / "5.out"
    log = run_log(Session(prefect=Prefect()))
    await log.read_new()
    append(path, "Password: ")
    assert await log.read_new() == []
    (prompt,) = await log.read_new()
    assert (prompt.text, prompt.partial) == ("Password: ", True)
    (last,) = await log.read_rest()
    assert (last.text, last.partial) == ("Password: ", False)


async def test_unreadable_file_of_a_run_is_told_in_its_log(folder: Path) -> None:
    append(folder / "driver.log", "hello\n")
    (folder / "jobs" / "9.out").mkdir()
    entries = await run_log(Session(prefect=Prefect())).read_new()
    assert "hello" in texts(entries)
    assert any("is a folder, not a file" in entry.text for entry in entries if entry.source == "note")


def detail(tmp_path: Path, **changed: Any) -> JobDetail:
    facts: dict[str, Any] = {
        "id": "7", "state": "RUNNING", "nodes": "n3",
        "stdout": str(tmp_path / "7.out"), "stderr": str(tmp_path / "7.err"),
    }  # fmt: skip
    return JobDetail(**{**facts, **changed})


async def test_job_with_two_outputs(tmp_path: Path) -> None:
    append(tmp_path / "7.out", "out\n")
    append(tmp_path / "7.err", "err\n")
    log = job_log(Slurm(detail(tmp_path)))
    assert sorted((entry.source, entry.text) for entry in await log.read_new()) == [("err", "err"), ("out", "out")]
    append(tmp_path / "7.out", "more\n")
    assert texts(await log.read_new()) == ["more"]


async def test_job_whose_stdout_and_stderr_are_one_file_is_read_once(tmp_path: Path) -> None:
    append(tmp_path / "7.out", "line\n")
    log = job_log(Slurm(detail(tmp_path, stderr=str(tmp_path / "7.out"))))
    assert texts(await log.read_new()) == ["line"]


@pytest.mark.parametrize(
    ("changed", "words", "failed"),
    [
        ({"state": "PENDING", "reason": "Resources"}, "Not started: waiting for SLURM: Resources", False),
        ({}, "is not there yet. If that is a disk of n3 itself", False),
        ({"state": "COMPLETED"}, "has been removed (purged) since the job ended", True),
        ({"state": "FAILED", "exit_code": "0:53"}, "because its folder was not there; SLURM makes none", True),
        ({"stdout": "/dev/null", "stderr": "/dev/null"}, "goes to /dev/null: nothing of it is kept", True),
        ({"stdout": None, "stderr": None}, "SLURM names no output file", True),
    ],
)
async def test_why_a_job_has_no_line(tmp_path: Path, changed: dict[str, Any], words: str, failed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    log = job_log(Slurm(detail(tmp_path, **changed)))
    assert await log.read_new() == []
    assert words in log.why_empty
    assert log.failed == failed


async def test_job_that_has_written_nothing(tmp_path: Path) -> None:
    (tmp_path / "7.out").touch()
    (tmp_path / "7.err").touch()
    log = job_log(Slurm(detail(tmp_path)))
    assert await log.read_new() == []
    assert log.why_empty == "The job has written nothing yet."


async def test_slurm_that_does_not_answer_is_asked_again(tmp_path: Path) -> None:
    slurm = Slurm(detail(tmp_path))
    slurm.error = CommandError("squeue did not answer within 20 s", argv=["squeue"], code=None)
    log = job_log(slurm)
    assert await log.read_new() == []
    assert "squeue did not answer within 20 s" in log.why_empty
    slurm.error = None
    append(tmp_path / "7.out", "line\n")
    log.ask_every(0)
    assert texts(await log.read_new()) == ["line"]


async def test_job_forgotten_by_slurm_is_found_in_its_runs_folder(folder: Path) -> None:
    append(folder / "jobs" / "77.out", "line\n")
    log = job_log(Slurm(None), "77")
    assert texts(await log.read_new()) == ["line"]
    assert log.ended
    stranger = job_log(Slurm(None), "78")
    assert await stranger.read_new() == []
    assert "does not know job 78 any more" in stranger.why_empty
    assert stranger.failed


async def test_job_log_follows_to_its_end(tmp_path: Path) -> None:
    slurm = Slurm(detail(tmp_path))
    append(tmp_path / "7.out", "one\n")
    log = job_log(slurm)
    log.ask_every(0)
    assert texts(await log.read_new()) == ["one"]
    assert not log.ended
    append(tmp_path / "7.out", "two\nno newline")
    slurm.detail = detail(tmp_path, state="COMPLETED")
    assert texts(await log.read_new()) == ["two"]
    assert log.ended
    assert texts(await log.read_rest()) == ["no newline"]


async def test_flood_is_left_out_of_a_pane_and_said_but_not_of_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_files, "_TOO_MUCH", 1_000_000)
    (tmp_path / "7.out").touch()
    slurm = Slurm(detail(tmp_path))
    pane = job_log(slurm)
    pipe = JobLog(Session(slurm=slurm), "7", keep_up=False)  # type: ignore[arg-type] # a session as far as it is used
    assert await pane.read_new() == []
    assert await pipe.read_new() == []
    append(tmp_path / "7.out", "".join(f"line {number}\n" for number in range(400_000)))
    shown = await pane.read_new()
    gap = [entry.source for entry in shown].index("note")
    assert "faster than they can be shown" in shown[gap].text
    assert texts(shown[:gap]) == [f"line {number}" for number in range(gap)]
    assert texts(shown[gap + 1 :]) == [f"line {number}" for number in range(398_000, 400_000)]
    piped: list[LogEntry] = []
    while not piped or pipe.behind:
        piped += await pipe.read_new()
    assert texts(piped) == [f"line {number}" for number in range(400_000)]


async def test_closing_gives_the_handles_back(folder: Path) -> None:
    def handles() -> int:
        return sum(1 for handle in Path("/proc/self/fd").iterdir() if RUN in _target(handle))

    append(folder / "driver.log", "hello\n")
    log = run_log(Session(prefect=Prefect()))
    await log.read_new()
    assert handles() == 1
    log.close()
    assert handles() == 0


def _target(handle: Path) -> str:
    try:
        return str(handle.readlink())
    except OSError:
        return ""
