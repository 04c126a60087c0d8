"""A server is only touched when it is proved to be ours; another host's record is respected."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import psutil
import pytest

from slurmtui.control import server, server_database, server_process, server_ready
from slurmtui.control.server_probe import Probe
from slurmtui.errors import Refused, ServerError
from slurmtui.models.config import Config, ServerConfig
from slurmtui.models.server import ServerRecord
from slurmtui.sources.prefect.server_record import read_record, record_file
from slurmtui.sources.processes import host_name, started_at
from tests.unit.begun import begun

if TYPE_CHECKING:
    from collections.abc import Iterator

SLEEPER = "import time; time.sleep(60)"


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """Somebody's process that is no server."""
    with begun([sys.executable, "-c", SLEEPER]) as process:
        yield process
        process.kill()


@pytest.fixture
def imitation() -> Iterator[subprocess.Popen[bytes]]:
    """A process with the command line of a Prefect server, without a mark in its environment."""
    argv = [sys.executable, "-c", SLEEPER, "prefect", "server", "start"]
    with begun(argv, start_new_session=True) as process:
        yield process
        process.kill()


def write(host: str | None = None, pid: int = 1, pid_started: float = 0.0, version: str = "3.9.1") -> ServerRecord:
    record = ServerRecord(
        host=host or host_name(),
        pid=pid,
        pid_started=pid_started,
        api_url="http://127.0.0.1:9/api",
        port=9,
        version=version,
    )
    record_file().parent.mkdir(parents=True, exist_ok=True)
    record_file().write_bytes(msgspec.json.encode(record))
    return record


def test_without_a_record_it_is_stopped() -> None:
    assert server.status().state == "stopped"
    assert server.stop() is None


def test_a_foreign_process_under_the_recorded_pid_is_left_alone(sleeper: subprocess.Popen[bytes]) -> None:
    write(pid=sleeper.pid, pid_started=started_at(sleeper.pid))
    assert server.status().state == "crashed"
    said: list[str] = []
    assert server.stop(said.append) is None
    assert sleeper.poll() is None
    assert any("left alone" in sentence for sentence in said)
    assert read_record() is None


def test_the_right_command_with_another_start_time_is_left_alone(imitation: subprocess.Popen[bytes]) -> None:
    write(pid=imitation.pid, pid_started=started_at(imitation.pid) - 100)
    assert server.stop() is None
    assert imitation.poll() is None


def test_the_proved_process_is_ended(imitation: subprocess.Popen[bytes]) -> None:
    write(pid=imitation.pid, pid_started=started_at(imitation.pid))
    ended = server.stop()
    assert ended is not None
    assert ended.pid == imitation.pid
    assert imitation.wait(30) != 0


