"""The Clusters view as a person uses it: what stands beneath a cluster, and what is asked before one is ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.models.profile import Profile
from slurmtui.models.run_record import DriverStatus, SharedUse
from slurmtui.models.shared_cluster import ClusterRecord, ClusterSpec, ClusterStatus, KeeperRecord
from slurmtui.models.steps import CancelReport
from slurmtui.store.clusters import cluster_view
from slurmtui.widgets.agreement import DEAF_SECONDS
from tests.ui.conftest import BRAVE, some_snapshot
from tests.ui.seeing import gone, see

if TYPE_CHECKING:
    from slurmtui.models.shared_cluster import ClusterView
    from slurmtui.store.snapshot import Snapshot
    from tests.ui.conftest import Make, PaintedApp

UP, OVER, DEAD = "cluster-small-00000001", "cluster-old-00000002", "cluster-dead-00000003"


def record(cluster_id: str, name: str, **keeper: Any) -> ClusterRecord:
    now = time.time()
    return ClusterRecord(
        spec=ClusterSpec(id=cluster_id, name=name, profile=Profile(name=name), maximum=4, created=now - 600),
        folder=f"/state/clusters/{cluster_id}",
        keeper=KeeperRecord(host="login01", pid=31877, pid_started=1, address="tls://10.0.0.1:4711", **keeper),
        status=ClusterStatus(time=now, workers=1, tasks=3, flows=1),
    )


@pytest.fixture
def snapshot() -> Snapshot:
    """A cluster that is up, with a job and a run; one whose keeper is gone; one that has ended."""
    painted, now = some_snapshot(), time.time()
    jobs = tuple(job for job in painted.queue.data.jobs() if job.id == "4711")
    views: tuple[ClusterView, ...] = (
        cluster_view(record(OVER, "old", ended=now - 60, message="no flow has used it"), DriverStatus.ENDED, (), now),
        cluster_view(record(DEAD, "dead"), DriverStatus.GONE, (), now),
        cluster_view(record(UP, "small"), DriverStatus.ALIVE, jobs, now),
    )
    brave = painted.runs[0]
    assert brave.record is not None
    used = msgspec.structs.replace(brave.record, shared=SharedUse(cluster_id=UP, name="small"))
    return msgspec.structs.replace(
        painted,
        shared={view.record.spec.id: view for view in views},
        runs=(msgspec.structs.replace(brave, record=used), *painted.runs[1:]),
        run_of_job={},
        cluster_of_job={"4711": UP},
    )


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The clusters that were ended, in place of ending one."""
    done: list[str] = []

    async def down(_session: Any, one: ClusterRecord, _progress: Any) -> CancelReport:
        done.append(one.spec.name)
        return CancelReport(ok=True, run_id=one.spec.id)

    monkeypatch.setattr("slurmtui.control.clusters_down.down", down)
    return done


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
async def test_a_cluster_is_shown_with_its_jobs_and_flows(
    make_console: Make, snapshot: Snapshot, size: tuple[int, int]
) -> None:
    async with make_console(snapshot).run_test(size=size, notifications=True) as pilot:
        await see(pilot, "2 clusters (9)")
        await pilot.press("9")
        shown = await see(pilot, "up, 1 worker, 3 tasks", "keeper gone (login01)")
        assert "4711" in shown
        assert "41 of 52" in shown
        assert "no flow has used it" not in shown
        await pilot.press("z")
        await see(pilot, "ended:")
        await pilot.press("z")
        await gone(pilot, "ended:")
        await pilot.press("enter")
        await see(pilot, "process 31877 on login01", 'slurm_runner("small", shared=True)')


async def test_from_a_run_on_the_cluster_to_its_line_and_from_a_job_to_the_queue(
    make_console: Make, snapshot: Snapshot
) -> None:
    async with make_console(snapshot).run_test(size=(120, 30), notifications=True) as pilot:
        await pilot.press("9")
        await see(pilot, "41 of 52")
        await pilot.press("j", "o")
        await see(pilot, "5122")
        assert "cluster small" in await see(pilot, "RUN"), "the queue tells whose job it is"
        await pilot.press("9", "j", "o")
        await see(pilot, "VERDICT")
        app: PaintedApp = pilot.app  # type: ignore[assignment]
        assert app.screen.table.cursor_key == f"run:{BRAVE}"  # type: ignore[attr-defined]


async def test_a_cluster_with_flows_is_ended_only_when_its_name_is_typed(
    make_console: Make, snapshot: Snapshot, ended: list[str]
) -> None:
    async with make_console(snapshot).run_test(size=(120, 30), notifications=True) as pilot:
        await pilot.press("9")
        await see(pilot, "up, 1 worker")
        await pilot.press("X")
        shown = await see(pilot, "End cluster small", "lost: the work of 1 flow run on it")
        assert "scancel 4711" in shown
        await pilot.pause(DEAF_SECONDS + 0.1)
        await pilot.press("y", "enter")
        await see(pilot, "that was not small")
        assert not ended
        await pilot.press("escape")
        await gone(pilot, "End cluster small")
        await pilot.press("X")
        await see(pilot, "type small and enter")
        await pilot.pause(DEAF_SECONDS + 0.1)
        await pilot.press(*"small", "enter")
        await see(pilot, "squeue seen empty")
        assert ended == ["small"]


async def test_a_read_only_console_ends_and_starts_nothing(
    make_console: Make, snapshot: Snapshot, ended: list[str]
) -> None:
    async with make_console(snapshot, read_only=True).run_test(size=(120, 30), notifications=True) as pilot:
        await pilot.press("9")
        await see(pilot, "up, 1 worker")
        await pilot.press("X")
        await see(pilot, "this console is read-only")
        assert not ended


async def test_without_a_cluster_it_says_how_to_get_one(make_console: Make) -> None:
    async with make_console().run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("9")
        await see(pilot, "No shared cluster is up. U starts one")
        await pilot.press("U")
        await see(pilot, "Start a shared cluster", "0 to 1 jobs as there is work")
