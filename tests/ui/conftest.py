"""The console on a hand-made picture: no SLURM, no Prefect, no clock that matters."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.app import SlurmtuiApp
from slurmtui.models.config import Config
from slurmtui.models.flow_run import FlowRun, TaskCounts, TaskRun
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import DriverRecord, DriverStatus, RunRecord, RunSpec
from slurmtui.models.run_view import RunView
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.session import Session
from slurmtui.sources.slurm.place import SlurmPlace
from slurmtui.store.snapshot import Overlay, Part, Snapshot
from slurmtui.store.store import Store
from tests.records import record_of
from tests.ui.seeing import screen_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    Make = Callable[..., "PaintedApp"]
    """Makes a painted console; see :func:`make_console`."""

BRAVE = "11111111-aaaa-4aaa-8aaa-000000000001"
AMBER = "22222222-aaaa-4aaa-8aaa-000000000002"


@pytest.fixture(autouse=True)
def _midday(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is about noon: no day ends during a test, which would be yesterday then."""
    monkeypatch.setenv("TZ", f"NOON{time.gmtime().tm_hour - 12:+d}")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def job_line(**fields: str) -> bytes:
    """One record as squeue prints it."""
    usual = {"user": "alice", "state": "RUNNING", "partition": "gpu", "node_count": "1", "cpus": "8"}
    return record_of(QUEUE, usual, **fields)


def job_table(lines: Iterable[bytes]) -> JobTable:
    return JobTable(b"".join(lines))


def some_jobs() -> JobTable:
    return job_table(
        [
            job_line(id="4711", raw_id="4711", name="train-11111111", nodes="gpu1", elapsed="18:00",
                     time_limit="2:00:00"),
            job_line(id="4714", raw_id="4714", name="train-11111111", state="PENDING", reason="Resources",
                     elapsed="0:00", time_limit="2:00:00"),
            job_line(id="5001_[0-99%5]", raw_id="5001", name="x[/y] [red]z", state="PENDING", reason="Priority"),
            job_line(id="5122", raw_id="5122", name="a\x1b]52;c;Zm9v\x07b|名前🙂", partition="debug", nodes="n1"),
        ]
    )  # fmt: skip


def run_view(
    run_id: str,
    name: str,
    verdict: Verdict,
    state: str,
    *,
    jobs: JobTable | None = None,
    tasks: TaskCounts | None = None,
    driver: DriverStatus = DriverStatus.ENDED,
) -> RunView:
    now = time.time()
    spec = RunSpec(
        id=run_id, name=name, flow_name="train", entrypoint="/home/alice/train.py:train", profile=Profile(name="gpu"),
        parameters={"lr": 0.1},
    )  # fmt: skip
    record = RunRecord(
        spec=spec, folder="/home/alice/run", driver=DriverRecord(host="login01", pid=31877, pid_started=1)
    )
    run = FlowRun(
        id=run_id, name=name, flow_name="train", state_type=state, state_name=state.title(), start=now - 1320,
        end=None if state == "RUNNING" else now - 60, parameters={"lr": 0.1}, run_count=1,
    )  # fmt: skip
    mine = tuple(job for job in jobs.jobs() if job.name.endswith(run_id[:8])) if jobs else ()
    return RunView(run=run, verdict=verdict, record=record, driver=driver, jobs=mine, tasks=tasks)


def some_snapshot() -> Snapshot:
    jobs, now = some_jobs(), time.time()
    brave = run_view(
        BRAVE, "brave-otter",
        Verdict(kind="running", text="running, 1 of 2 workers", mood=Mood.RUNNING, evidence=("Prefect says Running",)),
        "RUNNING", jobs=jobs, tasks=TaskCounts(completed=41, running=4, pending=7), driver=DriverStatus.ALIVE,
    )  # fmt: skip
    amber = run_view(
        AMBER, "amber-wolf",
        Verdict(
            kind="out-of-memory", text="out of memory: job 4690 used 15.9 of 16 GB", mood=Mood.FAILED, needs_you=True
        ),
        "FAILED", tasks=TaskCounts(completed=31, failed=1, pending=20),
    )  # fmt: skip
    tasks = {
        BRAVE: tuple(
            TaskRun(
                id=f"t{number}", name=f"fit-{number}", state_type="RUNNING", state_name="Running", attempt=1, start=now
            )
            for number in range(3)
        )
    }
    return Snapshot(
        user="alice",
        queue=Part(jobs, at=now),
        flow_runs=Part((brave.run, amber.run), at=now),
        task_runs=Part(tasks, at=now),
        runs=(brave, amber),
        run_of_job={"4711": BRAVE, "4714": BRAVE},
    )


