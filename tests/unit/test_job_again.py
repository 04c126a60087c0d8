"""A job that is submitted again never writes over the lines of the job before, and is called what SLURM calls it."""

from __future__ import annotations

import pytest

from slurmtui.models.job_again import options_of, throttled
from slurmtui.models.job_again_files import Texts, files_words, has_own_file, options_of_script

PLAIN = b"#!/bin/sh\n"


def asked(job_id: str, stdout: str, stderr: str, script: bytes = PLAIN, raw_id: str = "45") -> dict[str, str]:
    texts = Texts(raw_id=raw_id, folder="/tmp/j", stdout=stdout, stderr=stderr)
    found = options_of(job_id, (), texts, script)
    return {name: found[name] for name in ("output", "error", "open-mode") if name in found}


@pytest.mark.parametrize(
    ("job_id", "stdout", "stderr", "options"),
    [
        # what SLURM chose by itself, as each version shows it: 20.11 and 22.05, an array there, 24.11, 26.05
        ("45", "/tmp/j/slurm-45.out", "/tmp/j/slurm-45.out", {}),
        ("44_1", "/tmp/j/slurm-45.out", "/tmp/j/slurm-45.out", {}),
        ("44_1", "/tmp/j/slurm-44_1.out", "/tmp/j/slurm-44_1.out", {}),
        ("45", "/tmp/j/slurm-%j.out", "", {}),
        ("44_1", "/tmp/j/slurm-%A_%a.out", "", {}),
        ("45", "slurm-%j.out", "", {}),
        # patterns of a person
        ("45", "/tmp/j/p-%x-%j.out", "/tmp/j/p-%x-%j.out", {"output": "/tmp/j/p-%x-%j.out"}),
        ("45", "/tmp/j/%j.out", "/tmp/j/%j.err", {"output": "/tmp/j/%j.out", "error": "/tmp/j/%j.err"}),
        ("45", "/tmp/j/slurm-45.out", "/tmp/j/%j.err", {"error": "/tmp/j/%j.err"}),
        ("45", "/dev/null", "/dev/null", {"output": "/dev/null"}),
        # one file for the old job and the new one
        ("45", "/tmp/j/x.out", "/tmp/j/x.out", {"output": "/tmp/j/x.out", "open-mode": "append"}),
        ("45", "/tmp/k/slurm-45.out", "", {"output": "/tmp/k/slurm-45.out", "open-mode": "append"}),
        ("44_1", "/tmp/j/%a.out", "", {"output": "/tmp/j/%a.out", "open-mode": "append"}),
        ("45", "/tmp/j/slurm-45.out", "/tmp/j/e", {"error": "/tmp/j/e", "open-mode": "append"}),
    ],
)
def test_the_output_goes_to_a_file_of_its_own_or_is_added(
    job_id: str, stdout: str, stderr: str, options: dict[str, str]
) -> None:
    assert asked(job_id, stdout, stderr) == options


def test_slurms_own_name_is_asked_for_where_the_script_would_win_over_it() -> None:
    script = b"#!/bin/sh\n\n#SBATCH -o 'x.out' -N 1 # one\necho\n#SBATCH -e late\n"
    assert options_of_script(script) == {"output": "x.out", "nodes": "1"}
    assert asked("45", "/tmp/j/slurm-%j.out", "", script) == {"output": "/tmp/j/slurm-%j.out"}


def test_which_patterns_give_each_job_a_file_of_its_own() -> None:
    own = ("%j", "a-%4j", "%A_%a", "%J", "%%%j", "/dev/stdout")
    assert [pattern for pattern in own if not has_own_file(pattern)] == []
    shared = ("%%j", "%x.%N", "%a", "log", "\\%j", "%")
    assert [pattern for pattern in shared if has_own_file(pattern)] == []


def test_what_becomes_of_a_shared_file_is_said_by_the_options_that_are_given() -> None:
    def said(*argv: str, script: bytes = PLAIN) -> list[str]:
        return files_words("45", ["/x.out"], argv, script)

    assert said("--output=/x.out", "--open-mode=append") == [
        "/x.out is job 45's file too: what the new job writes is added"
    ]
    assert said("--output=/x.out") == ["/x.out is job 45's file too: the new job EMPTIES it when it starts"]
    assert said("--output=/x.out", "-o", "/other") == []
    assert "EMPTIES" in said(script=b"#!/bin/sh\n#SBATCH --output=/x.out\n")[0]
    assert "added" in said(script=b"#!/bin/sh\n#SBATCH --output=/x.out\n#SBATCH --open-mode=append\n")[0]


def test_how_many_tasks_run_at_once_is_asked_for_again() -> None:
    assert [throttled("0-5", 2), throttled("0-5%3", 2), throttled("0-5", 0), throttled("0-5", None)] == [
        "0-5%2", "0-5%3", "0-5", "0-5",
    ]  # fmt: skip


def test_a_held_job_is_held_again() -> None:
    assert "hold" in options_of("45", (("Reason", "JobHeldUser"),), Texts(), PLAIN)
    assert "hold" not in options_of("45", (("Reason", "Resources"),), Texts(), PLAIN)
