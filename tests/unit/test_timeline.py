"""The memory of the queue over a session."""

from __future__ import annotations

from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.store.snapshot import Part, Snapshot
from slurmtui.store.timeline import MOST_POINTS, Point, Timeline
from tests.records import record_of


def table(*jobs: tuple[str, str, str]) -> JobTable:
    return JobTable(
        b"".join(record_of(QUEUE, id=job_id, raw_id="1", user=user, state=state) for job_id, user, state in jobs)
    )


JOBS = table(
    ("1", "alice", "RUNNING"), ("2_[0-9]", "alice", "PENDING"), ("3", "bob", "RUNNING"), ("4", "bob", "COMPLETING"),
    ("5", "alicex", "PENDING"),
)  # fmt: skip


def seen(jobs: JobTable, at: float, *, everyone: bool = True, error: str = "") -> Snapshot:
    return Snapshot(user="alice", everyone=everyone, queue=Part(jobs, at=at, error=error))


def test_mine_and_everybodys_with_every_task() -> None:
    timeline = Timeline()
    timeline.note(seen(JOBS, 100))
    assert timeline.mine == [Point(100, 1, 10, 0)]
    assert timeline.all == [Point(100, 2, 11, 1)]


def test_a_poll_counts_once_however_often_it_is_shown() -> None:
    timeline = Timeline()
    for at in (100, 100, 110, 110, 110):
        timeline.note(seen(JOBS, at))
    assert [point.at for point in timeline.mine] == [100, 110]


def test_no_point_is_made_up_while_slurm_does_not_answer() -> None:
    timeline = Timeline()
    timeline.note(Snapshot(user="alice"))
    timeline.note(seen(JOBS, 100, error="down"))
    assert timeline.mine == []


def test_only_mine_is_known_when_only_mine_is_read() -> None:
    timeline = Timeline()
    timeline.note(seen(table(("1", "alice", "RUNNING")), 100, everyone=False))
    assert (timeline.mine, timeline.all) == ([Point(100, 1, 0, 0)], [])
    timeline.note(seen(JOBS, 110))
    assert len(timeline.all) == 1


def test_a_long_session_keeps_its_length_and_a_bounded_memory() -> None:
    timeline = Timeline()
    for number in range(10 * MOST_POINTS):
        timeline.note(seen(JOBS, 1000 + number))
    assert len(timeline.mine) <= MOST_POINTS
    assert timeline.mine[0].at == 1000
    assert timeline.mine[-1].at == 1000 + 10 * MOST_POINTS - 1
    assert [point.at for point in timeline.mine] == sorted(point.at for point in timeline.mine)
