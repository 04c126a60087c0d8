"""The start of a shared cluster that fails or is given up: its keeper ends its jobs before its folder is gone."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui import paths
from slurmtui.control import clusters, clusters_down
from slurmtui.control.detached import start_detached
from slurmtui.errors import FlowError
from slurmtui.models.run_record import Submission
from slurmtui.sources.cluster_folder import read_cluster
from tests.unit.test_shared_cluster import GONE_PID, PROFILE, cluster, keeper, session, write

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

KEEPER = """
import pathlib, signal, sys, time
folder, until = pathlib.Path(sys.argv[1]), time.time() + 60

def end(*_):
    (folder.parent / "ending").touch()
    while not (folder.parent / "may-end").exists() and time.time() < until:
        time.sleep(0.01)
    (folder.parent / "seen").write_text(" ".join(sorted(path.name for path in folder.iterdir())))
    sys.exit()

signal.signal(signal.SIGTERM, end)
(folder.parent / "ready").touch()
time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the clusters, whose keepers take long to end."""
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))

    def start(words: list[str], **more: Any) -> subprocess.Popen[bytes]:
        return start_detached([sys.executable, "-c", KEEPER, words[-1]], **more)

    async def all_right(*_: object) -> None:
        return

    monkeypatch.setattr(clusters, "start_detached", start)
    monkeypatch.setattr(clusters, "check_jobs", all_right)
    return paths.private_folder(paths.clusters_folder())


async def there(path: Path) -> None:
    until = time.monotonic() + 30
    while not path.exists():  # noqa: ASYNC240 - a look, nothing waits for it
        assert time.monotonic() < until, f"{path.name} does not come"
        await asyncio.sleep(0.01)


def made_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()]


def beside_the_event_loop(monkeypatch: pytest.MonkeyPatch, module: ModuleType, *names: str) -> None:
    """Fail when what looks at files is called where it would hold up every key."""
    here = threading.get_ident()

    def checked(look: Callable[..., Any]) -> Callable[..., Any]:
        def looking(*arguments: Any, **more: Any) -> Any:
            assert threading.get_ident() != here, look.__name__
            return look(*arguments, **more)

        return looking

    for name in names:
        monkeypatch.setattr(module, name, checked(getattr(module, name)))


async def test_a_cluster_that_ends_is_looked_at_beside_the_event_loop(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = write(folder, cluster(keeper=keeper(pid=GONE_PID)))

    async def ends(*_: object, **__: object) -> None:
        return

    beside_the_event_loop(
        monkeypatch, clusters_down, "read_cluster", "keeper_status", "keeper_process", "settle", "write_private"
    )
    monkeypatch.setattr("slurmtui.control.end_jobs.EndJobs.end", ends)
    found = read_cluster(own)
    assert found is not None
    report = await clusters_down.down(session(PROFILE), found)
    assert report.ok
    settled = read_cluster(own)
    assert settled is not None
    assert settled.keeper is not None
    assert settled.keeper.message == "its keeper was gone"


async def test_the_folder_stays_until_the_keeper_has_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside_the_event_loop(monkeypatch, clusters, "read_cluster", "keeper_status", "newest_of", "write_private")
    starting = asyncio.ensure_future(clusters.up(session(PROFILE), "small"))
    await there(folder / "ready")
    for _ in range(2):  # somebody is impatient
        starting.cancel()
        await there(folder / "ending")
    assert made_in(folder)
    assert not starting.done()
    (folder / "may-end").touch()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert "cluster.json" in (folder / "seen").read_text()
    assert made_in(folder) == []


async def no_address(record: Any, _process: object) -> None:
    await there(paths.clusters_folder() / "ready")
    raise FlowError(f"The keeper of {record.spec.name} does not listen")


async def test_a_keeper_that_does_not_end_keeps_its_folder_and_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_until_up", no_address)
    monkeypatch.setattr(clusters, "_END_SECONDS", 0.05)
    with pytest.raises(FlowError, match=r"(?s)does not listen.*is still ending.*`slurmtui cluster down small`"):
        await clusters.up(session(PROFILE), "small")
    (own,) = made_in(folder)
    assert (own / "cluster.json").exists()
    (folder / "may-end").touch()
    await there(folder / "seen")


async def test_jobs_that_a_keeper_did_not_end_keep_its_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def submits(record: Any, process: object) -> None:
        (folder / record.spec.id / "submissions.jsonl").write_bytes(
            msgspec.json.encode(Submission(time=1, code=0, job_id="7")) + b"\n"
        )
        await no_address(record, process)

    (folder / "may-end").touch()
    monkeypatch.setattr(clusters, "_until_up", submits)
    with pytest.raises(FlowError, match=r"(?s)does not listen.*Jobs of it may be left"):
        await clusters.up(session(PROFILE), "small")
    assert made_in(folder)
