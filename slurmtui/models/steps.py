"""What an action of several steps does, and what came of it."""

from __future__ import annotations

import msgspec


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step. ``state`` is ``waiting``, ``doing``, ``done``, ``failed`` or ``skipped``; ``detail`` says more."""

    key: str
    title: str
    state: str = "waiting"
    detail: str = ""
    seconds: float = 0.0


class CancelReport(msgspec.Struct, frozen=True, kw_only=True):
    """How a cancel ended.

    Attributes:
        ok: nothing of the run is left, and Prefect says so.
        steps: each step with its outcome.
        left_jobs: ids of jobs that are still in the queue, or of which SLURM did not tell.
        state_type: the run's state in Prefect at the end, empty when it is not known.
    """

    ok: bool
    run_id: str
    steps: tuple[Step, ...] = ()
    left_jobs: tuple[str, ...] = ()
    state_type: str = ""

    @property
    def problems(self) -> tuple[str, ...]:
        """What failed, a sentence each."""
        return tuple(f"{step.title}: {step.detail}" for step in self.steps if step.state == "failed")
