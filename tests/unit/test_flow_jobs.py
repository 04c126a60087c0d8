"""Which jobs a driver ends: its own, and never one that only has the number of an old one."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.errors import CommandError
from slurmtui.flows import jobs
from slurmtui.models.job import Job
from slurmtui.models.marks import comment
from slurmtui.models.run_record import Submission
from slurmtui.sources.slurm.client import Slurm
from tests.unit.run_folders import RUN, submitted_run

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "11234567-89ab-cdef-0123-456789abcdef"
NOW = time.time()
MONTH = 30 * 86400.0


class Cluster:
    """A queue, and what was cancelled in it."""

    def __init__(self) -> None:
        self.queue: list[Job] | None = []
        self.cancelled: list[str] = []


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()

    async def queue(_slurm: Slurm, *, everyone: bool) -> Any:
        assert not everyone
        if made.queue is None:
            raise CommandError("squeue: no answer", argv=("squeue",), code=1)
        found = made.queue
        return SimpleNamespace(jobs=lambda: iter(found))

    async def cancel_jobs(_runner: object, ids: list[str]) -> dict[str, str]:
        made.cancelled.extend(ids)
        return dict.fromkeys(ids, "")

    monkeypatch.setattr(Slurm, "queue", queue)
    monkeypatch.setattr(jobs, "cancel_jobs", cancel_jobs)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = submitted_run(tmp_path)
    made = [("1", 1, NOW - MONTH), ("2", 2, NOW - 60), ("3", 3, NOW - 30)]
    entries = [Submission(time=at, code=0, job_id=number, attempt=attempt) for number, attempt, at in made]
    (found / "submissions.jsonl").write_bytes(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))
    return found


def job(number: int, **more: Any) -> Job:
    return Job(**{"id": str(number), "raw_id": number, "state": "RUNNING", "submit": NOW - 60, **more})


async def test_its_own_jobs_are_cancelled_and_not_those_of_a_later_attempt(folder: Path, cluster: Cluster) -> None:
    cluster.queue = [job(2), job(3), job(4)]
    assert await jobs.cancel_leftovers(jobs.submitted(folder, 2)) == {"2"}
    assert cluster.cancelled == ["2"]


async def test_a_job_that_got_the_number_of_an_old_one_is_left_alone(folder: Path, cluster: Cluster) -> None:
    cluster.queue = [job(1, name="somebody-elses"), job(2, comment=comment(OTHER))]
    assert await jobs.cancel_leftovers(jobs.submitted(folder, 2)) == set()
    assert cluster.cancelled == []
    cluster.queue = [job(1, comment=comment(RUN))]  # queued again by SLURM, which tells a new time of submission
    assert await jobs.cancel_leftovers(jobs.submitted(folder, 2)) == {"1"}


async def test_the_tasks_of_an_array_are_its_jobs(folder: Path, cluster: Cluster) -> None:
    cluster.queue = [job(9, id="2_1", array_id=2), job(10, id="2_[2-9]", array_id=2, state="PENDING")]
    known = jobs.submitted(folder, 2)
    assert await jobs.alive(known) == {"2"}, "the task that kept the array's own number has ended"
    assert await jobs.cancel_leftovers(known) == {"2"}
    cluster.queue = [job(9, id="2_1", array_id=2, state="COMPLETING"), job(11, id="2+1", het_id=2, state="COMPLETED")]
    assert await jobs.alive(known) == set()


async def test_without_an_answer_only_this_attempts_jobs_are_cancelled(folder: Path, cluster: Cluster) -> None:
    cluster.queue = None
    assert await jobs.alive(jobs.submitted(folder, 2)) is None
    assert await jobs.cancel_leftovers(jobs.submitted(folder, 2)) == {"2"}
    assert cluster.cancelled == ["2"]
    assert await jobs.cancel_leftovers(jobs.submitted(folder, 4)) == set(), "an attempt that has only begun made none"
