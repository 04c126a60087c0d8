"""Verdicts: for each situation of a run, what a person is told."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from slurmtui.models.flow_run import FlowRun, TaskCounts, TaskRun
from slurmtui.models.job import EndedJob, Job
from slurmtui.models.profile import Adapt, Profile
from slurmtui.models.run_record import (
    CancelRequest,
    DriverRecord,
    DriverStatus,
    LaunchRecord,
    MemoryKills,
    RunRecord,
    RunSpec,
    Submission,
)
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.store.facts import Facts, Source
from slurmtui.store.verdict import judge, settled

NOW = 1_800_000_000.0
RUN = "3f9a0154-0000-4000-8000-000000000001"
BEGAN = NOW - 600
FIXED = Profile(name="gpu", workers=4)
ADAPTIVE = Profile(name="gpu", adapt=Adapt(maximum=4))
GOOD = Source(asked=NOW - 1)


def run(state: str = "RUNNING", **changes: Any) -> FlowRun:
    since = changes.pop("state_since", NOW - 590)
    name = changes.pop("state_name", state.capitalize())
    return FlowRun(
        id=RUN,
        name="brave-otter",
        flow_name="train",
        state_type=state,
        state_name=name,
        state_since=since,
        run_count=1,
        created=BEGAN - 5,
        start=BEGAN,
        **changes,
    )


def call(job_id: str | None, ago: float = 580, said: str = "", **changes: Any) -> Submission:
    return Submission(time=NOW - ago, code=0 if job_id else 1, job_id=job_id, said=said, **changes)


def record(*calls: Submission, profile: Profile | None = FIXED, **changes: Any) -> RunRecord:
    driver = DriverRecord(host="login02", pid=4711, pid_started=BEGAN, started=BEGAN)
    fields: dict[str, Any] = {"driver": driver, "submissions": calls, **changes}
    spec = RunSpec(
        id=RUN,
        name="brave-otter",
        flow_name="train",
        entrypoint="/f.py:train",
        profile=profile,
        created=BEGAN - 5,
        api_url="http://here/api",
    )
    return RunRecord(spec=spec, folder="/runs/x", **fields)


def job(job_id: str, state: str = "RUNNING", **changes: Any) -> Job:
    return Job(id=job_id, raw_id=int(job_id), name="train-3f9a0154", user="me", state=state, **changes)


def ended(job_id: str, state: str, **changes: Any) -> EndedJob:
    return EndedJob(id=job_id, state=state, end=changes.pop("end", NOW - 200), **changes)


def facts(flow_run: FlowRun | None = None, **changes: Any) -> Facts:
    fields: dict[str, Any] = {
        "now": NOW,
        "run": flow_run or run(),
        "record": record(),
        "driver": DriverStatus.ALIVE,
        "queue": GOOD,
        "prefect": GOOD,
        "api_url": "http://here/api",
        **changes,
    }
    return Facts(**fields)


FOUR = tuple(call(str(number)) for number in (1, 2, 3, 4))
TAKES_PROFILE = DriverRecord(host="login02", pid=4711, pid_started=BEGAN, started=BEGAN, uses_profile=True)
REFUSAL = "sbatch: error: Batch job submission failed:"
REFUSED = call(None, said=f"{REFUSAL} Invalid account or account/partition combination")
AGAIN = LaunchRecord(host="h", time=NOW - 2, attempt=2)
FAILED_TASK = TaskRun(
    id="t", name="fit", state_type="FAILED", state_message="Task run encountered an exception KeyError: 'x'"
)
WAITING = TaskCounts(completed=5, running=12)
KILLED = run("FAILED", state_message="Flow run encountered an exception: KilledWorker: fit-30", end=NOW - 100)
CRASHED = run("CRASHED", state_message="Execution was aborted by a termination signal.", end=NOW - 100)
CANCELLING = run("CANCELLING", state_since=NOW - 5)
CANCELLED = run("CANCELLED", state_since=NOW - 100, end=NOW - 100)
JOB_DRIVER = LaunchRecord(host="login02", time=BEGAN, job_id="9")
PENDING = dict(state="PENDING", reason="Resources")  # noqa: C408

CASES: dict[str, tuple[Facts, str, str]] = {
    # The run goes on.
    "only the driver works": (facts(), "running", "running"),
    "all four workers": (
        facts(record=record(*FOUR), jobs=tuple(job(str(n)) for n in (1, 2, 3, 4))), "running", "running, 4 workers",
    ),
    "three of four in the queue": (
        facts(record=record(*FOUR), jobs=(job("1"), job("2"), job("3"), job("4", **PENDING))),
        "running", "running, 3 of 4 workers",
    ),
    "one of the four is gone": (
        facts(record=record(*FOUR), jobs=(job("1"), job("2"), job("3"))), "running", "running, 3 of 4 workers",
    ),
    "adaptive": (
        facts(record=record(*FOUR, profile=ADAPTIVE), jobs=(job("1"), job("2", **PENDING))),
        "running", "running, 1 of 2 workers",
    ),
    "batch jobs are jobs": (
        facts(record=record(call("1", by="batch_job")), jobs=(job("1"),)), "running", "running, 1 job",
    ),
    "a flow that slurmtui did not start": (
        facts(record=None, driver=DriverStatus.NONE, jobs=(job("1"), job("2"))), "running", "running, 2 jobs",
    ),
    "driver on another host, jobs seen": (
        facts(record=record(*FOUR), driver=DriverStatus.ELSEWHERE, jobs=(job("1"),)),
        "running", "running, 1 of 4 workers",
    ),
    "driver on another host, nothing else": (
        facts(driver=DriverStatus.ELSEWHERE), "driver-elsewhere", "running, driver on login02",
    ),
    "its first job was made after squeue was asked": (
        facts(record=record(call("1", ago=0.5), profile=ADAPTIVE)), "running", "running, no jobs yet",
    ),
    "it will make jobs, and has not": (facts(record=record(driver=TAKES_PROFILE)), "running", "running, no jobs yet"),
    "an adaptive cluster rests": (
        facts(record=record(*FOUR, profile=ADAPTIVE), jobs_seen=NOW - 20), "running", "running, no jobs left",
    ),
    # It waits.
    "resources": (
        facts(record=record(*FOUR), jobs=(job("1", **PENDING),)), "waiting", "waiting for SLURM: Resources",
    ),
    "a limit, in words": (
        facts(record=record(*FOUR), jobs=(job("1", state="PENDING", reason="QOSMaxCpuPerUserLimit"),)),
        "waiting", "waiting for SLURM: the QOS's CPU limit per user (QOSMaxCpuPerUserLimit)",
    ),
    "no reason yet": (
        facts(record=record(*FOUR), jobs=(job("1", state="PENDING", reason="None"),)),
        "waiting", "waiting for SLURM: not looked at by the scheduler yet",
    ),
    "nodes are starting": (
        facts(record=record(*FOUR), jobs=(job("1", state="CONFIGURING"),)),
        "waiting", "waiting for SLURM: its nodes are starting",
    ),
    "the driver itself is a waiting job": (
        facts(
            run("PENDING"), record=record(driver=None, launch=JOB_DRIVER, driver_job_id="9"),
            driver=DriverStatus.STARTING, jobs=(job("9", state="PENDING", reason="Priority"),),
        ),
        "waiting", "driver waiting for SLURM: Priority",
    ),
    "the driver starts": (facts(run("PENDING"), driver=DriverStatus.STARTING), "starting", "starting"),
    "paused": (facts(run("PAUSED", state_name="Suspended"), driver=DriverStatus.ENDED), "paused", "suspended"),
    "late": (
        facts(run("SCHEDULED", state_name="Late"), record=None, driver=DriverStatus.NONE),
        "scheduled", "late: due, nobody has started it",
    ),
    # It will never go on by itself.
    "refused": (
        facts(record=record(REFUSED)),
        "sbatch-refused", "sbatch refused: Invalid account or account/partition combination",
    ),
    "no job left, tasks running": (
        facts(record=record(*FOUR), tasks=WAITING, jobs_seen=NOW - 60), "lost", "lost: no jobs left, 12 tasks waiting",
    ),
    "no job left, tasks running, time limit": (
        facts(record=record(*FOUR), tasks=WAITING, ended=(ended("1", "TIMEOUT"), ended("2", "CANCELLED"))),
        "lost", "lost: no jobs left, 12 tasks waiting (time limit)",
    ),
    "no job left, ended by their time limit, no task known": (
        facts(
            record=record(*FOUR), tasks=TaskCounts(completed=5),
            ended=tuple(ended(str(n), "TIMEOUT", elapsed=1800) for n in (1, 2, 3, 4)),
        ),
        "lost", "lost: no jobs left, time limit: job 4 after 30 min",
    ),
    "driver gone": (facts(driver=DriverStatus.GONE), "driver-gone", "driver gone (login02)"),
    "driver gone, jobs alive": (
        facts(record=record(*FOUR), driver=DriverStatus.GONE, jobs=(job("1"), job("2"))),
        "driver-gone", "driver gone (login02), 2 jobs alive",
    ),
    "driver's job ended by SLURM": (
        facts(
            record=record(driver_job_id="9"), driver=DriverStatus.GONE, ended=(ended("9", "TIMEOUT", time_limit=3600),)
        ),
        "driver-gone", "driver gone (time limit: job 9 after 1 h 00 min)",
    ),
    "driver ended, Prefect was never told": (
        facts(
            record=record(driver=DriverRecord(host="h", pid=1, pid_started=1, started=BEGAN, ended=NOW - 100)),
            driver=DriverStatus.ENDED,
        ),
        "driver-gone", "driver ended, but Prefect says Running",
    ),
    # Cancelling.
    "cancelling": (facts(CANCELLING), "cancelling", "cancelling"),
    "cancel asked, Prefect not told yet": (
        facts(record=record(cancel=CancelRequest(time=NOW - 2))), "cancelling", "cancelling",
    ),
    "a request of an earlier attempt": (
        facts(record=record(cancel=CancelRequest(time=BEGAN - 100))), "running", "running",
    ),
    "stuck": (
        facts(run("CANCELLING", state_since=NOW - 300), record=record(*FOUR), jobs=(job("1"), job("2"))),
        "cancel-stuck", "cancelling for 5 min, driver alive, 2 jobs alive",
    ),
    "stuck, nothing left": (
        facts(run("CANCELLING", state_since=NOW - 300), driver=DriverStatus.GONE),
        "cancel-stuck", "cancelling for 5 min, though nothing of it is left",
    ),
    # Ended.
    "done": (facts(run("COMPLETED", end=NOW - 100), driver=DriverStatus.ENDED), "done", "done"),
    "cancelled": (facts(CANCELLED, driver=DriverStatus.ENDED), "cancelled", "cancelled"),
    "cancelled, jobs alive": (
        facts(CANCELLED, record=record(*FOUR), driver=DriverStatus.ENDED, jobs=(job("1"), job("2"))),
        "cancelled-jobs-alive", "cancelled, but 2 jobs alive",
    ),
    "cancelled, jobs on their way out": (
        facts(CANCELLED, record=record(*FOUR), jobs=(job("1", state="COMPLETING"),), driver=DriverStatus.ENDED),
        "cancelled", "cancelled",
    ),
    "cancelled, the driver goes on": (
        facts(CANCELLED), "cancelled-driver-alive", "cancelled, but its driver is alive",
    ),
    "done, jobs alive": (
        facts(run("COMPLETED", state_since=NOW - 90), record=record(*FOUR), jobs=(job("1"),)),
        "done", "1 job alive after the end; done",
    ),
    "a fault of the code": (
        facts(
            run("FAILED", state_message="Flow run encountered an exception: Traceback\n  x\nValueError: boom"),
            driver=DriverStatus.ENDED,
        ),
        "failed", "failed: ValueError: boom",
    ),
    "failed without a word": (facts(run("FAILED"), driver=DriverStatus.ENDED), "failed", "failed"),
    "tasks failed": (
        facts(
            run("FAILED", state_message="1/4 states failed."),
            task_runs=(FAILED_TASK,),
        ),
        "failed", "failed: KeyError: 'x'",
    ),
    "crashed": (
        facts(CRASHED, driver=DriverStatus.ENDED), "crashed", "crashed: Execution was aborted by a termination signal.",
    ),
    "out of memory": (
        facts(KILLED, record=record(*FOUR), ended=(
            ended("1", "CANCELLED"), ended("2", "OUT_OF_MEMORY", max_rss=16282.0, requested_memory=16384.0),
        )),
        "out-of-memory", "out of memory: job 2 used 15.9 of 16 GB",
    ),
    "time limit": (
        facts(KILLED, record=record(*FOUR), ended=(ended("1", "TIMEOUT", time_limit=1800),)),
        "time-limit", "time limit: job 1 after 30 min",
    ),
    "node failed": (
        facts(CRASHED, record=record(*FOUR), ended=(ended("1", "NODE_FAIL", nodes="gpu1"),)),
        "node-failed", "node failed: job 1 on gpu1",
    ),
    "preempted": (
        facts(KILLED, record=record(*FOUR), ended=(ended("1", "PREEMPTED", nodes="n1"),)),
        "preempted", "preempted: job 1 on n1",
    ),
    "workers reached their limit, the code failed": (
        facts(
            run("FAILED", state_message="Flow run encountered an exception: ValueError: boom"),
            record=record(*FOUR), ended=(ended("1", "TIMEOUT"),),
        ),
        "failed", "failed: ValueError: boom",
    ),
    "an earlier attempt ran out of memory": (
        facts(
            KILLED,
            record=record(
                call("1", attempt=1), call("2", attempt=2),
                driver=DriverRecord(host="h", pid=1, pid_started=1, attempt=2, started=BEGAN),
            ),
            driver=DriverStatus.ENDED,
            ended=(ended("1", "OUT_OF_MEMORY"), ended("2", "TIMEOUT", time_limit=60)),
        ),
        "time-limit", "time limit: job 2 after 1 min",
    ),
    "no accounting, but the batch job said it": (
        facts(run("FAILED", state_message="Task run encountered an exception: JobFailed: job 7 ended OUT_OF_MEMORY")),
        "out-of-memory", "out of memory",
    ),
    "ended since sbatch refused": (
        facts(run("FAILED", state_message=f"sbatch refused: sbatch: error: bad {REFUSAL} Invalid qos")),
        "sbatch-refused", "sbatch refused: Invalid qos",
    ),
    "a retry begins": (
        facts(KILLED, record=record(launch=AGAIN), driver=DriverStatus.STARTING),
        "starting", "starting again",
    ),
    # Sources that do not answer.
    "Prefect does not answer": (
        facts(FlowRun(id=RUN, name="x"), known=False, prefect=Source(error="connection refused")),
        "unknown", "unknown: Prefect does not answer",
    ),
    "Prefect does not know it": (
        facts(FlowRun(id=RUN, name="x"), known=False), "unknown", "unknown: Prefect does not know this run",
    ),
    "submitted after Prefect was asked": (
        facts(FlowRun(id=RUN, name="x", created=NOW), known=False), "starting", "starting",
    ),
    "SLURM does not answer": (
        facts(record=record(*FOUR), queue=Source(NOW - 300, "connect failure"), tasks=WAITING, jobs_seen=NOW - 300),
        "running", "running (SLURM does not answer)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_verdict(case: str) -> None:
    given, kind, text = CASES[case]
    verdict = judge(given)
    assert (verdict.kind, verdict.text) == (kind, text)
    assert verdict.evidence


LOUD = {
    "refused", "no job left, tasks running", "no job left, tasks running, time limit",
    "no job left, ended by their time limit, no task known", "driver gone",
    "driver gone, jobs alive", "driver's job ended by SLURM", "driver ended, Prefect was never told", "stuck",
    "stuck, nothing left", "cancelled, jobs alive", "cancelled, the driver goes on", "done, jobs alive",
    "Prefect does not know it",
}  # fmt: skip


def test_only_what_needs_a_person_is_loud() -> None:
    assert {case for case, (given, _, _) in CASES.items() if judge(given).needs_you} == LOUD


NOT_LOST: dict[str, Facts] = {
    "the last job was there a moment ago": facts(record=record(*FOUR), tasks=WAITING, jobs_seen=NOW - 20),
    "SLURM does not answer": facts(
        record=record(*FOUR), tasks=WAITING, jobs_seen=NOW - 300, queue=Source(NOW - 200, "time limit")
    ),
    "SLURM never answered": facts(record=record(*FOUR), tasks=WAITING, queue=Source(None, "time limit")),
    "SLURM was last asked when the jobs had just gone": facts(
        record=record(*FOUR), tasks=WAITING, jobs_seen=NOW - 300, queue=Source(NOW - 280)
    ),
    "Prefect was last asked when the jobs had just gone": facts(
        record=record(*FOUR), tasks=WAITING, jobs_seen=NOW - 300, prefect=Source(NOW - 280)
    ),
    "Prefect does not answer": facts(
        record=record(*FOUR), tasks=WAITING, jobs_seen=NOW - 300, prefect=Source(NOW - 100, "503")
    ),
    "no job was ever made": facts(tasks=WAITING),
    "only batch jobs": facts(record=record(call("1", by="batch_job")), tasks=WAITING, jobs_seen=NOW - 300),
    "an adaptive cluster rests": facts(
        record=record(*FOUR, profile=ADAPTIVE), tasks=TaskCounts(completed=9), jobs_seen=NOW - 500
    ),
    "an adaptive cluster will ask for jobs": facts(
        record=record(*FOUR, profile=ADAPTIVE), tasks=WAITING, jobs_seen=NOW - 60
    ),
    "the Dask part is over, nothing is left to do": facts(
        record=record(*FOUR), tasks=TaskCounts(completed=9), ended=(ended("1", "CANCELLED"),)
    ),
    "a task began after the last job ended": facts(
        record=record(*FOUR),
        tasks=TaskCounts(running=1),
        task_runs=(TaskRun(id="t", name="plot", state_type="RUNNING", start=NOW - 100),),
        ended=(ended("1", "CANCELLED"),),
    ),
    "a task began as the last job ended, in the driver perhaps": facts(
        record=record(call("1")),
        tasks=TaskCounts(running=1),
        task_runs=(TaskRun(id="t", name="plot", state_type="RUNNING", start=NOW - 199.5),),
        ended=(ended("1", "CANCELLED"),),
        jobs_seen=NOW - 150,
    ),
    "a task began after the last job ended, which stayed in the queue for a while": facts(
        record=record(call("1")),
        tasks=TaskCounts(running=1),
        task_runs=(TaskRun(id="t", name="plot", state_type="RUNNING", start=NOW - 190),),
        ended=(ended("1", "CANCELLED"),),
        jobs_seen=NOW - 150,
    ),
    "a batch job's task was told": facts(
        record=record(*FOUR), tasks=TaskCounts(failed=1), ended=(ended("1", "TIMEOUT", end=NOW - 300),)
    ),
    "jobs are only completing": facts(record=record(*FOUR), tasks=WAITING, jobs=(job("1", state="COMPLETING"),)),
    "one job waits": facts(record=record(*FOUR), tasks=WAITING, jobs=(job("1", **PENDING),)),
    "it is being cancelled": facts(CANCELLING, record=record(*FOUR), tasks=WAITING, jobs_seen=NOW - 300),
}


@pytest.mark.parametrize("case", NOT_LOST)
def test_not_lost(case: str) -> None:
    assert judge(NOT_LOST[case]).kind != "lost"


def test_tasks_that_began_before_the_last_job_ended_wait_for_it() -> None:
    given = facts(
        record=record(call("1")),
        tasks=TaskCounts(running=1),
        task_runs=(TaskRun(id="t", name="fit", state_type="RUNNING", start=NOW - 300),),
        ended=(ended("1", "CANCELLED"),),
    )
    assert judge(given).text == "lost: no jobs left, 1 task waiting"


def test_an_adaptive_cluster_without_jobs_is_lost_when_it_stays_so() -> None:
    given = facts(record=record(*FOUR, profile=ADAPTIVE), tasks=WAITING, jobs_seen=NOW - 200)
    assert judge(given).kind == "lost"


def test_a_driver_seen_gone_after_prefect_was_asked_is_not_yet_called_gone() -> None:
    given = facts(driver=DriverStatus.GONE, driver_since=NOW - 0.5, prefect=Source(NOW - 1))
    assert judge(given).kind == "running"
    assert judge(msgspec.structs.replace(given, prefect=Source(NOW))).kind == "driver-gone"


def test_a_driver_that_has_ended_a_lost_run_is_ending_it_until_prefect_tells() -> None:
    driver = DriverRecord(host="h", pid=1, pid_started=1, started=BEGAN, ended=NOW - 1, outcome="FAILED")
    given = facts(
        record=record(*FOUR, driver=driver), driver=DriverStatus.ENDED, driver_since=NOW - 0.5, prefect=Source(NOW - 1),
        tasks=WAITING, jobs_seen=NOW - 60,
    )  # fmt: skip
    assert judge(given).text == "ending"


def test_a_pending_job_that_will_never_start_needs_a_person() -> None:
    verdict = judge(facts(record=record(*FOUR), jobs=(job("1", state="PENDING", reason="PartitionTimeLimit"),)))
    assert verdict.needs_you
    assert verdict.mood is Mood.LOST
    assert "more time than the partition allows" in verdict.text


def test_the_estimate_is_told_when_it_lies_ahead() -> None:
    def text(start: float) -> str:
        pending = job("1", state="PENDING", reason="Priority", start=start)
        return judge(facts(record=record(*FOUR), jobs=(pending,))).text

    assert "est. " in text(NOW + 60)
    assert "est. " not in text(NOW - 60)


def test_evidence_names_each_source() -> None:
    given = facts(
        KILLED,
        record=record(*FOUR, REFUSED, cancel=CancelRequest(time=NOW - 2, host="login01")),
        driver=DriverStatus.GONE,
        jobs=(job("3", state="PENDING", reason="Priority"),),
        ended=(ended("2", "OUT_OF_MEMORY", max_rss=1000.0, requested_memory=1000.0, nodes="gpu1", elapsed=120),),
        tasks=TaskCounts(completed=31, cached=12, running=2),
        accounting=Source(NOW),
    )
    told = " ".join(judge(given).evidence)
    for part in (
        "Prefect says Failed since",
        "process 4711 on login02, is gone",
        "1 pending (3: Priority)",
        "Job 2 ended OUT_OF_MEMORY after 2 min on gpu1, used 1000 of 1000 MB",
        "sbatch refused",
        "asked for at",
        "31 of 33 completed (12 reused), 2 running",
    ):
        assert part in told


KILLED_WORKER = (
    "Flow run encountered an exception: KilledWorker: Attempted to run task 'eat-6dd9c474805825af3ed00590a54300bf' on "
    "4 different workers, but all those workers died while running it. The last worker that attempt to run the task "
    "was tls://192.0.2.2:46549. Inspecting worker logs is often a good next step to diagnose what went wrong. For more "
    "information see https://distributed.dask.org/en/stable/killed.html."
)


def killed_workers(kills: MemoryKills | None, attempt: int = 1) -> Verdict:
    driver = DriverRecord(
        host="h", pid=1, pid_started=1, started=BEGAN, ended=NOW - 99, outcome="FAILED", message=KILLED_WORKER,
        memory_kills=kills, attempt=attempt,
    )  # fmt: skip
    return judge(
        facts(
            run("FAILED", state_message=KILLED_WORKER, end=NOW - 100),
            record=record(*FOUR, driver=driver),
            driver=DriverStatus.ENDED,
            ended=(ended("2", "CANCELLED"), ended("1", "NODE_FAIL", nodes="n1")),
        )
    )


def test_workers_that_dask_killed_for_their_memory_are_out_of_memory() -> None:
    kills = MemoryKills(times=4, percent=95, limit=1024.0, logs=("/runs/x/jobs/4.err", "/runs/x/jobs/5.err"))
    verdict = killed_workers(kills)
    assert verdict.kind == "out-of-memory"
    assert verdict.text == "out of memory: a worker used more than 95 % of its 1 GB"
    told = " ".join(verdict.evidence)
    assert "Dask killed a worker that used more than 95 % of its 1 GB, 4 times (told by /runs/x/jobs/4.err" in told
    assert told.count("Attempted to run task") == 1


def test_dasks_long_words_on_killed_workers_stand_there_once() -> None:
    given = facts(run("FAILED", state_message=KILLED_WORKER, end=NOW - 100), driver=DriverStatus.ENDED)
    verdict = judge(given)
    assert verdict.text == "failed: KilledWorker: 4 workers died while they ran eat"
    assert " ".join(verdict.evidence).count("Attempted to run task") == 1


def test_evidence_says_which_source_fails_and_why() -> None:
    given = facts(queue=Source(NOW - 300, "connect failure"), prefect=Source(NOW - 200, "HTTP 503"))
    told = " ".join(judge(given).evidence)
    assert "SLURM has not answered since" in told
    assert "connect failure" in told
    assert "Prefect has not answered since" in told
    assert "HTTP 503" in told


def test_nothing_from_outside_reaches_the_terminal_raw() -> None:
    nasty = "x\x1b[31m\n[/b]\x07"
    given = facts(
        run("FAILED", state_message=f"Flow run encountered an exception: {nasty}", state_name=nasty),
        record=record(call(None, said=nasty), driver=DriverRecord(host=nasty, pid=1, pid_started=1, started=BEGAN)),
        driver=DriverStatus.GONE,
        jobs=(job("1", state="PENDING", reason=nasty), job("2", nodes=nasty)),
        ended=(ended("3", "FAILED", nodes=nasty),),
        queue=Source(NOW, nasty),
    )
    for shown in (given, msgspec.structs.replace(given, run=run()), msgspec.structs.replace(given, known=False)):
        verdict = judge(shown)
        assert all(text.isprintable() for text in (verdict.text, *verdict.evidence))


def test_only_what_time_cannot_change_is_settled() -> None:
    assert settled(facts(run("COMPLETED", state_since=NOW - 1000)))
    assert not settled(facts(run("COMPLETED", state_since=NOW - 10)))
    assert not settled(facts(run("RUNNING", state_since=NOW - 1000)))


@pytest.mark.parametrize(
    ("state", "before", "told"),
    [
        ("COMPLETED", 5, "Job 1 was ended with its run"),
        ("COMPLETED", 300, "Job 1 ended CANCELLED"),  # by somebody, or by an adaptive cluster on the way
        ("RUNNING", 5, "Job 1 ended CANCELLED"),
    ],
)
def test_a_worker_that_its_driver_ended_is_not_told_as_cancelled_by_somebody(
    state: str, before: float, told: str
) -> None:
    given = facts(
        run(state, state_since=NOW - 100),
        record=record(*FOUR),
        driver=DriverStatus.ALIVE if state == "RUNNING" else DriverStatus.ENDED,
        ended=(ended("1", "CANCELLED", end=NOW - 100 - before),),
    )
    assert any(sentence.startswith(told) for sentence in judge(given).evidence)
