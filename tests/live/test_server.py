"""The private Prefect server, for real: started, started again, killed, repaired, stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import httpx
import psutil
import pytest

from slurmtui.control import server, server_process
from slurmtui.control.server_address import read_kept
from slurmtui.errors import PrefectUnauthorized
from slurmtui.models.config import Config, ServerConfig
from slurmtui.sources.prefect.client import PrefectClient
from slurmtui.sources.prefect.connection import find_connection, private_connection
from slurmtui.sources.prefect.server_record import auth_file, read_auth, read_record
from slurmtui.sources.processes import command_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]

CONFIG = Config(server=ServerConfig(host="127.0.0.1"))


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A state folder of the test's own; whatever server was started in it ends with the test."""
    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))  # no profiles of the person who tests
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("SLURMTUI_CONFIG", str(tmp_path / "config.yaml"))  # the verb's; CONFIG is the same
    (tmp_path / "config.yaml").write_text("server:\n  host: 127.0.0.1\n")
    yield tmp_path / "state"
    server.stop()
    assert server_process.strays(tmp_path / "state" / "server") == []


def verb(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "slurmtui", "server", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def told(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=150)
    assert process.returncode == 0, err
    facts: dict[str, Any] = json.loads(out)
    return facts


async def test_the_life_of_a_server(state: Path) -> None:
    # Two at the same moment: one starts it, the other one finds it.
    began = time.monotonic()
    first, second = told_both = [told(process) for process in [verb("start", "--json"), verb("start", "--json")]]
    assert time.monotonic() - began < 120
    assert first["pid"] == second["pid"]
    assert sorted(facts["started_now"] for facts in told_both) == [False, True]

    # It is nobody's child, without a terminal, in a session of its own.
    process = psutil.Process(first["pid"])
    assert os.getsid(process.pid) == process.pid
    assert process.ppid() not in (os.getpid(), os.getppid())
    assert process.terminal() is None

    # Its secret is in a file for the user alone, and in no command line.
    auth = read_auth()
    assert auth is not None
    assert stat.S_IMODE(auth_file().stat().st_mode) == 0o600
    assert not any(auth.partition(":")[2] in word for word in command_line(process))
    for path in (state / "server").rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # the database's own come and go
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path

    # The password is needed, and right.
    connection = find_connection(CONFIG)
    assert connection is not None
    assert connection.origin.startswith("private server on ")
    client = PrefectClient(connection)
    assert await client.version() == first["version"]
    await client.close()
    await assert_refused(connection.api_url)
    assert server.status().state == "running"

    # Killed, it is seen to be so, and started again: same address, same password, same data.
    os.kill(process.pid, signal.SIGKILL)
    wait_gone(process)
    assert server.status().state == "crashed"
    again = server.start(CONFIG)
    assert again.pid != process.pid
    assert again.api_url == first["api_url"]
    assert read_auth() == auth

    # Stopped, and stopped again.
    stopped = told(verb("stop", "--json"))
    assert stopped["record"]["pid"] == again.pid
    assert server_process.find_server(again) is None
    assert told(verb("stop", "--json")) == {"stopped": False, "record": None}
    assert read_record() is None
    assert server.status().state == "stopped"
    assert private_connection() is None


@pytest.mark.usefixtures("state")
def test_the_record_of_a_foreign_process_kills_nobody_and_a_taken_port_is_left() -> None:
    foreign = subprocess.Popen(["sleep", "200"])
    with socket.socket() as other, contextlib.ExitStack() as end:
        end.callback(foreign.wait)
        end.callback(foreign.kill)
        folder = auth_file().parent
        folder.mkdir(parents=True)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        (folder / "address.json").write_text(json.dumps({"port": port, "api_url": f"http://127.0.0.1:{port}/api"}))
        auth_file().write_text("slurmtui:known-to-others\n")
        record = {
            "host": socket.gethostname(), "pid": foreign.pid, "port": port, "api_url": f"http://127.0.0.1:{port}/api",
            "pid_started": psutil.Process(foreign.pid).create_time(),
        }  # fmt: skip
        (folder / "server.json").write_text(json.dumps(record))
        said: list[str] = []
        started = server.start(CONFIG, said.append)
        assert foreign.poll() is None
    assert started.port != port
    assert read_auth() != "slurmtui:known-to-others"
    assert any("do not reach the server any more" in sentence for sentence in said)
    kept = read_kept(folder / "address.json")
    assert kept is not None
    assert kept.port == started.port


@pytest.mark.usefixtures("state")
def test_giving_up_while_it_starts_leaves_no_server() -> None:
    process = verb("start")
    until = time.monotonic() + 60
    while (record := read_record()) is None:
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert read_record() is None
    assert server_process.find_server(record) is None


async def assert_refused(api_url: str) -> None:
    """Without the password, or with another one, nothing is told."""
    async with httpx.AsyncClient(trust_env=False) as anybody:
        assert (await anybody.get(f"{api_url}/admin/version")).status_code == 401
        assert (await anybody.post(f"{api_url}/flow_runs/filter", json={}, auth=("slurmtui", "x"))).status_code == 401
    right = auth_file().read_text()
    auth_file().write_text("slurmtui:wrong\n")
    try:
        connection = private_connection()
        assert connection is not None
        client = PrefectClient(connection)
        with pytest.raises(PrefectUnauthorized, match="slurmtui server stop, then start"):
            await client.version()
        await client.close()
    finally:
        auth_file().write_text(right)


def wait_gone(process: psutil.Process) -> None:
    until = time.monotonic() + 10
    while server_process.lives(process):
        assert time.monotonic() < until
        time.sleep(0.02)
