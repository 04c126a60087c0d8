"""The verdict ``lost``: Prefect says RUNNING, but no job is left that could do the work.

A fixed-size Dask cluster never replaces jobs that SLURM ended (walltime, scancel, node failure), and the flow waits for
ever. Not every run without jobs is lost: an adaptive cluster rests between two steps, a flow may work in its driver
after its Dask part, and a batch job's task ends some seconds after its job. So time must have passed since the last
job, and task runs or accounting must show that work is left undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.ids import base_id
from slurmtui.models.run_record import DriverStatus
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.store.causes import job_words
from slurmtui.store.evidence import ABNORMAL
from slurmtui.store.words import counted, span

if TYPE_CHECKING:
    from slurmtui.models.job import EndedJob
    from slurmtui.store.facts import Facts

GRACE_SECONDS = 30.0
PATIENT_SECONDS = 120.0
"""For what is less sure: an adaptive cluster asks for new jobs by itself when there is work."""

WELL_SECONDS = 600.0
"""Jobs that all did what they should may be the flow's own, and no workers."""

CLOCK_SECONDS = 3.0
"""What times of SLURM and of Prefect may differ by."""


def suspected(facts: Facts) -> bool:
    """Whether the run had jobs and has none, so that accounting and the task runs are worth asking."""
    return (
        facts.known
        and facts.run.state_type == "RUNNING"
        and facts.driver in {DriverStatus.ALIVE, DriverStatus.ELSEWHERE, DriverStatus.NONE}
        and facts.queue.good
        and facts.workers_made
        and not any(job.active for job in facts.workers)
    )


def lost(facts: Facts) -> Verdict | None:
    """The verdict, when there is proof enough."""
    if not suspected(facts) or facts.prefect.error:
        return None
    # Both sources must have been asked when the jobs were gone for long enough.
    waited = min(facts.queue.asked or 0, facts.prefect.asked or 0) - facts.last_job_time
    ended = facts.workers_ended
    well = bool(ended) and all(job.state == "COMPLETED" for job in ended)
    if waited < (WELL_SECONDS if well else GRACE_SECONDS):
        return None
    profile = facts.record.profile if facts.record is not None else None
    adaptive = profile is not None and profile.adapt is not None
    waiting = _undone(facts, waited)
    patient = waited >= PATIENT_SECONDS
    if waiting and (patient or not adaptive):
        what = f"{counted(waiting, 'task')} waiting{_cause(ended)}"
    elif patient and not adaptive and _ended_badly(facts, ended):
        what = job_words(ended[-1])
    else:
        return None
    proof = f"The run's last job was there {span(waited)} before SLURM and Prefect were last asked; none came since."
    return Verdict(kind="lost", text=f"lost: no jobs left, {what}", mood=Mood.LOST, evidence=(proof,), needs_you=True)


def _cause(ended: tuple[EndedJob, ...]) -> str:
    """Why the last job that ended badly did, in brackets."""
    bad = [job for job in ended if job.state in ABNORMAL]
    return f" ({job_words(bad[-1]).partition(':')[0]})" if bad else ""


def _ended_badly(facts: Facts, ended: tuple[EndedJob, ...]) -> bool:
    """Whether SLURM ended every job, and no task run was told of it (a cluster that closes ends its jobs CANCELLED)."""
    told = facts.tasks is not None and facts.tasks.failed + facts.tasks.crashed > 0
    return bool(ended) and not told and all(job.state in ABNORMAL for job in ended)


def _undone(facts: Facts, waited: float) -> int:
    """How many task runs wait for a job that is gone.

    A task run that began after the end of the last job shows that work goes on in the driver. One that began about
    then proves nothing: times are whole seconds, and clocks differ.
    """
    tasks = facts.tasks
    if tasks is None or not tasks.running + tasks.pending:
        return 0
    if facts.task_runs is not None:
        end = _end_of_workers(facts)
        begun = [task.start or 0.0 for task in facts.task_runs if task.state_type == "RUNNING"]
        if any(start > end + CLOCK_SECONDS for start in begun):
            return 0
        if waited < WELL_SECONDS and not any(start < end - CLOCK_SECONDS for start in begun):
            return 0
    return tasks.running + tasks.pending


def _end_of_workers(facts: Facts) -> float:
    """When the last worker ended, from accounting where it knows all of them (a job is in the queue for longer)."""
    ended = {base_id(job.id): job.end for job in facts.workers_ended}
    made = {base_id(entry.job_id) for entry in facts.worker_calls if entry.job_id}
    if made and made <= ended.keys():
        return max(end or 0.0 for end in ended.values())
    return facts.last_job_time
