"""The sentences beneath a verdict: what each source said, so that a person can check it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.exit_words import code_words
from slurmtui.models.reasons import waiting_words
from slurmtui.models.retry import CAUSE_WORDS
from slurmtui.models.run_record import DriverRecord, DriverStatus, LaunchRecord
from slurmtui.models.run_view import ended_with_run
from slurmtui.models.text import visible
from slurmtui.models.values import Special
from slurmtui.sources.processes import newest_start
from slurmtui.store.words import clock, counted, last_line, sbatch_words, span, too_much, used_of, without_killed_worker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from slurmtui.models.job import EndedJob, Job
    from slurmtui.store.facts import Facts

ABNORMAL = ("OUT_OF_MEMORY", "NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED", "TIMEOUT", "DEADLINE", "PREEMPTED", "FAILED")
"""Ends that nobody wished for, the most telling first. Dask's clean end of a worker is CANCELLED."""

_LISTED = 5


def gather(facts: Facts) -> tuple[str, ...]:
    """All that is known of the run, a sentence each."""
    return (
        *_prefect(facts),
        *_driver(facts),
        *_attempts(facts),
        *_queue(facts),
        *_accounting(facts),
        *_memory_kills(facts),
        *_refusals(facts),
        *_cancel(facts),
        *_tasks(facts),
    )


def _prefect(facts: Facts) -> Iterator[str]:
    run, now = facts.run, facts.now
    if facts.prefect.error:
        since = f" since {clock(facts.prefect.asked, now)}" if facts.prefect.asked is not None else ""
        yield f"Prefect has not answered{since}: {visible(facts.prefect.error)}"
    if not facts.known:
        if not facts.prefect.error:
            where = f" at {facts.api_url}" if facts.api_url else ""
            yield f"Prefect{where} does not know this run."
        submitted_to = facts.record.spec.api_url if facts.record is not None else ""
        if submitted_to and submitted_to != facts.api_url:
            yield f"It was submitted to Prefect at {visible(submitted_to)}."
        return
    since = ""
    if run.state_since is not None:
        lasting = "" if run.final else f" ({span(now - run.state_since)})"
        since = f" since {clock(run.state_since, now)}{lasting}"
    said = "said" if facts.prefect.error else "says"
    message = last_line(run.state_message)
    yield f"Prefect {said} {visible(run.state_name or run.state_type)}{since}{': ' + message if message else '.'}"


def _driver(facts: Facts) -> Iterator[str]:
    record, now = facts.record, facts.now
    if record is None or facts.driver is DriverStatus.NONE:
        yield "There is no folder of this run here (slurmtui did not start it), so nothing is known of its driver."
        return
    if (job := facts.driver_job) is not None:
        where = f" on {job.nodes}" if job.nodes else f": {waiting_words(job.reason)}" if job.state == "PENDING" else ""
        yield f"The driver is SLURM job {job.id}, {visible(job.state + where)}."
    if facts.driver is DriverStatus.STARTING:
        yield f"The driver was started at {clock(facts.attempt_started or record.spec.created, now)}."
        return
    newest = newest_start(record)
    if newest is None:
        yield "The driver never reported that it began."
        return
    process = f"process {newest.pid} on {visible(newest.host)}" if newest.pid else f"SLURM job {newest.job_id}"
    who = f"The driver, {process},"
    if facts.driver is DriverStatus.ALIVE:
        yield f"{who} is alive."
    elif facts.driver is DriverStatus.GONE:
        yield f"{who} is gone and never said that it {'began' if isinstance(newest, LaunchRecord) else 'ended'}."
    elif facts.driver is DriverStatus.ELSEWHERE:
        yield f"{who} cannot be looked at from here."
    elif isinstance(newest, DriverRecord) and newest.ended is not None:
        message = last_line(newest.message)
        if message == last_line(facts.run.state_message):  # Prefect's sentence has it
            message = ""
        outcome = visible(" ".join(filter(None, (newest.outcome, message))))
        yield f"{who} ended at {clock(newest.ended, now)}{': ' + outcome if outcome else '.'}"


def _attempts(facts: Facts) -> Iterator[str]:
    """How it came to its newest attempt, when that was not its first."""
    record = facts.record
    if record is None:
        return
    for attempt in [one for one in record.attempts if one.attempt < facts.attempt or one.again][-_LISTED:]:
        cause = CAUSE_WORDS.get(attempt.cause, "") or without_killed_worker(last_line(attempt.message))
        after = f"; it was {visible(attempt.again)}" if attempt.again else ""
        how = visible(attempt.outcome or "for a reason that nobody wrote down") + (f": {cause}" if cause else "")
        yield f"Attempt {attempt.attempt} ended {how}{after}."


