"""What is told of a run while Prefect cannot be asked: its times are those that its drivers wrote down."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.models.job_table import JobTable
from slurmtui.models.run_record import DriverRecord, DriverStatus, LaunchRecord, RunRecord, RunSpec
from slurmtui.store.link import join
from slurmtui.store.recorded import recorded_run
from slurmtui.store.snapshot import Part, Snapshot
from slurmtui.verbs.runs import facts
from slurmtui.verbs.runs_table import print_runs
from slurmtui.verbs.table import DASH
from slurmtui.views.runs.timeline import timeline

if TYPE_CHECKING:
    from slurmtui.models.run_view import RunView

NOW = time.mktime((2026, 3, 5, 14, 0, 0, 0, 0, -1))
RUN = "5d1f0b6a-0000-4000-8000-00000000002a"


def attempt(number: int, started: float, ended: float | None) -> DriverRecord:
    return DriverRecord(
        host="login02", pid=7, pid_started=1, attempt=number, started=NOW + started,
        ended=None if ended is None else NOW + ended,
    )  # fmt: skip


def record(driver: DriverRecord | None, *attempts: DriverRecord, launch: LaunchRecord | None = None) -> RunRecord:
    spec = RunSpec(id=RUN, name="brave-otter", flow_name="train", entrypoint="/f.py:train", created=NOW - 9500)
    return RunRecord(spec=spec, folder="/x", driver=driver, attempts=attempts, launch=launch)


def seen(found: RunRecord, driver: DriverStatus) -> RunView:
    snapshot = Snapshot(
        user="me",
        queue=Part(JobTable.EMPTY, at=NOW),
        flow_runs=Part((), error="connection refused", failing_since=NOW),
        records=Part({RUN: found}, at=NOW),
        drivers={RUN: driver},
    )
    (view,) = join(snapshot, NOW).runs
    return view


FIRST, SECOND = attempt(1, -9000, -8400), attempt(2, -4000, -3940)
OPEN, AGAIN = attempt(1, -9000, None), attempt(2, -4000, None)
LAUNCH = LaunchRecord(host="login02", time=NOW - 20, attempt=2, pid=9)

CASES: dict[str, tuple[RunRecord, DriverStatus, str, float | None, float | None, float | None]] = {
    "ended": (record(FIRST, FIRST), DriverStatus.ENDED, "10m", 600, -9000, -8400),
    "ended, of attempts.jsonl nothing is left": (record(FIRST), DriverStatus.ENDED, "10m", 600, -9000, -8400),
    "both attempts ended": (record(SECOND, FIRST, SECOND), DriverStatus.ENDED, "11m", 660, -9000, -3940),
    "an earlier driver never told its end": (record(SECOND, SECOND), DriverStatus.ENDED, DASH, None, -4000, -3940),
    "alive": (record(OPEN), DriverStatus.ALIVE, "2h30", 9000, -9000, None),
    "alive again": (record(AGAIN, FIRST), DriverStatus.ALIVE, "1h16", 4600, -9000, None),
    "gone": (record(OPEN), DriverStatus.GONE, DASH, None, -9000, None),
    "not to be looked at": (record(OPEN), DriverStatus.ELSEWHERE, DASH, None, -9000, None),
    "gone between two attempts": (record(OPEN, FIRST), DriverStatus.GONE, "10m", 600, -9000, None),
    "starting again": (record(FIRST, FIRST, launch=LAUNCH), DriverStatus.STARTING, "10m", 600, -9000, None),
    "never began": (record(None), DriverStatus.GONE, DASH, None, None, None),
}  # fmt: skip


@pytest.mark.parametrize(("found", "driver", "told", "lasted", "started", "ended"), CASES.values(), ids=CASES.keys())
def test_with_prefect_down_the_time_is_that_of_the_drivers_and_goes_on_only_with_a_living_one(  # noqa: PLR0917
    found: RunRecord,
    driver: DriverStatus,
    told: str,
    lasted: float | None,
    started: float | None,
    ended: float | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    view = seen(found, driver)
    assert view.run.lasted(NOW) == lasted
    later = view.run.lasted(NOW + 500)
    assert later == (lasted + 500 if lasted is not None and driver is DriverStatus.ALIVE else lasted)
    print_runs([view], NOW, with_jobs=False)
    assert capsys.readouterr().out.split()[-1] == told
    times: dict[str, Any] = facts(view)
    assert [None if times[name] is None else datetime.fromisoformat(times[name]).timestamp() - NOW
            for name in ("started", "ended")] == [started, ended]  # fmt: skip


@pytest.mark.parametrize(
    ("newest", "driver", "over"), [(FIRST, DriverStatus.ENDED, True), (OPEN, DriverStatus.ALIVE, False)]
)
def test_with_prefect_down_a_run_whose_driver_has_ended_is_over(
    newest: DriverRecord,
    driver: DriverStatus,
    over: bool,  # noqa: FBT001 - what is expected
) -> None:
    assert seen(record(newest, FIRST), driver).run.over is over


def test_the_timeline_of_an_ended_run_ends_with_it() -> None:
    ended, gone = seen(record(FIRST, FIRST), DriverStatus.ENDED), seen(record(OPEN), DriverStatus.GONE)
    assert [timeline(view, (), (), NOW)[1][-1][0].strip() for view in (ended, gone)] == ["10m", DASH]


def test_a_clock_that_was_set_back_makes_no_negative_time() -> None:
    assert recorded_run(record(attempt(1, -100, -160)), DriverStatus.ENDED).lasted(NOW) == 0
