"""Verdicts on a run that goes on: its jobs wait, or work."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from slurmtui.models.reasons import explain, waiting_words
from slurmtui.models.text import visible
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.store.words import clock, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job import Job
    from slurmtui.store.facts import Facts

_BEGUN = ("RUNNING", "COMPLETING")


def waiting(facts: Facts) -> Verdict | None:
    """The driver's job, or all of the run's jobs, wait for SLURM."""
    driver = facts.driver_job
    if driver is not None and driver.state not in _BEGUN:
        return waiting_for("driver waiting for SLURM", (driver,), facts.now)
    workers = [job for job in facts.workers if job.active]
    if not workers or any(job.state in _BEGUN for job in workers):
        return None
    return waiting_for("waiting for SLURM", workers, facts.now)


def waiting_for(what: str, jobs: Sequence[Job], now: float) -> Verdict:
    """The verdict on jobs that all wait: why most of them do, or why those do that will never start."""
    reasons = [_why(job) for job in jobs]
    stuck = [reason for reason in reasons if explain(reason).stuck]
    reason = collections.Counter(stuck or reasons).most_common(1)[0][0]
    starts = [job.start for job in jobs if job.state == "PENDING" and job.start is not None and job.start > now]
    estimate = f", est. {clock(min(starts), now)}" if starts and not stuck else ""
    said = explain(reason)
    proof = (f"SLURM's reason: {visible(reason)} - {visible(said.words)}.",) if said.words != reason else ()
    return Verdict(
        kind="waiting",
        text=visible(f"{what}: {waiting_words(reason)}{estimate}"),
        mood=Mood.LOST if stuck else Mood.WAITING,
        evidence=proof,
        needs_you=bool(stuck),
    )


def _why(job: Job) -> str:
    """SLURM's reason for a pending job; for others their state is the reason."""
    if job.state == "PENDING":
        return job.reason or "None"
    return {"CONFIGURING": "its nodes are starting"}.get(job.state, job.state.lower().replace("_", " "))


def running(facts: Facts) -> str:
    """``running, 3 of 4 workers``: those that work, of those asked for; ``no jobs yet`` before there are any."""
    if facts.queue.error and not facts.workers:
        return "running (SLURM does not answer)"
    active = [job for job in facts.workers if job.active and job.state != "COMPLETING"]
    if not active and facts.jobs_to_come:
        return "running, no jobs yet"
    working = sum(1 for job in active if job.state == "RUNNING")
    profile = facts.record.profile if facts.record is not None else None
    made = sum(1 for entry in facts.worker_calls if entry.job_id)
    thing = "worker" if made and profile is not None and (profile.workers or profile.adapt) else "job"
    wanted = max(len(active), min(profile.workers or 0, made) if profile is not None else 0)
    if not wanted:
        return "running, no jobs left" if facts.jobs_made and facts.queue.good else "running"
    if working == wanted:
        return f"running, {counted(working, thing)}"
    return f"running, {working} of {counted(wanted, thing)}"
