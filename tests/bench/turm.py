"""Turm, the peer that is measured in the same run: fetched once, into a folder outside the project."""

from __future__ import annotations

import subprocess
import sys

import platformdirs

FOLDER = platformdirs.user_cache_path("slurmtui-bench") / "turm"
VERSION = "0.17.0"


def find_turm() -> tuple[str, str]:
    """The path of its program, or why there is none."""
    program = FOLDER / "bin" / "turm"
    if not program.exists():
        argv = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--prefix", str(FOLDER), f"turm=={VERSION}")
        try:
            done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as error:
            return "", str(error)
        if done.returncode or not program.exists():
            return "", (done.stderr.strip().splitlines() or ["pip installed no program"])[-1]
    return str(program), ""
