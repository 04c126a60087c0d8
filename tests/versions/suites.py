"""The SLURMs that are tested against: four releases of Debian, each with another one."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import msgspec

MACHINE = Path("/")


class Suite(msgspec.Struct, frozen=True):
    """A release of Debian and the SLURM that it had when this was written (sid moves on: whatever it has is tested)."""

    name: str
    slurm: str


SUITES = (Suite("bookworm", "22.05"), Suite("bullseye", "20.11"), Suite("trixie", "24.11"), Suite("sid", "26.05"))
"""What this machine may be itself comes first: it needs no download, and is tested while the others are fetched."""


def is_this_machine(suite: Suite) -> bool:
    """Whether this machine is of that release and has its SLURM installed."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return False
    return release.get("VERSION_CODENAME") == suite.name and shutil.which("slurmctld", path="/usr/sbin") is not None


def slurm_version(root: Path) -> str:
    """The version of the SLURM that is installed under ``root``, as slurmctld tells it."""
    inside = () if root == MACHINE else ("chroot", str(root))
    done = subprocess.run((*inside, "/usr/sbin/slurmctld", "-V"), capture_output=True, check=False, timeout=30)
    return done.stdout.decode(errors="replace").strip().removeprefix("slurm-wlm ").removeprefix("slurm ")
