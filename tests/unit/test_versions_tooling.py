"""What the tests against other releases of SLURM are made with: mirrors, wrappers, an end without leftovers."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.versions import __main__ as command
from tests.versions import mirrors
from tests.versions.inside import COMMANDS, DAEMONS, write_wrappers
from tests.versions.mirrors import NoMirror, find_mirror
from tests.versions.processes import run

if TYPE_CHECKING:
    from pathlib import Path

STANZA = """MetaKey: main/binary-amd64/Packages
Codename: {codename}
Label: {label}
Origin: {origin}
Component: main
Repo-URI: {address}
"""
DEBIAN = STANZA.format(codename="trixie", label="Debian", origin="Debian", address="http://deb.example/debian/")
FIXES = STANZA.format(
    codename="trixie-security", label="Debian-Security", origin="Debian", address="http://deb.example/debian-security/"
)
OTHER = STANZA.format(codename="nodistro", label="Node", origin="Node", address="http://other.example/debian/")


@pytest.mark.parametrize("targets", [f"{OTHER}\n{FIXES}\n{DEBIAN}", DEBIAN])
def test_the_mirror_is_the_one_that_apt_uses(targets: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mirrors.NAMED, raising=False)
    proxy = 'Acquire::http::Proxy "http://proxy.example:3128/";\n'
    said = {"indextargets": targets, "Acquire::http::Proxy": proxy, "Acquire::https::Proxy": ""}
    monkeypatch.setattr(mirrors, "_said", lambda *argv: next(said[word] for word in argv if word in said))
    found = find_mirror()
    assert found.address == "http://deb.example/debian/"
    assert found.environment == {"http_proxy": "http://proxy.example:3128/"}


def test_a_machine_without_debians_packages_is_told_how_to_name_a_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mirrors.NAMED, raising=False)
    monkeypatch.setattr(mirrors, "_said", lambda *argv: OTHER if "indextargets" in argv else "")
    with pytest.raises(NoMirror, match=f"{mirrors.NAMED}=http"):
        find_mirror()
    monkeypatch.setenv(mirrors.NAMED, "http://mine.example/debian")
    assert find_mirror().address == "http://mine.example/debian"


def test_an_ordinary_user_gets_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["versions"])
    assert command.main() == 1
    said = capsys.readouterr().err
    assert "has to run as root" in said
    assert said.count("\n") == 1


def test_every_program_of_slurm_is_wrapped_also_one_that_a_release_lacks(tmp_path: Path) -> None:
    tree = tmp_path / "a tree"
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/squeue").touch()
    write_wrappers(tree, tmp_path / "bin")
    assert {file.name for file in (tmp_path / "bin").iterdir()} == {*COMMANDS, *DAEMONS}
    assert f"chroot '{tree}' /usr/bin/env -C" in (tmp_path / "bin/squeue").read_text()
    assert "not in this release" in (tmp_path / "bin/sattach").read_text()


async def test_a_command_whose_time_is_up_is_ended_with_its_children(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! $$ > {tmp_path}/pids; wait"
    assert await run(("sh", "-c", script), tmp_path / "log", 10.0, dict(os.environ)) is None
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).wait(60)
    assert await run(("sh", "-c", "echo said; exit 3"), tmp_path / "log", 60, dict(os.environ)) == 3
    assert (tmp_path / "log").read_text() == "said\n"
