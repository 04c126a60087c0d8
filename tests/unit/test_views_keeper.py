"""How the views and panes were left is written in order, and it is on disk when the console has ended."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.atomic import write_private
from slurmtui.store import log_panes
from slurmtui.store.log_panes import Leaf
from slurmtui.store.view_state import ViewMemory, ViewState
from slurmtui.views import keeper as keepers
from slurmtui.views.keeper import Keeper

if TYPE_CHECKING:
    from pathlib import Path


class SlowDisk:
    """Writes when it may; how many writes go on at once at most."""

    def __init__(self) -> None:
        self.begun, self.may_write = threading.Event(), threading.Event()
        self.writing = self.most = 0

    def write(self, path: Path, content: bytes) -> None:
        self.writing += 1
        self.most = max(self.most, self.writing)
        self.begun.set()
        self.may_write.wait(60)
        write_private(path, content)
        self.writing -= 1


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    made = SlowDisk()
    monkeypatch.setattr("slurmtui.store.view_state.write_private", made.write)
    monkeypatch.setattr(keepers, "write_private", made.write)
    return made


@pytest.fixture
def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keeper:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    monkeypatch.setattr(keepers, "SAVE_SECONDS", 0.0)
    session: Any = SimpleNamespace(place=SimpleNamespace(environment={}, label="here"))
    return Keeper(session)


async def test_a_change_while_the_console_writes_is_written_after_it(keeper: Keeper, disk: SlowDisk) -> None:
    keeper.remember("jobs", ViewState(filter="first"))
    await asyncio.to_thread(disk.begun.wait, 60)
    keeper.remember("jobs", ViewState(filter="second"))
    keeper.remember("runs", ViewState(filter="other"))
    ending = asyncio.ensure_future(keeper.end())
    await asyncio.sleep(0)
    disk.may_write.set()
    await ending
    assert disk.most == 1, "the older is not moved into place last"
    again = ViewMemory(keeper.memory.path)
    assert (again.view("jobs").filter, again.view("runs").filter) == ("second", "other")


async def test_the_last_plan_of_the_panes_is_on_disk_when_the_console_has_ended(keeper: Keeper, disk: SlowDisk) -> None:
    keeper.remember_panes(Leaf(1, "job:1"))
    await asyncio.to_thread(disk.begun.wait, 60)
    keeper.remember_panes(Leaf(1, "job:2"))
    keeper.remember_panes(Leaf(1, "job:3"))
    ending = asyncio.ensure_future(keeper.end())
    await asyncio.sleep(0)
    disk.may_write.set()
    await ending
    assert disk.most == 1
    assert log_panes.decode(keeper.panes_file.read_bytes()) == Leaf(1, "job:3")
    keeper.remember_panes(None)
    await keeper.end()
    assert log_panes.decode(keeper.panes_file.read_bytes()) is None


async def test_a_change_is_written_without_an_end(keeper: Keeper, disk: SlowDisk) -> None:
    disk.may_write.set()
    keeper.remember_view("jobs")
    assert keeper._task is not None
    await keeper._task
    assert ViewMemory(keeper.memory.path).last_view == "jobs"


@pytest.mark.parametrize("error", [OSError("no room"), ValueError("a fault")])
async def test_what_goes_wrong_is_logged_and_tried_again(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def write(_path: Path, _content: bytes) -> None:
        raise error

    with monkeypatch.context() as broken:
        broken.setattr("slurmtui.store.view_state.write_private", write)
        keeper.remember_view("jobs")
        assert keeper._task is not None
        await keeper._task
    assert str(error) in caplog.text
    await keeper.end()
    assert ViewMemory(keeper.memory.path).last_view == "jobs"
