"""``make test-slurm-versions``: the live tests that are about SLURM, against four releases of it, each a real one.

This machine's own SLURM is tested as it is; the others in chroots, for which this runs as root. One line a version is
printed, and everything that was said where something failed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import SandboxError
from slurmtui.sandbox import packages
from tests.versions.mirrors import Mirror, NoMirror, find_mirror
from tests.versions.processes import NEEDED, private, run
from tests.versions.suites import MACHINE, SUITES, Suite, is_this_machine, slurm_version
from tests.versions.trees import NoTree, alone, cache_folder, provide

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = Path(__file__).parents[2]
_SUMMARY = re.compile(r"\d (passed|failed|errors?|deselected|skipped)\b.* in [\d.]+s")
_AT_ONCE = 2
_MINUTES = 15.0
NEEDS_ROOT = "test-slurm-versions makes chroots with other releases of SLURM, so it has to run as root (sudo make …)."


class Outcome(msgspec.Struct, frozen=True):
    """What became of one release: its SLURM, pytest's last line, how long it took, and its whole words if it failed."""

    suite: Suite
    good: bool
    line: str
    version: str = ""
    words: str = ""


class Tester:
    """Tests the releases, a few at a time."""

    def __init__(self, work: Path, mirror: Mirror | None, options: argparse.Namespace) -> None:
        self._work, self._mirror, self._options = work, mirror, options
        self._fetching, self._testing = asyncio.Semaphore(_AT_ONCE), asyncio.Semaphore(_AT_ONCE)

    async def one(self, suite: Suite) -> Outcome:
        """Test one release, to its end whatever happens."""
        started = time.monotonic()
        try:
            root = await self._root_of(suite)
        except NoTree as error:
            return Outcome(suite, good=False, line="not tested", words=str(error))
        version = await asyncio.to_thread(slurm_version, root)
        async with self._testing:
            waited = time.monotonic() - started
            code, words = await self._test(suite, root)
        took = time.monotonic() - started
        told = [line.strip("= ") for line in words.splitlines() if _SUMMARY.search(line)]
        ended = "its time was up" if code is None else told[-1] if told else "pytest told nothing"
        line = f"{ended}; ready to begin after {waited:.0f} s, done after {took:.0f} s"
        return Outcome(suite, code == 0, line, version, "" if code == 0 else words)

    async def _root_of(self, suite: Suite) -> Path:
        if is_this_machine(suite):
            return MACHINE
        assert self._mirror is not None
        async with self._fetching:
            return await provide(suite, self._mirror, self._work, say, fresh=self._options.fresh)

    async def _test(self, suite: Suite, root: Path) -> tuple[int | None, str]:
        work, log = self._work / suite.name, self._work / f"pytest-{suite.name}.log"
        work.mkdir()
        guard = (sys.executable, str(_ROOT / ".ci/guard.py"), "--minutes", str(_MINUTES))
        pytest = (
            sys.executable, "-m", "pytest", "-m", "versions", "-p", "no:cacheprovider", "-p", "tests.versions.plugin",
            f"--basetemp={work}/tests",
            "tests/live", *self._options.pytest,
        )  # fmt: skip
        inside = (sys.executable, "-m", "tests.versions.inside", str(root), str(work), "--")
        argv = private((*(inside if root != MACHINE else ()), *guard, *pytest))
        code = await run(argv, log, _MINUTES * 60 + 60, dict(os.environ))
        return code, log.read_text(errors="replace")


def say(sentence: str) -> None:
    """Tell whoever waits."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


async def test_all(suites: Sequence[Suite], work: Path, mirror: Mirror | None, options: argparse.Namespace) -> int:
    """Test all of them; the exit code."""
    tester, failed = Tester(work, mirror, options), 0
    tasks = [asyncio.create_task(tester.one(suite)) for suite in suites]
    try:
        for next_one in asyncio.as_completed(tasks):
            outcome = await next_one
            failed += not outcome.good
            if outcome.words:
                say(f"--- {outcome.suite.name}\n{outcome.words.rstrip()}\n---")
            moved = (
                ""
                if not outcome.version or outcome.version.startswith(outcome.suite.slurm)
                else f" (it was {outcome.suite.slurm})"
            )
            mark = "ok" if outcome.good else "FAILED"
            say(f"{mark:6} {outcome.suite.name:8} SLURM {outcome.version or '?'}{moved}: {outcome.line}")
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return 1 if failed else 0


def main() -> int:
    """Read the command line, see that everything is there, test."""
    parser = argparse.ArgumentParser(prog="make test-slurm-versions", description=__doc__)
    parser.add_argument("--only", action="append", choices=[suite.name for suite in SUITES], default=[])
    parser.add_argument("--fresh", action="store_true", help="make the chroots anew")
    parser.add_argument("pytest", nargs="*", help="more for pytest, after --")
    options = parser.parse_args()
    if os.geteuid():
        say(f"slurmtui: {NEEDS_ROOT}")
        return 1
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # what was begun is ended first
        signal.signal(number, signal.default_int_handler)
    suites = [suite for suite in SUITES if not options.only or suite.name in options.only]
    work = Path(tempfile.mkdtemp(prefix="versions-", dir="/tmp"))
    try:
        packages.install(packages.missing_packages(NEEDED))
        mirror = None if all(map(is_this_machine, suites)) else find_mirror()
        with alone(cache_folder()):
            return asyncio.run(test_all(suites, work, mirror, options))
    except (SandboxError, NoMirror, NoTree) as error:
        say(f"slurmtui: {error}")
    except KeyboardInterrupt:
        say("slurmtui: ended; nothing is left of it")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
