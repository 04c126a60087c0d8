"""The queue with 100,000 jobs: what a poll, a screenful, a filter and a sort may cost (issue of the frozen screen)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from slurmtui.models.job_table import QUEUE, JobTable
from tests.records import record_of

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.bench
JOBS = 100_000
STATES = ("RUNNING", "PENDING", "PENDING", "COMPLETING")


@pytest.fixture(scope="module")
def data() -> bytes:
    """The answer of a squeue with very many jobs of fifty users."""
    template = {
        "name": "train-3f9a01\n|名", "partition": "gpu", "account": "research", "qos": "normal", "cpus": "8",
        "node_count": "1", "tres": "cpu=8,mem=16G,node=1,billing=8,gres/gpu=2", "tres_per_node": "gres:gpu:a100:2",
        "elapsed": "18:02", "time_limit": "2:00:00", "submit": "1796023000", "start": "1796023039",
        "work_dir": "/home/alice", "reason": "Priority", "comment": "(null)", "dependency": "(null)",
    }  # fmt: skip
    rows = []
    for number in range(JOBS):
        own = {"id": str(number), "raw_id": str(number), "user": f"user{number % 50}", "state": STATES[number % 4]}
        if number % 1000 == 0:
            own["comment"] = f"slurmtui:{number:036}"
        rows.append(record_of(QUEUE, template, **own))
    return b"".join(rows)


def best(work: Callable[[], object], rounds: int = 5) -> float:
    """The shortest of some measurements, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def test_arrival_comparison_and_looking(data: bytes, record_property: Callable[[str, object], None]) -> None:
    table, same = JobTable(data), JobTable(bytes(bytearray(data)))
    measured = {
        "arrive": (best(lambda: JobTable(data)), 250),  # in a thread, while squeue writes for a second
        "compare": (best(lambda: table == same), 30),
        "screenful": (best(lambda: [table.text(row, f.name) for row in range(500, 560) for f in QUEUE.fields]), 15),
        "sort by user": (best(lambda: sorted(range(JOBS), key=table.values("user").__getitem__)), 300),
        "sort by start": (best(lambda: sorted(range(JOBS), key=table.values("start").__getitem__)), 300),
        "marked": (best(table.marked), 60),
        "first look by id": (best(lambda: JobTable(data).index("99999")), 400),
        "later look by id": (best(lambda: table.index("99999")), 1),
        "a thousand jobs": (best(lambda: [table.job(row) for row in range(1000)]), 200),
    }
    for name, (milliseconds, _) in measured.items():
        record_property(name, round(milliseconds, 2))
        print(f"{name:<18} {milliseconds:8.2f} ms")
    slow = {name: found for name, found in measured.items() if found[0] > found[1]}
    assert not slow
