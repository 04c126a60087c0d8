"""The keeper of a shared cluster: nothing but its end ends it, and its end is whole whatever goes wrong in it."""

from __future__ import annotations

import errno
import logging
import os
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.flows import jobs
from slurmtui.flows import keeper as keeper_module
from slurmtui.flows.keeper import Keeper
from slurmtui.sources.cluster_folder import read_cluster
from tests.unit.test_shared_cluster import cluster, write

if TYPE_CHECKING:
    from pathlib import Path

SCHEDULER: Any = SimpleNamespace(clients={"Client-1": None}, tasks={}, workers={})


@pytest.fixture
def folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Path:
    caplog.set_level(logging.INFO)
    own = write(tmp_path, cluster())
    (own / "tls").mkdir()
    return own


@pytest.fixture
def keeper(folder: Path) -> Keeper:
    record = cluster().keeper
    assert record is not None
    return Keeper(folder, cluster().spec, record)


def no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_ends_no_cluster(
    folder: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    os.utime(folder / "keeper.json", (1, 1))
    with monkeypatch.context() as full:
        full.setattr(keeper_module, "write_private", no_room)
        for _ in range(3):
            keeper._tell(SCHEDULER)
    assert len([words for words in caplog.messages if "No space left" in words]) == 1, "said once"
    assert time.time() - (folder / "keeper.json").stat().st_mtime < 60, "another host takes it for gone"
    keeper._tell(SCHEDULER)
    found = read_cluster(folder)
    assert found is not None
    assert found.status is not None
    assert found.status.flows == 1, "it is written as soon as there is room"


async def test_an_error_of_one_step_of_the_end_keeps_no_other_from_being_done(
    folder: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = []

    async def fails(*_: object) -> set[str]:
        tried.append(1)
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(jobs, "wait_for_submissions", no_room)
    monkeypatch.setattr(jobs, "cancel_leftovers", fails)
    monkeypatch.setattr(keeper_module, "_EMPTY_WITHIN", 0.05)
    monkeypatch.setattr(keeper_module, "_LOOK_EVERY", 0.01)
    await keeper._clean_up()
    assert len(tried) > 1, "the jobs are what matters most"
    assert not (folder / "tls").exists()
    found = read_cluster(folder)
    assert found is not None
    assert found.keeper is not None
    assert found.keeper.ended is not None
    assert "Too many open files" in caplog.text


async def test_the_jobs_are_cancelled_and_the_keys_removed_on_a_full_disk(
    folder: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [{"7"}, {"7"}, set()]

    async def cancel(_known: jobs.Submitted) -> set[str]:
        return left.pop(0)

    monkeypatch.setattr(jobs, "cancel_leftovers", cancel)
    monkeypatch.setattr(keeper_module, "_LOOK_EVERY", 0.01)
    monkeypatch.setattr(keeper_module, "write_private", no_room)
    await keeper._clean_up()
    assert left == []
    assert not (folder / "tls").exists()
