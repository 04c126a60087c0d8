"""The words of the header line: whose cluster, how many, how fresh, how well. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui.models.text import visible
from slurmtui.models.verdict import Mood
from slurmtui.store.tally import tally
from slurmtui.views.format import age

if TYPE_CHECKING:
    from slurmtui.store.snapshot import Part, Snapshot
    from slurmtui.widgets.bar import Piece

_BUSY = {Mood.RUNNING, Mood.WAITING}
_NARROW = 112


def left(snapshot: Snapshot, place: str, width: int) -> list[Piece]:
    """Cluster, user, counts of runs and jobs."""
    active = sum(1 for view in snapshot.runs if view.verdict.mood in _BUSY)
    need = sum(1 for view in snapshot.runs if view.verdict.needs_you)
    wide = width >= _NARROW
    gap = "    " if wide else "  "
    pieces: list[Piece] = [
        (f" {visible(place)}", "bold"),
        (f" · {visible(snapshot.user)}", "$text-muted"),
        (f"{gap}runs {active} active" if wide else f"{gap}{active} active", ""),
    ]
    if need:
        pieces.append((f" · {need} need you", "bold $state-lost"))
    pieces.append((f"{gap}{_jobs(snapshot, wide=wide)}", ""))
    return pieces


def _jobs(snapshot: Snapshot, *, wide: bool) -> str:
    """How many jobs run and wait; none are not said to be none before SLURM has answered."""
    if snapshot.queue.at is None:
        return "jobs …" if wide else "…"
    jobs = tally(snapshot.queue.data, snapshot.user if snapshot.everyone else None)
    return f"jobs {jobs.running:,} R {jobs.waiting:,} PD" if wide else f"{jobs.running}R {jobs.waiting}PD"


def right(  # noqa: PLR0913 - the line has these parts
    snapshot: Snapshot, now: float, load: str, *, prefect: bool, mode: str, width: int
) -> list[Piece]:
    """Age and health of the sources, the load this console makes, whether it may touch (``mode`` is RO or RW)."""
    wide = width >= _NARROW
    pieces: list[Piece] = [*_source("slurm", snapshot.queue, now, wide=wide)]
    if prefect:
        pieces += _source("prefect", snapshot.flow_runs, now, wide=wide)
    else:
        pieces.append(("○ no prefect  ", "$text-muted"))
    if wide:
        pieces.append((f"{load}  ", "$text-muted"))
    pieces.append((f"{mode} ", "bold $state-waiting" if mode == "RO" else "$text-muted"))
    return pieces


def _source(name: str, part: Part[Any], now: float, *, wide: bool) -> list[Piece]:
    label = f" {name}" if wide else ""
    if part.at is None:
        sign, style = ("●", "$state-failed") if part.error else ("○", "$text-muted")
        return [(sign, style), (f"{label} {'off' if part.error else '…'}  ", "$text-muted")]
    old = age(now - part.at)
    style = "$state-failed" if part.error else "$state-done"
    return [("●", style), (f"{label} {old}  ", "bold $state-failed" if part.error else "$text-muted")]


def complaint(snapshot: Snapshot, now: float) -> str:
    """One sentence when what is shown is old, "" while all is well."""
    for name, part in (("SLURM", snapshot.queue), ("Prefect", snapshot.flow_runs)):
        if part.error and part.failing_since is not None:
            old = age(now - part.at) if part.at else "now"
            since = f" (data {old} old)" if old != "now" else ""
            return f" {name}{since}: {visible(' '.join(part.error.split()))}"
    return ""
