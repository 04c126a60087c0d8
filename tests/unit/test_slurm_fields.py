"""Columns that a SLURM does not know: left out of the question once and for all, empty in the answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.errors import CommandError
from slurmtui.models.job_table import QUEUE
from slurmtui.models.records import RecordError
from slurmtui.sources.exec import Runner
from slurmtui.sources.slurm.client import Slurm
from slurmtui.sources.slurm.fields import Asked, asked_in, filled, unknown_column
from tests.unit.programs import put_program

if TYPE_CHECKING:
    from pathlib import Path

SQUEUE = """#!{python}
import sys, os
asked = [word.split(":") for word in sys.argv[-1].split(",")]
with open({log!r}, "a") as log:
    log.write(" ".join(name for name, _ in asked) + "\\n")
known = [(name, width) for name, width in asked if name not in {unknown!r}]
for name, _ in asked:
    if name in {unknown!r}:
        sys.stderr.write("squeue: error: Invalid job format specification: " + name + "\\n")
for number in range({rows}):
    values = dict(JobArrayID=str(number), JobID=str(number), Name="a\\nb", State="RUNNING", UserName="ada")
    for name, width in known:
        left, most = width.startswith("."), int(width.lstrip("."))
        text = values.get(name, name)[:most]
        sys.stdout.write(text.rjust(most) if left else text.ljust(most))
    sys.stdout.write("\\n")
{last}
"""


def put_squeue(folder: Path, monkeypatch: pytest.MonkeyPatch, *unknown: str, rows: int = 3, last: str = "") -> Path:
    log = folder / "asked"
    text = SQUEUE.format(python=sys.executable, log=str(log), unknown=unknown, rows=rows, last=last)
    put_program(folder / "squeue", text)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return log


async def test_the_queue_is_there_without_a_column_and_only_the_first_question_is_asked_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = put_squeue(tmp_path, monkeypatch, "QOS", "WorkDir", rows=2500)
    slurm = Slurm(Runner(), "ada")
    for _ in range(2):
        table = await slurm.queue(everyone=True)
        assert len(table) == 2500
        job = table.job(2499)
        assert (job.id, job.name, job.state, job.user) == ("2499", "a\nb", "RUNNING", "ada")
        assert (job.qos, job.work_dir) == ("", "")
        assert job.dependency == "Dependency"
    asked = log.read_text().splitlines()
    assert [("QOS" in line, "WorkDir" in line) for line in asked] == [
        (True, True), (False, True), (False, False), (False, False),
    ]  # fmt: skip
    assert slurm.lacks == {
        "squeue QOS": "what it would tell stays empty: squeue of this SLURM knows no QOS",
        "squeue WorkDir": "what it would tell stays empty: squeue of this SLURM knows no WorkDir",
    }


async def test_half_an_answer_without_a_column_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_squeue(tmp_path, monkeypatch, "QOS", last="sys.stdout.write('half')")
    with pytest.raises(CommandError, match="cannot be read"):
        await Slurm(Runner(), "ada").queue(everyone=True)


async def test_what_is_unknown_and_was_not_asked_for_does_not_go_round_in_circles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "squeue: error: Invalid job format specification: {}"
    lines = "; ".join(f"print({words.format(name)!r}, file=sys.stderr)" for name in ("Strange", "QOS"))
    log = put_squeue(tmp_path, monkeypatch, last=lines)
    table = await Slurm(Runner(), "ada").queue(everyone=True)  # it says that of QOS even when it is not asked for it
    assert len(table) == 3
    assert len(log.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("stderr", "column"),
    [
        ("sinfo: error: Invalid job format specification: StateComplete", "StateComplete"),
        ('sacct: error: Invalid field requested: "SubmitLine"', "SubmitLine"),
        (" Unknown field 'MaxTRESPU'", "maxtrespu"),
        ("sacct: error: Invalid field requested: Other", ""),
        ("slurm_load_jobs error: Unable to contact slurm controller", ""),
    ],
)
def test_the_words_of_each_command(stderr: str, column: str) -> None:
    asked = asked_in(("x", "StateComplete:8,SubmitLine:.8,maxtrespu:8"))
    assert asked is not None
    assert unknown_column(stderr, asked) == column


def test_what_asks_for_columns() -> None:
    assert asked_in(("squeue", "-O", QUEUE.asked())) is not None
    for argv in (("sacctmgr", "format=account%-64,qos%-400"), ("sacct", "-o", "JobID%-48"), ("sinfo", "a-b:3,c:.1")):
        asked = asked_in(argv)
        assert asked is not None
        assert asked.word() == argv[-1]
    for last in ("7_[1-3]", "-h", "user=ada", "%16A%16F", "JobID", "1:30"):
        assert (asked_in(("x", last)) is None) == (last != "1:30")


@given(st.integers(0, 3), st.sets(st.integers(0, 3), max_size=3), st.integers(0, 1), st.binary(max_size=64))
def test_empty_columns_are_put_where_they_belong(rows: int, gone: set[int], gap: int, content: bytes) -> None:
    asked = Asked(tuple((f"c{number}", number + 1, "") for number in range(4)), gap)
    missing = {f"c{number}" for number in gone}
    cells = [[(content * 9)[number : number + 1 + number].ljust(number + 1) + b" " * gap for number in range(4)]] * rows
    short = b"".join(b"".join(cell for n, cell in enumerate(row) if n not in gone) + b"\n" for row in cells)
    whole = b"".join(
        b"".join(b" " * len(cell) if n in gone else cell for n, cell in enumerate(row)) + b"\n" for row in cells
    )
    assert filled(short, asked, missing) == whole
    if short:
        with pytest.raises(RecordError):
            filled(short[:-1], asked, missing)
