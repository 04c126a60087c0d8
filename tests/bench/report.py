"""What the measurements say, as tables for people and as JSON: docs/performance.md and docs/performance.json."""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.turm import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Found = Mapping[str, Any]

DOCS = Path(__file__).parents[2] / "docs"
LARGEST = "100,000 array tasks"
LABELS = {300: "300 jobs", 10_000: "10,000 jobs", 100_000: LARGEST}

BUDGETS: dict[str, tuple[str, dict[int, float]]] = {
    "first_job_s": ("first job on screen, s (best of three starts)", {300: 0.5, 10_000: 0.6, 100_000: 2}),
    "first_job_cpu_s": ("its own CPU until then, s", {}),
    "key_ms": ("a key repaints, ms (median)", {300: 20}),
    "key_p99_ms": ("a key repaints, ms (p99)", {10_000: 30, 100_000: 50}),
    "poll_key_p99_ms": ("the same while a poll arrives, ms (p99)", {10_000: 30, 100_000: 50}),
    "key_cpu_ms": ("CPU a key, with what the polls cost meanwhile, ms", {}),
    "arrange_ms": ("a key that sorts or filters, until the last byte, ms", {10_000: 50, 100_000: 250}),
    "rest_cpu": ("CPU at rest, %", {300: 1, 10_000: 1.5, 100_000: 5}),
    "rest_cpu_with_squeue": ("the same with the squeue it runs, %", {}),
    "memory_mb": ("memory at rest, MB", {300: 90, 10_000: 90, 100_000: 200}),
    "peak_mb": ("memory at most, MB", {300: 90, 10_000: 90, 100_000: 200}),
    "tree_peak_mb": ("the same with the squeue it runs, MB", {}),
    "rest_bytes_s": ("bytes to the terminal at rest, a second", dict.fromkeys(LABELS, 100.0)),
    "commands_minute": ("SLURM commands a minute at rest", dict.fromkeys(LABELS, 8.0)),
    "unfocused_commands_minute": ("the same without the focus", {10_000: 2, 100_000: 2}),
}
"""What is measured, in words, and what it may be at each size."""

CONTROLLER = {
    "polls_minute": "squeue, a minute",
    "rpcs_minute": "RPCs that ask for something, a minute (sdiag)",
    "slurmctld_cpu": "CPU of slurmctld for them, %",
}
GROWTH = {
    "squeue_cpu_s": "CPU of squeue, s a poll",
    "slurmctld_cpu_s": "CPU of slurmctld, s a poll",
    "answer_mb": "squeue's answer, MB",
    "cpu_a_poll_s": "CPU of the console, s a poll",
    "memory_mb": "memory of the console at rest, MB",
    "peak_mb": "memory of the console at most, MB",
    "rest_bytes_s": "bytes to the terminal, a second",
    "polls_minute": "squeue, a minute",
}


def missed(results: Mapping[int, Found]) -> list[str]:
    """What took more than it may."""
    return [
        f"{words} with {LABELS[size]}: {results[size]['console'][key]} (at most {budgets[size]:g})"
        for key, (words, budgets) in BUDGETS.items()
        for size in LABELS
        if size in results and size in budgets and (results[size]["console"].get(key) or 0) > budgets[size]
    ]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(("", *heads)).lstrip() + " |", "|---|" + "--:|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _said(value: Any) -> str:
    return "–" if value is None or value != value else f"{value:,}"  # noqa: PLR0124, RUF001 - NaN; an en dash is meant


def _ratio(ours: Any, theirs: Any) -> str:
    return f"{ours / theirs:.2g}" if ours is not None and theirs else "–"  # noqa: RUF001 - an en dash is meant


def budget_table(size: int, found: Found) -> str:
    """Each figure at one size: what it may be, what the console needs, what turm needs, and the ratio."""
    rows = []
    for key, (words, budgets) in BUDGETS.items():
        ours, theirs = found["console"].get(key), (found["turm"] or {}).get(key)
        if ours is not None:
            budget = f"≤ {budgets[size]:g}" if size in budgets else ""
            rows.append([words, budget, _said(ours), _said(theirs), _ratio(ours, theirs)])
    return f"**{LABELS[size]}**\n\n{_table(['budget', 'console', 'turm', 'ratio'], rows)}"


def controller_table(results: Mapping[int, Found]) -> str:
    """The controller's side, of the console and of turm."""
    heads = [head for size in results for head in (f"{LABELS[size]}: console", "turm", "ratio")]
    rows = []
    for key, words in CONTROLLER.items():
        row = [words]
        for found in results.values():
            ours, theirs = found["console"].get(key), (found["turm"] or {}).get(key)
            row += [_said(ours), _said(theirs), _ratio(ours, theirs)]
        rows.append(row)
    return _table(heads, rows)


def growth_table(growth: Mapping[int, Found]) -> str:
    """How the cost grows with the queue."""
    rows = [[words, *(_said(found.get(key)) for found in growth.values())] for key, words in GROWTH.items()]
    return _table([f"{size:,} jobs" for size in growth], rows)


def write(results: Mapping[int, Found], growth: Mapping[int, Found], why_no_turm: str) -> None:
    """Write the figures for machines, and put the tables between their marks in the page."""
    processors = os.cpu_count()
    made = {"made": time.strftime("%Y-%m-%d"), "python": platform.python_version(), "processors": processors}
    everything = {**made, "turm": why_no_turm or VERSION, "sizes": results, "growth": growth}
    (DOCS / "performance.json").write_text(json.dumps(everything, indent=1) + "\n")
    peer = f"turm could not be had: {why_no_turm}" if why_no_turm else f"turm {VERSION}, as it comes"
    where = f"Python {made['python']}, {processors} processors, 160 by 48 cells"
    told = f"Made {made['made']} by `make bench`: {where}; {peer}."
    for name, table in (
        ("console", "\n\n".join((told, *(budget_table(size, found) for size, found in results.items())))),
        ("controller", controller_table(results)),
        ("growth", growth_table(growth)),
    ):
        print(f"\n{table}", flush=True)
        _put(name, table)


def _put(name: str, text: str) -> None:
    page = DOCS / "performance.md"
    before, _, rest = page.read_text().partition(f"<!-- {name} -->")
    _, _, after = rest.partition(f"<!-- /{name} -->")
    page.write_text(f"{before}<!-- {name} -->\n{text}\n<!-- /{name} -->{after}")