def test_a_server_that_ignores_the_request_is_killed_with_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "_TERM_SECONDS", 0.3)
    script = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"child = subprocess.Popen([sys.executable, '-c', {SLEEPER!r}])\n"
        "print(child.pid, flush=True); time.sleep(60)"
    )
    argv = [sys.executable, "-c", script, "prefect", "server", "start"]
    with subprocess.Popen(argv, start_new_session=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = psutil.Process(int(process.stdout.readline()))
        write(pid=process.pid, pid_started=started_at(process.pid))
        said: list[str] = []
        assert server.stop(said.append) is not None
        assert any("killed" in sentence for sentence in said)
        assert not psutil.pid_exists(process.pid) or process.wait(30) != 0
        child_gone = time.monotonic() + 30
        while server_process.lives(child):
            assert time.monotonic() < child_gone
            time.sleep(0.02)


def test_the_server_of_another_host_is_not_stopped_from_here() -> None:
    write(host="login01")
    with pytest.raises(Refused, match=r"login01.*ssh login01 slurmtui server stop"):
        server.stop()
    assert read_record() is not None


def test_the_server_of_another_host_that_answers_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    record = write(host="login01")
    monkeypatch.setattr(server, "version_of", lambda *_args, **_more: "3.9.1")
    said: list[str] = []
    assert server.start(Config(), said.append) == record
    assert any("login01" in sentence for sentence in said)
    assert server.status().state == "running"


def test_the_server_of_another_host_that_is_silent_is_not_replaced() -> None:
    write(host="login01")
    with pytest.raises(Refused, match=r"login01.*--take-over"):
        server.start(Config())
    assert read_record() is not None
    assert server.status(seconds=0.5).state == "elsewhere"


def test_a_live_server_that_is_silent_is_called_so(imitation: subprocess.Popen[bytes]) -> None:
    write(pid=imitation.pid, pid_started=started_at(imitation.pid))
    assert server.status(seconds=0.5).state == "unresponsive"
    write(pid=imitation.pid, pid_started=started_at(imitation.pid), version="")
    assert server.status(seconds=0.5).state == "starting"


def fake_prefect(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """What is started is this script instead of Prefect."""
    monkeypatch.setattr(server_process, "command", lambda: [sys.executable, "-c", script, "prefect"])
    monkeypatch.setattr(server_ready, "_LOOK_EVERY", 0.02)


LOOPBACK = Config(server=ServerConfig(host="127.0.0.1"))


def test_a_server_that_dies_at_its_start_is_reported_with_the_end_of_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_prefect(monkeypatch, r"print('first'); print('no \x1b[31mtable'); raise SystemExit('boom')")
    with pytest.raises(ServerError) as caught:
        server.start(LOOPBACK)
    assert "boom" in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert read_record() is None


@pytest.mark.parametrize("gone", ["later", "when it is looked at", "when it is sought"])
def test_a_port_taken_at_the_last_moment_is_changed(monkeypatch: pytest.MonkeyPatch, state: Path, gone: str) -> None:
    launch = server_process.launch

    def slowly(*arguments: Any) -> psutil.Process:
        process = launch(*arguments)
        psutil.wait_procs([process], timeout=30)
        if gone == "when it is sought":
            raise ServerError("The server ended at once.")
        return process

    if gone != "later":
        monkeypatch.setattr(server_process, "launch", slowly)
    long_traceback = "print('[Errno 98] address already in use'); [print('  line', n) for n in range(40)]"
    fake_prefect(monkeypatch, long_traceback)
    with pytest.raises(ServerError, match="Port after port"):
        server.start(LOOPBACK)
    assert "already in use" in (state / "server" / "server.log").read_text()


def test_a_server_that_is_open_to_everybody_is_not_left_running(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_prefect(monkeypatch, SLEEPER)
    monkeypatch.setattr(server_process, "listens", lambda *_: True)
    monkeypatch.setattr(server_ready, "ask", lambda *_args, **_more: Probe(200))
    monkeypatch.setattr(server_ready, "version_of", lambda *_args, **_more: "9.9")
    with pytest.raises(ServerError, match="did not refuse a wrong password"):
        server.start(LOOPBACK)
    assert read_record() is None
    assert server_process.strays(record_file().parent) == []


def test_a_server_without_a_record_is_found_by_its_mark_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = record_file().parent
    environment = {**os.environ, server_process.MARK: str(folder)}
    argv = [sys.executable, "-c", SLEEPER, "prefect", "server", "start"]
    with begun(argv, env=environment, start_new_session=True) as stray:
        fake_prefect(monkeypatch, "raise SystemExit('enough')")
        said: list[str] = []
        with pytest.raises(ServerError, match="enough"):
            server.start(LOOPBACK, said.append)
        assert stray.wait(30) != 0
        assert any(str(stray.pid) in sentence for sentence in said)


def test_the_server_s_environment_holds_the_secrets_and_nothing_of_the_user_s_prefect(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://other/api")
    monkeypatch.setenv("PREFECT_SERVER_API_HOST", "0.0.0.0")  # noqa: S104 - not bound
    made = server_process.environment(tmp_path, "slurmtui:pw", "postgresql+asyncpg://u:pw@h/db")
    assert "PREFECT_API_URL" not in made
    assert "PREFECT_SERVER_API_HOST" not in made
    assert made["PREFECT_SERVER_API_AUTH_STRING"] == "slurmtui:pw"
    assert made["PREFECT_SERVER_DATABASE_CONNECTION_URL"] == "postgresql+asyncpg://u:pw@h/db"
    assert made["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert made["DO_NOT_TRACK"] == "1"
    assert made["PREFECT_HOME"] == str(tmp_path / "home")


def test_files_are_the_user_s_alone(monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    fake_prefect(monkeypatch, "raise SystemExit('enough')")
    with pytest.raises(ServerError):
        server.start(LOOPBACK)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (state / "server").iterdir()}
    assert modes["auth"] == modes["server.log"] == modes["lock"] == 0o600
    assert modes["home"] == 0o700
    assert stat.S_IMODE((state / "server").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("kind", "network"),
    [("nfs4", True), ("nfs", True), ("lustre", True), ("gpfs", True), ("beegfs_nodev", True), ("fuse.sshfs", True),
     ("ext4", False), ("xfs", False), ("tmpfs", False), ("", False)],
)  # fmt: skip
def test_a_database_on_a_network_file_system_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, kind: str, network: bool  # noqa: FBT001
) -> None:  # fmt: skip
    monkeypatch.setattr(server_database, "file_system", lambda _path: kind)
    warning = server_database.database_warning(ServerConfig(), Path("/home/alice"))
    assert bool(warning) is network
    assert ("server.database_url" in warning) is network
    assert server_database.database_warning(ServerConfig(database_url="postgresql+asyncpg://x"), Path("/")) == ""


def test_the_file_system_is_that_of_the_nearest_mount(tmp_path: Path) -> None:
    assert server_database.file_system(tmp_path)
    assert server_database.file_system(Path("/proc/self")) == "proc"


def test_starting_over_a_server_that_hangs_says_so_and_ends(
    imitation: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_ready, "BUSY_SECONDS", 0.2)
    write(pid=imitation.pid, pid_started=started_at(imitation.pid))
    with pytest.raises(ServerError, match=r"has not answered for 0\.2 s\. `slurmtui server stop` ends it"):
        server.start(LOOPBACK)
    assert imitation.poll() is None
    assert read_record() is not None
