"""A job's batch script: from the controller while it knows the job, then from accounting where that keeps scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.ids import parse_job_id
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm.ask import knows_no_such_job

if TYPE_CHECKING:
    from slurmtui.sources.slurm.client import Slurm

NO_SCRIPTS = "sacct -B"
"""Under this name it is remembered that this SLURM keeps no scripts."""
_HEADING = b"Batch Script for "


async def live_script(slurm: Slurm, job_id: str) -> bytes | None:
    """The script of a job that the controller still knows; None when it knows none."""
    parsed = parse_job_id(job_id)
    askable = f"{parsed.base}_{parsed.tasks[0][0]}" if parsed is not None and parsed.tasks else job_id
    argv = ("scontrol", "write", "batch_script", askable, "-")
    finished = await slurm.runner.run(argv, timeout=slurm.timeout, check=False)
    if finished.code or not finished.stdout.strip():
        words = finished.stderr.lower()
        if knows_no_such_job(words) or "retrieval failed" in words or not finished.code:
            return None
        raise failure(finished)
    return finished.stdout


async def stored_script(slurm: Slurm, job_id: str) -> bytes | None:
    """The script that accounting keeps of a job; None when it keeps none (or cannot: SLURM before 21.08)."""
    if NO_SCRIPTS in slurm.lacks:
        return None
    parsed = parse_job_id(job_id)
    askable = str(parsed.base) if parsed is not None and parsed.tasks else job_id
    finished = await slurm.runner.run(("sacct", "-B", "-j", askable), timeout=slurm.timeout, check=False)
    said = finished.stderr.lower()
    if "invalid option" in said or "unrecognized option" in said:
        slurm.lacks[NO_SCRIPTS] = "this SLURM keeps no scripts of ended jobs (21.08 or newer does)"
        return None
    if finished.code or not finished.stdout.startswith(_HEADING):
        return None
    _, _, rest = finished.stdout.partition(b"\n")
    _, _, text = rest.partition(b"\n")  # the line of dashes
    text = text.split(b"\n" + _HEADING)[0].rstrip(b"\n") + b"\n"
    return None if text.strip() in {b"", b"NONE"} else text
