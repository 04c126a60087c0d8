"""Where slurmtui keeps its files: one place that knows the folders.

``SLURMTUI_STATE`` moves the whole state folder, ``SLURMTUI_CONFIG`` names the configuration file.
Every folder made here is the user's alone (0700).
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def config_file() -> Path:
    """The configuration file that is read when ``--config`` does not name another."""
    named = os.environ.get("SLURMTUI_CONFIG")
    return typed_path(named) if named else Path(platformdirs.user_config_dir("slurmtui")) / "config.yaml"


def state_folder() -> Path:
    """The folder of everything that outlives a console: runs, server, sandbox, logs."""
    named = os.environ.get("SLURMTUI_STATE")
    return typed_path(named) if named else Path(platformdirs.user_state_dir("slurmtui"))


def runs_folder() -> Path:
    """One folder a flow run, named by the run's id."""
    return state_folder() / "runs"


def clusters_folder() -> Path:
    """One folder a shared Dask cluster, named by the cluster's id."""
    return state_folder() / "clusters"


def server_folder() -> Path:
    """The private Prefect server: record, password, log, database."""
    return state_folder() / "server"


def sandbox_folder() -> Path:
    """The sandbox's daemons, their data and their logs."""
    return state_folder() / "sandbox"


def log_file() -> Path:
    """The console's own log."""
    return state_folder() / "log" / "slurmtui.log"


def private_folder(folder: Path) -> Path:
    """Make ``folder`` (0700) and those of its parents that are missing; return it.

    Raises:
        OSError: it cannot be made.
    """
    missing = [folder, *folder.parents]
    for part in reversed([path for path in missing if not path.exists()]):
        part.mkdir(mode=0o700, exist_ok=True)
    return folder


def typed_path(text: str) -> Path:
    """A path as a person types it, ``~`` included; whatever it is, this raises nothing."""
    return Path(os.path.expanduser(text.replace("\0", "\ufffd"))).absolute()  # noqa: PTH111 - pathlib raises


def is_readable_file(path: Path) -> bool:
    """Whether there is such a file, as far as this user can see."""
    return os.path.isfile(path)  # noqa: PTH113 - pathlib's raises when it may not look
