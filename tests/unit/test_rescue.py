"""What counts as a case for rescue, what never does, and that repairs touch only what is proved to be left over."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui import paths
from slurmtui.control import rescue, rescue_files
from slurmtui.errors import PrefectError, Refused, RunFolderError
from slurmtui.models.flow_run import FlowRun
from slurmtui.models.job import Job
from slurmtui.models.rescue import Case, Leftover, Repair
from slurmtui.models.run_record import DriverRecord, DriverStatus, LockRecord, RunRecord, RunSpec
from slurmtui.models.run_view import RunView
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.sources.processes import host_name, started_at
from slurmtui.store.rescue import Beyond, find_cases, runs_to_seek, words
from slurmtui.store.snapshot import Orphan, Part, Snapshot

if TYPE_CHECKING:
    from pathlib import Path

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
OTHER = "1f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
NOW = 1_800_000_000.0
URL = "http://127.0.0.1:4200/api"


def record(folder: str = "/x", run_id: str = RUN, **changes: Any) -> RunRecord:
    spec = RunSpec(id=run_id, name="brave-otter", flow_name="f", entrypoint="/f.py:f", created=NOW - 600, api_url=URL)
    driver = DriverRecord(host=host_name(), pid=2**30, pid_started=1, started=NOW - 590)
    return RunRecord(spec=spec, folder=folder, driver=driver, **changes)


def view(
    kind: str, *, needs_you: bool = True, driver: DriverStatus = DriverStatus.GONE, final: bool = False
) -> RunView:
    state = "CANCELLED" if final else "RUNNING"
    return RunView(
        run=FlowRun(id=RUN, name="brave-otter", state_type=state, state_name=state.title()),
        verdict=Verdict(kind=kind, text=f"{kind} it is", mood=Mood.LOST, needs_you=needs_you, evidence=("so it is",)),
        record=record(),
        driver=driver,
        jobs=(Job(id="17", raw_id=17),) if kind != "driver-gone" else (),
    )


def snapshot(*runs: RunView, **changes: Any) -> Snapshot:
    facts: dict[str, Any] = {
        "queue": Part(Snapshot().queue.data, at=NOW),
        "flow_runs": Part(tuple(one.run for one in runs), at=NOW),
        "records": Part({}, at=NOW),
        "api_url": URL,
        "runs": runs,
        **changes,
    }
    return Snapshot(user="me", **facts)


@pytest.mark.parametrize(
    ("kind", "driver", "final", "keys"),
    [
        ("driver-gone", DriverStatus.GONE, False, ["crash", "retry", "cancel"]),
        ("lost", DriverStatus.ALIVE, False, ["cancel"]),
        ("cancel-stuck", DriverStatus.ENDED, False, ["cancel"]),
        ("cancelled-jobs-alive", DriverStatus.ENDED, True, ["cancel"]),
    ],
)
def test_a_run_that_needs_a_person_is_a_case_with_its_repairs(
    kind: str, driver: DriverStatus, keys: list[str], *, final: bool
) -> None:
    (case,) = find_cases(snapshot(view(kind, driver=driver, final=final)), now=NOW)
    assert (case.kind, case.run_id, case.evidence) == (kind, RUN, ("so it is",))
    assert [one.key for one in case.repairs] == keys
    assert all(one.plan for one in case.repairs)
    assert words((case,)).startswith("1 thing to rescue (1 run)")


def test_a_healthy_run_and_one_that_only_waits_are_none() -> None:
    assert not find_cases(snapshot(view("running", needs_you=False)), now=NOW)
    assert not find_cases(snapshot(view("waiting")), now=NOW)
    assert words(()) == ""


def test_orphaned_jobs_are_a_case_only_when_prefect_says_that_it_does_not_know_the_run() -> None:
    orphans = (Orphan("8", OTHER), Orphan("9", OTHER))
    found = snapshot(orphans=orphans)
    assert runs_to_seek(found) == (OTHER,)
    assert not find_cases(found, Beyond(), NOW)
    assert not find_cases(found, Beyond(known=frozenset({OTHER})), NOW)
    silent = snapshot(orphans=orphans, queue=Part(found.queue.data, at=NOW, error="no answer"))
    assert not find_cases(silent, Beyond(unknown=frozenset({OTHER})), NOW)
    (case,) = find_cases(found, Beyond(unknown=frozenset({OTHER})), NOW)
    assert (case.kind, case.job_ids) == ("orphan-jobs", ("8", "9"))
    assert [one.key for one in case.repairs] == ["cancel-jobs"]


def test_a_folder_is_forgotten_only_when_the_server_it_was_submitted_to_does_not_know_its_run() -> None:
    parts: dict[str, Any] = {"records": Part({RUN: record()}, at=NOW), "drivers": {RUN: DriverStatus.ENDED}}
    beyond = Beyond(unknown=frozenset({RUN}))
    (case,) = find_cases(snapshot(**parts), beyond, NOW)
    assert (case.kind, case.paths) == ("forgotten-run", ("/x",))
    assert not find_cases(snapshot(**parts, flow_runs=Part((), at=NOW, error="down")), beyond, NOW)
    assert not find_cases(snapshot(**{**parts, "api_url": "http://elsewhere/api"}), beyond, NOW)
    assert not find_cases(snapshot(**{**parts, "drivers": {RUN: DriverStatus.ALIVE}}), beyond, NOW)


def test_what_a_run_has_left_is_named_by_the_runs_name() -> None:
    keys = Leftover(kind="tls-files", paths=("/x/tls",), why="so", run_id=RUN)
    beyond = Beyond(leftovers=(keys,))
    (case,) = find_cases(snapshot(records=Part({RUN: record()}, at=NOW)), beyond, NOW)
    assert case.title == "keys of brave-otter"
    (unknown,) = find_cases(snapshot(), beyond, NOW)
    assert unknown.title == RUN[:8]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    return paths.private_folder(paths.state_folder())


def run_folder(state: Path, run_id: str = RUN) -> Path:
    folder = paths.private_folder(state / "runs" / run_id)
    found = record(str(folder), run_id)
    (folder / "run.json").write_bytes(msgspec.json.encode(found.spec))
    (folder / "driver.json").write_bytes(msgspec.json.encode(found.driver))
    return folder


def lock(path: Path, pid: int) -> None:
    holder = LockRecord(host=host_name(), pid=pid, pid_started=started_at(pid) or 1, time=time.time(), doing="x")
    path.write_bytes(msgspec.json.encode(holder))


def kinds(found: tuple[Leftover, ...]) -> set[str]:
    return {one.kind for one in found}


def test_what_lies_about_is_found_and_what_is_in_use_is_not(state: Path) -> None:
    folder = run_folder(state)
    records = {RUN: record(str(folder))}
    assert not rescue_files.find_leftovers(records, ())
    lock(folder / "control.lock", os.getpid())
    assert not rescue_files.find_leftovers(records, ())
    lock(folder / "control.lock", 2**30)
    paths.private_folder(folder / "tls")
    half = paths.private_folder(state / "runs" / OTHER)
    os.utime(half, (1, 1))
    assert kinds(rescue_files.find_leftovers(records, ())) == {"stale-lock", "tls-files", "half-made-folder"}
    late = NOW + 100 * 86400
    assert "old-folders" in kinds(rescue_files.find_leftovers(records, (), now=late))
    assert "old-folders" not in kinds(rescue_files.find_leftovers(records, {RUN}, now=late))
    assert "old-folders" not in kinds(rescue_files.find_leftovers(records, None, now=late))


def test_a_driver_that_is_a_silent_job_is_not_dead_before_its_time(state: Path) -> None:
    folder = run_folder(state)
    driver = DriverRecord(host="node7", pid=0, pid_started=0, started=time.time(), job_id="4")
    alive = msgspec.structs.replace(record(str(folder)), driver=driver, driver_job_id="4")
    assert not rescue_files.is_dead(alive)


class Prefect:
    def __init__(self, *known: str) -> None:
        self.known = known

    async def flow_run(self, run_id: str) -> FlowRun:
        if run_id not in self.known:
            raise PrefectError("Flow run not found", status=404)
        return FlowRun(id=run_id, name="x", state_type="COMPLETED", state_name="Completed")


class Session:
    def __init__(self, *known: str) -> None:
        self.prefect = Prefect(*known)


def case(kind: str, *names: Path, key: str) -> Case:
    return Case(
        id="x", kind=kind, title="x", text="x", run_id=RUN, paths=tuple(map(str, names)),
        repairs=(Repair(key=key, title="x"),),
    )  # fmt: skip


async def test_a_folder_is_put_aside_whole_unless_prefect_knows_its_run_by_now(state: Path) -> None:
    folder = run_folder(state)
    wanted = case("forgotten-run", folder, key="put-aside")
    with pytest.raises(Refused, match="knows run"):
        await rescue.repair(Session(RUN), wanted, "put-aside")  # type: ignore[arg-type]
    assert folder.exists()
    report = await rescue.repair(Session(), wanted, "put-aside")  # type: ignore[arg-type]
    assert report.ok
    assert not folder.exists()
    (aside,) = (state / "aside").iterdir()
    assert json.loads((aside / "run.json").read_bytes())["id"] == RUN


async def test_a_lock_that_is_held_again_is_left_alone(state: Path) -> None:
    folder = run_folder(state)
    held = folder / "control.lock"
    lock(held, 2**30)
    wanted = case("stale-lock", held, key="remove")
    lock(held, os.getpid())
    assert not (await rescue.repair(Session(), wanted, "remove")).ok  # type: ignore[arg-type]
    assert held.exists()
    lock(held, 2**30)
    assert (await rescue.repair(Session(), wanted, "remove")).ok  # type: ignore[arg-type]
    assert not held.exists()


async def test_a_lock_that_is_taken_while_it_is_removed_stays(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = run_folder(state) / "control.lock"
    lock(held, 2**30)
    still_left = rescue_files.still_left

    def raced(kind: str, path: Path) -> bool:
        found = still_left(kind, path)
        path.unlink()
        lock(path, os.getpid())  # another console has broken the old one and made its own
        return found

    monkeypatch.setattr(rescue_files, "still_left", raced)
    report = await rescue.repair(Session(), case("stale-lock", held, key="remove"), "remove")  # type: ignore[arg-type]
    assert (report.ok, report.text) == (False, "0 of 1 removed")
    assert held.exists()


async def test_no_repair_that_is_not_offered(state: Path) -> None:
    with pytest.raises(Refused, match="no repair 'crash'"):
        await rescue.repair(Session(), case("stale-lock", state, key="remove"), "crash")  # type: ignore[arg-type]


@pytest.mark.parametrize("touch", [rescue_files.remove, rescue_files.put_aside])
def test_nothing_outside_the_state_folder_is_ever_touched(state: Path, tmp_path: Path, touch: Any) -> None:
    outside = tmp_path / "precious"
    outside.mkdir()
    (state / "link").symlink_to(outside)
    for path in (outside, state / "link", state / ".." / "precious"):
        with pytest.raises(RunFolderError, match="not in the state folder"):
            touch(path)
    assert outside.exists()
