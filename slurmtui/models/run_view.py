"""A flow run joined with its driver, its SLURM jobs and the verdict."""

from __future__ import annotations

import msgspec

from slurmtui.models.flow_run import FlowRun, TaskCounts
from slurmtui.models.job import EndedJob, Job
from slurmtui.models.run_record import DriverStatus, RunRecord
from slurmtui.models.verdict import Verdict


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the Runs view. ``jobs`` are those still in squeue, ``ended_jobs`` what accounting said of the rest.

    With ``known`` False Prefect does not know the run, or cannot be asked: ``run`` is then made from the run's folder.
    """

    run: FlowRun
    verdict: Verdict
    record: RunRecord | None = None
    driver: DriverStatus = DriverStatus.NONE
    jobs: tuple[Job, ...] = ()
    ended_jobs: tuple[EndedJob, ...] = ()
    tasks: TaskCounts | None = None
    known: bool = True


_AT_THE_END = 30.0  # seconds: Dask closes a cluster shortly before or after Prefect is told of the run's end


def ended_with_run(job: EndedJob, run: FlowRun) -> bool:
    """Whether the job was ended because its run was: that is how a driver, and Dask, end workers (CANCELLED)."""
    return (
        run.final
        and job.state == "CANCELLED"
        and run.state_since is not None
        and (job.end is None or job.end > run.state_since - _AT_THE_END)
    )
