"""Shared clusters as their files, SLURM's queue and the runs on them tell: keeper, verdicts, ties, rescue, listing."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui import paths
from slurmtui.control import clusters
from slurmtui.control.clusters import Bounds, new_spec
from slurmtui.errors import Refused, UsageError
from slurmtui.models.config import Config
from slurmtui.models.job import Job
from slurmtui.models.job_table import JobTable
from slurmtui.models.marks import comment
from slurmtui.models.profile import Adapt, Profile, SharedPolicy
from slurmtui.models.run_record import DriverStatus, SharedUse, Submission
from slurmtui.models.shared_cluster import ClusterRecord, ClusterSpec, ClusterStatus, KeeperRecord, cluster_id
from slurmtui.session import Session
from slurmtui.sources.cluster_folder import ClusterFolders, keeper_status, read_clusters, usable
from slurmtui.sources.processes import host_name, started_at
from slurmtui.sources.slurm.place import SlurmPlace
from slurmtui.store.clusters import cluster_view
from slurmtui.store.link import join
from slurmtui.store.rescue import find_cases
from slurmtui.store.snapshot import Part, Snapshot
from slurmtui.verbs.cluster import print_clusters
from slurmtui.views.clusters.rows import build, cluster_rows
from tests.unit.test_store_link import NOW, flow_run, identity, row, run_record, snapshot

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = Profile(name="small", partition="batch", workers=3)
ID = "cluster-small-3f9a01bc"
GONE_PID = 2**22 + 1  # more than the kernel gives


def cluster(**changes: Any) -> ClusterRecord:
    """A cluster whose keeper is this very process, with two workers and a task."""
    here = KeeperRecord(
        host=host_name(), pid=os.getpid(), pid_started=started_at(os.getpid()), address="tls://10.0.0.1:4711"
    )
    fields: dict[str, Any] = {
        "spec": ClusterSpec(id=ID, name="small", profile=PROFILE, maximum=3, created=NOW - 600, user="me"),
        "folder": f"/state/clusters/{ID}",
        "keeper": here,
        "status": ClusterStatus(time=NOW, workers=2, tasks=1, flows=1),
        "sign": NOW - 5,
        **changes,
    }
    return ClusterRecord(**fields)


def keeper(**changes: Any) -> KeeperRecord:
    there = cluster().keeper
    assert there is not None
    return msgspec.structs.replace(there, **changes)


def job(number: int, state: str = "RUNNING", **fields: Any) -> Job:
    return Job(id=str(number), raw_id=number, name=ID, state=state, **fields)


REFUSAL = Submission(time=NOW - 20, code=1, said="sbatch: error: Batch job submission failed: Invalid account")


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, DriverStatus.ALIVE),
        ({"keeper": keeper(address="")}, DriverStatus.STARTING),
        ({"keeper": keeper(pid=GONE_PID)}, DriverStatus.GONE),
        ({"keeper": keeper(pid_started=1.0)}, DriverStatus.GONE),  # the pid is used again
        ({"keeper": keeper(ended=NOW)}, DriverStatus.ENDED),
        ({"keeper": keeper(host="other")}, DriverStatus.ALIVE),
        ({"keeper": keeper(host="other"), "sign": NOW - 900}, DriverStatus.GONE),
        ({"keeper": None}, DriverStatus.GONE),
        ({"keeper": None, "spec": msgspec.structs.replace(cluster().spec, created=NOW)}, DriverStatus.STARTING),
    ],
)
def test_what_can_be_proved_about_a_keeper(changes: dict[str, Any], status: DriverStatus) -> None:
    assert keeper_status(cluster(**changes), NOW) is status


@pytest.mark.parametrize(
    ("changes", "status", "jobs", "said"),
    [
        ({}, DriverStatus.ALIVE, (job(1), job(2)), ("up, 2 workers, 1 task", False)),
        ({"status": ClusterStatus(time=NOW)}, DriverStatus.ALIVE, (), ("up, no jobs, idle", False)),
        ({"status": ClusterStatus(time=NOW, workers=1)}, DriverStatus.ALIVE, (job(1),), ("up, 1 worker, idle", False)),
        (
            {"status": ClusterStatus(time=NOW, tasks=4)}, DriverStatus.ALIVE,
            (job(1, "PENDING", reason="Priority"),), ("waiting for SLURM: ", False),
        ),
        (
            {"status": ClusterStatus(time=NOW, tasks=4), "submissions": (REFUSAL,)}, DriverStatus.ALIVE, (),
            ("sbatch refused: Invalid account", True),
        ),
        ({"submissions": (REFUSAL,)}, DriverStatus.ALIVE, (job(1),), ("up, 2 workers, 1 task", False)),
        ({}, DriverStatus.STARTING, (), ("starting", False)),
        ({}, DriverStatus.GONE, (job(1), job(2)), (f"keeper gone ({host_name()}), 2 jobs alive", True)),
        ({}, DriverStatus.GONE, (), (f"keeper gone ({host_name()})", True)),
        ({"keeper": keeper(ended=NOW, message="no flow")}, DriverStatus.ENDED, (), ("ended: no flow", False)),
        ({"keeper": keeper(ended=NOW)}, DriverStatus.ENDED, (job(1),), ("ended, but 1 job alive", True)),
    ],
)  # fmt: skip
def test_what_is_said_of_a_cluster(
    changes: dict[str, Any], status: DriverStatus, jobs: tuple[Job, ...], said: tuple[str, bool]
) -> None:
    view = cluster_view(cluster(**changes), status, jobs, NOW)
    assert view.verdict.text.startswith(said[0])
    assert view.verdict.needs_you is said[1], "needs you"
    assert any("0 to 3 jobs of profile small" in sentence for sentence in view.verdict.evidence)


def on_cluster(table: bytes, record: ClusterRecord, status: DriverStatus, *, attempt: int = 1) -> Snapshot:
    """A run that goes on, on this cluster."""
    use = SharedUse(cluster_id=ID, name="small", attempt=attempt, time=NOW - 60)
    run = msgspec.structs.replace(run_record(1), shared=use)
    parts = snapshot(JobTable(table), (flow_run(1),), (run,), clusters=Part({ID: record}, at=NOW), keepers={ID: status})
    return join(parts, NOW)


def test_jobs_of_a_cluster_are_neither_a_runs_nor_orphans() -> None:
    joined = on_cluster(
        row(7, comment=comment(ID)) + row(8, comment=comment("cluster-x-1")), cluster(), DriverStatus.ALIVE
    )
    assert joined.cluster_of_job == {"7": ID}
    assert [one.id for one in joined.shared[ID].jobs] == ["7"]
    assert not joined.run_of_job
    assert not joined.runs[0].jobs
    assert [orphan.job_id for orphan in joined.orphans] == ["8"], "of a cluster that is not known here"


@pytest.mark.parametrize(
    ("table", "changes", "status", "kind", "text"),
    [
        (row(7, comment=comment(ID)), {}, DriverStatus.ALIVE, "running", "running, 2 workers of cluster small"),
        (b"", {"status": None}, DriverStatus.ALIVE, "running", "running, no worker of cluster small yet"),
        (
            row(7, comment=comment(ID), state="PENDING", reason="Priority"), {}, DriverStatus.ALIVE, "waiting",
            "waiting for SLURM (cluster small): ",
        ),
        (b"", {"submissions": (REFUSAL,)}, DriverStatus.ALIVE, "sbatch-refused",
         "sbatch refused (cluster small): Invalid account"),
        (
            b"", {"submissions": (msgspec.structs.replace(REFUSAL, time=NOW - 90),)}, DriverStatus.ALIVE, "running",
            "running, 2 workers of cluster small",  # it was refused before the run came
        ),
        (b"", {}, DriverStatus.GONE, "lost", "lost: the shared cluster small is gone"),
        (b"", {"keeper": keeper(ended=NOW)}, DriverStatus.ENDED, "lost", "lost: the shared cluster small is gone"),
    ],
)  # fmt: skip
def test_the_verdict_on_a_run_follows_the_cluster(
    table: bytes, changes: dict[str, Any], status: DriverStatus, kind: str, text: str
) -> None:
    view = on_cluster(table, cluster(**changes), status).runs[0]
    assert view.verdict.kind == kind
    assert view.verdict.text.startswith(text)


def test_an_earlier_attempt_on_a_cluster_says_nothing_of_this_one() -> None:
    view = on_cluster(b"", cluster(), DriverStatus.GONE, attempt=7).runs[0]
    assert "cluster" not in view.verdict.text


def test_a_run_that_lost_its_cluster_says_so() -> None:
    use = SharedUse(cluster_id=ID, name="small", time=NOW - 60)
    run = msgspec.structs.replace(run_record(1), shared=use)
    ended = flow_run(1, "FAILED", state_message="Flow run encountered an exception: FutureCancelledError: x cancelled "
                     "for reason: scheduler-connection-lost.")  # fmt: skip
    joined = join(snapshot(JobTable(b""), (ended,), (run,)), NOW)
    assert joined.runs[0].verdict.text == "the shared cluster small ended under it"


def test_a_cluster_whose_keeper_is_gone_is_offered_for_rescue_and_one_that_lives_is_not() -> None:
    jobs = row(7, comment=comment(ID))
    (case,) = (one for one in find_cases(on_cluster(jobs, cluster(), DriverStatus.GONE), now=NOW) if not one.run_id)
    assert (case.kind, case.job_ids) == ("dead-cluster", ("7",))
    assert ("SLURM", "scancel 7") in case.repairs[0].plan
    living = find_cases(on_cluster(jobs, cluster(), DriverStatus.ALIVE), now=NOW)
    assert not [one for one in living if one.kind == "dead-cluster"]


def test_the_list_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    views = [
        cluster_view(cluster(), DriverStatus.ALIVE, (job(1), job(2, "PENDING")), NOW),
        cluster_view(cluster(), DriverStatus.GONE, (), NOW),
        cluster_view(cluster(keeper=keeper(ended=NOW - 300)), DriverStatus.ENDED, (), NOW),
    ]
    print_clusters(views, NOW)
    head, first, second, third = capsys.readouterr().out.splitlines()
    assert head.split() == ["NAME", "STATE", "JOBS", "FLOWS", "BOUNDS", "TIME"]
    assert first.split() == ["small", "up,", "2", "workers,", "1", "task", "1R", "1PD", "1", "0-3", "10m"]
    assert "keeper gone" in second
    assert third.split()[-1] == "5m", "its time ended with it"


def write(folder: Path, record: ClusterRecord) -> Path:
    own = folder / record.spec.id
    own.mkdir(parents=True)
    (own / "cluster.json").write_bytes(msgspec.json.encode(record.spec))
    if record.keeper is not None:
        (own / "keeper.json").write_bytes(msgspec.json.encode(record.keeper))
    return own


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    return paths.clusters_folder()


def test_damaged_folders_hide_no_other_and_news_are_read(folder: Path) -> None:
    own = write(folder, cluster())
    (folder / "cluster-x-1").mkdir()
    (folder / "cluster-y-1").mkdir()
    (folder / "cluster-y-1" / "cluster.json").write_text("{")
    (folder / "small.lock").write_text("")
    folders = ClusterFolders()
    assert list(folders.read_all()) == [ID]
    (own / "keeper.json").write_bytes(msgspec.json.encode(keeper(ended=NOW, message="over")))
    again = folders.read_all()[ID].keeper
    assert again is not None
    assert again.message == "over"


def test_the_time_of_a_run_is_that_of_its_attempts_on_a_cluster_too() -> None:
    joined = on_cluster(b"", cluster(), DriverStatus.ALIVE)
    again = msgspec.structs.replace(joined.runs[0].run, run_count=2, run_time=30.0, state_since=NOW - 15)
    joined = msgspec.structs.replace(joined, runs=(msgspec.structs.replace(joined.runs[0], run=again),))
    rows = cluster_rows(build(joined, joined.shared.values()), joined, lambda mood: mood, NOW)
    assert rows.cells(1)[-1] == "45s", "it began ten minutes ago, with another attempt"


def test_what_a_flow_is_told_when_there_is_no_cluster(folder: Path) -> None:
    assert usable("small") == (None, "There is no shared cluster 'small'. `slurmtui cluster up small` starts one.")
    own = write(folder, cluster())
    assert usable("small")[0] is not None
    (own / "keeper.json").write_bytes(msgspec.json.encode(keeper(pid=GONE_PID)))
    assert usable("small")[1].startswith(
        "The shared cluster 'small' is not up, its keeper is gone. `slurmtui cluster up"
    )
    (own / "keeper.json").write_bytes(msgspec.json.encode(keeper(ended=NOW, message="no flow has used it for 60 s")))
    assert "it has ended: no flow has used it for 60 s" in usable("small")[1]


def test_which_cluster_is_meant(folder: Path) -> None:
    with pytest.raises(Refused, match=r"There is no shared cluster\. None is up\."):
        clusters.find(None)
    write(folder, cluster())
    other = msgspec.structs.replace(cluster().spec, id="cluster-gpu-00000000", name="gpu")
    assert clusters.find(None).spec.id == ID
    write(folder, cluster(spec=other))
    with pytest.raises(Refused, match="Which one"):
        clusters.find(None)
    assert clusters.find("gpu").spec.name == "gpu"
    clusters.settle(clusters.find("gpu"), "its keeper was gone")
    assert clusters.find(None).spec.name == "small"
    with pytest.raises(Refused, match=r"no shared cluster 'gpu'\. Up: small"):
        clusters.find("gpu")
    assert len(read_clusters()) == 2, "one that has ended stays known"


def session(*profiles: Profile) -> Session:
    return Session(Config(profiles={one.name: one for one in profiles}), SlurmPlace(label="x"), "me")


@pytest.mark.parametrize(
    ("profile", "bounds", "found"),
    [
        (PROFILE, Bounds(), (0, 3, 300.0, 3600.0)),
        (Profile(name="a"), Bounds(), (0, 1, 300.0, 3600.0)),
        (Profile(name="a", adapt=Adapt(minimum=1, maximum=8)), Bounds(idle=5), (1, 8, 5, 3600.0)),
        (Profile(name="a", workers=2, shared=SharedPolicy(idle=9, end=99)), Bounds(maximum=20), (0, 20, 9, 99)),
    ],
)
def test_bounds_come_from_the_command_line_else_from_the_profile(
    profile: Profile, bounds: Bounds, found: tuple[float, ...]
) -> None:
    spec = new_spec(session(profile), profile, bounds)
    assert (spec.minimum, spec.maximum, spec.idle, spec.end) == found
    assert spec.id.startswith(f"cluster-{profile.name}-")
    assert abs(spec.created - time.time()) < 60


def test_bounds_that_cannot_be_are_refused() -> None:
    with pytest.raises(UsageError, match="the minimum is more than the maximum"):
        new_spec(session(PROFILE), PROFILE, Bounds(minimum=4))


def test_ids_are_fit_for_a_folder_and_a_job() -> None:
    assert cluster_id("my gpu/x", "3f9a01bcdef") == "cluster-my-gpu-x-3f9a01bc"
    assert identity(1) not in cluster_id("a", identity(2))
