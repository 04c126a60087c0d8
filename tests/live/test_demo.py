"""`make demo` and `make demo-down`, without a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from slurmtui.sources.processes import command_line, environment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("slurm_is_installed", "clean_environment")]
ROOT = Path(__file__).resolve().parents[2]


def person(state: Path) -> dict[str, str]:
    """The environment of a person with an empty home, in which neither Prefect nor Dask has been used before."""
    kept = {name: value for name, value in os.environ.items() if name not in ("SLURM_CONF", "PREFECT_HOME")}
    folders = {"HOME": state.with_name("home"), "TMPDIR": state.with_name("temporary")}
    for folder in folders.values():
        folder.mkdir(exist_ok=True)
    return {**kept, **{name: str(folder) for name, folder in folders.items()}, "SLURMTUI_STATE": str(state)}


def demo(state: Path, what: str) -> subprocess.CompletedProcess[str]:
    environment = person(state)
    command = [sys.executable, "-m", "slurmtui.sandbox.demo", what]
    return subprocess.run(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip


def slurmtui(state: Path, *argv: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "slurmtui", *argv],
        env=person(state),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def processes_of(state: Path) -> list[psutil.Process]:
    left = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if f"{state}" in " ".join((*command_line(process), *environment_of(process).values())):
                left.append(process)
    return left


@pytest.fixture
def state(live_root: Path) -> Iterator[Path]:
    folder = live_root / "demo"
    yield folder
    demo(folder, "down")


@pytest.mark.timeout(900)
def test_the_demo_shows_three_flows_at_work_and_leaves_nothing(state: Path, wait_until: Callable[..., object]) -> None:
    before = set(ROOT.glob("*"))
    done = demo(state, "up")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("submitted ") == 3
    assert ".venv/bin/slurmtui" in done.stderr

    def told() -> bool:
        with contextlib.suppress(subprocess.SubprocessError):  # busy: it is asked again
            runs = {run["flow"]: run for run in json.loads(slurmtui(state, "runs", "--json"))}
            assert set(runs) == {"train", "sweep", "simulate"}
            return bool(runs["sweep"]["state"] == "FAILED")
        return False

    wait_until(told, 180, "sweep has failed")
    again = demo(state, "up")
    assert again.returncode == 0, again.stderr
    assert "submitted " not in again.stderr

    ended = demo(state, "down")

    assert ended.returncode == 0, ended.stderr
    assert not state.exists()
    assert set(ROOT.glob("*")) == before
    made = [path for name in ("HOME", "TMPDIR") for path in Path(person(state)[name]).rglob("*")]
    assert made == [], "it leaves files outside the state folder"
    wait_until(lambda: not processes_of(state), 30, "no process to be left")
