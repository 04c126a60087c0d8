"""Which SLURM is spoken to: the one that is configured, else a sandbox that is really up."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import psutil
import pytest

from slurmtui.sources.slurm import place
from slurmtui.sources.slurm.place import SlurmPlace, find_slurm

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def nothing_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    monkeypatch.delenv("SLURM_CONF", raising=False)
    monkeypatch.setattr(place, "_USUAL_PLACES", (str(tmp_path / "etc/slurm.conf"),))


def sandbox(tmp_path: Path, pid: object, started: object) -> str:
    folder = tmp_path / "sandbox"
    folder.mkdir()
    conf = str(folder / "slurm.conf")
    record = {"slurm_conf": conf, "slurmctld_pid": pid, "slurmctld_pid_started": started}
    (folder / "sandbox.json").write_text(json.dumps(record))
    return conf


def own_start() -> float:
    return psutil.Process().create_time()


def test_nothing_at_all() -> None:
    assert find_slurm() == SlurmPlace()


def test_a_sandbox_that_is_up_is_used_and_named(tmp_path: Path) -> None:
    conf = sandbox(tmp_path, os.getpid(), own_start())
    assert find_slurm() == SlurmPlace(label="sandbox", environment={"SLURM_CONF": conf}, sandbox=True)


@pytest.mark.parametrize(
    "pid_and_start", [(2**22 - 1, 1.0), (os.getpid(), 1.0), (None, None), ("x", "y"), (-1, 1.0), (2**80, 1.0)]
)
def test_a_sandbox_whose_controller_is_gone_is_not(tmp_path: Path, pid_and_start: tuple[object, object]) -> None:
    sandbox(tmp_path, *pid_and_start)
    assert find_slurm() == SlurmPlace()


def test_a_configured_slurm_comes_before_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = sandbox(tmp_path, os.getpid(), own_start())
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/slurm.conf").write_text("ClusterName=real\n")
    assert find_slurm() == SlurmPlace()
    monkeypatch.setenv("SLURM_CONF", "/srv/slurm.conf")
    assert find_slurm() == SlurmPlace(environment={"SLURM_CONF": "/srv/slurm.conf"})
    monkeypatch.setenv("SLURM_CONF", conf)
    assert find_slurm().label == "sandbox"


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "\xff"])
def test_a_damaged_record_is_no_sandbox(tmp_path: Path, text: str) -> None:
    (tmp_path / "sandbox").mkdir()
    (tmp_path / "sandbox/sandbox.json").write_text(text, encoding="latin-1")
    assert find_slurm() == SlurmPlace()
