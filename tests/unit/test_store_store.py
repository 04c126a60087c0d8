"""The store with sources that a test answers for."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
import time
from typing import TYPE_CHECKING, Any, cast

import msgspec
import psutil
import pytest

from slurmtui.control.run_folder import create
from slurmtui.errors import CommandError, PrefectError, PrefectUnreachable
from slurmtui.models.config import Config, SlurmConfig
from slurmtui.models.flow_run import FlowRun, TaskCounts, TaskRun
from slurmtui.models.job import EndedJob
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.marks import comment, job_name
from slurmtui.models.run_record import DriverRecord, RunSpec, Submission
from slurmtui.sources.processes import host_name
from slurmtui.sources.run_folder import folder_of
from slurmtui.store import reduce
from slurmtui.store.feeds import Feeds
from slurmtui.store.link import join
from slurmtui.store.once import gather
from slurmtui.store.snapshot import Snapshot
from slurmtui.store.store import Store
from tests.records import record_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from slurmtui.session import Session

RUN = "3f9a0154-0000-4000-8000-000000000001"
OTHER = "77770154-0000-4000-8000-000000000002"


def row(number: int, **fields: object) -> bytes:
    usual = {"id": number, "raw_id": number, "user": "me", "name": "x", "state": "RUNNING"}
    return record_of(QUEUE, usual, **fields)


def flow_run(run_id: str = RUN, state: str = "RUNNING", **fields: Any) -> FlowRun:
    now = time.time()
    fields = {"state_since": now - 600, "start": now - 600, "created": now - 601, **fields}
    return FlowRun(id=run_id, name=run_id[:4], flow_name="train", state_type=state, state_name=state.title(), **fields)


def write_driver(folder: Path, driver: DriverRecord) -> None:
    aside = folder / ".driver.json"
    aside.write_bytes(msgspec.json.encode(driver))
    aside.replace(folder / "driver.json")


class FakeSlurm:
    """A SLURM whose queue and accounting a test sets."""

    def __init__(self) -> None:
        self.table = JobTable.EMPTY
        self.error = ""
        self.accounting: dict[str, EndedJob] = {}
        self.asked_everyone: list[bool] = []
        self.asked_ended: list[tuple[str, ...]] = []
        self.hold: asyncio.Event | None = None

    async def queue(self, *, everyone: bool) -> JobTable:
        self.asked_everyone.append(everyone)
        if self.hold is not None:
            await self.hold.wait()
        if self.error:
            raise CommandError(self.error, argv=("squeue",), code=1)
        return self.table

    async def ended_jobs(self, ids: Sequence[str]) -> dict[str, EndedJob]:
        self.asked_ended.append(tuple(ids))
        return {job_id: self.accounting[job_id] for job_id in ids if job_id in self.accounting}


class FakePrefect:
    """A Prefect server whose runs a test sets."""

    class _Connection:
        api_url = "http://here/api"

    connection = _Connection()

    def __init__(self) -> None:
        self.runs: tuple[FlowRun, ...] = ()
        self.error = ""
        self.hidden: dict[str, FlowRun] = {}
        self.asked_task_runs: list[str] = []
        self.asked_counts: list[set[str]] = []
        self.hold: asyncio.Event | None = None

    async def flow_runs(self, *, since: float | None = None, limit: int = 1000) -> tuple[tuple[FlowRun, ...], bool]:
        del since, limit
        if self.hold is not None:
            await self.hold.wait()
        if self.error:
            raise PrefectUnreachable(self.error)
        return self.runs, False

    async def flow_run(self, run_id: str) -> FlowRun:
        if run_id not in self.hidden:
            raise PrefectError("Flow run not found", status=404)
        return self.hidden[run_id]

    async def find_flow_runs(self, id_prefix: str) -> tuple[FlowRun, ...]:
        return tuple(run for run in self.hidden.values() if run.id.startswith(id_prefix))

    async def task_counts(self, runs: Sequence[FlowRun], limit: int | None = None) -> dict[str, TaskCounts]:
        del limit
        self.asked_counts.append({run.id for run in runs})
        return {run.id: TaskCounts(completed=3, running=1) for run in runs}

    async def task_runs(self, run_id: str) -> tuple[TaskRun, ...]:
        self.asked_task_runs.append(run_id)
        return (TaskRun(id="t", name="fit", flow_run_id=run_id, state_type="RUNNING"),)


class FakeSession:
    def __init__(self) -> None:
        self.user = "me"
        self.config = Config(slurm=SlurmConfig(poll_seconds=0.05, floor_seconds=0.02))
        self.slurm = FakeSlurm()
        self.prefect: FakePrefect | None = FakePrefect()
        self.connection = None


class Watching:
    """A store that runs, and the snapshots it published."""

    def __init__(self, session: FakeSession) -> None:
        self.session = session
        self.store = Store(cast("Session", session))
        self.published: list[Snapshot] = []
        self.store.subscribe(self.published.append)

    async def until(self, condition: Callable[[Snapshot], object], seconds: float = 30) -> Snapshot:
        """The first published snapshot that fulfils ``condition``."""
        deadline, seen = time.monotonic() + seconds, 0
        while time.monotonic() < deadline:
            for snapshot in self.published[seen:]:
                seen += 1
                if condition(snapshot):
                    return snapshot
            await asyncio.sleep(0.01)
        pytest.fail(f"no snapshot was so; the last: {self.published[-1:]}")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    for name in ("PREFECT_API_URL", "PREFECT_API_AUTH_STRING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    return FakeSession()


@pytest.fixture
async def watching(session: FakeSession) -> AsyncIterator[Watching]:
    found = Watching(session)
    yield found
    await found.store.stop()


def prefect_of(session: FakeSession) -> FakePrefect:
    assert session.prefect is not None
    return session.prefect


def record_run(run_id: str = RUN, *, pid: int, job_ids: tuple[str, ...] = (), created_ago: float = 600) -> None:
    """A run folder as a driver leaves it."""
    now = time.time()
    spec = RunSpec(
        id=run_id, name="x", flow_name="train", entrypoint="/f.py:f", created=now - created_ago,
        job_name=job_name("train", run_id), comment=comment(run_id), python="/usr/bin/python3",
    )  # fmt: skip
    create(spec)
    folder = folder_of(run_id)
    write_driver(folder, DriverRecord(host=host_name(), pid=pid, pid_started=1.0, started=now - created_ago + 1))
    lines = (msgspec.json.encode(Submission(time=now - 500, code=0, job_id=job_id)) + b"\n" for job_id in job_ids)
    (folder / "submissions.jsonl").write_bytes(b"".join(lines))


async def test_the_queue_is_on_screen_before_prefect_answers(watching: Watching) -> None:
    prefect_of(watching.session).hold = asyncio.Event()
    watching.session.slurm.table = JobTable(row(1))
    watching.store.start()
    first = await watching.until(lambda snapshot: len(snapshot.queue.data))
    assert first.flow_runs.at is None


async def test_the_first_jobs_stay_until_the_queue_is_whole_and_nothing_is_judged_by_them(watching: Watching) -> None:
    slurm, prefect = watching.session.slurm, prefect_of(watching.session)
    slurm.hold, prefect.hold = asyncio.Event(), asyncio.Event()
    prefect.runs = (flow_run(),)
    slurm.table = JobTable(row(1, comment=comment(RUN)) + row(2))
    watching.store.start()
    watching.store.show_first_jobs(JobTable(row(1, comment=comment(RUN))), everyone=True)
    prefect.hold.set()
    before = await watching.until(lambda snapshot: snapshot.runs)
    assert (len(before.jobs_to_show), before.everyone, before.queue.at) == (1, True, None)
    assert not before.run_of_job
    slurm.hold.set()
    whole = await watching.until(lambda snapshot: snapshot.queue.at is not None and snapshot.run_of_job)
    assert (len(whole.jobs_to_show), len(whole.first_jobs), whole.everyone) == (2, 0, False)
    watching.store.show_first_jobs(JobTable(row(1)), everyone=True)
    assert len(watching.store.snapshot.jobs_to_show) == 2


async def test_runs_are_joined_with_their_jobs_and_counted(watching: Watching) -> None:
    prefect_of(watching.session).runs = (flow_run(),)
    watching.session.slurm.table = JobTable(row(1, comment=comment(RUN)))
    watching.store.start()
    found = await watching.until(
        lambda snapshot: snapshot.runs and snapshot.runs[0].tasks and snapshot.runs[0].verdict.text == "running, 1 job"
    )
    assert found.run_of_job == {"1": RUN}
    assert found.runs[0].tasks == TaskCounts(completed=3, running=1)


async def test_a_source_that_fails_keeps_its_last_data_with_the_error_and_since_when(watching: Watching) -> None:
    watching.session.slurm.table = JobTable(row(1))
    watching.store.start()
    await watching.until(lambda snapshot: len(snapshot.queue.data))
    watching.session.slurm.error = "Unable to contact slurm controller"
    failing = await watching.until(lambda snapshot: snapshot.queue.error)
    assert len(failing.queue.data) == 1
    assert failing.queue.error == "Unable to contact slurm controller"
    assert failing.queue.failing_since is not None
    watching.session.slurm.error = ""
    watching.store.kick("queue")
    healed = await watching.until(lambda snapshot: snapshot.queue.at != failing.queue.at and not snapshot.queue.error)
    assert healed.queue.failing_since is None


async def test_without_a_server_the_sentence_says_how_to_get_one(watching: Watching) -> None:
    watching.session.prefect = None
    watching.store.start()
    found = await watching.until(lambda snapshot: snapshot.flow_runs.error)
    assert "slurmtui server start" in found.flow_runs.error


async def test_everyones_jobs_when_they_are_wanted(watching: Watching) -> None:
    watching.store.start()
    await watching.until(lambda snapshot: snapshot.queue.at)
    watching.store.set_everyone(True)
    await watching.until(lambda snapshot: snapshot.everyone)
    assert watching.session.slurm.asked_everyone[0] is False
    assert watching.session.slurm.asked_everyone[-1] is True


async def test_an_overlay_shows_at_once_and_goes_by_itself(watching: Watching) -> None:
    watching.store.start()
    await watching.until(lambda snapshot: snapshot.queue.at)
    put = time.time()
    watching.store.overlay(RUN, "cancelling…", 0.2)
    assert watching.published[-1].overlay_text(RUN, put) == "cancelling…"
    watching.store.overlay(OTHER, "starting…", 60)
    await watching.until(lambda snapshot: not snapshot.overlays.get(RUN) and snapshot.overlays.get(OTHER))
    watching.store.overlay(OTHER, "", 0)
    assert not watching.published[-1].overlays


async def test_an_overlay_put_while_a_join_is_under_way_is_not_lost(
    watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way, go_on = threading.Event(), threading.Event()

    def slow_join(*arguments: Any) -> Snapshot:
        under_way.set()
        go_on.wait(30)
        return join(*arguments)

    monkeypatch.setattr("slurmtui.store.store.join", slow_join)
    watching.store.start()
    assert await asyncio.to_thread(under_way.wait, 30)
    watching.store.overlay(RUN, "cancelling…", 60)
    count = len(watching.published)
    go_on.set()
    await watching.until(lambda _snapshot: len(watching.published) > count)
    assert watching.published[count].overlay_text(RUN, time.time()) == "cancelling…"


async def test_task_runs_of_watched_runs_only(watching: Watching) -> None:
    prefect_of(watching.session).runs = (flow_run(), flow_run(OTHER))
    watching.store.start()
    watching.store.watch_runs([RUN])
    found = await watching.until(lambda snapshot: snapshot.task_runs.data)
    assert set(found.task_runs.data) == {RUN}
    watching.store.watch_runs([OTHER])
    await watching.until(lambda snapshot: set(snapshot.task_runs.data) == {OTHER})


async def test_accounting_is_asked_once_for_the_jobs_of_a_failed_run(watching: Watching) -> None:
    record_run(pid=99_999_999, job_ids=("5", "6"))
    message = "Flow run encountered an exception: KilledWorker: fit"
    prefect_of(watching.session).runs = (flow_run(state="FAILED", state_message=message), flow_run(OTHER, "COMPLETED"))
    watching.session.slurm.accounting = {
        "5": EndedJob(id="5", state="OUT_OF_MEMORY", max_rss=100, requested_memory=100, end=time.time()),
        "6": EndedJob(id="6", state="CANCELLED", end=time.time()),
    }
    watching.store.start()
    found = await watching.until(lambda snapshot: any(view.verdict.kind == "out-of-memory" for view in snapshot.runs))
    assert (
        next(view for view in found.runs if view.run.id == RUN).verdict.text
        == "out of memory: job 5 used 100 of 100 MB"
    )
    rounds = len(watching.session.slurm.asked_everyone)
    await watching.until(lambda _snapshot: len(watching.session.slurm.asked_everyone) > rounds + 3)
    assert watching.session.slurm.asked_ended == [("5", "6")]


async def test_a_driver_that_was_killed_is_seen_and_prefect_is_asked_again_at_once(session: FakeSession) -> None:
    session.config = Config(slurm=SlurmConfig(poll_seconds=60, floor_seconds=0.02))
    watching = Watching(session)
    sleeper = await asyncio.create_subprocess_exec("sleep", "600")
    record_run(pid=sleeper.pid)
    folder = folder_of(RUN)
    started = psutil.Process(sleeper.pid).create_time()
    write_driver(folder, DriverRecord(host=host_name(), pid=sleeper.pid, pid_started=started, started=time.time() - 60))
    prefect_of(watching.session).runs = (flow_run(),)
    watching.store.start()
    await watching.until(lambda snapshot: snapshot.runs and snapshot.runs[0].verdict.kind == "running")
    sleeper.kill()
    await sleeper.wait()
    gone = await watching.until(lambda snapshot: snapshot.runs and snapshot.runs[0].verdict.kind == "driver-gone")
    assert gone.runs[0].verdict.text == f"driver gone ({host_name()})"
    await watching.store.stop()


async def test_a_recorded_run_that_prefect_lists_no_more_is_sought_by_its_id(watching: Watching) -> None:
    record_run(pid=99_999_999)
    record_run(OTHER, pid=99_999_999)
    watching.session.slurm.table = JobTable(row(1, comment=comment(RUN)) + row(2, comment=comment(OTHER)))
    prefect_of(watching.session).hidden = {OTHER: flow_run(OTHER, "COMPLETED")}
    watching.store.start()
    found = await watching.until(lambda snapshot: len(snapshot.runs) == 2)
    assert {view.run.id: view.verdict.kind for view in found.runs} == {RUN: "unknown", OTHER: "done"}


async def test_a_subscriber_that_fails_takes_the_picture_from_nobody(
    session: FakeSession, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(cast("Session", session))

    def fail(_snapshot: Snapshot) -> None:
        raise ValueError("a view is broken")

    published: list[Snapshot] = []
    store.subscribe(fail)
    store.subscribe(published.append)
    store.overlay(RUN, "x", 60)
    assert len(published) == 1
    assert "a view is broken" in caplog.text
    await store.stop()


async def test_a_fault_in_the_join_is_shown_and_the_next_answer_tried(
    watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("slurmtui.store.store.join", lambda *_: 1 / 0)
        watching.store.start()
        await watching.until(lambda snapshot: "ZeroDivisionError" in snapshot.records.error)
    watching.store.kick()
    await watching.until(lambda snapshot: snapshot.queue.at and not snapshot.records.error)


async def test_a_long_join_does_not_hold_up_the_keys(watching: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    joining, beats, late = threading.Event(), 0, list[bool]()
    enough = threading.Event()

    def slow_join(*arguments: Any) -> Snapshot:
        joining.set()
        late.append(not enough.wait(30))
        return join(*arguments)

    monkeypatch.setattr("slurmtui.store.store.join", slow_join)
    watching.store.start()
    assert await asyncio.to_thread(joining.wait, 30)
    while beats < 10:  # what goes on in the event loop while the join is at work
        await asyncio.sleep(0.005)
        beats += 1
    enough.set()
    await watching.until(lambda snapshot: snapshot.queue.at)
    assert not any(late), "the join was over before the event loop could go on"


async def test_accounting_is_asked_again_for_a_job_it_does_not_know_yet_ever_more_seldom(
    session: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeds, now, asked = Feeds(cast("Session", session)), 1000.0, list[float]()
    monkeypatch.setattr("slurmtui.store.feeds.time.monotonic", lambda: now)
    while now < 5000:
        if feeds.due(["5"]):
            asked.append(now)
            await feeds.ended(["5"])
        now += 1
    gaps = [later - earlier for earlier, later in itertools.pairwise(asked)]
    assert len(asked) == 6
    assert gaps == sorted(gaps)
    assert gaps[-1] > 100


def test_an_answer_that_says_the_same_stays_the_same_object() -> None:
    first = reduce.queue_answered(Snapshot(), JobTable(row(1)), everyone=False, at=1, seconds=0)
    again = reduce.queue_answered(first, JobTable(row(1)), everyone=False, at=2, seconds=0)
    assert again.queue.data is first.queue.data
    assert again.queue.at == 2
    other = reduce.queue_answered(again, JobTable(row(2)), everyone=False, at=3, seconds=0)
    assert other.queue.data is not first.queue.data


async def test_once_asks_everything_and_says_what_failed(session: FakeSession) -> None:
    record_run(pid=99_999_999, job_ids=("5",))
    prefect_of(session).runs = (flow_run(),)
    session.slurm.error = "connect failure"
    found = await gather(cast("Session", session))
    assert found.queue.error == "connect failure"
    assert [view.verdict.kind for view in found.runs] == ["driver-gone"]
    prefect_of(session).error = "refused"
    found = await gather(cast("Session", session), since=time.time() - 3600)
    assert found.flow_runs.error == "refused"
    assert [view.verdict.kind for view in found.runs] == ["unknown"]


async def test_once_finds_an_old_run_by_the_beginning_of_its_id(session: FakeSession) -> None:
    prefect_of(session).hidden = {RUN: flow_run(state="COMPLETED")}
    assert not (await gather(cast("Session", session))).runs
    found = await gather(cast("Session", session), ids=["3f9a"])
    assert [view.run.id for view in found.runs] == [RUN]


async def test_once_sees_a_run_that_lost_its_jobs(session: FakeSession) -> None:
    record_run(pid=os.getpid(), job_ids=("5",))
    write_driver(
        folder_of(RUN),
        DriverRecord(
            host=host_name(), pid=os.getpid(), pid_started=psutil.Process().create_time(), started=time.time() - 590
        ),
    )
    prefect_of(session).runs = (flow_run(),)
    session.slurm.accounting = {"5": EndedJob(id="5", state="CANCELLED", end=time.time() - 100)}
    found = await gather(cast("Session", session))
    assert found.runs[0].verdict.text == "lost: no jobs left, 1 task waiting"
    assert session.slurm.asked_ended == [("5",)]
