"""The console as it is used: keys typed into a real terminal (tmux), over a real SSH connection, on real jobs."""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import psutil
import pytest

from slurmtui import paths
from slurmtui.models.run_record import DriverRecord
from slurmtui.sources.processes import command_line, environment_of
from tests.live.waiting import CANCELLED_WITHIN, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from slurmtui.models.server import ServerRecord

NEEDED = ("tmux", "ssh", "ssh-keygen", "/usr/sbin/sshd")
COMMAND = Path(sys.executable).with_name("slurmtui")

SLOW = """
import time
from prefect import flow, task

@task
def nap(number: int) -> int:
    print(f"napping number {number}", flush=True)
    time.sleep(4)
    return number

@flow(log_prints=True)
def naps(count: int = 60):
    print("the naps begin")
    return [one.result() for one in nap.map(list(range(count)))]
"""

FLAKY = """
from pathlib import Path
from prefect import flow, task

@task
def measure(number: int) -> int:
    return number * number

@task
def publish(numbers: list) -> int:
    if not Path(__file__).with_name("allowed").exists():
        raise RuntimeError("publishing is not allowed yet")
    return sum(numbers)

@flow
def flaky():
    return publish.submit([one.result() for one in measure.map(list(range(5)))]).result()
"""

CONFIG = """
default_profile: small
flows: ["{flows}"]
profiles:
  small: {{partition: debug, cores: 1, memory: 500M, walltime: "00:10:00", workers: 1}}
"""


def run(*argv: str, check: bool = True) -> str:
    return subprocess.run(argv, check=check, capture_output=True, text=True, timeout=120).stdout


def queue() -> str:
    return run("squeue", "-h", "-u", getpass.getuser(), "-o", "%i %j %T")


