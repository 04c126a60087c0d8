"""The painted console of the tests of the screen, and queues of any size."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.models.job_table import QUEUE, JobTable
from tests.records import record_of

if TYPE_CHECKING:
    from collections.abc import Callable

_SCREEN = Path(__file__).parents[1] / "ui" / "conftest.py"
_spec = importlib.util.spec_from_file_location("painted_console", _SCREEN)
assert _spec is not None
assert _spec.loader is not None
painted_console: Any = importlib.util.module_from_spec(_spec)
sys.modules["painted_console"] = painted_console
_spec.loader.exec_module(painted_console)

make_console = painted_console.make_console

_ALIKE = {
    "user": "alice", "account": "research", "partition": "gpu", "qos": "normal", "cpus": "8", "node_count": "1",
    "tres": "cpu=8,mem=16G,node=1,billing=8,gres/gpu=2", "tres_per_node": "gres:gpu:a100:2", "time_limit": "2:00:00",
    "submit": "1796023000", "work_dir": "/home/alice",
}  # fmt: skip


def queue(jobs: int, *, array: bool, seed: int = 0) -> JobTable:
    """Jobs that differ in everything people sort by; all of one array, or each on its own."""
    chance = random.Random(seed)  # noqa: S311 - test data
    lines = []
    for number in range(jobs):
        runs = chance.random() < 0.5
        time = f"{chance.randrange(24)}:{chance.randrange(60):02}:{chance.randrange(60):02}"
        own = {
            "id": f"5001_{number}" if array else str(number + 1000),
            "raw_id": str(number + 1000),
            "name": f"job-{chance.randrange(10**6)}",
            "state": "RUNNING" if runs else "PENDING",
            "elapsed": time if runs else "0:00",
            "nodes": f"n{chance.randrange(500)}" if runs else "",
            "reason": "None" if runs else "Priority",
            "start": str(1796023000 + chance.randrange(10**5)) if runs else "N/A",
        }
        lines.append(record_of(QUEUE, _ALIKE, **own))
    return JobTable(b"".join(lines))


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))

    async def nothing(*_: Any) -> dict[str, dict[str, int]]:
        return {}

    monkeypatch.setattr("slurmtui.views.jobs.ended.ended_tallies", nothing)


@pytest.fixture(scope="session")
def made_queue() -> Callable[..., JobTable]:
    """Queues of a size, made once."""
    made: dict[tuple[int, bool, int], JobTable] = {}

    def make(jobs: int, *, array: bool = False, seed: int = 0) -> JobTable:
        key = (jobs, array, seed)
        if key not in made:
            made[key] = queue(jobs, array=array, seed=seed)
        return made[key]

    return make
