"""What stands in the rows of the Jobs view, and what little things around them do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.errors import CommandError
from slurmtui.models.job_group import JobGroup
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.records import Records
from slurmtui.sources.exec import Finished
from slurmtui.sources.slurm.array_tally import STATES, collect, ended_tallies
from slurmtui.store.arrange import Arranger, Wanted
from slurmtui.store.query_order import SORTABLE
from slurmtui.store.snapshot import Overlay, Part, Snapshot
from slurmtui.store.tally import tally as count_jobs
from slurmtui.views.jobs.columns import COLUMNS, USUAL, WIDE, chosen, columns
from slurmtui.views.jobs.ended import EndedTallies
from slurmtui.views.jobs.rows import JobRows
from slurmtui.views.jobs.tally import tally
from tests.records import record_of

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = 1_796_000_000.0


def row(job_id: object, **fields: object) -> bytes:
    usual = {
        "id": job_id, "raw_id": 1, "user": "alice", "name": "job", "partition": "gpu", "state": "RUNNING",
        "node_count": 1, "cpus": 4, "elapsed": "10:00", "time_limit": "2:00:00", "nodes": "n1",
    }  # fmt: skip
    return record_of(QUEUE, usual, **fields)


def rows_of(*lines: bytes, opened: Sequence[str] = (), at: float = NOW, error: str = "", **others: Any) -> JobRows:
    table = JobTable(b"".join(lines))
    snapshot = Snapshot(user="alice", queue=Part(table, at=at, error=error), **others)
    listing = Arranger().arrange(table, Wanted(opened=frozenset(opened)))
    found = JobRows(listing, snapshot, {"r1": "brave-otter"}, NOW)
    found.columns = list(COLUMNS)
    return found


def cell(rows: JobRows, column: str, place: int = 0) -> str:
    found = rows.cells(place)[list(COLUMNS).index(column)]
    if isinstance(found, str):
        return found
    return found[0] if isinstance(found, tuple) else "".join(text for text, _ in found)


def test_every_column_has_its_cell_and_its_order() -> None:
    rows = rows_of(row(1))
    assert len(rows.cells(0)) == len(COLUMNS)
    assert set(COLUMNS) <= SORTABLE
    assert set(USUAL) | set(WIDE) <= set(COLUMNS)


@pytest.mark.parametrize(
    ("fields", "column", "expected"),
    [
        ({}, "time", "10m"),
        ({"elapsed": "13:59:59"}, "time", "13h"),
        ({"elapsed": "1-02:00:00"}, "time", "1d02"),
        ({"state": "PENDING"}, "time", "–"),  # noqa: RUF001 - an en dash is what is meant
        ({}, "left", "1h50"),
        ({"elapsed": "3:00:00"}, "left", "0s"),
        ({"time_limit": "UNLIMITED"}, "left", "∞"),
        ({"state": "PENDING", "elapsed": "0:00"}, "left", "2h00"),
        ({"state": "PENDING", "submit": int(NOW - 7200)}, "wait", "2h00"),
        ({"submit": int(NOW - 7200)}, "wait", "–"),  # noqa: RUF001
        ({"state": "PENDING", "reason": "JobHeldUser"}, "where", "held by its user (JobHeldUser)"),
        ({"state": "PENDING", "reason": "JobArrayTaskLimit"}, "where", "JobArrayTaskLimit"),
        ({"state": "PENDING", "reason": "(null)"}, "where", "not looked at by the scheduler yet"),
        ({"nodes": "n[1-3]"}, "where", "n[1-3]"),
        ({"state": "COMPLETING", "nodes": "", "reason": "NodeDown"}, "where", "NodeDown"),
        ({"name": "a\x1b]52;\nb"}, "name", "a␛]52;␊b"),
        ({"account": "(null)"}, "account", "–"),  # noqa: RUF001
        ({"priority": "4294901700"}, "priority", "4294901700"),
        ({"state": "A_NEW_STATE"}, "state", "A_NEW_STATE"),
    ],
)
def test_cells(fields: dict[str, object], column: str, expected: str) -> None:
    assert cell(rows_of(row(1, **fields)), column) == expected


def test_a_waiting_job_has_its_estimate_and_no_negative_time() -> None:
    rows = rows_of(row(1, state="PENDING", reason="Priority", start=int(NOW + 3600)))
    assert cell(rows, "where") == f"Priority, est. {time.strftime('%H:%M', time.localtime(NOW + 3600))}"
    assert cell(rows, "time") == "–"  # noqa: RUF001


def test_times_go_on_only_while_slurm_answers() -> None:
    rows = rows_of(row(1), row(2, state="SUSPENDED"), at=NOW - 120)
    assert (cell(rows, "time"), cell(rows, "time", 1)) == ("12m", "10m")
    rows.tick(NOW + 60)
    assert cell(rows, "time") == "13m"
    assert cell(rows_of(row(1), at=NOW - 120, error="no answer"), "time") == "10m"


def test_the_longest_task_stands_for_an_array() -> None:
    rows = rows_of(row("5_1", start=int(NOW - 60)), row("5_2", start=int(NOW - 7200)), row("5_[3-9]", state="PENDING"))
    assert cell(rows, "time") == "2h00"
    assert cell(rows, "job") == "▸ 5_[1-9]"
    assert cell(rows, "where") == "2 running · 7 waiting"
    job = rows.job("5")
    assert job is not None
    assert (job.id, job.state, job.elapsed, job.array_tasks) == ("5", "RUNNING", 7200, "1-9")


def test_a_task_that_waits_is_a_job_of_its_own() -> None:
    rows = rows_of(row("5_1"), row("5_[3-9]", state="PENDING", reason="Priority"), opened=["5"])
    job = rows.job("5_4")
    assert job is not None
    assert (job.id, job.state, job.array_tasks) == ("5_4", "PENDING", "4")
    assert rows.group("5_4") is None
    assert rows.group("5") is not None
    assert rows.job("5_99") is None
    assert [cell(rows, "job", place) for place in range(3)] == ["▾ 5_[1-9]", " ╵ 5_1", " ╵ 5_3"]


def test_what_was_said_of_an_array_stands_over_its_tasks_as_well() -> None:
    overlays = {"5": Overlay("cancelling…", NOW + 10)}
    rows = rows_of(row("5_1"), row("5_2"), row(6), opened=["5"], overlays=overlays)
    assert [cell(rows, "where", place) for place in range(4)] == ["cancelling…"] * 3 + ["n1"]


def test_the_run_of_a_job_is_named() -> None:
    rows = rows_of(row(1), row(2), run_of_job={"1": "r1", "2": "ffffffff-0000"})
    assert (cell(rows, "run"), cell(rows, "run", 1)) == ("brave-otter", "ffffffff")
    assert rows.run_of("1") == "r1"
    assert rows.run_of("77") == ""


def test_tallies_in_words_and_short() -> None:
    group = JobGroup(id="5", kind="array", states={"PENDING": 9535, "RUNNING": 50, "SUSPENDED": 2}, hidden=3)
    ended = {"COMPLETED": 412, "FAILED": 3, "TIMEOUT": 1}
    said = "".join(text for text, _ in tally(group, ended))
    assert said == "412 done · 50 running · 3 failed · 1 timed out · 9,535 waiting · 2 suspended · 3 hidden"
    short = "".join(text for text, _ in tally(group, ended, terse=True))
    assert short == "412✔ 50R 3✖ 1 timed out 9,535PD 2 suspended"
    cut = JobGroup(id="5", kind="array", states={"PENDING": 20}, whole=False)
    assert "".join(text for text, _ in tally(cut)) == "20+ waiting"


def test_columns_that_do_not_exist_are_passed_over() -> None:
    assert chosen(["nonsense", "name", "name", "job"]) == ("name", "job")
    assert chosen(["nonsense"]) == USUAL
    assert [column.key for column in columns(160, ("job", "cpus"), {"cpus": 9})] == ["job", "cpus"]
    assert columns(160, ("job", "cpus"), {"cpus": 9})[1].width == 9
    wide = [column.key for column in columns(160, ("job", "cpus", "left"), wide=True)]
    assert wide == ["job", "cpus", "left", *(key for key in WIDE if key != "left")]
    assert [column.key for column in columns(160, ("job", "cpus", "left"), wide=True, skip=1)][:2] == ["job", "left"]
    assert columns(160, ("job",), wide=True, skip=999)[0].key == "job"


def test_my_jobs_are_counted_with_the_tasks_that_wait() -> None:
    table = JobTable(row(1) + row(2, state="PENDING") + row("5_[0-9%2]", state="PENDING") + row(3, user="bob"))
    assert count_jobs(table, "alice") == (1, 11)
    assert count_jobs(table, None) == (2, 11)
    assert count_jobs(table, "bob") == (1, 0)


class Sacct:
    """A runner that answers as sacct, or fails."""

    def __init__(self, answer: str | None) -> None:
        self.answer, self.asked = answer, 0
        self.lacks: dict[str, str] = {}

    async def run(self, argv: Sequence[str], **_: Any) -> Finished:
        self.asked += 1
        if self.answer is None:
            message = "sacct: accounting is off"
            raise CommandError(message, argv=argv, code=1, stderr="")
        lines = [line.split() for line in self.answer.splitlines()]
        text = "".join(f"{job_id:<48} {state:<32} \n" for job_id, state in lines)
        return Finished(tuple(argv), 0, text.encode(), "", 0.1)


class Client:
    """What of the SLURM client is used."""

    def __init__(self, answer: str | None) -> None:
        self.runner, self.timeout = Sacct(answer), 5.0


ENDED = "5_0 COMPLETED\n5_1 CANCELLED+\n5_2 COMPLETED\n5_3 RUNNING\n5_[4-9] PENDING\n7 COMPLETED\n8_1 OUT_OF_ME+"


async def test_ended_tasks_are_counted_by_array() -> None:
    client: Any = Client(ENDED)
    found = await ended_tallies(client.runner, ["5", "8"], 5)
    assert found == {"5": {"COMPLETED": 2, "CANCELLED": 1}, "8": {"OUT_OF_MEMORY": 1}}
    assert collect(Records(STATES)) == {}


async def test_accounting_is_asked_again_only_where_something_moved_and_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client: Any = Client(ENDED)
    tallies = EndedTallies()
    group = JobGroup(id="5", kind="array", states={"RUNNING": 1})
    moved = JobGroup(id="5", kind="array", states={"RUNNING": 2})
    await tallies.ask(client, tallies.due([group, JobGroup(id="9", kind="het", states={"RUNNING": 2})]))
    assert tallies.counts == {"5": {"COMPLETED": 2, "CANCELLED": 1}}
    assert tallies.due([moved]) == {}
    monkeypatch.setattr("slurmtui.views.jobs.ended.time.monotonic", lambda: time.perf_counter() + 1e9)
    assert tallies.due([group]) == {}
    assert tallies.due([moved]) == {"5": {"RUNNING": 2}}


async def test_without_accounting_an_array_shows_what_squeue_knows() -> None:
    client: Any = Client(None)
    tallies = EndedTallies()
    group = JobGroup(id="5", kind="array", states={"RUNNING": 1})
    await tallies.ask(client, tallies.due([group]))
    assert tallies.counts == {}
    assert tallies.due([JobGroup(id="6", kind="array", states={"RUNNING": 1})]) == {}
    assert client.runner.asked == 1
