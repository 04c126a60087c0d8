"""The verdict on a run that works on a shared cluster: its jobs are the cluster's, and so is what keeps it waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.text import visible
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.store.clusters import refused
from slurmtui.store.words import counted, sbatch_words
from slurmtui.store.working import waiting_for

if TYPE_CHECKING:
    from slurmtui.store.facts import Facts


def on_cluster(facts: Facts) -> Verdict | None:
    """The verdict, while the run goes on; None when it uses no shared cluster, or has jobs of its own as well."""
    use, view = facts.shared, facts.cluster
    if use is None or facts.run.state_type != "RUNNING":
        return None
    name = f"cluster {visible(use.name)}"
    if view is None or view.keeper.dead:
        proof = view.verdict.evidence if view is not None else (f"The folder of {name} is gone.",)
        return Verdict(
            kind="lost", text=f"lost: the shared {name} is gone", mood=Mood.LOST, evidence=proof, needs_you=True
        )
    if facts.workers:
        return None
    jobs = [job for job in view.jobs if job.active]
    refusal, evidence = refused(view.record), view.verdict.evidence
    if refusal is not None and refusal.time >= use.time and not jobs:
        text = f"sbatch refused ({name}): {sbatch_words(refusal.said)}"
        return Verdict(kind="sbatch-refused", text=text, mood=Mood.LOST, evidence=evidence, needs_you=True)
    if jobs and all(job.state == "PENDING" for job in jobs):
        return waiting_for(f"waiting for SLURM ({name})", jobs, facts.now)
    workers = view.record.status.workers if view.record.status is not None else 0
    text = f"running, {counted(workers, 'worker')} of {name}" if workers else f"running, no worker of {name} yet"
    return Verdict(kind="running", text=text, mood=Mood.RUNNING, evidence=evidence)
