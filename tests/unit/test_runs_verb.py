"""What ``slurmtui runs`` prints, without SLURM and Prefect."""

from __future__ import annotations

import re
import time
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from slurmtui.errors import UsageError
from slurmtui.models.flow_run import FlowRun, TaskCounts
from slurmtui.models.job import Job
from slurmtui.models.run_view import RunView
from slurmtui.models.text import cells
from slurmtui.models.verdict import KINDS, Mood, Verdict
from slurmtui.store.words import tasks_done
from slurmtui.verbs.runs import facts, iso, moment, states_of
from slurmtui.verbs.runs_table import print_runs
from slurmtui.views.runs.rows import tasks_words

NOW = time.mktime((2026, 3, 5, 14, 0, 0, 0, 0, -1))


def view(name: str, text: str = "done", *jobs: Job) -> RunView:
    run = FlowRun(
        id=f"{name[:4]}-1", name=name, flow_name="train", state_type="COMPLETED", start=NOW - 4000, end=NOW - 60
    )
    return RunView(run=run, verdict=Verdict(kind="done", text=text, mood=Mood.DONE), jobs=jobs)


def test_moments() -> None:
    assert moment("2d", NOW) == NOW - 2 * 86400
    assert moment("36h", NOW) == NOW - 36 * 3600
    assert moment("90m", NOW) == NOW - 5400
    assert moment("2026-03-05", NOW) == NOW - 14 * 3600
    assert moment("2026-03-05T13:00", NOW) == NOW - 3600


@pytest.mark.parametrize("text", ["", "soon", "2", "2x", "2026-13-01", "-1d"])
def test_no_moments(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        moment(text, NOW)
    assert repr(text) in str(caught.value)


def test_times_for_scripts_carry_a_zone() -> None:
    text = iso(NOW)
    assert text is not None
    assert datetime.fromisoformat(text).timestamp() == NOW
    assert iso(None) is None


def test_what_is_not_known_is_null_and_never_zero() -> None:
    found = facts(view("brave-otter"))
    assert found["tasks"] is None
    assert found["profile"] is None
    assert found["driver"] == {"host": None, "pid": None, "job": None, "status": "none"}


def test_columns_stay_aligned_whatever_the_names_hold(capsys: pytest.CaptureFixture[str]) -> None:
    print_runs([view("brave-otter"), view("名前\x1b[31m\n"), view("e")], NOW, with_jobs=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all(line.isprintable() for line in lines)
    assert {cells(line[: line.index("train")]) for line in lines[1:]} == {lines[0].index("FLOW")}


def test_jobs_beneath_their_run(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = (
        Job(id="1", raw_id=1, state="RUNNING", nodes="n1", elapsed=90),
        Job(id="2", raw_id=2, state="PENDING", reason="Priority", start=NOW + 600),
    )
    print_runs([view("brave-otter", "running", *jobs)], NOW, with_jobs=True)
    _, run, first, second = capsys.readouterr().out.splitlines()
    assert "1R 1PD" in run
    assert first.split() == ["│", "1", "R", "n1", "1m"]
    assert second.split() == ["└", "2", "PD", "Priority", "est.", "14:10"]


def test_states_are_prefects_or_verdicts_and_anything_else_is_told() -> None:
    assert states_of("Running, lost,driver-gone") == {"running", "lost", "driver-gone"}
    assert states_of("AwaitingRetry") == {"awaitingretry"}
    assert states_of("skipped", {"Skipped"}) == {"skipped"}, "a flow may name its states as it likes"
    for text in ("foo", "running,foo"):
        with pytest.raises(UsageError, match=r"'foo' is no state.*cancelling.*driver-gone"):
            states_of(text)
    with pytest.raises(UsageError, match="names no state"):
        states_of(" , ")


def test_every_verdict_of_the_documents_can_be_asked_for() -> None:
    table = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text()
    told = [
        word for line in table.splitlines() if line.startswith("| `") for word in re.findall("`([a-z-]+)`", line[:60])
    ]
    assert tuple(told) == KINDS


def test_the_time_of_a_retried_run_is_that_of_its_attempts() -> None:
    failed = FlowRun(id="1", name="x", state_type="FAILED", start=NOW - 9000, end=NOW - 60, run_count=2, run_time=300.0)
    assert failed.lasted(NOW) == 300
    again = msgspec.structs.replace(failed, state_type="RUNNING", state_since=NOW - 20, end=None)
    assert again.lasted(NOW) == 320
    first = msgspec.structs.replace(failed, run_count=1)
    assert first.lasted(NOW) == 8940
    assert msgspec.structs.replace(first, state_type="PENDING").lasted(NOW) == 300, "the next attempt is on its way"
    assert msgspec.structs.replace(first, start=None).lasted(NOW) is None


@pytest.mark.parametrize(
    ("state", "done", "total", "told", "line"),
    [
        ("RUNNING", 3, 6, "3/6", "▰▰▰▱▱▱ 3/6"),
        ("RUNNING", 2, 2, "2/2", "▰▰▰▰▱▱ 2/2"),
        ("COMPLETED", 2, 2, "2/2", "▰▰▰▰▰▰ 2/2"),
        ("CANCELLED", 2, 2, "2 done", "2 done"),
        ("CANCELLED", 2, 4, "2/4", "▰▰▰▱▱▱ 2/4"),
        ("FAILED", 12, 12, "12 done", "12 done"),
    ],
)
def test_only_a_completed_run_has_done_all_that_was_planned(
    state: str, done: int, total: int, told: str, line: str
) -> None:
    flow_run = FlowRun(id="1", name="x", state_type=state)
    counts = TaskCounts(completed=done, cancelled=total - done)
    assert tasks_done(flow_run, counts) == told
    assert tasks_words(flow_run, counts)[0] == line