class Ssh:
    """An SSH server of our own on a loopback port, with a key of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("host", "user"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
        shutil.copy(folder / "user.pub", folder / "authorized")
        (folder / "authorized").chmod(0o600)
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # the root variant wants this folder to be there
        while not self._serves():  # another program has taken the port in between
            pass

    def _serves(self) -> bool:
        """Start it on a port that is free at this moment; whether it answers there."""
        folder = self.folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nPermitRootLogin yes\n"
        )
        with (folder / "sshd.log").open("w") as log:
            self.server = subprocess.Popen(
                ["/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "sshd_config")],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
            )  # fmt: skip
        wait_for(lambda: self.server.poll() is not None or self._answers(), 60, "sshd to answer")
        ended = self.server.poll() is not None
        assert not ended or "in use" in (said := (folder / "sshd.log").read_text()), said
        return not ended

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=10) as caller:
            return caller.recv(4) == b"SSH-"
        return False

    def command(self, inner: str) -> str:
        """The line that logs in and runs ``inner`` on a terminal there."""
        return shlex.join([
            "ssh", "-t", "-q", "-p", str(self.port), "-i", str(self.folder / "user"), "-o", "StrictHostKeyChecking=no",
            "-o", "UserKnownHostsFile=/dev/null", "-o", "IdentitiesOnly=yes", f"{getpass.getuser()}@127.0.0.1", inner,
        ])  # fmt: skip

    def stop(self) -> None:
        """End it and the connections it holds."""
        for child in psutil.Process(self.server.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        self.server.terminate()
        self.server.wait(10)


class Terminal:
    """A terminal of 100 by 30 in which the console runs at the far end of an SSH connection."""

    def __init__(self, ssh: Ssh, folder: Path, size: tuple[int, int] = (100, 30), around: str = "{}") -> None:
        self.socket = str(folder / f"tmux-{time.monotonic_ns()}")
        variables = ("SLURMTUI_STATE", "SLURMTUI_CONFIG", "SLURM_CONF", "PREFECT_HOME", "PATH")
        pairs = [f"{name}={os.environ[name]}" for name in variables if name in os.environ]
        inner = shlex.join(["env", "LANG=C.UTF-8", *pairs, str(COMMAND), "--view", "runs"])
        width, height = map(str, size)
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height, ssh.command(around.format(inner)))

    def _tmux(self, *argv: str) -> str:
        return run("tmux", "-S", self.socket, *argv)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, as tmux names them."""
        for key in keys:
            self._tmux("send-keys", key)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def see(self, pattern: str, seconds: float = 60, then: str = "") -> str:
        """Wait until the screen matches; ``then`` is a key pressed again and again meanwhile."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, screen := self.screen):
            assert time.monotonic() < deadline, f"{pattern!r} was not seen within {seconds} s:\n{screen}"
            if then:
                self.press(then)
            time.sleep(0.2)
        return screen

    def cut(self) -> None:
        """Lose the line: the terminal and the SSH client are gone at once."""
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False, capture_output=True, timeout=10)


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory, sandbox: object, prefect_server: ServerRecord) -> Iterator[Ssh]:
    """The SSH server; the flows and the configuration that the console will find."""
    assert sandbox is not None
    assert prefect_server is not None
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        pytest.fail(f"a live test may not be skipped: install {' '.join(missing)} (make setup-dev does)")
    folder = tmp_path_factory.mktemp("ssh")
    flows = tmp_path_factory.mktemp("flows")
    (flows / "keys_naps.py").write_text(SLOW)
    (flows / "keys_flaky.py").write_text(FLAKY)
    config = Path(os.environ["SLURMTUI_CONFIG"])
    config.write_text(CONFIG.format(flows=flows))
    server = Ssh(folder)
    yield server
    server.stop()
    config.unlink()


@pytest.fixture
def terminal(ssh: Ssh, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """``terminal()`` logs in and opens the console."""
    opened: list[Terminal] = []

    def make(size: tuple[int, int] = (100, 30), around: str = "{}") -> Terminal:
        opened.append(Terminal(ssh, tmp_path, size, around))
        opened[-1].see(r"RUN .*VERDICT|No flow run yet")
        return opened[-1]

    yield make
    for one in opened:
        one.cut()


@pytest.fixture(autouse=True)
def nothing_left(ssh: Ssh) -> Iterator[None]:
    """Each test ends its own jobs and drivers."""
    assert ssh.port
    yield
    run("scancel", "-u", getpass.getuser(), check=False)
    for driver in drivers():
        with contextlib.suppress(psutil.NoSuchProcess):
            driver.kill()
    wait_for(lambda: not drivers() and not queue(), 60, "the test's drivers and jobs to be gone")


def drivers() -> list[psutil.Process]:
    state = str(paths.state_folder())
    return [one for one in psutil.process_iter() if "slurmtui.flows.driver" in words(one) and state in str(words(one))]


def consoles() -> list[psutil.Process]:
    return [one for one in psutil.process_iter() if words(one)[1:2] == [str(COMMAND)] and in_this_state(one)]


def in_this_state(process: psutil.Process) -> bool:
    try:
        return environment_of(process).get("SLURMTUI_STATE") == str(paths.state_folder())
    except psutil.Error:
        return False


def words(process: psutil.Process) -> list[str]:
    """The command line of a process; none when it has gone meanwhile."""
    try:
        return command_line(process)
    except psutil.Error:
        return []


def submit_by_keys(terminal: Terminal, flow: str) -> None:
    terminal.press("N")
    terminal.see(r"flow file or batch script")
    terminal.type(flow)
    terminal.see(rf"{flow}\.py")
    terminal.press("Enter")
    terminal.see(r"PROFILE", 60)
    terminal.press("Enter")
    terminal.see(r"next field|SBATCH|rendering", 60)
    if "SBATCH" not in terminal.screen:
        terminal.press("C-n")
    terminal.see(r"✔ SLURM", 60)
    terminal.see(r"#SBATCH")
    terminal.press("y")
    terminal.see(r"submitted", 60)


def newest_run() -> str:
    """The id of the run submitted last."""
    folders = sorted(paths.runs_folder().iterdir(), key=lambda folder: folder.stat().st_ctime)
    return folders[-1].name


def all_tasks_told() -> bool:
    """Whether Prefect knows of each task of the newest run how it ended: it hears of some after the run's end."""
    (view,) = msgspec.json.decode(run(str(COMMAND), "runs", newest_run(), "--json", check=False))
    tasks = view["tasks"] or {}
    return (tasks.get("completed"), tasks.get("failed")) == (5, 1)


