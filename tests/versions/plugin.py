"""A plugin of pytest: the SLURM of the tests orders its jobs by priority factors, as most clusters do.

The machine's own SLURM is tested as it comes in ``make test``; what its version takes when nothing is said differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slurmtui.sandbox import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slurmtui.sandbox.layout import Layout

_FACTORS = """\
PriorityType=priority/multifactor
PriorityWeightAge=100
PriorityWeightFairshare=1000
PriorityWeightPartition=500
"""


@pytest.fixture(scope="session", autouse=True)
def priority_factors() -> Iterator[None]:
    """Written into the configuration before the sandbox comes up."""
    plain = texts.slurm_conf

    def with_factors(layout: Layout, version: tuple[int, ...]) -> str:
        return plain(layout, version) + _FACTORS

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "slurm_conf", with_factors)
        yield
