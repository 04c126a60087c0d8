"""``make setup``: the virtual environment, slurmtui in it, and the packages of the system that the sandbox needs.

Run by the system's own Python before anything is installed: standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.errors import SandboxError
from slurmtui.sandbox import packages

if TYPE_CHECKING:
    from collections.abc import Sequence

_OLDEST = (3, 10)
_ROOT = Path(__file__).resolve().parents[2]
_ENVIRONMENT = _ROOT / ".venv"
_STAMP = _ENVIRONMENT / "slurmtui-setup.json"
_MINUTES = 30


def main(argv: Sequence[str] | None = None) -> int:
    """Install what is missing; return the exit code."""
    parser = argparse.ArgumentParser(prog="make setup", description="Install slurmtui and what its sandbox needs.")
    parser.add_argument("--dev", action="store_true", help="what the tests need as well")
    parser.add_argument("--no-packages", action="store_true", help="the Python side alone, without system packages")
    arguments = parser.parse_args(argv)
    programs = dict(packages.SANDBOX_PROGRAMS)
    if arguments.dev:
        programs.update(packages.TEST_PROGRAMS)
    if arguments.no_packages:
        programs = {}
    try:
        set_up(dev=arguments.dev, programs=programs)
    except SandboxError as error:
        sys.stderr.write(f"slurmtui: {error}\n")
        return 1
    return 0


def set_up(*, dev: bool, programs: dict[str, str]) -> None:
    """Bring everything that is not there yet.

    Raises:
        SandboxError: something is missing that this user cannot install; says what to do.
    """
    if sys.version_info < _OLDEST:
        version = ".".join(map(str, sys.version_info[:3]))
        message = f"Python 3.10 or newer is needed; {sys.executable} is {version}. Name another: make PYTHON=…"
        raise SandboxError(message)
    if not _environment_works():
        _make_environment(programs)
    _install_slurmtui(dev=dev)
    packages.install(packages.missing_packages(programs))
    still = packages.missing_programs(programs)
    if still:
        message = f"the packages are installed, but these programs are still not found: {', '.join(still)}"
        raise SandboxError(message)


def _environment_works() -> bool:
    python = _ENVIRONMENT / "bin" / "python"
    test = f"import sys, pip; sys.exit(sys.version_info < {_OLDEST})"
    return python.exists() and subprocess.run([python, "-c", test], capture_output=True, check=False).returncode == 0


def _make_environment(programs: dict[str, str]) -> None:
    """Make .venv. Debian ships Python without the part that does it: that is one package more."""
    if importlib.util.find_spec("ensurepip") is None:
        needed = f"python3.{sys.version_info.minor}-venv"
        packages.install([needed, *packages.missing_packages(programs)])
    _say(f"making the virtual environment {_ENVIRONMENT}")
    _run([sys.executable, "-m", "venv", "--clear", str(_ENVIRONMENT)])


def _install_slurmtui(*, dev: bool) -> None:
    """Install slurmtui into .venv, unless that was done from just these files."""
    wanted = _fingerprint()
    done = _read_stamp()
    if done.get("of") == wanted and (done.get("dev") or not dev):
        return
    _say("installing slurmtui" + (" with what its tests need" if dev else ""))
    constraints = str(_ROOT / "constraints.txt")
    # The build of slurmtui itself is held to the same versions; newer pip and older pip know it by different names.
    os.environ.update({"PIP_CONSTRAINT": constraints, "PIP_BUILD_CONSTRAINT": constraints})
    target = f"{_ROOT}[dev]" if dev else str(_ROOT)
    pip = [str(_ENVIRONMENT / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    _run([*pip, "install", "--quiet", "-c", constraints, "-e", target])
    _STAMP.write_text(json.dumps({"of": wanted, "dev": dev}), encoding="utf-8")


def _fingerprint() -> str:
    """What the installation depends on: the two files, the place, and the Python of .venv."""
    digest = hashlib.sha256(str(_ROOT).encode())
    for file in (_ROOT / "pyproject.toml", _ROOT / "constraints.txt", _ENVIRONMENT / "pyvenv.cfg"):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _read_stamp() -> dict[str, object]:
    try:
        found = json.loads(_STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _say(sentence: str) -> None:
    sys.stderr.write(f"slurmtui: {sentence}\n")
    sys.stderr.flush()


def _run(argv: Sequence[str]) -> None:
    try:
        done = subprocess.run(argv, cwd=_ROOT, stdin=subprocess.DEVNULL, timeout=_MINUTES * 60, check=False)
    except subprocess.TimeoutExpired:
        message = f"`{shlex.join(argv)}` did not end within {_MINUTES} minutes"
        raise SandboxError(message) from None
    if done.returncode:
        message = f"`{shlex.join(argv)}` failed (exit code {done.returncode}); its own words stand above"
        raise SandboxError(message)


if __name__ == "__main__":
    sys.exit(main())
