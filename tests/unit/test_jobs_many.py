"""Commands on many jobs without a SLURM: what is run, in which chunks, and what is told when it goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slurmtui.control.jobs_attach import attach_argv, nodes_of
from slurmtui.control.jobs_many import (
    CANCEL,
    HOLD,
    REQUEUE,
    act,
    commands,
    signal_command,
    update_command,
)
from slurmtui.control.jobs_resubmit import again, submit_line
from slurmtui.errors import Refused
from slurmtui.models.job import Job
from slurmtui.sources.exec import Runner
from slurmtui.sources.slurm.client import Slurm
from slurmtui.sources.slurm.scripts import NO_SCRIPTS, stored_script
from tests.unit.programs import put_shell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Fake = Callable[[str, str], Path]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Makes a command that runs a line of shell and keeps its arguments, one call a line."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def make(name: str, line: str) -> Path:
        asked = tmp_path / f"{name}.asked"
        put_shell(tmp_path / name, f'echo "$*" >> {asked}\n{line}')
        return asked

    return make


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (CANCEL, "scancel -v 7 8_[3-4]"),
        (HOLD, "scontrol uhold 7 8_[3-4]"),
        (REQUEUE, "scontrol requeue 7,8_[3-4]"),
        (signal_command("USR1", "--batch"), "scancel -s USR1 --batch 7 8_[3-4]"),
        (signal_command("TERM"), "scancel -s TERM 7 8_[3-4]"),
        (update_command({"TimeLimit": "1:00", "Nice": "5"}), "scontrol update JobId=7,8_[3-4] TimeLimit=1:00 Nice=5"),
    ],
)
def test_what_is_shown_is_what_is_run(command: object, line: str) -> None:
    assert [" ".join(argv) for argv in commands(command, ["7", "8_3", "8_4", "9_[1-"])] == [line]  # type: ignore[arg-type]


async def test_many_ids_go_in_chunks_and_progress_is_told(fake: Fake) -> None:
    asked = fake("scancel", "true")
    seen: list[int] = []
    ids = [str(number) for number in range(1000, 1450)]
    results = await act(Runner(), CANCEL, [*ids, "12_[1-"], seen.append)
    assert [len(line.split()) - 1 for line in asked.read_text().splitlines()] == [200, 200, 50]
    assert seen == [201, 401, 451]
    assert results["12_[1-"].kind == "failed"
    assert {results[job_id].kind for job_id in ids} == {"done"}
    assert list(results) == [*ids, "12_[1-"]


async def test_a_command_that_cannot_be_run_is_the_result_of_each_id(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    results = await act(Runner(), CANCEL, ["7", "8"])
    assert {outcome.kind for outcome in results.values()} == {"failed"}
    assert "command not found" in results["7"].words
    assert fake is not None


async def test_a_slurm_without_stored_scripts_is_asked_once_and_says_why(fake: Fake) -> None:
    asked = fake("sacct", "echo \"sacct: invalid option -- 'B'\" >&2; exit 1")
    fake("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    slurm = Slurm(Runner(), "alice")
    assert await stored_script(slurm, "7") is None
    assert await stored_script(slurm, "8") is None
    assert asked.read_text().count("-B") == 1
    assert "21.08" in slurm.lacks[NO_SCRIPTS]
    with pytest.raises(Refused, match=r"has forgotten job 7, and this SLURM keeps no scripts"):
        await again(slurm, "7")


async def test_the_line_that_accounting_tells_for_each_task_is_one(fake: Fake) -> None:
    fake("sacct", r"printf 'sbatch -a 1-3 job.sh 1\nsbatch -a 1-3 job.sh 1\n'")
    assert await submit_line(Slurm(Runner(), "alice"), "7") == "sbatch -a 1-3 job.sh 1"
    fake("sacct", r"printf 'sbatch --comment=a\nb job.sh\n'")
    assert await submit_line(Slurm(Runner(), "alice"), "7") == "sbatch --comment=a b job.sh"
    fake("sacct", "true")
    assert await submit_line(Slurm(Runner(), "alice"), "7") == ""


async def test_the_script_of_one_of_several_tasks(fake: Fake) -> None:
    text = "Batch Script for 7_1\n----\n#!/bin/sh\necho one\n\nBatch Script for 7_2\n----\n#!/bin/sh\necho two\n\n"
    fake("sacct", f"printf '%s' '{text}'")
    assert await stored_script(Slurm(Runner(), "alice"), "7_1") == b"#!/bin/sh\necho one\n"
    fake("sacct", "printf 'Batch Script for 7\\n----\\nNONE\\n\\n'")
    assert await stored_script(Slurm(Runner(), "alice"), "7") is None
    fake("sacct", "true")
    assert await stored_script(Slurm(Runner(), "alice"), "7") is None


def test_a_shell_in_a_job_is_one_on_one_node() -> None:
    job = Job(id="7_3", raw_id=12, nodes="gpu[1-2]")
    assert attach_argv(job, "gpu2") == (
        "srun", "--jobid=12", "--overlap", "-N1", "-n1", "-w", "gpu2", "--pty", "bash",
    )  # fmt: skip
    assert nodes_of(job) == ("gpu1", "gpu2")


def test_a_program_in_the_terminal_is_logged_with_how_it_ended(fake: Fake) -> None:
    asked = fake("srun", "exit 3")
    runner = Runner(environment={"SLURM_CONF": "/x"})
    assert runner.run_in_terminal(("srun", "--pty", "bash")) == 3
    assert asked.read_text() == "--pty bash\n"
    assert runner.run_in_terminal(("there-is-no-such-program",)) == 127
    assert [(call.text, call.code) for call in runner.log] == [
        ("srun --pty bash", 3),
        ("there-is-no-such-program", 127),
    ]
