"""A run over time fits its terminal, and its lines mean what they show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmtui.models.flow_run import FlowRun, TaskRun
from slurmtui.models.job import EndedJob, Job
from slurmtui.models.profile import Profile
from slurmtui.models.run_detail import DaskCounts, RunDetail, StateChange
from slurmtui.models.run_record import AttemptProfile, DriverRecord, DriverStatus, RunRecord, RunSpec, TaskPlace
from slurmtui.models.run_view import RunView
from slurmtui.models.text import cells
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.views.runs.page import page
from slurmtui.views.runs.timeline import MOST_JOBS, RUNNING, WAITING, timeline

NOW = 1_700_000_000.0
PROFILE = Profile(name="gpu", partition="gpu", memory="16G", walltime="02:00:00", workers=4)


def view(state: str = "RUNNING", *, jobs: tuple[Job, ...] = (), overrides: tuple[AttemptProfile, ...] = ()) -> RunView:
    spec = RunSpec(id="r", name="brave", flow_name="train", entrypoint="/f.py:f", profile=PROFILE)
    driver = DriverRecord(host="login01", pid=7, pid_started=1, started=NOW - 99)
    run = FlowRun(
        id="r", name="brave", state_type=state, state_name=state.title(), created=NOW - 100, start=NOW - 90,
        end=None if state == "RUNNING" else NOW, run_count=1, parameters={"lr": 0.1},
    )  # fmt: skip
    return RunView(
        run=run, verdict=Verdict(kind="x", text="x", mood=Mood.RUNNING), jobs=jobs, driver=DriverStatus.ALIVE,
        record=RunRecord(spec=spec, folder="/r", driver=driver, overrides=overrides),
    )  # fmt: skip


def task(name: str, start: float | None, end: float | None, state: str = "COMPLETED") -> TaskRun:
    return TaskRun(
        id=name, name=name, state_type=state, state_name=state.title(), start=start, end=end, attempt=1,
        result_file="/kept" if state == "COMPLETED" else None,
    )  # fmt: skip


def text(lines: list[list[tuple[str, str]]]) -> list[str]:
    return ["".join(piece for piece, _ in line) for line in lines]


def test_a_job_that_waits_is_told_from_one_that_works() -> None:
    jobs = (
        Job(id="11", raw_id=11, state="RUNNING", nodes="n1", submit=NOW - 80, start=NOW - 40),
        Job(id="12", raw_id=12, state="PENDING", reason="Resources", submit=NOW - 50),
    )
    shown = text(timeline(view(jobs=jobs), (task("fit-1", NOW - 30, NOW - 10),), (), NOW, 80))
    run, running, pending, fit = shown[1:5]
    assert run.startswith("run ")
    assert WAITING in run
    assert running.startswith("job 11 n1")
    assert abs(running.count(WAITING) - running.count(RUNNING)) <= 1
    assert running.endswith("40s")
    assert RUNNING not in pending
    assert pending.count(WAITING) > 20
    assert fit.startswith("fit-1")
    assert WAITING not in fit
    assert fit.index(RUNNING) > running.index(RUNNING)
    assert fit.endswith("20s")


def test_an_earlier_attempts_jobs_are_not_on_it() -> None:
    old = EndedJob(id="3", state="TIMEOUT", submit=NOW - 5000, start=NOW - 4990, end=NOW - 4000)
    new = EndedJob(id="4", state="COMPLETED", submit=NOW - 95, start=NOW - 90, end=NOW - 1)
    shown = "\n".join(text(timeline(view("COMPLETED"), (), (old, new), NOW, 80)))
    assert "job 4" in shown
    assert "job 3" not in shown


moments = st.one_of(st.none(), st.floats(NOW - 1e6, NOW + 1e6))
labels = st.text(min_size=1, max_size=60)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(labels, moments, moments), max_size=60),
    st.lists(st.tuples(labels, moments, moments, moments), max_size=30),
    st.integers(50, 200),
)
def test_no_line_is_wider_than_the_terminal_whatever_the_names_and_times(
    tasks: list[tuple[str, float | None, float | None]],
    jobs: list[tuple[str, float | None, float | None, float | None]],
    width: int,
) -> None:
    made = [task(name, start, end) for name, start, end in tasks]
    ended = [
        EndedJob(id="1", nodes=name, state="FAILED", submit=submit, start=start, end=end)
        for name, submit, start, end in jobs
    ]
    for line in text(timeline(view(), made, ended, NOW, width)):
        assert cells(line) <= width, line
        assert not any(unicodedata.category(character) == "Cc" for character in line)


@pytest.mark.parametrize("width", [77, 157])
def test_the_page_tells_where_each_task_ran_how_attempts_ended_and_what_was_changed(width: int) -> None:
    attempt = DriverRecord(
        host="login01", pid=7, pid_started=1, attempt=1, started=NOW - 500, ended=NOW - 110, outcome="FAILED",
        message="KilledWorker", cause="out_of_memory", again="run again by itself, 1 of 1, memory 16G → 32G",
    )  # fmt: skip
    detail = RunDetail(
        run_id="r",
        states=(StateChange(type="FAILED", name="Failed", message="a\nKilledWorker", time=NOW - 111),),
        attempts=(attempt,),
        places={"fit-1": TaskPlace(task_run_id="fit-1", job_id="11", host="n3")},
        kept=frozenset({"fit-1"}),
        gone=frozenset({"fit-2"}),
        dask=DaskCounts(address="http://x", workers=4, processing=2, waiting=9),
        script="#!/bin/sh\n#SBATCH --mem=32G",
        problems=("accounting: down",),
    )
    grown = Profile(name="gpu", partition="gpu", memory="32G", walltime="02:00:00", workers=4)
    change = AttemptProfile(attempt=2, profile=grown, why="memory 16G → 32G", by="policy")
    tasks = (task("fit-1", NOW - 30, NOW - 10), task("fit-2", NOW - 30, NOW - 9), task("bad", NOW - 9, NOW, "FAILED"))
    shown = text(page(view("FAILED", overrides=(change,)), detail, tasks, NOW, width=width, facts=[]))
    joined = "\n".join(shown)
    assert "4 workers, 2 processing, 9 waiting" in joined
    assert next(line for line in shown if line.startswith("fit-1") and "Completed" in line).endswith("result kept")
    assert "job 11 n3" in joined
    assert next(line for line in shown if line.startswith("fit-2") and "Completed" in line).endswith("result is gone")
    assert "failed after 6m: out of memory" in joined
    assert "run again by itself, 1 of 1, memory 16G → 32G" in joined
    assert "from attempt 2 on, by itself: memory 16G → 32G" in joined
    assert "memory 16G → 32G since it was submitted" in joined
    assert "#SBATCH --mem=32G" in joined
    assert "not known: accounting: down" in joined
    table = [line for line in shown if line.startswith(("fit", "bad"))]
    assert all(cells(line) <= width + 3 for line in table)


def test_one_dask_worker_is_one() -> None:
    detail = RunDetail(run_id="r", dask=DaskCounts(address="http://x", workers=1))
    assert any(
        "Dask: 1 worker, 0 processing" in line for line in text(page(view(), detail, (), NOW, width=80, facts=[]))
    )


def test_what_finds_no_room_is_counted_in_lines_that_fit() -> None:
    earlier = [EndedJob(id="1", state="FAILED", submit=1.0)] * 30  # of another attempt, which is not what is told of
    ended = [EndedJob(id=str(number), state="FAILED", submit=NOW) for number in range(MOST_JOBS + 1)]
    told = text(timeline(view(), [], [*earlier, *ended], NOW, 50))
    assert told[-1] == "not shown: 1 job"
    assert max(map(cells, told)) <= 50
