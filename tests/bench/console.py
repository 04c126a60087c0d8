"""Measures the console, and turm beside it, on a real SLURM, and writes docs/performance.json and docs/performance.md.

``python -m tests.bench.console [--no-write] [SIZE…]`` (``make bench``): 300 jobs, 10,000 jobs, and 100,000 tasks of an
array, shown one by one. It takes about a quarter of an hour; nothing else should run beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from tests.bench import report
from tests.bench.controller import at_rest, cost_of_a_poll
from tests.bench.load import COMMAND, fill, fill_with_tasks, sandbox
from tests.bench.measuring import Peer, Times, measure
from tests.bench.turm import find_turm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.load import Place

CONSOLE = Peer((COMMAND, "--view", "jobs"), r"bench-")
GROWN = (100, 1000, 10_000)
TASKS = 100_000
SHORT = Times(settle=4, rest=32, unfocused=0, keys=25)
USUAL = SHORT._replace(unfocused=64)
BRIEF = Times(settle=4, rest=22, unfocused=0, keys=1)
OF_TASKS = Times(settle=8, rest=48, unfocused=64, keys=40)
OF_TURM = Times(settle=4, rest=16, unfocused=0, keys=10)


class Bench:
    """What has been measured so far."""

    def __init__(self, turm: str) -> None:
        self.turm = turm
        self.results: dict[int, dict[str, Any]] = {}
        self.growth: dict[int, dict[str, Any]] = {}

    def whole(self, place: Place, size: int) -> None:
        """Everything about one size of the queue."""
        base, poll = at_rest(place, 12), cost_of_a_poll(place)
        tasks = size == TASKS
        peer = CONSOLE._replace(opened="╵") if tasks else CONSOLE
        times = OF_TASKS if tasks else USUAL if size > 1000 else SHORT
        console = measure(place, peer, times, base, ours=True)
        turm = measure(place, Peer((self.turm,), r"bench-"), OF_TURM, base, ours=False) if self.turm else None
        self.results[size] = {"console": console, "turm": turm}
        self.growth[size] = {**poll, **{key: console[key] for key in report.GROWTH if key in console}}
        print(size, json.dumps(self.results[size]), flush=True)

    def brief(self, place: Place, size: int) -> None:
        """What the table of growth needs."""
        console = measure(place, CONSOLE, BRIEF, 0, ours=False)
        self.growth[size] = {**cost_of_a_poll(place), **{key: console[key] for key in report.GROWTH if key in console}}
        print(size, json.dumps(self.growth[size]), flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; the exit code says whether the budgets were kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-write", action="store_true", help="leave docs/ as it is")
    parser.add_argument("sizes", nargs="*", type=int, help="some of 100 300 1000 10000 100000")
    wanted = parser.parse_args(argv)
    sizes = sorted(wanted.sizes or {*report.LABELS, *GROWN})
    turm, why_not = find_turm()
    bench = Bench(turm)
    if any(size < TASKS for size in sizes):
        with sandbox() as place:
            for size in (size for size in sizes if size < TASKS):
                fill(place, size)
                (bench.whole if size in report.LABELS else bench.brief)(place, size)
    if TASKS in sizes:
        with sandbox() as place:
            fill_with_tasks(place, TASKS)
            bench.whole(place, TASKS)
    if not wanted.no_write:
        report.write(bench.results, bench.growth, why_not)
    missed = report.missed(bench.results)
    print("\n".join(("missed:", *missed)) if missed else "all budgets are kept")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
