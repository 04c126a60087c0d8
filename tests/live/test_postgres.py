"""The private server on a real PostgreSQL: it makes its tables, keeps runs over a restart, and tells no password."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from slurmtui.control import server
from slurmtui.control.prefect import create_flow_run
from slurmtui.control.server_care import care
from slurmtui.models.config import Config, ServerConfig
from slurmtui.sources.prefect.client import PrefectClient
from slurmtui.sources.prefect.connection import private_connection
from slurmtui.sources.prefect.server_record import record_file
from slurmtui.sources.processes import command_line

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]

PASSWORD = "not-to-be-seen-anywhere"


def programs() -> Path | None:
    """Where Debian keeps the programs of the newest PostgreSQL, or where PATH has them."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if found:
        return found[-1]
    initdb = shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


@pytest.fixture
def database() -> Iterator[str]:
    """The address of a PostgreSQL of this test's own; it refuses to run as root, so then it runs as another user."""
    folder = programs()
    if folder is None:
        if os.environ.get("CI"):
            pytest.fail("a live test may not be skipped in CI, and PostgreSQL is not installed (make setup-dev)")
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    place = Path(tempfile.mkdtemp(prefix="slurmtui-postgres-"))
    as_user: list[str] = []
    if os.geteuid() == 0:
        account = "postgres" if _exists("postgres") else "nobody"
        as_user = ["runuser", "-u", account, "--"]
        shutil.chown(place, account)
    password_file = place / "password"
    password_file.write_text(PASSWORD)
    password_file.chmod(0o644 if as_user else 0o600)

    def run(name: str, *arguments: str) -> None:
        done = subprocess.run(
            [*as_user, str(folder / name), *arguments], cwd="/", capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run("initdb", "-D", str(place / "data"), "-U", "prefect", "-A", "scram-sha-256", f"--pwfile={password_file}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={place} -c fsync=off"
    run("pg_ctl", "-D", str(place / "data"), "-l", str(place / "log"), "-w", "-o", options, "start")
    try:
        yield f"postgresql+asyncpg://prefect:{PASSWORD}@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", str(place / "data"), "-m", "immediate", "stop")
        shutil.rmtree(place)


def _exists(account: str) -> bool:
    try:
        return bool(pwd.getpwnam(account))
    except KeyError:
        return False


async def test_runs_are_kept_in_postgres_and_its_password_is_told_nowhere(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    config = Config(server=ServerConfig(host="127.0.0.1", database_url=database))
    try:
        record = server.start(config, lambda _: None)
        assert record.database == "external"
        run_id = await make_run()
        psutil.Process(record.pid).kill()
        deadline = time.monotonic() + 20
        while server.status().state != "crashed":
            assert time.monotonic() < deadline
            time.sleep(0.1)  # noqa: ASYNC251 - nothing else goes on here
        again = server.start(config, lambda _: None)
        assert await name_of(run_id) == "kept"
        told = care(server.status())
        assert (told.database, told.database_bytes, told.starts, told.crashes) == ("external", None, 2, 1)
        lines = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                lines += command_line(process)
        assert not [line for line in lines if PASSWORD in line]
        for path in (record_file(), *record_file().parent.rglob("*.log*")):
            assert PASSWORD not in path.read_text(errors="replace"), path
        assert not (tmp_path / "state" / "server" / "home" / "prefect.db").exists()
        assert again.api_url == record.api_url
    finally:
        server.stop()


async def make_run() -> str:
    connection = private_connection()
    assert connection is not None
    client = PrefectClient(connection)
    try:
        run = await create_flow_run(
            client, flow_name="f", run_name="kept", parameters={}, idempotency_key=str(uuid.uuid4())
        )
    finally:
        await client.close()
    return run.id


async def name_of(run_id: str) -> str:
    connection = private_connection()
    assert connection is not None
    client = PrefectClient(connection)
    try:
        return (await client.flow_run(run_id)).name
    finally:
        await client.close()
