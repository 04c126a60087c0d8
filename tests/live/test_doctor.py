"""``config init``, ``config check`` and ``doctor`` against the real SLURM and the real Prefect server."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.models.server import ServerRecord


@pytest.fixture
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLURMTUI_CONFIG", str(tmp_path / "config.yaml"))
    return tmp_path / "config.yaml"


def slurmtui(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "slurmtui", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)


def examined() -> tuple[int, dict[str, dict[str, Any]]]:
    done = slurmtui("doctor", "--json")
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}


@pytest.mark.usefixtures("sandbox")
def test_the_file_that_init_writes_fits_the_cluster(config_file: Path) -> None:
    done = slurmtui("config", "init")
    assert (done.returncode, done.stderr) == (0, "")
    assert "SLURM was not asked" not in done.stdout
    text = config_file.read_text()
    for line in ("default_profile: debug", "    partition: batch", "    gres: gpu:a100:1          # a node has 4"):
        assert line in text.splitlines()
    checked = slurmtui("config", "check")
    assert (checked.returncode, checked.stdout) == (0, f"{config_file}: no mistakes\n")
    shown = json.loads(slurmtui("config", "show", "--json").stdout)["values"]
    assert shown["profiles.gpu.partition"]["from"].startswith("line ")


@pytest.mark.usefixtures("sandbox")
def test_check_finds_what_the_cluster_does_not_have(config_file: Path) -> None:
    config_file.write_text(
        "profiles:\n  a:\n    partition: debgu\n  b:\n    partition: debug\n    walltime: 3:00:00\n"
        "    account: no-such-account\n"
    )
    done = slurmtui("config", "check")
    assert done.returncode == 1
    assert (
        f"{config_file}:3: profiles.a.partition: this cluster has no partition 'debgu': did you mean 'debug'?"
        in done.stdout
    )
    assert f"{config_file}:6: profiles.b.walltime: 03:00:00 is more than debug allows: 00:30:00." in done.stdout
    assert f"{config_file}:7: profiles.b.account: you have no account 'no-such-account': " in done.stdout


@pytest.mark.usefixtures("sandbox", "config_file")
def test_all_is_well_where_all_is_up(prefect_server: ServerRecord) -> None:
    code, checks = examined()
    assert {name for name, check in checks.items() if check["state"] == "fail"} == set()
    assert code == 0
    assert checks["place"]["what"] == "The sandbox of this machine"
    assert checks["slurmctld"]["what"].startswith("SLURM 2")
    assert checks["accounting"]["state"] == "ok"
    assert checks["submission"]["state"] == "ok"
    assert checks["prefect server"]["state"] == "ok"
    assert prefect_server.api_url in checks["prefect server"]["where"]
    assert checks["prefect server"]["what"].endswith("the password is right")


@pytest.mark.usefixtures("sandbox", "config_file")
def test_a_wrong_password_is_told_from_no_answer(prefect_server: ServerRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect_server.api_url.replace("127.0.0.1", "localhost"))
    monkeypatch.setenv("PREFECT_API_AUTH_STRING", "somebody:else")
    code, checks = examined()
    assert (code, checks["prefect server"]["what"]) == (1, "The Prefect server wants other credentials")
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    code, checks = examined()
    assert (code, checks["prefect server"]["what"]) == (1, "The Prefect server does not answer")


@pytest.mark.usefixtures("sandbox")
def test_a_profile_that_slurm_would_not_take(config_file: Path) -> None:
    config_file.write_text("profiles:\n  a:\n    partition: debgu\n")
    code, checks = examined()
    assert code == 1
    assert checks["configuration"]["state"] == "fail"
    assert (checks["submission"]["state"], checks["submission"]["where"]) == ("fail", "profile a")
    assert "invalid partition specified: debgu" in checks["submission"]["why"]
