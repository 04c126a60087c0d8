"""Which programs are missing on this machine, and how Debian and Ubuntu install them.

Runs before the virtual environment exists as well: standard library only (so not through the one runner of commands,
and apt's own output goes to the terminal, where a person waits for it).
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SANDBOX_PROGRAMS = {
    "munged": "munge",
    "mariadbd": "mariadb-server",
    "mariadb-install-db": "mariadb-server",
    "mariadb": "mariadb-server",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "slurmdbd": "slurmdbd",
    "sbatch": "slurm-client",
    "squeue": "slurm-client",
    "sinfo": "slurm-client",
    "sacct": "slurm-client",
    "sacctmgr": "slurm-client",
    "scancel": "slurm-client",
    "scontrol": "slurm-client",
}
"""What the sandbox runs, and Debian's package of each."""

TEST_PROGRAMS = {"sshd": "openssh-server", "ssh": "openssh-client", "tmux": "tmux", "pg_ctlcluster": "postgresql"}
"""What the tests run besides."""

_PLUGINS = {
    "select_cons_tres.so": "slurm-wlm-basic-plugins",
    "accounting_storage_mysql.so": "slurm-wlm-mysql-plugin",
}
_PLUGIN_FOLDERS = ("/usr/lib/*/slurm*", "/usr/lib/slurm*", "/usr/lib64/slurm*")
_SERVICES = ("munge", "mariadb", "slurmctld", "slurmd", "slurmdbd", "ssh", "ssh.socket", "postgresql")
_EXTRA_PATH = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin")
_POLICY = Path("/usr/sbin/policy-rc.d")
_POLICY_MARK = "slurmtui: no service is started while its packages are installed"
_POLICY_TEXT = f"#!/bin/sh\n# {_POLICY_MARK}\nexit 101\n"
_INSTALL = (
    "apt-get", "install", "--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0",
)  # fmt: skip


def search_path() -> str:
    """PATH, with the folders of system programs that an ordinary user's PATH may lack."""
    given = [part for part in os.environ.get("PATH", "").split(os.pathsep) if part]
    return os.pathsep.join([*given, *(part for part in _EXTRA_PATH if part not in given)])


def find(program: str) -> str | None:
    """The full path of ``program``, None when it is not installed."""
    return shutil.which(program, path=search_path())


def missing_programs(programs: Mapping[str, str]) -> tuple[str, ...]:
    """Those of ``programs`` that are not installed."""
    return tuple(program for program in programs if find(program) is None)


def missing_packages(programs: Mapping[str, str]) -> tuple[str, ...]:
    """The packages that would bring what is missing of ``programs``, and SLURM's plugins with them."""
    wanted = {programs[program]: None for program in missing_programs(programs)}
    if "slurmctld" in programs:
        # A SLURM that did not come from a package keeps its plugins where it likes; its daemons will say so themselves.
        from_package = not find("slurmctld") or any(Path("/var/lib/dpkg/info").glob("slurmctld*.list"))
        if from_package:
            wanted.update({package: None for plugin, package in _PLUGINS.items() if not _plugin_is_here(plugin)})
    return tuple(wanted)


def _plugin_is_here(plugin: str) -> bool:
    root = Path("/")
    return any(any(root.glob(f"{folder[1:]}/{plugin}")) for folder in _PLUGIN_FOLDERS)


def require_programs() -> None:
    """Raise unless everything that the sandbox runs is installed.

    Raises:
        SandboxError: names what is missing, its packages, and the commands that install them.
    """
    packages = missing_packages(SANDBOX_PROGRAMS)
    if not packages:
        return
    programs = missing_programs(SANDBOX_PROGRAMS)
    what = ", ".join(programs) if programs else "plugins of SLURM"
    message = (
        f"The sandbox needs programs that are not installed here: {what}.\n"
        f"`make setup` installs them; or as root:\n  {command_text(packages)}"
    )
    raise SandboxError(message)


def command_text(packages: Sequence[str]) -> str:
    """What a person with root's rights types to install ``packages``."""
    return f"apt-get update && apt-get install --yes --no-install-recommends {shlex.join(packages)}"


