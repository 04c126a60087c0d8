"""What is missing on a machine, and how it gets there."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from slurmtui.errors import SandboxError
from slurmtui.sandbox import install, packages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Machine:
    """A machine without any of it; commands are noted, not run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, programs: Sequence[str], user: int) -> None:
        self.bin = tmp_path / "bin"
        self.bin.mkdir()
        self.ran: list[str] = []
        self.fails = ""
        self.sudo_needs_password = False
        for program in programs:
            (self.bin / program).touch(mode=0o755)
        monkeypatch.setattr(packages, "search_path", lambda: str(self.bin))
        monkeypatch.setattr(packages, "_plugin_is_here", lambda _: False)
        monkeypatch.setattr(packages, "_POLICY", tmp_path / "policy-rc.d")
        monkeypatch.setattr(os, "geteuid", lambda: user)
        monkeypatch.setattr(subprocess, "run", self._run)

    def _run(self, argv: Sequence[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        text = " ".join(str(part).replace(f"{self.bin}/", "") for part in argv)
        self.ran.append(text)
        failed = bool(self.fails and self.fails in text)
        failed |= self.sudo_needs_password and text == "sudo -n true"
        failed |= "systemctl is-" in text  # nothing ran before, nothing runs now
        return subprocess.CompletedProcess(argv, int(failed), b"", b"")


def test_what_is_missing_is_told_with_its_packages_and_the_commands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Machine(monkeypatch, tmp_path, programs=["munged"], user=1000)
    with pytest.raises(SandboxError) as told:
        packages.require_programs()
    text = str(told.value)
    assert "slurmctld, slurmd, slurmdbd" in text
    assert "munged" not in text
    assert "make setup" in text
    assert "apt-get update && apt-get install --yes --no-install-recommends mariadb-server slurmctld" in text
    assert "slurm-wlm-mysql-plugin" in text


def test_root_installs_while_no_service_may_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = Machine(monkeypatch, tmp_path, programs=["apt-get"], user=0)
    packages.install(["munge", "slurmd"])
    order = [line.split()[0] for line in machine.ran]
    assert order == ["install", "apt-get", "env", "rm"]
    assert machine.ran[2].endswith(" munge slurmd")
    assert str(tmp_path / "policy-rc.d") in machine.ran[0]


def test_the_ban_on_services_is_lifted_also_when_apt_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = Machine(monkeypatch, tmp_path, programs=["apt-get"], user=0)
    machine.fails = "apt-get install"
    with pytest.raises(SandboxError, match="failed"):
        packages.install(["munge"])
    assert machine.ran[-1].startswith("rm -f")


def test_a_machines_own_ban_on_services_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = Machine(monkeypatch, tmp_path, programs=["apt-get"], user=0)
    (tmp_path / "policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    packages.install(["munge"])
    assert [line.split()[0] for line in machine.ran] == ["apt-get", "env"]


def test_an_ordinary_user_goes_through_sudo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = Machine(monkeypatch, tmp_path, programs=["apt-get", "sudo"], user=1000)
    packages.install(["munge"])
    assert all(line.startswith("sudo -n ") for line in machine.ran)


@pytest.mark.parametrize("programs", [["apt-get"], ["apt-get", "sudo"]])
def test_without_a_way_to_root_the_exact_command_is_told_and_nothing_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, programs: list[str]
) -> None:
    machine = Machine(monkeypatch, tmp_path, programs=programs, user=1000)
    machine.sudo_needs_password = True
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(SandboxError, match="apt-get update && apt-get install --yes --no-install-recommends munge"):
        packages.install(["munge"])
    assert not [line for line in machine.ran if "apt-get" in line]


def test_another_kind_of_system_is_told_what_to_look_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Machine(monkeypatch, tmp_path, programs=[], user=0)
    with pytest.raises(SandboxError, match="no apt-get"):
        packages.install(["munge"])


def test_nothing_missing_runs_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = Machine(monkeypatch, tmp_path, programs=["apt-get"], user=0)
    packages.install(packages.missing_packages({"apt-get": "apt"}))
    assert machine.ran == []


def test_system_programs_are_found_though_path_lacks_their_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere:/usr/bin")
    folders = packages.search_path().split(":")
    assert folders[:2] == ["/nowhere", "/usr/bin"]
    assert "/usr/sbin" in folders
    assert len(folders) == len(set(folders))


def test_an_old_python_is_told_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    assert install.main([]) == 1
    assert "Python 3.10 or newer is needed" in capsys.readouterr().err


def test_the_set_up_is_done_again_when_what_it_was_made_from_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[Sequence[str]] = []
    venv = tmp_path / ".venv"
    venv.mkdir()
    for name in ("pyproject.toml", "constraints.txt", ".venv/pyvenv.cfg"):
        (tmp_path / name).write_text("one")
    monkeypatch.setattr(install, "_ROOT", tmp_path)
    monkeypatch.setattr(install, "_ENVIRONMENT", venv)
    monkeypatch.setattr(install, "_STAMP", venv / "stamp.json")
    monkeypatch.setattr(install, "_environment_works", lambda: True)
    monkeypatch.setattr(install, "_run", ran.append)
    monkeypatch.setenv("PIP_CONSTRAINT", "")
    monkeypatch.setenv("PIP_BUILD_CONSTRAINT", "")

    install.set_up(dev=False, programs={})
    install.set_up(dev=False, programs={})
    assert len(ran) == 1
    install.set_up(dev=True, programs={})
    install.set_up(dev=False, programs={})
    assert len(ran) == 2
    assert str(ran[1][-1]).endswith("[dev]")
    (tmp_path / "constraints.txt").write_text("two")
    install.set_up(dev=False, programs={})
    assert len(ran) == 3
