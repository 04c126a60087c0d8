"""Which SLURM this process talks to: the one of this machine, else a sandbox that is up."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec

from slurmtui import paths

_USUAL_PLACES = (
    "/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/usr/local/etc/slurm.conf", "/run/slurm/conf/slurm.conf",
)  # fmt: skip
_SAME_START = 2.0  # seconds; how exactly a process' start time is known


class SlurmPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where SLURM is. ``environment`` goes to every command; ``label`` is a word for the header ("sandbox" or "")."""

    label: str = ""
    environment: dict[str, str] = msgspec.field(default_factory=dict)
    sandbox: bool = False


def find_slurm() -> SlurmPlace:
    """The SLURM that is configured here (``SLURM_CONF``, the usual files), else the sandbox if it is up."""
    named = os.environ.get("SLURM_CONF")
    record = _sandbox_record()
    sandbox_file = record.get("slurm_conf")
    if named:
        ours = isinstance(sandbox_file, str) and Path(named) == Path(sandbox_file)
        return SlurmPlace(label="sandbox" if ours else "", environment={"SLURM_CONF": named}, sandbox=ours)
    if any(Path(place).exists() for place in _USUAL_PLACES):
        return SlurmPlace()
    if isinstance(sandbox_file, str) and _alive(record.get("slurmctld_pid"), record.get("slurmctld_pid_started")):
        return SlurmPlace(label="sandbox", environment={"SLURM_CONF": sandbox_file}, sandbox=True)
    return SlurmPlace()


def _sandbox_record() -> dict[str, Any]:
    """What the sandbox wrote about itself; empty when there is none or it cannot be read."""
    try:
        record = json.loads((paths.sandbox_folder() / "sandbox.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _alive(pid: object, started: object) -> bool:
    """Whether that very process lives: a pid alone may be another process by now."""
    if not isinstance(pid, int) or not isinstance(started, (int, float)):
        return False
    import psutil  # noqa: PLC0415 - only where a sandbox was found

    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - started) < _SAME_START and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError, OverflowError):  # gone, or a number that is no pid
        return False
