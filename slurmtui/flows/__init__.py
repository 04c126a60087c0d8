"""What a flow's author imports, and what runs beside a flow.

For authors: ``slurm_runner`` and ``batch_job``. They are imported on first use, so that ``import slurmtui.flows`` costs
nothing and needs neither Prefect nor Dask.

Beside a flow: ``python -m slurmtui.flows.driver``, ``.inspect`` and ``.preview``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slurmtui.flows.batch import BatchJobFailed, BatchJobResult, batch_job
    from slurmtui.flows.runner import slurm_runner

__all__ = ["BatchJobFailed", "BatchJobResult", "batch_job", "slurm_runner"]

_HOMES = {
    "BatchJobFailed": "slurmtui.flows.batch",
    "BatchJobResult": "slurmtui.flows.batch",
    "batch_job": "slurmtui.flows.batch",
    "slurm_runner": "slurmtui.flows.runner",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
