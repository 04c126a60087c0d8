"""The chroots: a release of Debian with its SLURM each, made by debootstrap and kept in the user's cache folder."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from tests.versions.processes import private, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.versions.mirrors import Mirror
    from tests.versions.suites import Suite

PACKAGES = "slurmctld,slurmd,slurm-client,slurmdbd,munge"
_MOVING = frozenset({"sid"})
_DAYS = 7
_SECONDS = 900.0
_KEPT = "slurmtui-tree"
"""A file in a tree that is whole; its time is when the tree was made."""


class NoTree(Exception):
    """A chroot could not be made; tells what debootstrap said."""


def cache_folder() -> Path:
    """Where the chroots are kept: never in the checkout."""
    return Path(platformdirs.user_cache_dir("slurmtui")) / "slurm-versions"


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Only one run at a time uses the chroots of a cache folder.

    Raises:
        NoTree: another one does.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NoTree(f"another run uses {folder}") from None
        yield


async def provide(suite: Suite, mirror: Mirror, logs: Path, say: Callable[[str], None], *, fresh: bool = False) -> Path:
    """The chroot of a release: the kept one, else a new one. An old one of a release that moves on is made anew.

    Raises:
        NoTree: it could not be made.
    """
    tree = cache_folder() / suite.name
    if not fresh and _is_whole(tree, _DAYS if suite.name in _MOVING else None):
        return tree
    started = time.monotonic()
    aside = tree.with_suffix(".new")
    await asyncio.to_thread(shutil.rmtree, aside, ignore_errors=True)
    try:
        await _bootstrap(suite, mirror, aside, logs)
    except NoTree as error:
        if fresh or not _is_whole(tree, None):
            raise
        say(f"{suite.name}: {error}; the chroot that was made before is used")
        return tree
    await asyncio.to_thread(shutil.rmtree, tree, ignore_errors=True)
    aside.replace(tree)
    say(f"{suite.name}: chroot made in {time.monotonic() - started:.0f} s")
    return tree


def _is_whole(tree: Path, days: float | None) -> bool:
    try:
        made = (tree / _KEPT).stat().st_mtime
    except OSError:
        return False
    return days is None or time.time() - made < days * 86400


async def _bootstrap(suite: Suite, mirror: Mirror, folder: Path, logs: Path) -> None:
    # What is lost by a power cut is made anew: without waiting for the disk it takes half the time.
    settings = folder / "etc/dpkg/dpkg.cfg.d/no-sync"
    settings.parent.mkdir(parents=True)
    settings.write_text("force-unsafe-io\n")
    argv = ("debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite.name, str(folder), mirror.address)
    log = logs / f"debootstrap-{suite.name}.log"
    code = await run(private(argv), log, _SECONDS, {**os.environ, **mirror.environment, "LC_ALL": "C.UTF-8"})
    if code or not (folder / "usr/sbin/slurmctld").exists():
        said = log.read_text(errors="replace").splitlines()[-15:]
        raise NoTree(
            f"no chroot of {suite.name} could be made from {mirror.address}: "
            + ("debootstrap did not end in time" if code is None else f"debootstrap's exit code is {code}")
            + "".join(f"\n  | {line}" for line in said)
        )
    for archive in (folder / "var/cache/apt/archives").glob("*.deb"):
        archive.unlink()
    (folder / _KEPT).touch()