def _queue(facts: Facts) -> Iterator[str]:
    now = facts.now
    if facts.queue.error:
        since = f" since {clock(facts.queue.asked, now)}" if facts.queue.asked is not None else ""
        yield f"SLURM has not answered{since}: {visible(facts.queue.error)}"
    if facts.queue.asked is None:
        return
    if facts.workers:
        yield f"In the queue: {', '.join(_groups(facts.workers))}."
        return
    if facts.run.final and not facts.jobs_made:
        return
    if not facts.jobs_made or facts.jobs_to_come:
        yield "No job of this run has been in the queue yet."
    elif facts.jobs_seen is not None:
        yield f"No job of this run is in the queue; one was last seen at {clock(facts.jobs_seen, now)}."
    else:
        yield "No job of this run is in the queue."


def _groups(jobs: Sequence[Job]) -> Iterator[str]:
    """``3 running (4711, 4712, 4713)``, ``1 pending (4714: Priority)``."""
    groups: dict[tuple[str, str], list[str]] = {}
    for job in jobs:
        why = waiting_words(job.reason) if job.state == "PENDING" else ""
        groups.setdefault((job.state, why), []).append(job.id)
    for (state, why), ids in groups.items():
        listed = ", ".join(ids[:_LISTED]) + (", …" if len(ids) > _LISTED else "")
        yield visible(f"{len(ids)} {state.lower()} ({listed}{': ' + why if why else ''})")


def _accounting(facts: Facts) -> Iterator[str]:
    if facts.accounting.error:
        yield f"SLURM's accounting does not answer: {visible(facts.accounting.error)}"
    telling = sorted(
        facts.attempt_ended, key=lambda job: ABNORMAL.index(job.state) if job.state in ABNORMAL else len(ABNORMAL)
    )
    for job in telling[:_LISTED]:
        yield ended_words(job, with_run=ended_with_run(job, facts.run))
    if len(telling) > _LISTED:
        yield f"Accounting: {counted(len(telling) - _LISTED, 'more job')} ended."


def ended_words(job: EndedJob, *, with_run: bool = False) -> str:
    """One sentence for one job that ended, by itself or because its run did."""
    parts = [f"Job {job.id} was ended with its run" if with_run else f"Job {job.id} ended {job.state}"]
    if not isinstance(job.elapsed, Special):
        parts.append(f"after {span(job.elapsed)}")
    if job.nodes:
        parts.append(f"on {job.nodes}")
    sizes = used_of(job.max_rss, job.requested_memory)
    details = [f"used {sizes}" if job.max_rss is not None else f"had {sizes}"] if sizes else []
    if job.exit_code or job.signal:
        details.append(f"exit code {code_words(f'{job.exit_code}:{job.signal}')}")
    return visible(f"{' '.join(parts)}{''.join(', ' + detail for detail in details)} (accounting).")


def _memory_kills(facts: Facts) -> Iterator[str]:
    kills = facts.memory_kills
    if kills is None:
        return
    times = f", {counted(kills.times, 'time')}" if kills.times > 1 else ""
    others = f" and {len(kills.logs) - 1} more" if len(kills.logs) > 1 else ""
    yield visible(f"Dask killed a worker that {too_much(kills)}{times} (told by {kills.logs[0]}{others}).")


def _refusals(facts: Facts) -> Iterator[str]:
    refused = [entry for entry in facts.submissions if entry.code != 0]
    if refused:
        newest = refused[-1]
        times = f" ({counted(len(refused), 'time')})" if len(refused) > 1 else ""
        yield f"sbatch refused at {clock(newest.time, facts.now)}{times}: {sbatch_words(newest.said)}"


def _cancel(facts: Facts) -> Iterable[str]:
    if facts.record is None or facts.record.cancel is None or facts.record.cancel.time < facts.attempt_started:
        return
    request = facts.record.cancel
    from_where = f" from {visible(request.host)}" if request.host else ""
    yield f"Its end was asked for at {clock(request.time, facts.now)}{from_where}."


def _tasks(facts: Facts) -> Iterator[str]:
    tasks = facts.tasks
    if tasks is None or not tasks.total:
        return
    reused = f" ({tasks.cached} reused)" if tasks.cached else ""
    numbers = ("running", "pending", "failed", "crashed", "cancelled")
    others = [f"{getattr(tasks, name)} {name}" for name in numbers if getattr(tasks, name)]
    yield ", ".join([f"Tasks: {tasks.completed} of {tasks.total} completed{reused}", *others]) + "."
