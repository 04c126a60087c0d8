"""The join of runs and jobs, also among many jobs of others and of one name."""

from __future__ import annotations

import time
import uuid
from typing import Any

import msgspec
import pytest

from slurmtui.models.flow_run import FlowRun, TaskCounts
from slurmtui.models.job import EndedJob
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.marks import comment, job_name
from slurmtui.models.run_record import DriverRecord, DriverStatus, RunRecord, RunSpec, Submission
from slurmtui.store.link import Memory, join
from slurmtui.store.snapshot import Part, Snapshot
from tests.records import record_of

NOW = 1_800_000_000.0


def identity(number: int) -> str:
    return str(uuid.UUID(int=number << 96 | number))


def flow_run(number: int, state: str = "RUNNING", **changes: Any) -> FlowRun:
    fields: dict[str, Any] = {"state_since": NOW - 600, "start": NOW - 600, "created": NOW - 601, **changes}
    run_id = identity(number)
    return FlowRun(
        id=run_id, name=f"run-{number}", flow_name="train", state_type=state, state_name=state.title(), **fields
    )


def run_record(number: int, *job_ids: str, **changes: Any) -> RunRecord:
    run_id = identity(number)
    fields: dict[str, Any] = {"created": NOW - 601, "job_name": job_name("train", run_id), **changes}
    spec = RunSpec(id=run_id, name=f"run-{number}", flow_name="train", entrypoint="/f.py:f", **fields)
    driver = DriverRecord(host="h", pid=1, pid_started=1, started=NOW - 600)
    calls = tuple(Submission(time=NOW - 500, code=0, job_id=job_id) for job_id in job_ids)
    return RunRecord(spec=spec, folder="/x", driver=driver, submissions=calls)


def row(job_id: object, **fields: object) -> bytes:
    usual = {"id": job_id, "raw_id": str(job_id).split("_")[0].split("+")[0], "user": "me", "name": "dask-worker"}
    usual |= {"state": "RUNNING", "comment": "(null)", "submit": int(NOW - 500)}
    return record_of(QUEUE, usual, **fields)


def snapshot(
    table: JobTable, runs: tuple[FlowRun, ...] = (), records: tuple[RunRecord, ...] = (), **fields: Any
) -> Snapshot:
    return Snapshot(
        user="me",
        queue=Part(table, at=NOW),
        flow_runs=Part(runs, at=NOW),
        records=Part({record.spec.id: record for record in records}, at=NOW),
        drivers={record.spec.id: DriverStatus.ALIVE for record in records},
        **fields,
    )


def tied(joined: Snapshot) -> dict[str, set[str]]:
    return {view.run.name: {job.id for job in view.jobs} for view in joined.runs}


def test_each_mark_alone_ties_a_job() -> None:
    table = JobTable(
        row(1, comment=comment(identity(1)))
        + row(2, name=job_name("train", identity(2)))
        + row(3, name="my-own-name")
        + row(4)
    )
    runs = tuple(flow_run(number) for number in (1, 2, 3))
    joined = join(snapshot(table, runs, (run_record(3, "3"),)), NOW)
    assert tied(joined) == {"run-1": {"1"}, "run-2": {"2"}, "run-3": {"3"}}
    assert joined.run_of_job == {"1": identity(1), "2": identity(2), "3": identity(3)}


def test_five_hundred_dask_workers_of_several_flows_go_to_their_own_runs_only() -> None:
    runs = tuple(flow_run(number) for number in range(1, 6))
    records = tuple(run_record(number, *(str(1000 * number + worker) for worker in range(50))) for number in (1, 2))
    rows = [row(1000 * number + worker) for number in (1, 2) for worker in range(50)]  # known by their recorded ids
    rows += [row(3000 + worker, comment=comment(identity(3))) for worker in range(100)]
    rows += [row(9000 + worker) for worker in range(300)]  # somebody's, of no run
    joined = join(snapshot(JobTable(b"".join(rows)), runs, records), NOW)
    counts = {view.run.name: len(view.jobs) for view in joined.runs}
    assert counts == {"run-1": 50, "run-2": 50, "run-3": 100, "run-4": 0, "run-5": 0}


def test_marks_written_by_others_tie_nothing() -> None:
    rows = row(1, user="mallory", comment=comment(identity(1))) + row(
        2, user="mallory", name=job_name("train", identity(1))
    )
    joined = join(snapshot(JobTable(rows), (flow_run(1),), (run_record(1, "1", "2"),)), NOW)
    assert tied(joined) == {"run-1": set()}


def test_the_comment_of_another_run_counts_more_than_name_and_id() -> None:
    rows = row(1, name=job_name("train", identity(1)), comment=comment(identity(2)))
    joined = join(snapshot(JobTable(rows), (flow_run(1), flow_run(2)), (run_record(1, "1"),)), NOW)
    assert tied(joined) == {"run-1": set(), "run-2": {"1"}}


def test_a_job_number_used_again_is_not_the_runs() -> None:
    rows = row(7, name="another", submit=int(NOW - 90 * 86400)) + row(8, name="another", submit=int(NOW - 10))
    old = run_record(1, "8", created=NOW - 30 * 86400)
    old = msgspec.structs.replace(old, submissions=(Submission(time=NOW - 30 * 86400, code=0, job_id="8"),))
    joined = join(snapshot(JobTable(rows), (flow_run(1), flow_run(2)), (old, run_record(2, "7"))), NOW)
    assert tied(joined) == {"run-1": set(), "run-2": set()}


