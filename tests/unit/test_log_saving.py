"""A log that is saved is there whole or not at all, and replaces nothing."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.errors import Refused
from slurmtui.views.logs import saving
from slurmtui.views.logs.saving import save_log

if TYPE_CHECKING:
    from pathlib import Path

NO_PANE: Any = None
"""What is marked is text already."""


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


@pytest.fixture(params=["links", "no links"])
def links(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_arguments: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if request.param == "no links":
        monkeypatch.setattr(os, "link", refused)


@pytest.mark.usefixtures("links")
async def test_what_is_saved_is_the_users_alone_and_nothing_lies_beside_it(folder: Path) -> None:
    path = folder / ("x" * 250)  # as long as a name may be
    assert await save_log(NO_PANE, path, "one\ntwo\n") == 2
    assert path.read_text() == "one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names(folder) == [path.name]


@pytest.mark.usefixtures("links")
async def test_a_file_that_appears_meanwhile_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "out.log"

    def appears(_handle: int) -> None:
        path.write_text("another's")

    monkeypatch.setattr(os, "fsync", appears)
    for _ in range(2):  # written meanwhile, and there from the start
        with pytest.raises(Refused, match="there already"):
            await save_log(NO_PANE, path, "mine\n")
        assert path.read_text() == "another's"
        assert names(folder) == [path.name]


async def test_a_full_disk_leaves_nothing_and_the_name_is_free(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(Refused, match="No space left"):
            await save_log(NO_PANE, folder / "out.log", "mine\n")
    assert names(folder) == []
    assert await save_log(NO_PANE, folder / "out.log", "mine\n") == 1


async def test_a_save_that_is_given_up_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, closed = asyncio.Event(), []

    class Endless:
        async def choose(self, _wanted: object) -> None:
            begun.set()
            await asyncio.Event().wait()

        def close(self) -> None:
            closed.append(True)

    monkeypatch.setattr(saving, "open_key", lambda *_: Endless())
    console = SimpleNamespace(session=None, store=SimpleNamespace(snapshot=None))
    pane: Any = SimpleNamespace(
        console=console, log_key="job:1", document=SimpleNamespace(window=SimpleNamespace(filter=None))
    )
    saved = asyncio.ensure_future(save_log(pane, folder / "out.log", None))
    await begun.wait()
    saved.cancel()
    with pytest.raises(asyncio.CancelledError):
        await saved
    assert names(folder) == []
    assert closed


async def test_a_folder_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(Refused, match="No such file"):
        await save_log(NO_PANE, folder / "missing" / "out.log", "mine\n")
