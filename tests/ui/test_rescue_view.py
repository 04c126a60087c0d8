"""The Rescue view as a person uses it: what is listed, what is asked before a repair, and that no means no."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.models.rescue import Case, Leftover, RepairReport
from slurmtui.models.server import ServerStatus
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.store.rescue import Beyond
from slurmtui.store.snapshot import Part
from slurmtui.widgets.agreement import DEAF_SECONDS
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from slurmtui.store.snapshot import Snapshot
    from tests.ui.conftest import Make, PaintedApp

LOCK = Leftover(kind="stale-lock", paths=("/s/runs/x/control.lock",), why="Its holder is gone.", run_id="abcdef12")


@pytest.fixture
def repaired(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was repaired, as (case, repair), in place of SLURM and Prefect."""
    done: list[tuple[str, str]] = []

    async def beyond(_session: Any, _snapshot: Any) -> Beyond:
        return Beyond(leftovers=(LOCK,))

    async def repair(_session: Any, case: Case, key: str, _progress: Any = None) -> RepairReport:
        done.append((case.kind, key))
        return RepairReport(ok=True, text="nothing of it is left")

    monkeypatch.setattr("slurmtui.views.rescue.screen.look_beyond", beyond)
    monkeypatch.setattr("slurmtui.store.rescue_look.look_beyond", beyond)
    monkeypatch.setattr("slurmtui.control.rescue.repair", repair)
    return done


@pytest.fixture
def snapshot(make_console: Make) -> Snapshot:
    """The hand-made picture, with its first run lost."""
    painted = make_console().store.snapshot
    stuck = Verdict(
        kind="cancel-stuck", text="cancelling for 9 min, 1 job alive", mood=Mood.LOST, needs_you=True,
        evidence=("Its end was asked for at 14:20.",),
    )  # fmt: skip
    runs = (msgspec.structs.replace(painted.runs[0], verdict=stuck), *painted.runs[1:])
    return msgspec.structs.replace(painted, runs=runs)


async def test_it_is_said_once_at_the_start_and_shown_with_its_evidence(
    make_console: Make, snapshot: Snapshot, repaired: list[tuple[str, str]]
) -> None:
    async with make_console(snapshot).run_test(size=(120, 30), notifications=True) as pilot:
        await see(pilot, "to rescue")
        await pilot.press("exclamation_mark")
        await see(pilot, "stale-lock")
        await see(pilot, "cancelling for 9 min")
        await pilot.press("enter")
        shown = await see(pilot, "Its end was asked for at 14:20.")
        assert "Finish the cancel" in shown
        assert not repaired


async def test_a_repair_is_asked_about_and_no_leaves_it(
    make_console: Make, snapshot: Snapshot, repaired: list[tuple[str, str]]
) -> None:
    async with make_console(snapshot).run_test(size=(120, 30), notifications=True) as pilot:
        await pilot.press("exclamation_mark")
        await see(pilot, "cancelling for 9 min")
        await pilot.press("R")
        shown = await see(pilot, "No, leave it")
        assert "scancel 4711 4714" in shown
        await pilot.pause(DEAF_SECONDS + 0.1)
        await pilot.press("escape")
        await pilot.pause(0.1)
        assert not repaired
        await pilot.press("R")
        await see(pilot, "No, leave it")
        await pilot.pause(DEAF_SECONDS + 0.1)
        await pilot.press("y")
        await see(pilot, "nothing of it is left")
        assert repaired == [("cancel-stuck", "cancel")]


async def test_a_server_that_dies_is_told_once_and_a_silent_one_is_not(
    make_console: Make, snapshot: Snapshot, repaired: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    states, looked, told = ["unresponsive"], list[str](), list[str]()

    def status(_seconds: float) -> ServerStatus:
        looked.append(states[-1])
        return ServerStatus(state=states[-1], text="as it is")

    monkeypatch.setattr("slurmtui.control.server.status", status)
    async with make_console(snapshot).run_test(size=(120, 30), notifications=True) as pilot:
        app: PaintedApp = pilot.app  # type: ignore[assignment]
        await see(pilot, "to rescue")
        tell = app.tell

        def noted(text: str, **more: Any) -> None:
            told.append(text)
            tell(text, **more)

        monkeypatch.setattr(app, "tell", noted)

        async def fails(since: float, error: str = "no answer") -> None:
            """Prefect does not answer, and what is done about that is done."""
            part = msgspec.structs.replace(snapshot.flow_runs, error=error, failing_since=since)
            app.store.paint(msgspec.structs.replace(snapshot, flow_runs=part))
            await until(pilot, lambda: all(one.is_finished for one in app.workers if one.group == "rescue"))

        await fails(1.0)
        assert (looked, told) == (["unresponsive"], [])
        states.append("crashed")
        app.store.paint(snapshot)
        await fails(2.0)
        await see(pilot, "has died")
        await fails(2.0, "no answer either")
        app.store.paint(snapshot)
        states.append("stopped")
        await fails(3.0)
    assert looked == ["unresponsive", "crashed", "stopped"]
    assert [text.partition(":")[0] for text in told] == ["The private Prefect server has died"]
    assert not repaired


async def test_a_read_only_console_repairs_nothing(
    make_console: Make, snapshot: Snapshot, repaired: list[tuple[str, str]]
) -> None:
    async with make_console(snapshot, read_only=True).run_test(size=(120, 30), notifications=True) as pilot:
        await pilot.press("exclamation_mark")
        await see(pilot, "cancelling for 9 min")
        await pilot.press("R")
        await see(pilot, "read-only")
        assert not repaired


async def test_it_fits_eighty_columns(make_console: Make, snapshot: Snapshot, repaired: list[tuple[str, str]]) -> None:
    async with make_console(snapshot).run_test(size=(80, 24)) as pilot:
        await pilot.press("colon", *"rescue", "enter")
        shown = await see(pilot, "cancelling for 9 min")
        assert "stale-lock" in shown
    assert not repaired


async def test_the_all_clear_waits_until_slurm_and_prefect_have_both_answered(
    make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def beyond(_session: Any, snapshot: Snapshot) -> Beyond:
        """What may go can be told only when it is known who needs it."""
        return Beyond(leftovers=(LOCK,) if snapshot.queue.good and snapshot.flow_runs.good else ())

    monkeypatch.setattr("slurmtui.views.rescue.screen.look_beyond", beyond)
    monkeypatch.setattr("slurmtui.store.rescue_look.look_beyond", beyond)
    whole = make_console().store.snapshot
    early = msgspec.structs.replace(whole, queue=Part(whole.queue.data), runs=())
    async with make_console(early, view="rescue").run_test(size=(120, 30), notifications=True) as pilot:
        app: PaintedApp = pilot.app  # type: ignore[assignment]
        await see(pilot, "Looking…")
        assert "Nothing to rescue" not in app.screen_text()
        app.store.paint(msgspec.structs.replace(early, queue=whole.queue))
        await see(pilot, "stale-lock")
        silent = Part(whole.queue.data, at=whole.queue.at, error="squeue: no answer")
        app.store.paint(msgspec.structs.replace(early, queue=silent))
        assert "Nothing to rescue" not in app.screen_text()