def test_array_tasks_and_het_components_follow_their_leader() -> None:
    rows = row("5_1") + row("5_[2-9%4]", state="PENDING") + row("6+0") + row("6+1") + row("51")
    joined = join(snapshot(JobTable(rows), (flow_run(1),), (run_record(1, "5", "6"),)), NOW)
    assert tied(joined) == {"run-1": {"5_1", "5_[2-9%4]", "6+0", "6+1"}}


def test_a_marked_job_of_a_run_that_nobody_knows_is_an_orphan() -> None:
    joined = join(snapshot(JobTable(row(1, comment=comment(identity(9)))), (flow_run(1),)), NOW)
    assert [(orphan.job_id, orphan.run_id) for orphan in joined.orphans] == [("1", identity(9))]
    assert joined.run_of_job == {}


def test_active_runs_come_first_then_the_newest_end() -> None:
    runs = (
        flow_run(1, "COMPLETED", end=NOW - 300),
        flow_run(2, start=NOW - 900),
        flow_run(3, "FAILED", end=NOW - 100),
        flow_run(4, start=NOW - 50),
        flow_run(5, "SCHEDULED", start=None, expected_start=NOW + 60),
    )
    joined = join(snapshot(JobTable.EMPTY, runs), NOW)
    assert [view.run.name for view in joined.runs] == ["run-5", "run-4", "run-2", "run-3", "run-1"]


def test_jobs_seen_is_remembered_when_they_are_gone() -> None:
    there = snapshot(JobTable(row(1, comment=comment(identity(1)))), (flow_run(1),))
    joined = join(there, NOW)
    later = join(msgspec.structs.replace(joined, queue=Part(JobTable.EMPTY, at=NOW + 40)), NOW + 40)
    assert joined.jobs_seen == later.jobs_seen == {identity(1): NOW}


def test_with_prefect_down_recent_and_living_runs_of_the_folders_are_shown() -> None:
    recent, old, living = run_record(1), run_record(2, created=NOW - 9e6), run_record(3, created=NOW - 9e6)
    shown = snapshot(JobTable.EMPTY, (), (recent, old, living), since=NOW - 86400)
    shown = msgspec.structs.replace(
        shown,
        flow_runs=Part((), error="refused", failing_since=NOW),
        drivers={
            identity(1): DriverStatus.ENDED,
            identity(2): DriverStatus.ENDED,
            identity(3): DriverStatus.ALIVE,
        },
    )
    joined = join(shown, NOW)
    assert {view.run.name: view.verdict.kind for view in joined.runs} == {"run-1": "unknown", "run-3": "unknown"}


def test_a_record_that_prefect_did_not_list_is_shown_only_when_prefect_denied_it_or_it_is_newer() -> None:
    records = (run_record(1), run_record(2), run_record(3, created=NOW + 1))
    joined = join(snapshot(JobTable.EMPTY, (), records, unknown_runs=frozenset({identity(2)})), NOW + 2)
    assert {view.run.name: view.verdict.kind for view in joined.runs} == {"run-2": "unknown", "run-3": "starting"}


def test_while_prefect_is_first_asked_no_run_is_called_unknown() -> None:
    shown = msgspec.structs.replace(snapshot(JobTable.EMPTY, (), (run_record(1),)), flow_runs=Part(()))
    assert join(shown, NOW).runs == ()


def test_what_accounting_said_reaches_the_row() -> None:
    ended = {"1_2": EndedJob(id="1_2", state="TIMEOUT"), "9": EndedJob(id="9", state="FAILED")}
    joined = join(snapshot(JobTable.EMPTY, (flow_run(1),), (run_record(1, "1"),), ended=Part(ended, at=NOW)), NOW)
    assert [job.id for job in joined.runs[0].ended_jobs] == ["1_2"]


@pytest.mark.parametrize("change", ["counts", "ended", "jobs", "driver", "run"])
def test_the_memory_forgets_what_has_changed(change: str) -> None:
    memory = Memory()
    run = flow_run(1, "FAILED", end=NOW - 500, state_message="Flow run encountered an exception: KilledWorker: x")
    first = join(snapshot(JobTable.EMPTY, (run,), (run_record(1, "1"),)), NOW, memory)
    again = join(first, NOW + 5, memory)
    assert again.runs[0] is first.runs[0]
    changed: dict[str, dict[str, Any]] = {
        "counts": {"counts": Part({run.id: TaskCounts(failed=1)}, at=NOW)},
        "ended": {"ended": Part({"1": EndedJob(id="1", state="OUT_OF_MEMORY", end=NOW)}, at=NOW)},
        "jobs": {"queue": Part(JobTable(row(1)), at=NOW)},
        "driver": {"drivers": {run.id: DriverStatus.GONE}},
        "run": {"flow_runs": Part((flow_run(1),), at=NOW)},
    }
    later = join(msgspec.structs.replace(again, **changed[change]), NOW + 10, memory)
    assert later.runs[0] != first.runs[0]


def test_five_thousand_runs_and_a_hundred_thousand_jobs_are_joined_again_in_moments() -> None:
    runs = tuple(flow_run(number, "COMPLETED", end=NOW - 500) for number in range(1, 5001))
    mine = [row(number, comment=comment(identity(number))) for number in range(1, 501)]
    table = JobTable(b"".join(mine) + row(1, user="bob", comment=comment(identity(1))) * 99_500)
    memory = Memory()
    first = join(snapshot(table, runs), NOW, memory)
    assert len(first.run_of_job) == 500
    started = time.thread_time()
    join(first, NOW + 10, memory)
    assert time.thread_time() - started < 0.5