class PaintedStore(Store):
    """A store that shows what a test paints, and remembers what it was asked for."""

    def __init__(self, session: Session, snapshot: Snapshot) -> None:
        super().__init__(session)
        self.snapshot = snapshot
        self.asked: list[tuple[str, Any]] = []
        self._callbacks: list[Callable[[Snapshot], None]] = []

    def paint(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        for callback in self._callbacks:
            callback(snapshot)

    def subscribe(self, callback: Callable[[Snapshot], None]) -> Callable[[], None]:
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def start(self) -> None:
        self.paint(self.snapshot)

    async def stop(self) -> None:
        self.asked.append(("stop", None))

    def kick(self, *names: Any) -> None:
        self.asked.append(("kick", names))

    def refresh(self) -> None:
        self.asked.append(("refresh", None))

    def watch_runs(self, ids: Iterable[str]) -> None:
        self.asked.append(("watch", set(ids)))

    def show_runs(self, ids: Iterable[str]) -> None:
        self.asked.append(("show", set(ids)))

    def set_everyone(self, everyone: bool) -> None:  # noqa: FBT001 - as in the store
        self.paint(msgspec.structs.replace(self.snapshot, everyone=everyone))

    def set_pace(self, pace: Any) -> None:
        self.asked.append(("pace", pace))

    def overlay_all(self, identifiers: Iterable[str], text: str, seconds: float) -> None:
        overlays = {**self.snapshot.overlays, **dict.fromkeys(identifiers, Overlay(text, time.time() + seconds))}
        self.paint(msgspec.structs.replace(self.snapshot, overlays=overlays))


class QuietPrefect:
    """A Prefect server that is there and says nothing."""

    async def request(self, _method: str, _path: str, _body: Any = None) -> list[Any]:
        return []

    async def close(self) -> None:
        """Nothing to close."""

    async def logs_before(self, *_: object) -> tuple[object, ...]:
        """No line."""
        return ()

    logs_from = logs_after = logs_before


class PaintedApp(SlurmtuiApp):
    """The console on a painted store."""

    store: PaintedStore

    def screen_text(self) -> str:
        """What a person sees, line by line."""
        return screen_text(self)


@pytest.fixture(autouse=True)
def _state_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the views remember belongs to one test alone."""
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))


@pytest.fixture(autouse=True)
def _no_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test does not paint is not asked of this machine's own SLURM either: no runner finds a program."""
    nowhere = {**os.environ, "PATH": str(tmp_path / "no-programs")}
    monkeypatch.setattr("slurmtui.sources.exec.unbent_environment", lambda: nowhere)


@pytest.fixture(autouse=True)
def _no_accounting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A painted console asks no SLURM how many tasks of an array have ended."""

    async def nothing(*_: Any) -> dict[str, dict[str, int]]:
        return {}

    monkeypatch.setattr("slurmtui.views.jobs.ended.ended_tallies", nothing)


@pytest.fixture
def make_console() -> Make:
    def make(snapshot: Snapshot | None = None, **options: Any) -> PaintedApp:
        session = Session(Config(profiles={"gpu": Profile(name="gpu")}), SlurmPlace(label="sandbox"), "alice")
        session._prefect = QuietPrefect()  # type: ignore[assignment]
        app = PaintedApp(session, **{"theme": "midnight", **options})
        app.store = PaintedStore(session, snapshot or some_snapshot())
        return app

    return make
