"""When a run counts as stranded: work, no worker, no job, for longer than a replacement takes."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from distributed.core import Status
from distributed.scheduler import Scheduler

from slurmtui.flows import jobs, replacement, stranded

if TYPE_CHECKING:
    from pathlib import Path


class Scene:
    """A cluster, the run's jobs, SLURM's answer and the clock."""

    def __init__(self) -> None:
        self.alive: set[str] | None = set()
        self.ids: tuple[str, ...] = ("7", "8")
        self.now = 1000.0
        self.scheduler = SimpleNamespace(
            status=Status.running,
            workers={},
            tasks={"t": SimpleNamespace(state="no-worker")},
            plugins={replacement.Replacement.name: object()},
        )


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    made = Scene()

    async def alive(_ids: Any) -> set[str] | None:
        return made.alive

    async def ends(_ids: Any) -> str:
        return " (job 8 CANCELLED)"

    monkeypatch.setattr(Scheduler, "_instances", [made.scheduler])
    monkeypatch.setattr(jobs, "alive", alive)
    monkeypatch.setattr(stranded, "_ends", ends)
    monkeypatch.setattr(jobs, "submitted", lambda _folder, _attempt: SimpleNamespace(ids=made.ids))
    monkeypatch.setattr("slurmtui.flows.stranded.time.monotonic", lambda: made.now)
    return made


def after(scene: Scene, watched: stranded.Stranded, seconds: float) -> str:
    """What is said after that time, looked at every two seconds as the watcher does."""
    said, until = "", scene.now + seconds
    while scene.now < until and not said:
        scene.now += 2
        said = watched.for_good()
    return said


def test_a_run_without_jobs_is_ended_with_how_they_ended(scene: Scene, tmp_path: Path) -> None:
    watched = stranded.Stranded(tmp_path, 1)
    assert after(scene, watched, stranded.GRACE - 5) == ""
    assert after(scene, watched, 20) == "no job of its cluster is left (job 8 CANCELLED)"


def test_a_cluster_that_the_flow_made_by_itself_is_given_longer(scene: Scene, tmp_path: Path) -> None:
    scene.scheduler.plugins.clear()
    watched = stranded.Stranded(tmp_path, 1)
    assert after(scene, watched, stranded.GRACE_OF_OTHERS - 5) == ""
    assert after(scene, watched, 20) == "no job of its cluster is left (job 8 CANCELLED)"


@pytest.mark.parametrize("what", ["a job lives", "slurm is silent", "no job yet", "a worker", "no work", "it closes"])
def test_nobody_is_ended_while_there_is_hope(scene: Scene, tmp_path: Path, what: str) -> None:
    if what == "a job lives":
        scene.alive = {"8"}
    elif what == "slurm is silent":
        scene.alive = None
    elif what == "no job yet":
        scene.ids = ()
    elif what == "a worker":
        scene.scheduler.workers["x"] = object()
    elif what == "no work":
        scene.scheduler.tasks["t"].state = "memory"
    else:
        scene.scheduler.status = Status.closing
    assert after(scene, stranded.Stranded(tmp_path, 1), 300) == ""


def test_a_new_job_begins_the_wait_anew(scene: Scene, tmp_path: Path) -> None:
    watched = stranded.Stranded(tmp_path, 1)
    assert after(scene, watched, stranded.GRACE - 10) == ""
    scene.alive = {"9"}
    assert after(scene, watched, 10) == ""
    scene.alive = set()
    assert after(scene, watched, stranded.GRACE - 10) == ""
    assert after(scene, watched, 30) != ""


def test_dask_that_is_just_being_imported_is_no_reason_to_fail(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed.scheduler", ModuleType("distributed.scheduler"))
    assert after(scene, stranded.Stranded(tmp_path, 1), 300) == ""
