"""How many parts of an array or het job do what, in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slurmtui.models.job_group import JobGroup

_NAMES = {
    "COMPLETED": "done", "RUNNING": "running", "PENDING": "waiting", "COMPLETING": "ending", "CONFIGURING": "starting",
    "TIMEOUT": "timed out", "OUT_OF_MEMORY": "out of memory", "NODE_FAIL": "lost a node",
}  # fmt: skip
_ORDER = ("done", "running", "starting", "ending", "failed", "timed out", "out of memory", "lost a node", "waiting")
_SHORT = {"done": "✔", "running": "R", "waiting": "PD", "failed": "✖", "ending": "CG", "starting": "CF"}
_STYLES = {
    "done": "state-done", "running": "state-running", "starting": "state-running", "ending": "state-running",
    "waiting": "state-waiting", "suspended": "state-waiting", "cancelled": "state-cancelled",
    "failed": "state-failed", "timed out": "state-failed", "out of memory": "state-failed",
    "lost a node": "state-failed",
}  # fmt: skip


def tally(group: JobGroup, ended: Mapping[str, int] | None = None, *, terse: bool = False) -> list[tuple[str, str]]:
    """``412 done · 50 running · 3 failed · 9,535 waiting``: what has ended comes from accounting, if it is known."""
    states = {**(ended or {}), **group.states}
    counts: dict[str, int] = {}
    for state, count in states.items():
        name = _NAMES.get(state, state.lower().replace("_", " "))
        counts[name] = counts.get(name, 0) + count
    pieces: list[tuple[str, str]] = []
    for name in sorted(counts, key=lambda one: _ORDER.index(one) if one in _ORDER else len(_ORDER)):
        more = "+" if name == "waiting" and not group.whole else ""
        style = _STYLES.get(name, "state-unknown")
        shown = f"{counts[name]:,}{more}{_SHORT.get(name, f' {name}') if terse else f' {name}'}"
        pieces += [(" · " if not terse else " ", "dim")] * bool(pieces) + [(shown, style)]
    if group.hidden and not terse:
        pieces.append((f" · {group.hidden:,} hidden", "dim"))
    return pieces
