"""The figures of logs: a line of JSON each, a table for people, a file for machines."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE, FACTS = ROOT / "docs" / "performance.md", ROOT / "docs" / "performance-logs.json"
BEGIN, END = "<!-- logs -->", "<!-- /logs -->"


class Row(NamedTuple):
    """A row of the table: which measurement and figure, its words, and what it may be at most."""

    name: str
    figure: str
    words: str
    most: float | None = None


ROWS = (
    Row("10 GB opened", "milliseconds", "a file of 10 GB: its end on screen after the key, ms (best of five)", 50),
    Row("10 GB opened", "worked_ms", "… for which the processor worked, ms"),
    Row("10 GB opened", "more_mb", "… more memory, MB", 5),
    Row("590 MB followed", "memory_mb", "log of 590 MB of a running job, followed: memory, MB", 90),
    Row("590 MB followed", "cpu", "… CPU, %", 3),
    Row("590 MB followed", "turm_memory_mb", "… the same by turm: memory, MB"),
    Row("590 MB followed", "turm_cpu", "… by turm: CPU, %"),
    Row("590 MB followed", "memory_ratio", "… slurmtui's memory as a part of turm's"),
    Row("590 MB followed", "cpu_ratio", "… slurmtui's CPU as a part of turm's"),
    Row("5,000 lines a second", "cpu", "5,000 lines a second followed: CPU, %", 20),
    Row("5,000 lines a second", "slowest_key_ms", "… the slowest of 20 keys meanwhile, ms", 50),
    Row("5,000 lines a second", "worked_ms", "… for which the processor worked, ms a key (mean)"),
    Row("eight panes", "cpu", "eight panes at 50 lines a second each: CPU, %", 25),
    Row("eight panes", "kb_a_second", "… to the terminal, kB a second", 20),
    Row("1 GB searched", "last_hit_s", "a text sought in 1 GB: all hits known, s", 1.5),
    Row("1 GB searched", "worked_s", "… for which the processor worked, s, with 100 keys pressed meanwhile"),
    Row("1 GB searched", "first_hit_ms", "… the first hit on screen, ms"),
    Row("1 GB searched", "slowest_key_ms", "… the slowest key meanwhile, ms", 30),
    Row("100,000 lines of Prefect", "last_screen_s", "100,000 lines of a run at Prefect: the last screen, s", 0.5),
    Row("100,000 lines of Prefect", "worked_ms", "… for which the processor worked here, ms (not the server's)"),
    Row("100,000 lines of Prefect", "page_ms", "… a page up, ms (median of 60)", 50),
    Row("100,000 lines of Prefect", "page_worked_ms", "… for which the processor worked, ms (mean)"),
    Row("100,000 lines of Prefect", "more_mb", "… more memory after 60 pages and the beginning, MB", 60),
)
FOUND: dict[str, dict[str, object]] = {}
"""What was measured in this session."""


def tell(name: str, **measured: object) -> None:
    """One measurement."""
    FOUND[name] = measured
    sys.stdout.write(json.dumps({"bench": f"logs: {name}", **measured}) + "\n")


def complete() -> bool:
    """Whether all measurements of the table were made."""
    return {row.name for row in ROWS} <= FOUND.keys()


def missed() -> list[str]:
    """Which figures are beyond what they may be."""
    return [f"{row.name}: {row.figure} {_figure(row)} > {row.most}" for row in ROWS if _beyond(row)]


def _figure(row: Row) -> object:
    return FOUND.get(row.name, {}).get(row.figure)


def _beyond(row: Row) -> bool:
    figure = _figure(row)
    return row.most is not None and isinstance(figure, int | float) and figure > row.most


def table() -> str:
    """All figures."""
    lines = ["| | budget | measured |", "|---|--:|--:|"]
    for row in ROWS:
        figure, budget = _figure(row), "" if row.most is None else f"≤ {row.most:g}"
        shown = "not to be had here" if figure is None else f"{figure:,}" if isinstance(figure, int) else str(figure)
        lines.append(f"| {row.words} | {budget} | {shown} |")
    return "\n".join(lines)


def write(busy: float) -> None:
    """Put the table into the page, and the figures into their file; ``busy`` is how many times work took too long."""
    made = {
        "made": time.strftime("%Y-%m-%d"), "python": platform.python_version(), "processors": os.cpu_count(),
        "busy": round(busy, 2),
    }  # fmt: skip
    FACTS.write_text(json.dumps({**made, "logs": FOUND}, indent=1) + "\n")
    others = f" Others worked on the machine: what takes 1 s took up to {busy:.1f} s." if busy > 1.15 else ""
    why_not = FOUND["590 MB followed"].get("why_no_turm")
    without = f" turm could not be had: {why_not}." if why_not else ""
    told = (
        f"Made {made['made']} by `make bench`: Python {made['python']}, {made['processors']} processors, 160 by 48 "
        f"cells, a real terminal.{others}{without}"
    )
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{told}\n\n{table()}\n{END}{after}")