def install(packages: Sequence[str]) -> None:
    """Install ``packages`` with apt, as root or by sudo; no service runs afterwards that did not run before.

    Raises:
        SandboxError: there is no apt, no way to root's rights, or apt failed.
    """
    if not packages:
        return
    by_hand = f"Ask somebody with root's rights for\n  {command_text(packages)}\nand then run this again."
    if shutil.which("apt-get", path=search_path()) is None:
        message = (
            f"These are missing: {', '.join(packages)} (the names of Debian's packages), "
            "and this machine has no apt-get. Install them in this system's own way and run this again."
        )
        raise SandboxError(message)
    prefix = _root_prefix()
    if prefix is None:
        message = f"Packages are missing: {' '.join(packages)}. You are not root, and sudo is not there or refuses.\n"
        raise SandboxError(message + by_hand)
    before = {service: _service_state(service) for service in _SERVICES}
    try:
        with _no_services_started(prefix):
            _run([*prefix, "apt-get", "update", "-q"])
            _run([*prefix, "env", "DEBIAN_FRONTEND=noninteractive", *_INSTALL, *packages])
    finally:
        _quieten(prefix, before)
    # apt answers 0 for a package that exists; whether the programs are there now is what matters to the caller.


def _root_prefix() -> list[str] | None:
    """What to put before a command so that it runs as root; None when there is no way."""
    if os.geteuid() == 0:
        return []
    sudo = find("sudo")
    if sudo is None:
        return None
    quiet = [sudo, "-n"]
    if subprocess.run([*quiet, "true"], capture_output=True, timeout=30, check=False).returncode == 0:
        return quiet
    # sudo asks for the password on the terminal; where there is none, it must not wait for ever.
    if sys.stdin.isatty() and subprocess.run([sudo, "-v"], timeout=300, check=False).returncode == 0:
        return [sudo]
    return None


def _run(argv: Sequence[str]) -> None:
    sys.stderr.write(f"+ {shlex.join(argv)}\n")
    sys.stderr.flush()
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, timeout=1800, check=False)
    except subprocess.TimeoutExpired:
        message = f"`{shlex.join(argv)}` did not end within half an hour"
        raise SandboxError(message) from None
    if done.returncode:
        message = f"`{shlex.join(argv)}` failed (exit code {done.returncode}); its own words stand above"
        raise SandboxError(message)


@contextlib.contextmanager
def _no_services_started(prefix: Sequence[str]) -> Iterator[None]:
    """Forbid Debian's package scripts to start services: by a policy-rc.d, unless the machine has one already."""
    left_by_us = _POLICY.exists() and _POLICY_MARK in _POLICY.read_text(encoding="utf-8", errors="replace")
    if _POLICY.exists() and not left_by_us:
        yield
        return
    with tempfile.NamedTemporaryFile("w", prefix="slurmtui-policy-") as draft:
        draft.write(_POLICY_TEXT)
        draft.flush()
        _run([*prefix, "install", "-m", "755", draft.name, str(_POLICY)])
    try:
        yield
    finally:
        _run([*prefix, "rm", "-f", str(_POLICY)])


def _service_state(service: str) -> tuple[bool, bool]:
    """Whether a service runs, and whether it would be started at boot."""
    systemctl = find("systemctl")
    if systemctl is None:
        return False, False

    def says_yes(question: str) -> bool:
        argv = [systemctl, question, "--quiet", service]
        return subprocess.run(argv, capture_output=True, timeout=30, check=False).returncode == 0

    return says_yes("is-active"), says_yes("is-enabled")


def _quieten(prefix: Sequence[str], before: Mapping[str, tuple[bool, bool]]) -> None:
    """Stop and disable the services that the packages brought."""
    systemctl = find("systemctl")
    if systemctl is None:
        return
    for service, (ran, enabled) in before.items():
        runs_now, enabled_now = _service_state(service)
        if runs_now and not ran:
            _run([*prefix, systemctl, "stop", service])
        if enabled_now and not enabled:
            _run([*prefix, systemctl, "disable", "--quiet", service])
