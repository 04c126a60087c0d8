"""Where this machine's apt gets Debian's packages: the chroots are made from the same mirror, by the same proxy."""

from __future__ import annotations

import os
import subprocess

import msgspec

NAMED = "SLURMTUI_DEBIAN_MIRROR"


class NoMirror(Exception):
    """apt on this machine uses no mirror of Debian."""


class Mirror(msgspec.Struct, frozen=True):
    """Its address, and the variables with which what downloads from it is started."""

    address: str
    environment: dict[str, str]


def find_mirror() -> Mirror:
    """The mirror apt uses (or the one that a person has named).

    Raises:
        NoMirror: there is none, or no apt.
    """
    address = os.environ.get(NAMED) or _address_in(_said("apt-get", "indextargets", "Created-By: Packages"))
    if not address:
        message = f"apt on this machine uses no mirror of Debian; name one: {NAMED}=http://… make test-slurm-versions"
        raise NoMirror(message)
    proxies = {
        f"{scheme}_proxy": proxy
        for scheme in ("http", "https")
        if (proxy := _proxy_in(_said("apt-config", "dump", f"Acquire::{scheme}::Proxy")))
    }
    return Mirror(address, proxies)


def _address_in(targets: str) -> str:
    """The first archive of Debian's own among apt's targets that has whole releases (no updates, no fixes alone)."""
    found = []
    for stanza in targets.split("\n\n"):
        told = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line)
        address, codename = told.get("Repo-URI", ""), told.get("Codename", told.get("Release", ""))
        is_debian = told.get("Origin", "Debian") == "Debian" and told.get("Label", "Debian") == "Debian"
        if is_debian and told.get("Component") == "main" and "-" not in codename and "debian" in address:
            found.append(address)
    return found[0] if found else ""


def _proxy_in(dump: str) -> str:
    """The proxy in a line such as ``Acquire::http::Proxy "http://…";``."""
    proxy = dump.partition('"')[2].partition('"')[0]
    return "" if proxy == "DIRECT" else proxy


def _said(*argv: str) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, check=False, timeout=60)
    except OSError:
        return ""
    return done.stdout.decode(errors="replace")
