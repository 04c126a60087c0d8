"""What watches over a run in its driver goes on watching, whatever one look meets with."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.flows import run_files, stranded
from slurmtui.flows import watcher as module
from slurmtui.flows.watcher import Watcher
from slurmtui.models.run_record import CancelRequest, DriverRecord
from slurmtui.sources.run_folder import CANCEL_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def watcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watcher]:
    """One whose flow ends as soon as it is signalled."""
    monkeypatch.setattr(module, "ENDING", threading.Event())
    monkeypatch.setattr(module, "_LOOK_EVERY", 0.01)
    monkeypatch.setattr(module, "_LOOK_FOR_REFUSALS_EVERY", 0.01)
    record = DriverRecord(host="here", pid=1, pid_started=1.0, started=time.time())
    run_files.lock_file(tmp_path, record.attempt).touch()
    channel: Any = SimpleNamespace(tell=lambda *_: True)
    made = Watcher(tmp_path, record, channel, engine_ends=lambda: True, give_up=lambda: None)
    monkeypatch.setattr(made, "_signal", made._over.set)
    made.start()
    yield made
    made._over.set()
    made._thread.join(20)  # only then are its sockets closed
    made.finish()


def test_a_look_that_fails_is_told_once_and_the_run_can_be_cancelled_all_the_same(
    watcher: Watcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def fails(_self: stranded.Stranded) -> str:
        looks.append(1)
        raise RuntimeError("half imported")

    monkeypatch.setattr(stranded.Stranded, "for_good", fails)
    until(lambda: len(looks) > 3)
    assert watcher._told == {"RuntimeError('half imported')"}
    (tmp_path / CANCEL_FILE).write_bytes(msgspec.json.encode(CancelRequest(time=time.time())))
    until(lambda: watcher.stop is not None)
    assert watcher.stop is not None
    assert watcher.stop.state == "CANCELLED"
