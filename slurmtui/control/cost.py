"""What a run may use at most: jobs, core-hours, GPU-hours. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.gres import gpus, parse_gres
from slurmtui.models.values import Special, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slurmtui.models.profile import Profile


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """An upper bound, each job taken to run to its time limit. Hours are None where the time has no limit.

    ``fixed`` tells that there will be exactly so many jobs, not fewer.
    """

    jobs: int = 0
    core_hours: float | None = 0
    gpu_hours: float | None = 0
    fixed: bool = True

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            jobs=self.jobs + other.jobs,
            core_hours=_sum(self.core_hours, other.core_hours),
            gpu_hours=_sum(self.gpu_hours, other.gpu_hours),
            fixed=self.fixed and other.fixed,
        )


def cost_of(profile: Profile) -> Cost:
    """The most that the jobs of a run with this profile use."""
    jobs = profile.adapt.maximum if profile.adapt is not None else profile.workers or 1
    cards = gpus(parse_gres(profile.gres)) if profile.gres else 0
    fixed = profile.adapt is None or profile.adapt.minimum == profile.adapt.maximum
    limit = seconds(profile.walltime)
    if isinstance(limit, Special):
        return Cost(jobs=jobs, core_hours=None, gpu_hours=None if cards else 0, fixed=fixed)
    hours = jobs * profile.nodes * limit / 3600
    return Cost(jobs=jobs, core_hours=hours * profile.cores, gpu_hours=hours * cards, fixed=fixed)


def total(costs: Iterable[Cost]) -> Cost:
    """All of them together."""
    found = Cost()
    for cost in costs:
        found += cost
    return found


def cost_words(cost: Cost) -> str:
    """``in 4 jobs, ≤ 64 core-hours, ≤ 8 GPU-hours``."""
    jobs = f"in {'' if cost.fixed else '≤ '}{cost.jobs:,} job{'s' * (cost.jobs != 1)}"
    hours = [f"≤ {_number(amount)} {unit}" for amount, unit in _amounts(cost) if amount]
    if cost.core_hours is None or cost.gpu_hours is None:
        hours.append("without a time limit")
    return ", ".join([jobs, *hours])


def _amounts(cost: Cost) -> tuple[tuple[float | None, str], ...]:
    return (cost.core_hours, "core-hours"), (cost.gpu_hours, "GPU-hours")


def _number(hours: float) -> str:
    if hours >= 10:
        return f"{hours:,.0f}"
    return f"{max(hours, 0.01):.2g}" if hours < 1 else f"{hours:.1f}".removesuffix(".0")


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
