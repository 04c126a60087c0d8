"""The address and the port of the private server.

Compute nodes must reach it, so loopback will not do on a cluster. In this order: ``server.host`` of the configuration;
the address of ``server.interface``; loopback in the sandbox; the address from which this machine speaks to SLURM's
controller, which is in the network that the compute nodes are in as well. Where none of these tells (the controller is
on this machine, say) the address of the last start is kept, whatever shell it is started from: running drivers and jobs
know it. At the first start it is loopback if SLURM's controller is named by a loopback address or there is no SLURM,
else the address of the default route.

The port is a user's and a state folder's own (made from both, below the kernel's range for outgoing connections), and
is kept as well.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import re
import shutil
import socket
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.atomic import write_private
from slurmtui.errors import ServerError
from slurmtui.sources.slurm.place import find_slurm

if TYPE_CHECKING:
    from slurmtui.models.config import ServerConfig

LOOPBACK = "127.0.0.1"
_FIRST_PORT, _PORTS = 12_000, 8_000  # below those of the sandbox
_TRIED_PORTS = 50
_CONTROLLER = re.compile(
    rb"^\s*(?:SlurmctldHost|ControlAddr|ControlMachine)\s*=\s*([^\s(#,]+)(?:\(([^)\s]+)\))?",
    re.IGNORECASE | re.MULTILINE,
)
_CONFIGURATIONS = (
    "/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/usr/local/etc/slurm.conf", "/run/slurm/conf/slurm.conf",
)  # fmt: skip


class Kept(msgspec.Struct, frozen=True):
    """What is kept from start to start."""

    port: int
    api_url: str = ""
    host: str = ""


def choose_host(config: ServerConfig, kept: Kept | None = None) -> tuple[str, str]:
    """The address to listen on, and why that one, in words.

    Raises:
        ServerError: the interface named in the configuration is not there or has no address.
    """
    if config.host:
        return config.host, "server.host in the configuration"
    if config.interface:
        return _of_interface(config.interface), f"the address of {config.interface}"
    if find_slurm().sandbox:
        return LOOPBACK, "the sandbox is on this machine"
    controller = _controller()
    towards = _route_to(controller) if controller else None
    if towards:
        return towards, f"this machine speaks to SLURM's controller {controller} from it"
    if kept and kept.host and _is_here(kept.host):
        return kept.host, "as the last time"
    return _first_host(controller)


def _first_host(controller: str | None) -> tuple[str, str]:
    """The address where nothing else tells."""
    if controller and (controller == "localhost" or _is_loopback(controller)):
        return LOOPBACK, "SLURM's controller is reached by loopback"
    if controller is None and not _slurm_elsewhere():
        return LOOPBACK, "there is no slurm.conf here; if compute nodes must reach it, name an address as server.host"
    default = _route_to("192.0.2.1")  # an address for documentation: nothing is sent there
    if default:
        return default, "this machine's default route starts there"
    return LOOPBACK, "this machine has no other address: compute nodes cannot reach it"


def choose_port(host: str, configured: int | None, kept: Kept | None, patience: float = 2.0) -> int:
    """A port on which ``host`` can listen; that of the last start if it is free, or becomes so in a moment.

    Raises:
        ServerError: the configured one is taken, or none is free.
    """
    if configured:
        _wait_free(host, configured, patience)
        if not is_free(host, configured):
            raise ServerError(
                f"Port {configured} on {host} is taken by another program; choose another server.port, or leave it out."
            )
        return configured
    if kept and _wait_free(host, kept.port, patience):
        return kept.port
    own = os.getuid() * 7 + zlib.crc32(os.fsencode(paths.server_folder()))
    first = _FIRST_PORT + own % _PORTS
    for step in range(_TRIED_PORTS):
        port = _FIRST_PORT + (first - _FIRST_PORT + step) % _PORTS
        if (kept is None or port != kept.port) and is_free(host, port):
            return port
    raise ServerError(f"No free port was found on {host} from {first} on; name one as server.port.")


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now.

    Raises:
        ServerError: the address is not this machine's.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ServerError(f"{host} is no address (server.host): {error}.") from error
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(address)
            probe.listen(1)
        except PermissionError as error:
            raise ServerError(f"Port {port} may not be used by an ordinary user (server.port).") from error
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise ServerError(f"{host} is not an address of this machine (server.host).") from error
            return False
    return True


def url_of(host: str, port: int) -> str:
    """The API's address, as clients on this machine and on compute nodes use it."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared with, not bound to
        host = _route_to("192.0.2.1") or socket.gethostname()
    return f"http://[{host}]:{port}/api" if ":" in host else f"http://{host}:{port}/api"


def read_kept(file: Path) -> Kept | None:
    """Port and address of the last start."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Kept)
    except (OSError, msgspec.MsgspecError):
        return None  # it is only a preference


def write_kept(file: Path, kept: Kept) -> None:
    """Keep port and address for the next start."""
    write_private(file, msgspec.json.encode(kept))


def _wait_free(host: str, port: int, patience: float) -> bool:
    until = time.monotonic() + patience
    while not is_free(host, port):
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def _is_here(host: str) -> bool:
    """Whether ``host`` is an address of this machine."""
    try:
        return is_free(host, 0)
    except ServerError:
        return False


def _of_interface(name: str) -> str:
    import psutil  # noqa: PLC0415 - only where an interface is configured

    interfaces = psutil.net_if_addrs()
    if name not in interfaces:
        raise ServerError(f"There is no interface {name} here (server.interface). There are: {', '.join(interfaces)}.")
    for family in (socket.AF_INET, socket.AF_INET6):
        for address in interfaces[name]:
            if address.family == family and not address.address.startswith("fe80"):
                return address.address
    raise ServerError(f"The interface {name} has no address (server.interface).")


def _slurm_elsewhere() -> bool:
    """Whether SLURM's commands are of the site's own making: their slurm.conf may be anywhere.

    A distribution's commands in /usr/bin without /etc/slurm/slurm.conf are a SLURM that is not configured.
    """
    squeue = shutil.which("squeue")
    return squeue is not None and str(Path(squeue).resolve().parent) not in ("/usr/bin", "/bin")


def _configurations() -> list[str]:
    """Where slurm.conf may be: where it is named, else the usual places and beside the commands."""
    named = os.environ.get("SLURM_CONF")
    if named:
        return [named]
    squeue = shutil.which("squeue")
    beside = [str(Path(squeue).resolve().parents[1] / "etc" / "slurm.conf")] if squeue else []
    return [*_CONFIGURATIONS, *beside]


def _controller() -> str | None:
    """The address of SLURM's controller as slurm.conf names it."""
    for place in _configurations():
        with contextlib.suppress(OSError):
            match = _CONTROLLER.search(Path(place).read_bytes())
            if match:
                return (match[2] or match[1]).decode("utf-8", "replace")
    return None


def _route_to(host: str) -> str | None:
    """This machine's address on the way to ``host``; None without a way, or when the way does not leave the machine."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(address)  # UDP: chooses the route, sends nothing
            own = str(probe.getsockname()[0])
    except OSError:
        return None
    return None if _is_loopback(own) else own


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
