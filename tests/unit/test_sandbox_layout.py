"""Where the sandbox's things are: short names, ports, configuration texts."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.errors import SandboxError
from slurmtui.sandbox import layout, ports, texts
from slurmtui.sandbox.layout import NODES, PORT_COUNT, Layout, base_of

PATHS = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=120).map(
    lambda name: Path("/home") / name / "sandbox"
)


def some_layout(folder: Path = Path("/home/ada/.local/state/slurmtui/sandbox")) -> Layout:
    return Layout(folder=folder, base=base_of(folder), first_port=20000, user="ada", database_password="geheim")


@given(PATHS)
def test_what_the_daemons_are_given_is_short_and_plain_whatever_the_folder(folder: Path) -> None:
    base = base_of(folder)
    assert len(os.fsencode(base / "spool" / "gpu1" / "gpu1_4294967295.4294967295")) <= 107
    assert re.fullmatch(r"[A-Za-z0-9_./+@-]+", str(base))
    assert base == base_of(folder)


def test_a_plain_short_folder_is_used_as_it_is() -> None:
    folder = Path("/home/ada/.local/state/slurmtui/sandbox")
    assert base_of(folder) == folder


def test_a_long_folder_gets_a_short_name_that_leads_to_it_and_goes_again(tmp_path: Path) -> None:
    folder = tmp_path / ("long " * 30) / "sandbox"
    folder.mkdir(parents=True)
    base = layout.make_base(folder)
    assert base.resolve() == folder.resolve()
    assert base.parent.stat().st_mode & 0o077 == 0
    assert layout.make_base(folder) == base
    layout.remove_base(folder)
    assert not base.parent.exists()


def test_the_short_name_is_refused_where_others_could_put_things(tmp_path: Path) -> None:
    folder = tmp_path / ("long " * 30) / "sandbox"
    holder = base_of(folder).parent
    holder.mkdir(mode=0o777)
    holder.chmod(0o777)
    try:
        with pytest.raises(SandboxError, match="not a folder of yours alone"):
            layout.make_base(folder)
    finally:
        holder.rmdir()


def test_a_link_in_place_of_the_short_names_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / ("long " * 30) / "sandbox"
    holder = base_of(folder).parent
    holder.symlink_to(tmp_path)
    try:
        with pytest.raises(SandboxError, match="not a folder of yours alone"):
            layout.make_base(folder)
    finally:
        holder.unlink()


def test_a_port_is_free_until_somebody_listens() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port: int = other.getsockname()[1]
        other.listen()
        assert not ports.is_free(port)
        assert ports.is_served(port)
    assert ports.is_free(port)
    assert not ports.is_served(port)


def test_the_block_of_ports_goes_around_what_is_taken() -> None:
    first = ports.choose_block("ada", 11, free=lambda _: True)
    taken = {first + 4, first + 11}
    second = ports.choose_block("ada", 11, free=lambda port: port not in taken)
    assert second != first
    assert not taken & set(range(second, second + 11))
    assert 20000 <= second < 30000


def test_no_ports_at_all_is_said() -> None:
    with pytest.raises(SandboxError, match="11 consecutive free ports"):
        ports.choose_block("ada", 11, free=lambda _: False)


def test_every_daemon_has_a_port_of_its_own() -> None:
    made = some_layout()
    used = [made.database_port, made.slurmdbd_port, made.slurmctld_port, *made.node_ports.values()]
    assert sorted(used) == list(range(20000, 20000 + PORT_COUNT))
    assert tuple(made.node_ports) == NODES


def test_the_configuration_names_the_parts() -> None:
    found = texts.texts(some_layout(), "22.05.8")
    conf = dict(line.split("=", 1) for line in found["slurm.conf"].splitlines() if re.match(r"[A-Z]\w+=\S+$", line))
    assert conf["SlurmUser"] == "ada"
    assert conf["SlurmctldPort"] == "20002"
    assert conf["AccountingStoragePort"] == "20001"
    assert conf["AccountingStoragePass"] == "/home/ada/.local/state/slurmtui/sandbox/munge.sock"
    assert "geheim" not in found["slurm.conf"]
    assert "StoragePass=geheim" in found["slurmdbd.conf"]
    assert "Port=[20003-20008] CPUs=8 RealMemory=4000" in found["slurm.conf"]
    assert "Port=[20009-20010] CPUs=16 RealMemory=8000 Gres=gpu:a100:4" in found["slurm.conf"]


@pytest.mark.parametrize(
    ("version", "wanted"),
    [("21.08.5", None), ("22.05.8", "CgroupPlugin=cgroup/v1\n"), ("24.11.5", "CgroupPlugin=disabled\n")],
)
def test_slurm_is_told_to_leave_cgroups_alone_in_its_versions_words(version: str, wanted: str | None) -> None:
    assert texts.texts(some_layout(), version).get("cgroup.conf") == wanted
