"""Where a job's output goes: SLURM's file name patterns, for when SLURM does not resolve them itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slurmtui.models.ids import parse_job_id
from slurmtui.models.nodes import first_node

if TYPE_CHECKING:
    from slurmtui.models.job import JobDetail

_PATTERN = re.compile(r"%(\d{0,2})([%AaJjNnstux])")
_WIDEST = 10  # SLURM pads to ten digits at most


def default_pattern(job_id: str) -> str:
    """Where sbatch writes when it is told nothing else, in the job's folder."""
    shown = parse_job_id(job_id)
    task = shown is not None and (shown.task is not None or bool(shown.tasks))
    return "slurm-%A_%a.out" if task else "slurm-%j.out"


def expand_log_path(pattern: str, job: JobDetail, raw_id: str) -> str | None:
    """The path that ``pattern`` means for ``job``, absolute; None when it cannot be known (a task without number).

    ``%j`` in an array is the task's own number (``raw_id``), ``%A`` the array's; a backslash anywhere switches the
    patterns off; ``%n`` and ``%t`` are those of the batch script, 0.
    """
    shown = parse_job_id(job.id)
    if shown is None:
        return None
    values = {
        "A": str(shown.base), "a": "4294967294" if shown.task is None else str(shown.task), "j": raw_id, "J": raw_id,
        "N": first_node(job.nodes), "n": "0", "t": "0", "s": "batch", "u": job.user, "x": job.name, "%": "%",
    }  # fmt: skip
    if shown.tasks and re.search(r"%\d*[aj]", pattern):
        return None
    if not values["N"] and re.search(r"%\d*N", pattern):
        return None
    path = pattern.replace("\\", "") if "\\" in pattern else _PATTERN.sub(lambda hit: _filled(hit, values), pattern)
    return path if path.startswith("/") else f"{job.work_dir.rstrip('/')}/{path}"


def _filled(hit: re.Match[str], values: dict[str, str]) -> str:
    value = values[hit[2]]
    return value.zfill(min(int(hit[1]), _WIDEST)) if hit[1] and value.isdigit() else value
