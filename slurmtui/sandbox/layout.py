"""Where things are in the sandbox: its folder, the short name for it, its ports.

Paths of Unix sockets are limited to 107 bytes and SLURM's configuration does not like every character, so a state
folder with a long or odd path gets a short name: a link in a private folder under ``/tmp``, which ``down`` removes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from pathlib import Path

import msgspec

from slurmtui.errors import SandboxError
from slurmtui.paths import private_folder

NODES = ("n1", "n2", "n3", "n4", "n5", "n6", "gpu1", "gpu2")
PORT_COUNT = 3 + len(NODES)
_LONGEST_SOCKET = len("/spool/gpu1/gpu1_4294967295.4294967295")
_LONGEST_BASE = 107 - _LONGEST_SOCKET
_PLAIN = re.compile(r"[A-Za-z0-9_./+@-]+")
_SHORT_PARENT = Path("/tmp")  # noqa: S108 - a private folder is made in it


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that follows from the folder, the first port and the user.

    ``folder`` is where the files are; ``base`` is the name of that folder that the daemons are given.
    """

    folder: Path
    base: Path
    first_port: int
    user: str
    database_password: str

    @property
    def database_port(self) -> int:
        """Where MariaDB listens (loopback)."""
        return self.first_port

    @property
    def slurmdbd_port(self) -> int:
        """Where slurmdbd listens."""
        return self.first_port + 1

    @property
    def slurmctld_port(self) -> int:
        """Where slurmctld listens."""
        return self.first_port + 2

    @property
    def node_ports(self) -> dict[str, int]:
        """Where the slurmd of each node listens."""
        return {node: self.first_port + 3 + place for place, node in enumerate(NODES)}

    @property
    def slurm_conf(self) -> Path:
        """SLURM's configuration, by the name that the daemons and ``SLURM_CONF`` use."""
        return self.base / "slurm.conf"

    @property
    def munge_socket(self) -> Path:
        """Where munged is asked."""
        return self.base / "munge.sock"

    @property
    def database_socket(self) -> Path:
        """Where MariaDB is asked by the sandbox itself."""
        return self.base / "mysql.sock"

    @property
    def logs(self) -> Path:
        """The folder of the daemons' logs."""
        return self.folder / "logs"

    @property
    def record(self) -> Path:
        """The file that says that the sandbox is up."""
        return self.folder / "sandbox.json"


def jobs_to_cancel(folder: Path) -> Path:
    """There when ``down`` found slurmctld dead: the next ``up`` cancels the jobs that it could not."""
    return folder / "cancel-jobs"


def base_of(folder: Path) -> Path:
    """The name the daemons are given for ``folder``: itself, or the short name of a long or odd path."""
    if len(os.fsencode(folder)) <= _LONGEST_BASE and _PLAIN.fullmatch(str(folder)):
        return folder
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:10]
    return _SHORT_PARENT / f"slurmtui-{os.getuid()}-{digest}" / "sandbox"


def make_base(folder: Path) -> Path:
    """Make the short name of ``folder`` if it needs one; return the name to use.

    Raises:
        SandboxError: somebody else has that name, or it cannot be made.
    """
    base = base_of(folder)
    if base == folder:
        return base
    holder = base.parent
    try:
        with contextlib.suppress(FileExistsError):
            holder.mkdir(mode=0o700)
        facts = holder.lstat()
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o077:
            message = f"{holder} is not a folder of yours alone. Remove it, or set SLURMTUI_STATE to a shorter path."
            raise SandboxError(message)
        if not base.is_symlink() or base.readlink() != folder:
            base.unlink(missing_ok=True)
            base.symlink_to(folder)
    except OSError as error:
        message = (
            f"{folder} is too long or too odd a path for SLURM, and a short name for it could not be made: "
            f"{error.strerror} ({base}). Set SLURMTUI_STATE to a shorter path."
        )
        raise SandboxError(message) from error
    return base


def remove_base(folder: Path) -> None:
    """Remove the short name of ``folder``, if it had one."""
    base = base_of(folder)
    if base == folder or not base.is_symlink():
        return
    with contextlib.suppress(OSError):
        base.unlink()
        base.parent.rmdir()


def make_folders(layout: Layout) -> None:
    """Make every folder that the daemons expect.

    Raises:
        SandboxError: no room or no permission.
    """
    try:
        for part in (layout.logs, layout.folder / "state", layout.folder / "scratch"):
            private_folder(part)
        for node in NODES:
            private_folder(layout.folder / "spool" / node)
    except OSError as error:
        message = f"the sandbox's folder could not be made: {error.strerror} ({error.filename})"
        raise SandboxError(message) from error
