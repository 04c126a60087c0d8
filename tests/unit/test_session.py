"""A session: whose SLURM, which profiles, and nothing imported or asked before it is needed."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.models.config import Config, PrefectConfig
from slurmtui.models.profile import Profile
from slurmtui.session import open_session, user_name
from slurmtui.sources.prefect import client as prefect_client

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def nobody_elses_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("PREFECT_", "SLURM_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    conf = str(tmp_path / "slurm.conf")
    folder = tmp_path / "state" / "sandbox"
    folder.mkdir(parents=True)
    (folder / "sandbox.json").write_text(json.dumps({"slurm_conf": conf}))
    monkeypatch.setenv("SLURM_CONF", conf)
    return conf


def test_in_the_sandbox_there_are_profiles_without_a_configuration(sandbox: str) -> None:
    session = open_session(Config())
    assert session.place.sandbox
    assert list(session.config.profiles) == ["debug", "batch", "gpu"]
    assert session.config.default_profile == "debug"
    assert session.config.source is None
    assert session.environment() == {"SLURM_CONF": sandbox}


@pytest.mark.usefixtures("sandbox")
def test_profiles_of_ones_own_are_not_mixed_with_the_sandboxs() -> None:
    own = Config(profiles={"mine": Profile(name="mine")}, source="/c.yaml")
    assert open_session(own).config is own


@pytest.mark.usefixtures("sandbox")
def test_a_default_profile_of_the_sandbox_can_be_chosen() -> None:
    assert open_session(Config(default_profile="gpu")).config.default_profile == "gpu"


def test_outside_the_sandbox_there_are_no_profiles_without_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm/slurm.conf")
    session = open_session(Config())
    assert session.config == Config()
    assert session.environment() == {"SLURM_CONF": "/etc/slurm/slurm.conf"}


def test_the_user_is_the_one_that_slurm_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "somebody-else")
    monkeypatch.setenv("LOGNAME", "somebody-else")
    assert user_name() == open_session(Config()).user == pwd.getpwuid(os.geteuid()).pw_name


async def test_a_prefect_server_that_comes_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_session(Config())
    assert session.prefect is None
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    client = session.prefect
    assert client is not None
    assert session.prefect is client
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:2/api")
    await session.forget_prefect()
    assert session.connection is not None
    assert session.connection.api_url == "http://127.0.0.1:2/api"
    await session.close()


def test_two_that_want_the_client_at_once_get_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    class SlowClient(prefect_client.PrefectClient):
        def __init__(self, *arguments: Any) -> None:
            time.sleep(0.2)  # as long as its first import may take: the other one comes meanwhile
            super().__init__(*arguments)

    monkeypatch.setattr(prefect_client, "PrefectClient", SlowClient)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    session = open_session(Config())
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(lambda _: session.prefect, range(2))
    assert one is not None
    assert one is other is session.prefect  # of two, nobody would close the other's connections


def test_opening_a_session_imports_neither_httpx_nor_prefect_nor_textual() -> None:
    code = (
        "import sys\n"
        "from slurmtui.config import load_config\n"
        "from slurmtui.session import open_session\n"
        "session = open_session(load_config())\n"
        "assert session.connection is not None\n"
        "print([name for name in ('httpx', 'prefect', 'dask', 'distributed', 'textual') if name in sys.modules])\n"
    )
    environment = {**os.environ, "PREFECT_API_URL": "http://127.0.0.1:1/api", "SLURMTUI_CONFIG": "/nonexistent/c.yaml"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_the_configurations_server_is_used() -> None:
    session = open_session(Config(prefect=PrefectConfig(api_url="http://login01:4200/api")))
    assert session.connection is not None
    assert (session.connection.api_url, session.connection.origin) == ("http://login01:4200/api", "configuration")
