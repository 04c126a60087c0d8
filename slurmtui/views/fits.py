"""The page that says what could start now: our sums at once, and SLURM's own word for the likeliest partitions."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from slurmtui.control.slurm import test_only
from slurmtui.errors import CommandError, UsageError
from slurmtui.models.fits import Fit, answers
from slurmtui.models.partition_use import partition_uses
from slurmtui.models.text import visible
from slurmtui.models.wish import EXAMPLE, Wish, parse_wish, wish_words
from slurmtui.views import format as words
from slurmtui.views.base import ViewScreen
from slurmtui.widgets.listing import ListingScreen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.app import SlurmtuiApp
    from slurmtui.control.slurm import TestOnly
    from slurmtui.widgets.bar import Piece

_ASKED = 6
"""So many partitions SLURM is asked about; each is one question to the controller, at a person's wish."""

_SCRIPT = b"#!/bin/sh\ntrue\n"


def ask(console: SlurmtuiApp) -> None:
    """Open the prompt for a wish."""
    if isinstance(console.screen, ViewScreen):
        console.screen.prompt.open("command", ": ", "fits ", [f"fits {EXAMPLE}"])


async def answer(console: SlurmtuiApp, text: str) -> None:
    """Show what could start now.

    Raises:
        UsageError: the wish is not understood.
        CommandError: SLURM does not tell its nodes.
    """
    if not text.strip():
        raise UsageError(f"Say what the job would ask for on each node:  fits {EXAMPLE}")
    cluster = await console.store.side.now()
    types = {thing.type for node in cluster.nodes for thing in node.gpus if thing.type}
    wish = parse_wish(text, sorted(types))
    uses = partition_uses(cluster)
    if wish.partition and all(use.facts.name != wish.partition for use in uses):
        raise UsageError(
            f"There is no partition {wish.partition!r}; there are {', '.join(use.facts.name for use in uses)}"
        )
    found = answers(wish, uses)
    likely = [fit.partition for fit in found if fit.ever][:_ASKED]
    said = dict(zip(likely, await asyncio.gather(*(_slurm_says(console, wish, name) for name in likely)), strict=True))
    console.push_screen(ListingScreen("what could start now", page(wish, found, said, time.time())))


async def _slurm_says(console: SlurmtuiApp, wish: Wish, partition: str) -> TestOnly | str:
    try:
        return await test_only(console.session.runner, _SCRIPT, options(wish, partition))
    except CommandError as error:
        return str(error)


def options(wish: Wish, partition: str) -> list[str]:
    """The wish in sbatch's words."""
    found = [f"--partition={partition}", f"--nodes={wish.nodes}", "--ntasks-per-node=1", f"--cpus-per-task={wish.cpus}"]
    if wish.gpus:
        kind = f"{wish.gpu_type}:" if wish.gpu_type else ""
        found.append(f"--gres=gpu:{kind}{wish.gpus}")
    if wish.memory:
        found.append(f"--mem={wish.memory:.0f}M")
    if wish.time:
        found.append(f"--time={max(1, wish.time // 60)}")
    return found


def page(wish: Wish, found: Sequence[Fit], said: Mapping[str, TestOnly | str], now: float) -> list[list[Piece]]:
    """The lines of the page."""
    lines: list[list[Piece]] = [[(wish_words(wish), "bold")], [("", "")]]
    width = max((len(fit.partition) for fit in found), default=0)
    for fit in found:
        lines.append([
            (("✔ ", "$state-done") if fit.starts else ("· ", "$text-muted")),
            (f"{visible(fit.partition):<{width}}  ", "bold"), *_verdict(fit),
        ])  # fmt: skip
        told = said.get(fit.partition)
        if told is not None:
            lines.append([(" " * (width + 4), ""), *_slurm_words(told, now)])
    if not found:
        lines.append([("SLURM shows you no partition", "$text-muted")])
    lines += [[("", "")], [(f"each node: sbatch {' '.join(options(wish, 'PARTITION'))}", "$text-muted")]]
    return lines


def _verdict(fit: Fit) -> list[Piece]:
    if not fit.starts:
        return [
            (
                f"{'not now' if fit.ever else 'never'}: {visible(fit.why_not)}",
                "$state-waiting" if fit.ever else "$text-muted",
            )
        ]
    many = f"{fit.copies} such jobs have room now" if fit.copies > 1 else "one such job has room now"
    asleep = ", after nodes have woken up" if fit.asleep else ""
    names = " ".join(visible(name) for name in fit.now[:6])
    more = f" and {len(fit.now) - 6} more" if len(fit.now) > 6 else ""
    return [(f"{many}{asleep}  ", "$state-done"), (f"{names}{more}", "")]


def _slurm_words(told: TestOnly | str, now: float) -> list[Piece]:
    """SLURM's own word: it knows the priorities and limits that our sums do not."""
    if isinstance(told, str):
        return [(f"SLURM was not asked: {visible(told)}", "$text-muted")]
    if not told.ok or told.start is None:
        return [(f"SLURM would not take it: {visible(told.text)}", "$state-failed")]
    soon = told.start - now < 60
    when = "at once" if soon else f"at {words.clock(told.start, now)} (in {words.coarse(told.start - now)})"
    return [(f"SLURM would start it {when} on {visible(told.nodes)}", "" if soon else "$state-waiting")]
