"""Where the output of a job went that SLURM has forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.records import Records
from slurmtui.sources.exec import Runner
from slurmtui.sources.slurm.client import Slurm
from slurmtui.sources.slurm.past_output import NO_LINES, PAST, PastOutput, output_of, past_output
from tests.records import record_of
from tests.unit.programs import put_program

if TYPE_CHECKING:
    from pathlib import Path


def told(script: bytes = b"", **fields: str) -> PastOutput:
    usual = {"id": "77", "raw_id": "77", "user": "alice", "folder": "/home/alice", "name": "train", "nodes": "n[1-2]"}
    return output_of(Records(PAST, record_of(PAST, usual, **fields)), 0, script)


async def test_what_accounting_lacks_is_asked_for_once_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on 20.11: sacct fails at the first column that it does not know, and at -B."""
    widths = " ".join(f"{field.ask}={field.width}" for field in PAST.fields[:6])
    script = f"""#!/bin/bash
printf "%s\\n" "$*" >> {tmp_path}/asked
for name in SubmitLine StdOut StdErr; do
  case "$*" in *$name%*) echo "sacct: error: Invalid field requested: \\"$name\\"" >&2; exit 1;; esac
done
case "$*" in *-B*) echo "sacct: invalid option -- 'B'" >&2; exit 1;; esac
for pair in {widths}; do
  case $pair in JobID*) text=77;; WorkDir*) text=/home/alice;; *) text=x;; esac
  printf '%-*s ' "${{pair#*=}}" $text
done
echo
"""
    put_program(tmp_path / "sacct", script)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    slurm = Slurm(Runner(), "alice")
    for _ in range(2):
        found = await past_output(slurm, "77")
        assert found.paths == (("/home/alice/slurm-77.out", "out"),)
        assert found.how.endswith("was submitted with is not kept: sacct of this SLURM knows no SubmitLine")
    assert set(slurm.lacks) == {NO_LINES, "sacct StdOut", "sacct StdErr", "sacct -B"}
    asked = (tmp_path / "asked").read_text().splitlines()
    assert ["SubmitLine" in line for line in asked] == [True] + [False] * 5
    assert sum("-B" in line for line in asked) == 1


def test_new_versions_keep_the_names() -> None:
    found = told(stdout="/logs/%x-%j.out", stderr="/logs/%j.err")
    assert found.paths == (("/logs/train-77.out", "out"), ("/logs/77.err", "err"))
    assert told(stdout="/logs/a", stderr="/logs/a").paths == (("/logs/a", "out"),)


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("sbatch -o logs/%j.out run.sh", ["/home/alice/logs/77.out"]),
        ("sbatch --output=/l/%x --error /l/e-%N run.sh", ["/l/train", "/l/e-n1"]),
        ("sbatch -o/l/a -e /l/b run.sh", ["/l/a", "/l/b"]),
        ("sbatch --output '/l/with space/%j' run.sh", ["/l/with space/77"]),
        ("sbatch run.sh", ["/home/alice/slurm-77.out"]),
        ("sbatch --wrap \"echo it's", ["/home/alice/slurm-77.out"]),
        ("", ["/home/alice/slurm-77.out"]),
    ],
)
def test_older_ones_keep_the_words_of_the_submission(line: str, paths: list[str]) -> None:
    assert [path for path, _ in told(line=line).paths] == paths


def test_the_script_names_files_too_and_the_command_line_wins() -> None:
    script = b"#!/bin/sh\n#SBATCH -o from/script-%j\n#SBATCH --error='e r r' # why\necho #SBATCH -o no\n"
    assert [path for path, _ in told(script, line="sbatch run.sh").paths] == [
        "/home/alice/from/script-77", "/home/alice/e r r",
    ]  # fmt: skip
    assert told(script, line="sbatch -o x run.sh").paths[0] == ("/home/alice/x", "out")


def test_tasks_of_an_array() -> None:
    found = told(id="70_3", raw_id="77")
    assert found.paths == (("/home/alice/slurm-70_3.out", "out"),)
    assert "told nothing else" in found.how


@given(st.text(max_size=80), st.binary(max_size=80))
def test_no_words_break_it(line: str, script: bytes) -> None:
    assert all(path.startswith("/") for path, _ in told(script, line=line.replace("\0", "")).paths)
