"""Reads the folders of shared clusters, and says what can be proved about each keeper from this host."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from slurmtui import paths
from slurmtui.errors import RunFolderError
from slurmtui.models.run_record import DriverStatus
from slurmtui.models.shared_cluster import ClusterRecord, ClusterSpec, ClusterStatus, KeeperRecord
from slurmtui.sources.processes import SILENCE, find_process, is_here
from slurmtui.sources.record_files import check_owner, read_facts, read_submissions, signature
from slurmtui.sources.run_folder import SUBMISSIONS_FILE

if TYPE_CHECKING:
    from pathlib import Path

    import psutil

    from slurmtui.sources.record_files import Signature

CLUSTER_FILE = "cluster.json"
KEEPER_FILE = "keeper.json"
STATUS_FILE = "status.json"
DOWN_FILE = "down.json"
TLS_FOLDER = "tls"
KEEPER_LOG = "keeper.log"

_FILES = (CLUSTER_FILE, KEEPER_FILE, STATUS_FILE, SUBMISSIONS_FILE)

START_SECONDS = 90.0
"""So long a keeper may take from its start to its first record: imports from a busy network file system."""


def read_cluster(folder: Path) -> ClusterRecord | None:
    """The cluster in ``folder``; None when it was never finished, or is damaged.

    Raises:
        RunFolderError: the folder is a link, or not this user's.
    """
    check_owner(folder)
    problems: list[str] = []
    spec = read_facts(folder / CLUSTER_FILE, ClusterSpec, problems)
    if spec is None or spec.id != folder.name:
        return None
    keeper = read_facts(folder / KEEPER_FILE, KeeperRecord, problems)
    status = read_facts(folder / STATUS_FILE, ClusterStatus, problems)
    submissions = read_submissions(folder / SUBMISSIONS_FILE, problems)
    return ClusterRecord(
        spec=spec, folder=str(folder), keeper=keeper, status=status, submissions=submissions, sign=_sign(folder, spec)
    )


class ClusterFolders:
    """Reads the clusters of this state folder, and again only those in which a file has changed."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Signature, ClusterRecord]] = {}

    def read_all(self) -> dict[str, ClusterRecord]:
        """Every cluster by its id, those that have ended among them."""
        kept = {}
        for folder in _folders():
            signed = tuple(signature(folder / name) for name in _FILES)
            known = self._kept.get(folder.name)
            if known is None or known[0] != signed:
                record = _readable(folder)
                known = (signed, record) if record is not None else None
            if known is not None:
                kept[folder.name] = known
        self._kept = kept
        return {cluster: record for cluster, (_, record) in kept.items()}


def read_clusters() -> dict[str, ClusterRecord]:
    """Every cluster, read afresh."""
    return ClusterFolders().read_all()


def _folders() -> list[Path]:
    try:
        return sorted(path for path in paths.clusters_folder().iterdir() if path.is_dir())
    except OSError:
        return []


def _readable(folder: Path) -> ClusterRecord | None:
    try:
        return read_cluster(folder)
    except RunFolderError:  # another user's: nothing of ours
        return None


def keeper_status(record: ClusterRecord, now: float | None = None) -> DriverStatus:
    """What can be proved about the cluster's keeper; one on another host lives while it gives signs."""
    keeper, clock = record.keeper, time.time() if now is None else now
    if keeper is None:
        return DriverStatus.STARTING if clock - record.spec.created < START_SECONDS else DriverStatus.GONE
    if keeper.ended is not None:
        return DriverStatus.ENDED
    if is_here(keeper.host):
        alive = find_process(keeper.pid, keeper.pid_started) is not None
    else:
        alive = clock - record.sign < SILENCE
    if not alive:
        return DriverStatus.GONE
    return DriverStatus.ALIVE if keeper.address else DriverStatus.STARTING


def keeper_process(record: ClusterRecord) -> psutil.Process | None:
    """The living keeper, when it runs on this host."""
    keeper = record.keeper
    return find_process(keeper.pid, keeper.pid_started) if keeper is not None and is_here(keeper.host) else None


def _sign(folder: Path, spec: ClusterSpec) -> float:
    """When the keeper last wrote, by the file system's clock."""
    written = [signature(folder / name) for name in (KEEPER_FILE, STATUS_FILE)]
    return max([spec.created, *(one[0] / 1e9 for one in written if one is not None)])


def newest_of(name: str) -> tuple[ClusterRecord, DriverStatus] | None:
    """The newest cluster of that name, and what can be proved about its keeper; one that has not ended goes first."""
    found = [(record, keeper_status(record)) for record in read_clusters().values() if record.spec.name == name]
    return max(found, key=lambda one: (one[1] is not DriverStatus.ENDED, one[0].spec.created), default=None)


def usable(name: str) -> tuple[ClusterRecord | None, str]:
    """The cluster of that name that flows can connect to, else why there is none and what to do."""
    found = newest_of(name)
    next_step = f"`slurmtui cluster up {name}` starts one."
    if found is None:
        return None, f"There is no shared cluster {name!r}. {next_step}"
    record, status = found
    if status is DriverStatus.ALIVE:
        return record, ""
    if status is DriverStatus.STARTING:
        return None, f"The shared cluster {name!r} is still starting: wait for `slurmtui cluster up {name}` to end."
    gone = "its keeper is gone" if status is DriverStatus.GONE else "it has ended"
    why = f": {record.keeper.message}" if record.keeper is not None and record.keeper.message else ""
    return None, f"The shared cluster {name!r} is not up, {gone}{why}. {next_step}"
