"""Acting on real jobs from the console in a real terminal (tmux): cancel exactly, attach, edit and undo, why."""

from __future__ import annotations

import getpass
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = Path(sys.executable).with_name("slurmtui")
SMALL = ("--parsable", "--mem=20", "-o", "/dev/null", "-D", "/tmp")


def run(*argv: str, check: bool = True) -> str:
    return subprocess.run(argv, check=check, capture_output=True, text=True, timeout=60).stdout


def submit(*options: str, seconds: int = 300) -> str:
    return run("sbatch", *SMALL, *options, f"--wrap=sleep {seconds}").strip()


def queue(job_id: str) -> set[str]:
    """The tasks of a job that are still in the queue, one by one."""
    said = run("squeue", "-h", "-r", "-j", job_id, "-t", "PD,R", "-O", "JobArrayID:30", check=False)
    return set(said.split())


class Terminal:
    """A terminal in which the console runs."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.socket = str(folder / "tmux")
        variables = ("SLURMTUI_STATE", "SLURMTUI_CONFIG", "SLURM_CONF", "PREFECT_HOME", "PATH")
        pairs = [f"{name}={os.environ[name]}" for name in variables if name in os.environ]
        inner = shlex.join(["env", "-u", "COLUMNS", "-u", "LINES", "LANG=C.UTF-8", *pairs, str(COMMAND), *arguments])
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "130", "-y", "36", inner)

    def _tmux(self, *argv: str) -> str:
        return run("tmux", "-S", self.socket, *argv)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        for key in keys:
            self._tmux("send-keys", key)
            time.sleep(0.05)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def see(self, pattern: str, seconds: float = 40) -> str:
        deadline = time.monotonic() + seconds
        while not re.search(pattern, screen := self.screen):
            assert time.monotonic() < deadline, f"{pattern!r} was not seen within {seconds} s:\n{screen}"
            time.sleep(0.2)
        return screen

    def agree(self, key: str = "y") -> None:
        """Answer a question, which hears nothing at first."""
        time.sleep(0.5)
        self.press(key)

    def end(self) -> None:
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False, capture_output=True, timeout=10)


@pytest.fixture
def terminal(sandbox: Any, tmp_path: Path) -> Iterator[Terminal]:
    assert sandbox is not None
    if not shutil.which("tmux"):
        pytest.fail("a live test may not be skipped: install tmux (make setup-dev does)")
    made = Terminal(tmp_path, "--view", "jobs")
    yield made
    made.end()
    run("scancel", "-u", getpass.getuser(), check=False)


def test_exactly_the_marked_tasks_are_cancelled(terminal: Terminal) -> None:
    array = submit("-H", "-J", "sweep", "--array=0-9%3")
    terminal.see("sweep")
    terminal.press("g", "Enter")
    terminal.see(f"{array}_9")
    terminal.press("j", "j", "j", "v", "j", "j", "j", "v")
    terminal.see("4 marked")
    terminal.press("X")
    terminal.see(re.escape(f"scancel -v {array}_[2-5]"))
    run("scancel", f"{array}_3")  # it is gone before the answer
    time.sleep(0.5)
    terminal.type("4")
    terminal.press("Enter")
    terminal.see("cancelled|ended meanwhile")
    deadline = time.monotonic() + 20
    wanted = {f"{array}_{number}" for number in (0, 1, 6, 7, 8, 9)}
    while queue(array) != wanted:
        assert time.monotonic() < deadline, queue(array)
        time.sleep(0.3)


def test_a_shell_in_a_job_and_the_console_again(terminal: Terminal, tmp_path: Path) -> None:
    job_id = submit("-J", "attachme")
    terminal.see(f"{job_id} .* R ")
    terminal.press("g", "A")
    terminal.see("--overlap -N1 -n1 --pty bash")
    terminal.agree()
    terminal.see(r"\$ srun --jobid=.*\n.*[#$]")
    told = tmp_path / "told"
    deadline = time.monotonic() + 40
    while not told.exists() or not told.read_text():
        assert time.monotonic() < deadline, terminal.screen
        terminal.type(f"echo $SLURM_JOB_ID > {told}")
        terminal.press("Enter")
        time.sleep(1)
    assert told.read_text().strip() == job_id
    time.sleep(2)  # a program that ends with an error at once is taken for one that could not start
    terminal.press("C-c")  # is for the shell, not for the console
    terminal.type("exit")
    terminal.press("Enter")
    terminal.see("attachme")
    terminal.press("d")
    terminal.see("uses now")


def test_an_edit_is_undone(terminal: Terminal) -> None:
    job_id = submit("-H", "-J", "editme", "-t", "20")
    terminal.see("editme")
    terminal.press("g", "E")
    terminal.see("Edit job")
    time.sleep(0.5)
    terminal.press("C-e", "C-u")
    terminal.type("0:15:00")
    terminal.press("Enter")
    terminal.see("TimeLimit=0:15:00")
    terminal.agree()
    terminal.see(r"changed \(TimeLimit")
    assert run("squeue", "-h", "-j", job_id, "-O", "TimeLimit:20").strip() == "15:00"
    terminal.press("U")
    terminal.see("TimeLimit=0:20:00")
    terminal.agree()
    terminal.see("Undone")
    assert run("squeue", "-h", "-j", job_id, "-O", "TimeLimit:20").strip() == "20:00"


def test_why_and_what_helps(terminal: Terminal) -> None:
    submit("-J", "toolong", "-p", "debug", "-t", "3:00:00")
    terminal.see("PartitionTimeLimit")
    terminal.press("g", "b")
    screen = terminal.see("no, not as it is")
    assert "asks for 3:00:00; debug allows 0:30:00" in screen
    assert "it would fit in partition batch" in screen
    terminal.press("E")
    terminal.see("Edit job")
