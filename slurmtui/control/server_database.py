"""Whether the private server's SQLite database is in a place that is good for it.

Prefect opens SQLite in WAL mode, which is not made for network file systems: it holds its index in memory shared by
processes of one host. One server on one host at a time works there (the record sees to that), if the file system has
locks; two would destroy the database.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from slurmtui.models.config import ServerConfig

_NETWORK = (
    "nfs", "lustre", "gpfs", "mmfs", "beegfs", "fhgfs", "cifs", "smb", "ceph", "afs", "panfs", "pvfs", "orangefs", "9p",
    "glusterfs", "fuse.gluster", "fuse.ceph", "fuse.sshfs", "weka", "quobyte", "moosefs",
)  # fmt: skip


def file_system(path: Path) -> str:
    """The type of the file system that holds ``path`` (``nfs4``), empty when it is not known."""
    real = path.resolve()
    best, kind = "", ""
    for mount in psutil.disk_partitions(all=True):
        point = Path(mount.mountpoint)
        # The last of equals counts: it is mounted over the others.
        if (point == real or point in real.parents) and len(mount.mountpoint) >= len(best):
            best, kind = mount.mountpoint, mount.fstype
    return kind


def is_network(kind: str) -> bool:
    """Whether a file system of this type is shared between hosts."""
    return kind.lower().startswith(_NETWORK)


def database_warning(config: ServerConfig, folder: Path) -> str:
    """What speaks against the database's place, one sentence; empty when nothing does."""
    if config.database_url:
        return ""
    kind = file_system(folder)
    if not is_network(kind):
        return ""
    return (
        f"The server's SQLite database is on a network file system ({kind}, {folder}), where it is slow and must be "
        "used from one host only. Better: a Postgres address as server.database_url in the configuration, or "
        "SLURMTUI_STATE on a local disk."
    )
