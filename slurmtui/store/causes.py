"""Why a run failed: the fault of the code, or SLURM's doing.

Prefect sees only that workers died (``KilledWorker``) or that the driver was ended; SLURM's accounting knows why. A job
that ended badly is taken for the cause only when Prefect's own message does not name a fault of the code: adaptive
workers reach their time limit in healthy runs as well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slurmtui.models.retry import FROM_OUTSIDE
from slurmtui.models.text import visible
from slurmtui.models.values import Special
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.store.words import last_line, sbatch_words, span, too_much, used_of, without_killed_worker

if TYPE_CHECKING:
    from slurmtui.models.job import EndedJob
    from slurmtui.store.facts import Facts

_STATES_FAILED = re.compile(r"^\d+/\d+ states? ", re.IGNORECASE)
_KINDS = {
    "OUT_OF_MEMORY": "out-of-memory", "NODE_FAIL": "node-failed", "BOOT_FAIL": "node-failed",
    "TIMEOUT": "time-limit", "DEADLINE": "time-limit", "PREEMPTED": "preempted",
}  # fmt: skip
_WORDS = {
    "out-of-memory": "out of memory",
    "node-failed": "node failed",
    "time-limit": "time limit",
    "preempted": "preempted",
}


def failure(facts: Facts) -> Verdict:
    """The verdict on a run that Prefect holds for failed or crashed."""
    return _cluster_lost(facts) or _by_slurm(facts) or _refused(facts) or _by_code(facts)


def messages(facts: Facts) -> str:
    """What Prefect says of the failure: the run's message, and those of the failed task runs where they are known."""
    own = facts.run.state_message
    if facts.task_runs and (not own or _STATES_FAILED.match(own)):
        failed = [task for task in facts.task_runs if task.state_type in {"FAILED", "CRASHED"}]
        newest = max((task.attempt for task in failed), default=0)
        return "\n".join(task.state_message for task in failed if task.attempt == newest) or own
    return own


def _by_slurm(facts: Facts) -> Verdict | None:
    said = messages(facts)
    if facts.run.state_type != "CRASHED" and said.strip() and not FROM_OUTSIDE.search(said):
        return None
    for state, kind in _KINDS.items():
        for job in reversed(facts.attempt_ended):
            if job.state == state:
                return Verdict(kind=kind, text=job_words(job), mood=Mood.FAILED)
        if kind == "out-of-memory" and facts.memory_kills is not None:
            return Verdict(kind=kind, text=f"{_WORDS[kind]}: a worker {too_much(facts.memory_kills)}", mood=Mood.FAILED)
    # Without accounting the message may still carry SLURM's own word (a batch job's does).
    for state, kind in _KINDS.items():
        if re.search(rf"\b{state}\b", said):
            return Verdict(kind=kind, text=_WORDS[kind], mood=Mood.FAILED)
    return None


def job_words(job: EndedJob) -> str:
    """How a job ended, short: ``out of memory: job 1234 used 15.9 of 16 GB``."""
    kind = _KINDS.get(job.state, "")
    if kind == "out-of-memory":
        sizes = used_of(job.max_rss, job.requested_memory)
        detail = f" {'used' if job.max_rss is not None else 'of'} {sizes}" if sizes else ""
    elif kind == "time-limit":
        limit = job.time_limit if not isinstance(job.time_limit, Special) else job.elapsed
        detail = "" if isinstance(limit, Special) else f" after {span(limit)}"
    else:
        detail = f" on {job.nodes}" if job.nodes else ""
    return visible(f"{_WORDS.get(kind) or job.state.lower().replace('_', ' ')}: job {job.id}{detail}")


def _cluster_lost(facts: Facts) -> Verdict | None:
    """Dask says only that the line to the scheduler broke: the shared cluster has ended, or its keeper was killed."""
    if facts.shared is None or "scheduler-connection-lost" not in messages(facts):
        return None
    text = f"the shared cluster {visible(facts.shared.name)} ended under it"
    return Verdict(kind="cluster-lost", text=text, mood=Mood.FAILED)


def _refused(facts: Facts) -> Verdict | None:
    """The driver ended the run because sbatch refused its jobs, or no job was ever made for that reason."""
    calls = facts.submissions
    own = facts.run.state_message.partition("sbatch refused: ")
    if not own[0] and own[2]:
        return Verdict(kind="sbatch-refused", text=f"sbatch refused: {sbatch_words(own[2])}", mood=Mood.FAILED)
    if not calls or any(entry.code == 0 for entry in calls):
        return None
    return Verdict(kind="sbatch-refused", text=f"sbatch refused: {sbatch_words(calls[-1].said)}", mood=Mood.FAILED)


def _by_code(facts: Facts) -> Verdict:
    kind = "crashed" if facts.run.state_type == "CRASHED" else "failed"
    said = without_killed_worker(last_line(messages(facts)))
    return Verdict(kind=kind, text=f"{kind}: {said}" if said else kind, mood=Mood.FAILED)
