"""The private server's address is one that compute nodes can reach, and its port stays."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from slurmtui.control import server_address
from slurmtui.control.server_address import Kept
from slurmtui.errors import ServerError
from slurmtui.models.config import ServerConfig
from slurmtui.sources.slurm.place import SlurmPlace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOOPBACK = "127.0.0.1"


@pytest.fixture
def slurm_conf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cluster's slurm.conf, and no sandbox."""
    file = tmp_path / "slurm.conf"
    monkeypatch.setenv("SLURM_CONF", str(file))
    monkeypatch.setattr(server_address, "find_slurm", SlurmPlace)
    monkeypatch.setattr("shutil.which", lambda name: f"/opt/slurm/bin/{name}")
    return file


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which another program listens."""
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        other.listen()
        yield other.getsockname()[1]


def route(monkeypatch: pytest.MonkeyPatch, **ways: str) -> None:
    monkeypatch.setattr(server_address, "_route_to", lambda host: ways.get(host.replace(".", "_")))


def test_a_configured_host_is_taken_as_it_is() -> None:
    assert server_address.choose_host(ServerConfig(host="login01-ib"))[0] == "login01-ib"


def test_an_interface_gives_its_address_and_an_unknown_one_names_those_there_are() -> None:
    assert server_address.choose_host(ServerConfig(interface="lo"))[0] == LOOPBACK
    with pytest.raises(ServerError, match=r"no interface ib9 here .*lo"):
        server_address.choose_host(ServerConfig(interface="ib9"))


def test_the_sandbox_needs_loopback_only(monkeypatch: pytest.MonkeyPatch, slurm_conf: Path) -> None:
    slurm_conf.write_text("SlurmctldHost=ctl(10.1.0.1)\n")
    monkeypatch.setattr(server_address, "find_slurm", lambda: SlurmPlace(sandbox=True))
    assert server_address.choose_host(ServerConfig())[0] == LOOPBACK


@pytest.mark.parametrize(
    "line",
    [
        "SlurmctldHost=ctl1(10_1_0_1)",
        "slurmctldhost = ctl1(10_1_0_1)",
        "ControlAddr=10_1_0_1",
        "ControlMachine=10_1_0_1",
    ],
)
def test_the_way_to_the_controller_gives_the_address(
    monkeypatch: pytest.MonkeyPatch, slurm_conf: Path, line: str
) -> None:
    slurm_conf.write_text(f"# SlurmctldHost=old(9.9.9.9)\nClusterName=c\n{line.replace('_', '.')}\n")
    route(monkeypatch, **{"10_1_0_1": "10.1.0.77", "192_0_2_1": "141.2.3.4"})
    address, why = server_address.choose_host(ServerConfig())
    assert address == "10.1.0.77"
    assert "controller" in why


def test_a_controller_named_by_loopback_means_one_machine(slurm_conf: Path) -> None:
    slurm_conf.write_text("SlurmctldHost=localhost(127.0.0.1)\n")
    assert server_address.choose_host(ServerConfig())[0] == LOOPBACK


def test_on_the_controller_s_own_host_the_default_route_counts(
    monkeypatch: pytest.MonkeyPatch, slurm_conf: Path
) -> None:
    slurm_conf.write_text("SlurmctldHost=login01\n")  # 127.0.1.1 here, as Debian has it: no way out
    route(monkeypatch, **{"192_0_2_1": "10.1.0.5"})
    assert server_address.choose_host(ServerConfig())[0] == "10.1.0.5"


def test_where_nothing_else_tells_the_address_of_the_last_start_stays(
    monkeypatch: pytest.MonkeyPatch, slurm_conf: Path
) -> None:
    route(monkeypatch, **{"192_0_2_1": "10.1.0.5"})
    kept = Kept(port=1, api_url="u", host=LOOPBACK)
    assert server_address.choose_host(ServerConfig(), kept) == (LOOPBACK, "as the last time")
    gone = Kept(port=1, api_url="u", host="192.0.2.77")
    assert server_address.choose_host(ServerConfig(), gone)[0] == "10.1.0.5"
    slurm_conf.write_text("SlurmctldHost=ctl(10.1.0.1)\n")  # a cluster now: nodes must reach it
    route(monkeypatch, **{"10_1_0_1": "10.1.0.5"})
    assert server_address.choose_host(ServerConfig(), kept)[0] == "10.1.0.5"


@pytest.mark.usefixtures("slurm_conf")
@pytest.mark.parametrize(
    ("squeue", "address"), [(None, LOOPBACK), ("/usr/bin/x", LOOPBACK), ("/opt/s/bin/x", "10.1.0.5")]
)
def test_without_a_configured_slurm_nobody_else_need_reach_it(
    monkeypatch: pytest.MonkeyPatch, squeue: str | None, address: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: squeue)
    route(monkeypatch, **{"192_0_2_1": "10.1.0.5"})
    assert server_address.choose_host(ServerConfig())[0] == address


def test_slurm_conf_is_found_beside_a_site_s_own_commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SLURM_CONF", raising=False)
    monkeypatch.setattr(server_address, "_CONFIGURATIONS", ())
    monkeypatch.setattr(server_address, "find_slurm", SlurmPlace)
    monkeypatch.setattr("shutil.which", lambda name: str(tmp_path / "bin" / name))
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "slurm.conf").write_text("SlurmctldHost=ctl(10.1.0.1)\n")
    route(monkeypatch, **{"10_1_0_1": "10.1.0.77"})
    assert server_address.choose_host(ServerConfig())[0] == "10.1.0.77"


def test_without_any_way_out_it_says_that_nodes_cannot_reach_it(
    monkeypatch: pytest.MonkeyPatch, slurm_conf: Path
) -> None:
    assert not slurm_conf.exists()
    route(monkeypatch)
    address, why = server_address.choose_host(ServerConfig())
    assert address == LOOPBACK
    assert "cannot reach" in why


def test_the_port_of_the_last_start_is_kept() -> None:
    first = server_address.choose_port(LOOPBACK, None, None)
    assert server_address.choose_port(LOOPBACK, None, None) == first
    assert server_address.choose_port(LOOPBACK, None, Kept(port=first + 1000)) == first + 1000


def test_a_port_taken_meanwhile_is_left(taken: int) -> None:
    port = server_address.choose_port(LOOPBACK, None, Kept(port=taken), patience=0.05)
    assert port != taken
    assert server_address.is_free(LOOPBACK, port)


def test_a_configured_port_that_is_taken_is_an_error(taken: int) -> None:
    with pytest.raises(ServerError, match=rf"Port {taken} .*taken.*server\.port"):
        server_address.choose_port(LOOPBACK, taken, None, patience=0.05)


def test_a_host_that_is_not_this_machine_is_an_error() -> None:
    with pytest.raises(ServerError, match=r"server\.host"):
        server_address.is_free("192.0.2.77", 12345)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("10.0.0.1", "http://10.0.0.1:99/api"),
        ("login01", "http://login01:99/api"),
        ("fd00::1", "http://[fd00::1]:99/api"),
    ],
)
def test_the_url(host: str, url: str) -> None:
    assert server_address.url_of(host, 99) == url


def test_every_interface_is_told_to_others_by_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    route(monkeypatch, **{"192_0_2_1": "10.1.0.5"})
    assert server_address.url_of("0.0.0.0", 99) == "http://10.1.0.5:99/api"  # noqa: S104 - not bound


def test_what_is_kept_survives_and_damage_is_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "address.json"
    assert server_address.read_kept(file) is None
    server_address.write_kept(file, Kept(port=1, api_url="u"))
    assert server_address.read_kept(file) == Kept(port=1, api_url="u")
    file.write_text("{")
    assert server_address.read_kept(file) is None
