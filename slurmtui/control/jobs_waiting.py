"""Which of some jobs wait still: SLURM takes a hold of a job that runs without a word, and lets it run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.ids import base_id, parse_job_id
from slurmtui.models.job_outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.ids import JobId
    from slurmtui.models.job import Job
    from slurmtui.sources.slurm.client import Slurm

STARTED = "it has started meanwhile: it cannot be held back (requeue it?)"
_ENDED = "it is in the queue no more"


def waits(job: Job) -> bool:
    """Whether a job is in the queue and has not been started."""
    return job.state in {"PENDING", "REQUEUE_HOLD", "SPECIAL_EXIT"}


async def still_waiting(slurm: Slurm, ids: Sequence[str]) -> tuple[list[str], dict[str, Outcome]]:
    """The ids (of an array, the tasks) that wait still, and for all others what has become of them.

    Raises:
        CommandError: SLURM did not answer.
    """
    found = await slurm.jobs_by_id(list(dict.fromkeys(base_id(job_id) for job_id in ids)))
    parts: dict[str, Job] = {}
    for job in found.values():
        whole = await slurm.whole_id(job)
        if whole is not None:
            parts[whole] = job
    waiting: list[str] = []
    others: dict[str, Outcome] = {}
    for job_id in ids:
        started, wait = _sorted_out(job_id, parts)
        waiting += wait
        others |= {part: Outcome(part, "failed", STARTED) for part in started}
        if not started and not wait:
            others[job_id] = Outcome(job_id, "gone", _ENDED)
    return list(dict.fromkeys(waiting)), others


def _sorted_out(job_id: str, parts: Mapping[str, Job]) -> tuple[list[str], list[str]]:
    """What of a job has started, and what of it waits."""
    wanted = parse_job_id(job_id)
    started: list[str] = []
    wait: list[str] = []
    for part, job in parts.items():
        shown = parse_job_id(part)
        if wanted is None or shown is None:
            continue
        common = part if wanted.holds(shown) else job_id if shown.holds(wanted) else _common_tasks(wanted, shown)
        if common:
            (wait if waits(job) else started).append(common)
    return started, wait


def _common_tasks(one: JobId, other: JobId) -> str:
    """The tasks of an array that are in both; "" for none."""
    tasks = sorted(one.common_tasks(other))
    return f"{one.base}_[{','.join(map(str, tasks))}]" if tasks else ""