@pytest.mark.timeout(300)
def test_submit_watch_read_and_cancel_by_keys(terminal: Callable[..., Terminal]) -> None:
    options = ("-p", "debug", "-N2", "--exclusive", "-o", "/dev/null")
    blocker = run("sbatch", "--parsable", *options, "--wrap", "sleep 600").strip()
    console = terminal((80, 24))
    submit_by_keys(console, "keys_naps")
    console.see(r"waiting for SLURM: \w+", 60)
    run("scancel", blocker)
    console.see(r"running, 1 (of 1 )?worker", 60)
    console.press("Enter")
    console.see(r"nap-\w+ +running", 60)
    console.press("l")
    console.see(r"napping number \d+", 60)
    console.press("Escape")
    console.see(r"(?s)^(?!.*follow)")  # the pane has closed: escape and X in one breath would be alt+X
    console.press("X")
    console.see(r"scancel \d+")
    time.sleep(0.4)  # the dialog hears no key for a moment, so that a paste or a slip cannot answer it
    console.press("y")
    console.see(r"cancelled: squeue seen empty", CANCELLED_WITHIN)
    assert queue() == ""
    console.press("Escape")
    console.see(r"⊘ \S+ +cancelled")


@pytest.mark.timeout(300)
def test_a_failed_run_is_retried_and_its_finished_tasks_are_reused(
    terminal: Callable[..., Terminal], tmp_path_factory: pytest.TempPathFactory
) -> None:
    console = terminal()
    submit_by_keys(console, "keys_flaky")
    console.see(r"failed: RuntimeError: publishing", 90)
    flows = Path(re.findall(r'flows: \["(.*)"\]', Path(os.environ["SLURMTUI_CONFIG"]).read_text())[0])
    (flows / "allowed").touch()
    console.see(r"R retry")  # its driver has ended
    wait_for(all_tasks_told, 60, "Prefect to know how each task ended")
    console.press("R")
    console.see(r"reused +5 of 6 tasks", 90)
    time.sleep(0.4)  # as above
    console.press("y")
    console.see(r"✔ \S+ +done", 90)
    console.press("Enter")
    console.see(r"(?s)(cached.*){5}", 90)
    assert tmp_path_factory is not None


@pytest.mark.timeout(300)
def test_a_lost_line_touches_nothing_and_a_new_login_shows_everything(terminal: Callable[..., Terminal]) -> None:
    console = terminal()
    submit_by_keys(console, "keys_naps")
    console.see(r"running, 1 (of 1 )?worker", 90)
    name = re.findall(r"▶ (\S+)", console.screen)[0]
    run_id = newest_run()
    before = {driver.pid for driver in drivers()}
    assert before
    console.cut()
    wait_for(lambda: not consoles(), 60, "no console to be left")
    # One that is just beginning another program bears the driver's words for a moment.
    wait_for(lambda: {driver.pid for driver in drivers()} == before, 30, "the same drivers to be at work")
    again = terminal()
    assert name in again.see(r"running, 1 (of 1 )?worker", 90)
    done = run(str(COMMAND), "cancel", run_id, "--yes", "--json")
    assert msgspec.json.decode(done)
    again.see(r"⊘ \S+ +cancelled", 90)
    assert queue() == ""


@pytest.mark.timeout(300)
def test_a_lost_line_ends_a_console_that_is_not_told(terminal: Callable[..., Terminal]) -> None:
    """SIGHUP goes to the program that was called at the login, which may keep it; ``make`` does."""
    console = terminal((80, 24), around="trap '' HUP; {}; true")
    assert consoles()
    console.cut()
    wait_for(lambda: not consoles(), 60, "no console to be left")


@pytest.mark.timeout(300)
def test_a_driver_that_was_killed_is_told_of(terminal: Callable[..., Terminal]) -> None:
    console = terminal()
    submit_by_keys(console, "keys_naps")
    console.see(r"running, 1 (of 1 )?worker", 90)
    record = msgspec.json.decode((paths.runs_folder() / newest_run() / "driver.json").read_bytes(), type=DriverRecord)
    psutil.Process(record.pid).kill()
    console.see(r"⚠ \S+ +driver gone", 60)
    console.press("X")
    console.see(r"Cancel \S+")
    time.sleep(0.4)  # as above
    console.press("y")
    console.see(r"cancelled: squeue seen empty", CANCELLED_WITHIN)
    assert queue() == ""
