"""How many tasks of the arrays on screen have ended: asked of accounting now and then, only where something moved."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from slurmtui.errors import SlurmtuiError
from slurmtui.sources.slurm.array_tally import ended_tallies

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from slurmtui.models.job_group import JobGroup
    from slurmtui.sources.slurm.client import Slurm

AGAIN_SECONDS = 60.0
AFTER_FAILURE_SECONDS = 900.0
_MOST = 50

_log = logging.getLogger(__name__)


class EndedTallies:
    """By the number of an array, how many tasks have ended in which state; empty where accounting is off."""

    def __init__(self) -> None:
        self.counts: Mapping[str, Mapping[str, int]] = {}
        self._asked: dict[str, dict[str, int]] = {}  # how the array stood in the queue when it was asked for
        self._not_before = 0.0

    def due(self, groups: Iterable[JobGroup]) -> dict[str, dict[str, int]]:
        """The arrays whose ended tasks should be counted now: none, most of the time."""
        if time.monotonic() < self._not_before:
            return {}
        moved = {
            group.id: group.states
            for group in groups
            if group.kind == "array" and self._asked.get(group.id) != group.states
        }
        return dict(list(moved.items())[:_MOST])

    async def ask(self, slurm: Slurm, arrays: dict[str, dict[str, int]]) -> None:
        """Count. Without accounting an array shows what squeue knows; it is no reason to disturb anybody."""
        self._not_before = time.monotonic() + AGAIN_SECONDS
        self._asked |= arrays
        try:
            found = await ended_tallies(slurm.runner, list(arrays), slurm.timeout)
        except SlurmtuiError as error:
            _log.info("the ended tasks of arrays are not known: %s", error)
            self._not_before = time.monotonic() + AFTER_FAILURE_SECONDS
        else:
            self.counts = {**self.counts, **{base: found.get(base, {}) for base in arrays}}
