"""The sandbox as a person meets it: up, broken, repaired, down."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from slurmtui.sandbox import processes
from slurmtui.sources.processes import command_line, environment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("slurm_is_installed")]

DAEMONS = {
    "munged", "mariadbd", "slurmdbd", "slurmctld", *(f"slurmd-n{number}" for number in range(1, 7)),
    "slurmd-gpu1", "slurmd-gpu2",
}  # fmt: skip


class Person:
    """Somebody with a state folder, at a shell."""

    def __init__(self, state: Path, wait_until: Callable[..., Any]) -> None:
        self.state = state
        self.wait_until = wait_until
        self.environment = {**os.environ, "SLURMTUI_STATE": str(state)}
        self.environment.pop("SLURM_CONF", None)

    def types(self, *argv: str, seconds: float = 180) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "slurmtui", "sandbox", *argv]
        return self.runs(*command, seconds=seconds)

    def runs(self, *argv: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )  # fmt: skip

    def brings_up(self) -> dict[str, Any]:
        done = self.types("up", "--json")
        assert done.returncode == 0, done.stderr
        self.environment["SLURM_CONF"] = json.loads(done.stdout)["slurm_conf"]
        report: dict[str, Any] = json.loads(done.stdout)
        return {**report, "said": done.stderr}

    def status(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.types("status", "--json").stdout)
        return facts

    def pids(self) -> dict[str, int]:
        return {daemon["name"]: daemon["pid"] for daemon in self.status()["daemons"]}

    def ports(self) -> dict[str, int]:
        return {daemon["name"]: daemon["port"] for daemon in self.status()["daemons"]}

    def runs_a_job(self) -> str:
        """Run a job and return the state that accounting gives it."""
        argv = ("sbatch", "--wait", "--parsable", "--output=/dev/null", "--mem=1G", "--wrap=true")
        done = self.runs(*argv, seconds=120)  # it looks after 2, 10 and 42 s
        assert done.returncode == 0, done.stderr
        job = done.stdout.split(";")[0].strip()

        def told() -> str:
            text = self.runs("sacct", "-X", "-n", "-P", "--format=state,account", "-j", job).stdout.strip()
            return "" if text.startswith(("PENDING", "RUNNING")) else text

        state: str = self.wait_until(told, 60, "accounting knows how the job ended")
        return state

    def runs_long(self) -> str:
        """Bring everything up with a job that runs, and that SLURM would know of after a crash; return its id."""
        self.brings_up()
        job = self.runs("sbatch", "--parsable", "--output=/dev/null", "--mem=1G", "--wrap=sleep 300").stdout.strip()
        self.wait_until(
            lambda: self.runs("squeue", "-h", "-j", job, "-o", "%T").stdout.strip() == "RUNNING", 60, "job runs"
        )
        started, state = time.time(), self.state / "sandbox" / "state" / "job_state"

        def saved() -> bool:
            with contextlib.suppress(FileNotFoundError):  # slurmctld takes the old one away before the new one is there
                return state.stat().st_mtime > started
            return False

        self.runs("sbatch", "--hold", "--output=/dev/null", "--wrap=true")  # a submission makes slurmctld save its jobs
        self.wait_until(saved, 60, "slurmctld has saved that the job runs")
        return job


@pytest.fixture
def person(live_root: Path, wait_until: Callable[..., Any], request: pytest.FixtureRequest) -> Iterator[Person]:
    number = len(list(live_root.iterdir()))
    somebody = Person(live_root / f"p{number}", wait_until)
    yield somebody
    done = somebody.types("down", "--purge")
    assert done.returncode == 0, f"{request.node.name}: {done.stderr}"


def ready_after(person: Person, report: dict[str, Any]) -> float:
    """The seconds it took; where that was long, the machine may have been busy just then, and another try counts."""
    for _ in range(3):
        if report["seconds"] < 15:
            break
        assert person.types("down", "--purge").returncode == 0
        report = person.brings_up()
    return float(report["seconds"])


def test_up_gives_eight_nodes_that_run_jobs_known_to_accounting(person: Person) -> None:
    report = person.brings_up()

    assert set(report["started"]) == DAEMONS
    assert ready_after(person, report) < 15
    found = person.status()
    assert found["state"] == "up"
    assert found["nodes"] == dict.fromkeys(("n1", "n2", "n3", "n4", "n5", "n6", "gpu1", "gpu2"), "idle")
    assert person.runs_a_job() == "COMPLETED|research"
    seen = person.runs("srun", "--partition=gpu", "--gres=gpu:a100:2", "printenv", "CUDA_VISIBLE_DEVICES")
    assert seen.stdout.strip() == "0,1"
    limits = person.runs("sinfo", "--noheader", "--format=%R %l").stdout.split()
    assert limits == ["debug", "30:00", "batch", "2-00:00:00", "gpu", "infinite"]


def test_up_twice_is_harmless_also_at_the_same_time(person: Person) -> None:
    command = [sys.executable, "-m", "slurmtui", "sandbox", "up", "--json"]
    both = [
        subprocess.Popen(command, env=person.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [(process.communicate(timeout=180), process.returncode) for process in both]
    assert [code for _, code in answers] == [0, 0]
    counts = sorted(len(json.loads(out)["started"]) for (out, _), _ in answers)
    assert counts == [0, len(DAEMONS)]

    before = person.pids()
    assert person.brings_up()["started"] == []
    assert person.pids() == before


def test_up_repairs_what_was_killed_and_jobs_survive_it(person: Person) -> None:
    job = person.runs_long()
    before = person.pids()
    for name in ("slurmctld", "munged", "mariadbd", "slurmd-n6"):
        os.kill(before[name], signal.SIGKILL)
    assert person.status()["state"] == "broken"

    report = person.brings_up()

    assert set(report["started"]) == {"slurmctld", "munged", "mariadbd", "slurmd-n6"}
    assert person.status()["state"] == "up"
    assert person.pids()["slurmdbd"] == before["slurmdbd"]
    assert person.runs("squeue", "-h", "-j", job, "-o", "%T").stdout.strip() == "RUNNING"
    assert person.runs_a_job() == "COMPLETED|research"


def test_up_repairs_after_everything_died_and_a_node_was_drained(person: Person) -> None:
    person.brings_up()
    drained = person.runs("scontrol", "update", "nodename=n3", "state=drain", "reason=test")
    assert drained.returncode == 0, drained.stderr
    for pid in person.pids().values():
        os.kill(pid, signal.SIGKILL)

    report = person.brings_up()

    assert set(report["started"]) == DAEMONS
    assert person.status()["nodes"]["n3"] == "idle"
    assert person.runs_a_job() == "COMPLETED|research"


def test_a_deaf_daemon_is_started_anew(person: Person) -> None:
    person.brings_up()
    before = person.pids()
    os.kill(before["slurmctld"], signal.SIGSTOP)

    report = person.brings_up()

    assert report["started"] == ["slurmctld"]
    assert "slurmctld does not answer" in report["said"]
    assert not psutil.pid_exists(before["slurmctld"])


@pytest.mark.parametrize("taken", ["mariadbd", "slurmd-n4"])
def test_a_port_that_another_program_took_is_given_up(person: Person, taken: str) -> None:
    person.brings_up()
    before = person.ports()
    person.types("down")
    with contextlib.closing(socket.socket()) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", before[taken]))
        other.listen()

        report = person.brings_up()

        assert "has taken one of the sandbox's ports" in report["said"]
        assert set(person.ports().values()) - {None} != set(before.values()) - {None}
        assert before[taken] not in person.ports().values()
        assert person.runs_a_job() == "COMPLETED|research"


def test_two_sandboxes_live_side_by_side(person: Person, live_root: Path) -> None:
    # The second one's path is too long for a socket, and odd.
    other = Person(live_root / "a long way down, with blanks and a $sign".ljust(90, "x"), person.wait_until)
    person.brings_up()
    other.brings_up()
    try:
        assert not (set(person.ports().values()) - {None}) & (set(other.ports().values()) - {None})
        job = person.runs("sbatch", "--parsable", "--output=/dev/null", "--wrap=sleep 300").stdout.strip()
        assert other.runs("squeue", "-h").stdout == ""
        assert other.runs_a_job() == "COMPLETED|research"
        short_name = Path(other.environment["SLURM_CONF"]).parent
        assert short_name.is_symlink()
    finally:
        done = other.types("down", "--purge")
    assert done.returncode == 0, done.stderr
    assert not short_name.parent.exists()
    assert not (other.state / "sandbox").exists()
    assert person.status()["state"] == "up"
    assert person.runs("squeue", "-h", "-o", "%i").stdout.strip() == job


def test_a_daemon_that_does_not_come_up_is_reported_with_the_end_of_its_log(person: Person) -> None:
    person.brings_up()
    person.types("down")
    (person.state / "sandbox" / "mysql" / "ibdata1").write_bytes(b"not a table space")

    done = person.types("up")

    assert done.returncode == 1
    assert "mariadbd ended at once" in done.stderr
    assert "InnoDB" in done.stderr
    assert str(person.state / "sandbox" / "logs" / "mariadbd.out") in done.stderr
    assert "Traceback" not in done.stderr
    assert all(pid is None for pid in person.pids().values())


def test_down_leaves_no_process_whatever_the_jobs_do(person: Person, wait_until: Callable[..., Any]) -> None:
    person.brings_up()
    stubborn = "trap '' TERM HUP; setsid sleep 7001 & sleep 7002 & srun sleep 7003; wait"
    job = person.runs("sbatch", "--parsable", "--output=/dev/null", "--mem=1G", f"--wrap={stubborn}").stdout.strip()
    wait_until(lambda: f"{job}.0" in person.runs("squeue", "-h", "--steps").stdout, 60, "the step runs")
    pids = person.pids()
    os.kill(pids["slurmd-n1"], signal.SIGKILL)
    everything = _processes_of(person)
    assert len(everything) > len(DAEMONS) + 4

    done = person.types("down")

    assert done.returncode == 0, done.stderr
    assert "1 job was cancelled" in done.stdout
    assert [process for process in everything if processes.is_alive(process)] == []
    assert _processes_of(person) == []
    assert person.types("status").returncode == 1
    assert person.types("env").returncode == 1
    assert person.types("down").stdout.strip() == "The sandbox was down already."


def test_jobs_whose_processes_died_with_everything_are_queued_again(person: Person) -> None:
    job = person.runs_long()
    for process in _processes_of(person):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()

    report = person.brings_up()

    assert f"queued again, because their processes are gone: jobs {job}" in report["said"]
    told = person.runs("scontrol", "show", "job", job).stdout
    assert "Restarts=1" in told


def test_jobs_that_down_could_not_cancel_are_cancelled_by_the_next_up(
    person: Person, wait_until: Callable[..., Any]
) -> None:
    job = person.runs_long()
    os.kill(person.pids()["slurmctld"], signal.SIGKILL)
    assert person.types("down").returncode == 0
    assert _processes_of(person) == []

    person.brings_up()

    def nothing_left() -> bool:
        told = person.runs("squeue", "-h")
        return (told.returncode, told.stdout) == (0, "")

    wait_until(nothing_left, 60, "no job is left")
    assert "CANCELLED" in person.runs("scontrol", "show", "job", job).stdout


def test_env_is_what_a_shell_needs(person: Person) -> None:
    person.brings_up()
    done = person.runs("sh", "-c", f'eval "$({sys.executable} -m slurmtui sandbox env)" && sinfo -h -o %R')
    assert done.stdout.split() == ["debug", "batch", "gpu"]


def _processes_of(person: Person) -> list[psutil.Process]:
    """Found in another way than the sandbox finds them: by session, from what its jobs and daemons carry."""
    inside, found = str(person.state), []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            told = (*command_line(process), *environment_of(process).values(), process.cwd())
            if process.pid != os.getpid() and any(inside in text for text in told):
                found.append(process)
    return found
