"""Steps as they happen, for a person at a terminal: on standard error, so that results stay alone on the other."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from slurmtui.models.text import visible

if TYPE_CHECKING:
    from slurmtui.models.steps import Step

_MARKS = {"done": "✔", "failed": "✖", "skipped": "·", "doing": "…"}


def tell_step(step: Step, *, prefix: str = "", timed: bool = False) -> None:
    """Print a step in its newest state, once there is something to say; ``timed`` with what it took."""
    if step.state == "waiting" or (step.state == "doing" and not step.detail):
        return
    took = f" ({step.seconds:.1f} s)" if timed and step.state in {"done", "failed"} else ""
    detail = f": {visible(step.detail)}" if step.detail else ""
    print(f"{prefix}{_MARKS[step.state]} {step.title}{detail}{took}", file=sys.stderr, flush=True)
