"""The wrapper of sbatch: what it adds, what it writes down, and that it is otherwise not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.control.run_folder import install_wrapper
from slurmtui.flows import sbatch_wrapper
from slurmtui.models.run_record import Submission
from slurmtui.sources import exec as exec_module
from tests.unit.programs import put_program

if TYPE_CHECKING:
    from pathlib import Path

REAL = """#!{python}
import json, os, sys
json.dump({{"arguments": sys.argv[1:], "environment": dict(os.environ)}}, open({seen!r}, "w"))
{body}
"""


class Wrapped:
    """A run folder with the wrapper in it, before an sbatch that writes down how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "run 'x'" / "0123"
        self.seen = folder / "seen.json"
        self.real = folder / "real"
        self.real.mkdir()
        self.folder.mkdir(parents=True)
        install_wrapper(self.folder, sys.executable)

    def answers(self, body: str) -> None:
        """Let the real sbatch do this."""
        put_program(self.real / "sbatch", REAL.format(python=sys.executable, seen=str(self.seen), body=body))

    def call(self, *arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Call ``sbatch`` as a flow would."""
        path = f"{self.folder / 'bin'}{os.pathsep}{self.real}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return subprocess.run(
            ["sbatch", *arguments], env={"PATH": path, **environment}, input=stdin, capture_output=True, text=True,
            check=False, timeout=30,
        )  # fmt: skip

    @property
    def called(self) -> dict[str, Any]:
        """How the real one was called."""
        found: dict[str, Any] = json.loads(self.seen.read_text())
        return found

    @property
    def submissions(self) -> list[Submission]:
        """What was written down."""
        file = self.folder / "submissions.jsonl"
        lines = file.read_bytes().splitlines() if file.exists() else []
        return [msgspec.json.decode(line, type=Submission) for line in lines]


@pytest.fixture
def wrapped(tmp_path: Path) -> Wrapped:
    found = Wrapped(tmp_path)
    found.answers("print('Submitted batch job 4711')")
    return found


def test_a_job_is_marked_and_written_down(wrapped: Wrapped) -> None:
    done = wrapped.call("-p", "batch", "a script.sh", SLURMTUI_ATTEMPT="3")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Submitted batch job 4711\n", "")
    assert wrapped.called["arguments"] == ["--comment=slurmtui:0123", "-p", "batch", "a script.sh"]
    (submission,) = wrapped.submissions
    assert (submission.job_id, submission.code, submission.attempt, submission.by) == ("4711", 0, 3, "")


def test_a_refusal_is_passed_on_and_written_down(wrapped: Wrapped) -> None:
    wrapped.answers("sys.stderr.write('sbatch: error: Invalid account\\n'); sys.exit(5)")
    done = wrapped.call("x.sh", SLURMTUI_SUBMITTER="batch_job")
    assert (done.returncode, done.stdout, done.stderr) == (5, "", "sbatch: error: Invalid account\n")
    (submission,) = wrapped.submissions
    assert (submission.job_id, submission.code, submission.by) == (None, 5, "batch_job")
    assert submission.said == "sbatch: error: Invalid account"


def test_the_script_on_stdin_reaches_sbatch(wrapped: Wrapped) -> None:
    wrapped.answers("print('4712;cluster' if sys.stdin.read() == '#!/bin/sh\\ntrue\\n' else 'nothing came')")
    assert wrapped.call("--parsable", stdin="#!/bin/sh\ntrue\n").stdout == "4712;cluster\n"
    assert wrapped.submissions[0].job_id == "4712"


def test_warnings_before_the_answer_do_not_hide_the_job(wrapped: Wrapped) -> None:
    wrapped.answers("print('1200'); print('your quota is at 95 %'); print('Submitted batch job 12 on cluster big')")
    wrapped.call("x.sh")
    assert wrapped.submissions[0].job_id == "12"


@pytest.mark.parametrize("arguments", [["--comment=mine"], ["--comment", "mine"]])
def test_a_comment_of_the_callers_own_stays(wrapped: Wrapped, arguments: list[str]) -> None:
    wrapped.call(*arguments, "x.sh")
    assert wrapped.called["arguments"] == [*arguments, "x.sh"]


def test_a_comment_in_the_script_stays(wrapped: Wrapped, tmp_path: Path) -> None:
    script = tmp_path / "x.sh"
    script.write_text("#!/bin/sh\n#SBATCH --comment=mine\n")
    wrapped.call(str(script))
    assert wrapped.called["arguments"] == [str(script)]


def test_only_asking_is_not_a_submission(wrapped: Wrapped) -> None:
    wrapped.answers("sys.exit(1)")
    assert wrapped.call("--test-only", "x.sh").returncode == 1
    assert wrapped.called["arguments"] == ["--test-only", "x.sh"]
    assert wrapped.submissions == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["-V", "1.2"], ["--help"], ["--test-only"], ["--comment=mine"], ["--comment", "mine"], ["--parsable"],
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "options", [[], ["-N", "2", "--mem", "4G", "-vH", "--wait"], ["-pbatch", "--exclusive", "--time=5", "-vJ", "name"]]
)
def test_what_follows_the_script_is_the_scripts_own(
    wrapped: Wrapped, tmp_path: Path, options: list[str], arguments: list[str]
) -> None:
    other = tmp_path / "other.sh"
    other.write_text("#SBATCH --comment=mine\n")
    call = [*options, "x.sh", *arguments, str(other)]
    wrapped.call(*call)
    assert wrapped.called["arguments"] == ["--comment=slurmtui:0123", *call]
    assert [submission.job_id for submission in wrapped.submissions] == ["4711"]
    assert not list(wrapped.folder.glob("script-*")), "a file that the script reads was taken for the script"


def test_the_value_of_an_option_is_no_script(wrapped: Wrapped, tmp_path: Path) -> None:
    value, script = tmp_path / "batch", tmp_path / "x.sh"
    value.write_text("not a script")
    script.write_text("a script")
    wrapped.call("-p", str(value), "--chdir", str(value), str(script))
    assert (wrapped.folder / "script-1.sh").read_text() == "a script"


def test_what_goes_along_with_the_job(wrapped: Wrapped) -> None:
    wrapped.call(
        "x.sh", PREFECT_API_AUTH_STRING="user:secret", PREFECT_API_KEY="secret", PREFECT__CONTROL_TOKEN="secret",
        PREFECT_CLIENT_CUSTOM_HEADERS='{"Authorization": "secret"}',
        PREFECT_API_URL="http://x/api", SLURM_JOB_ID="1", SLURM_CPUS_PER_TASK="4", SLURM_CONF="/etc/slurm.conf",
        SBATCH_JOB_NAME="name",
    )  # fmt: skip
    environment = wrapped.called["environment"]
    assert "secret" not in json.dumps(environment)
    assert {name for name in environment if name.startswith("SLURM_")} == {"SLURM_CONF"}
    assert environment["SBATCH_JOB_NAME"] == "name"
    assert environment["PREFECT_API_URL"] == "http://x/api"


def test_a_job_that_is_waited_for_is_written_down_at_once(wrapped: Wrapped) -> None:
    wrapped.answers(
        "import time\nprint('Submitted batch job 9', flush=True)\n"
        f"while not os.path.exists({str(wrapped.folder / 'submissions.jsonl')!r}): time.sleep(0.01)\nsys.exit(2)"
    )
    assert wrapped.call("--wait", "x.sh").returncode == 2
    assert [(entry.job_id, entry.code) for entry in wrapped.submissions] == [("9", 0)]


@pytest.mark.parametrize("arguments", [["x.sh"], ["--comment=mine", "x.sh"]])
def test_a_job_is_written_down_though_its_caller_is_gone(wrapped: Wrapped, arguments: list[str]) -> None:
    wrapped.answers("sys.stderr.write('a warning\\n'); print('Submitted batch job 4711')")
    reader, writer = os.pipe()
    os.close(reader)
    path = f"{wrapped.folder / 'bin'}{os.pathsep}{wrapped.real}{os.pathsep}/usr/bin{os.pathsep}/bin"
    done = subprocess.run(
        ["sbatch", *arguments], env={"PATH": path}, stdout=writer, stderr=writer, check=False, timeout=30
    )
    os.close(writer)
    assert done.returncode == 0
    assert [(entry.job_id, entry.code) for entry in wrapped.submissions] == [("4711", 0)]


def test_all_is_passed_on_though_it_is_taken_a_piece_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    write = os.write
    monkeypatch.setattr(os, "write", lambda stream, words: write(stream, words[:2]))
    sbatch_wrapper.pass_on(writer, b"Submitted")
    os.close(writer)
    with os.fdopen(reader, "rb") as read:
        assert read.read() == b"Submitted"


def test_the_same_words_are_secrets_wherever_a_job_is_submitted() -> None:
    assert sbatch_wrapper._SECRET.pattern == exec_module._SECRET.pattern


def test_no_sbatch_behind_it(wrapped: Wrapped) -> None:
    (wrapped.real / "sbatch").unlink()
    path = f"{wrapped.folder / 'bin'}{os.pathsep}{wrapped.real}"
    done = subprocess.run(
        [wrapped.folder / "bin" / "sbatch", "x.sh"], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 127
    assert "command not found" in done.stderr
    assert wrapped.submissions[0].code == 127


@given(st.text(max_size=60), st.integers(min_value=1, max_value=10**9))
def test_the_job_is_read_whatever_stands_around_it(noise: str, job_id: int) -> None:
    said = f"{noise}\nSubmitted batch job {job_id} on cluster x\n{noise}".encode("utf-8", "surrogatepass")
    found = sbatch_wrapper._SUBMITTED.search(said)
    assert found is not None
    assert found.group(1).decode() == str(job_id)
