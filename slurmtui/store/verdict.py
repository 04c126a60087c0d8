"""What is really going on with a run, beside Prefect's own state.

One pure function; the rules are asked in order and the first that applies speaks. Two principles hold in all of them:
absence of data is never the end of anything (no verdict of loss is made while a source does not answer, or from an
answer older than what it would contradict), and nothing is changed here: the verdict names, a person acts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.run_record import DriverStatus
from slurmtui.models.text import visible
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.sources.processes import newest_start
from slurmtui.store import causes, evidence
from slurmtui.store.lost import lost
from slurmtui.store.on_cluster import on_cluster
from slurmtui.store.words import clock, counted, sbatch_words, span
from slurmtui.store.working import running, waiting

if TYPE_CHECKING:
    from slurmtui.store.facts import Facts

LEFTOVER_SECONDS = 20.0
"""So long the jobs of an ended run may still be in the queue: Dask and scancel take some seconds."""

STUCK_SECONDS = 60.0
"""A cancel that takes longer needs a person."""

DRIVER_END_SECONDS = 20.0
"""So long Prefect may need to show the end that a driver has reported."""


def judge(facts: Facts) -> Verdict:
    """The verdict on one run, with its evidence."""
    found = next(verdict for rule in _RULES if (verdict := rule(facts)) is not None)
    return msgspec.structs.replace(found, evidence=(*found.evidence, *evidence.gather(facts)))


def settled(facts: Facts) -> bool:
    """Whether the same facts will give the same verdict at any later time."""
    since = facts.run.state_since
    return facts.run.final and facts.known and since is not None and facts.now - since > 3 * STUCK_SECONDS


def _unknown(facts: Facts) -> Verdict | None:
    if facts.known:
        return None
    alive = facts.driver.lives or bool(facts.leftovers)
    if facts.prefect.error:
        text = "unknown: Prefect does not answer"
    elif facts.prefect.asked is None:
        text = "unknown: Prefect has not answered yet"
    elif facts.prefect.asked < max(facts.run.created or 0, facts.attempt_started):
        return Verdict(kind="starting", text="starting", mood=Mood.WAITING)
    else:
        text = "unknown: Prefect does not know this run"
    return Verdict(kind="unknown", text=text, mood=Mood.UNKNOWN, needs_you=alive and facts.prefect.good)


def _starting_again(facts: Facts) -> Verdict | None:
    """A retry has begun that Prefect does not show yet."""
    if not facts.run.final or not facts.driver.lives:
        return None
    if facts.attempt_started <= (facts.run.state_since or 0):
        return None
    return waiting(facts) or Verdict(kind="starting", text="starting again", mood=Mood.WAITING)


def _final(facts: Facts) -> Verdict | None:
    run = facts.run
    if not run.final:
        return None
    late = facts.now - (run.state_since or 0) > LEFTOVER_SECONDS and facts.queue.good
    alive = len(facts.leftovers) if late else 0
    if run.state_type == "CANCELLED":
        return _cancelled(facts, alive)
    if run.state_type == "COMPLETED":
        found = Verdict(kind="done", text="done", mood=Mood.DONE)
    else:
        found = causes.failure(facts)
    if not alive:
        return found
    left = f"{counted(alive, 'job')} alive"
    return msgspec.structs.replace(found, text=f"{left} after the end; {found.text}", mood=Mood.LOST, needs_you=True)


def _cancelled(facts: Facts, alive: int) -> Verdict:
    if alive:
        text = f"cancelled, but {counted(alive, 'job')} alive"
        return Verdict(kind="cancelled-jobs-alive", text=text, mood=Mood.LOST, needs_you=True)
    ended = facts.now - (facts.run.state_since or 0)
    if facts.driver is DriverStatus.ALIVE and ended > LEFTOVER_SECONDS:
        text = "cancelled, but its driver is alive"
        return Verdict(kind="cancelled-driver-alive", text=text, mood=Mood.LOST, needs_you=True)
    return Verdict(kind="cancelled", text="cancelled", mood=Mood.CANCELLED)


def _cancelling(facts: Facts) -> Verdict | None:
    request = facts.record.cancel if facts.record is not None else None
    asked = request is not None and request.time >= facts.attempt_started
    if facts.run.state_type != "CANCELLING" and not asked:
        return None
    times = [facts.run.state_since if facts.run.state_type == "CANCELLING" else None, request.time if request else None]
    since = min((moment for moment in times if moment), default=facts.now)
    if facts.now - since < STUCK_SECONDS:
        return Verdict(kind="cancelling", text="cancelling", mood=Mood.CANCELLED)
    left = []
    if facts.driver is DriverStatus.ALIVE:
        left.append("driver alive")
    if facts.leftovers and facts.queue.good:
        left.append(f"{counted(len(facts.leftovers), 'job')} alive")
    if not left and facts.queue.good and facts.driver.dead:
        left.append("though nothing of it is left")
    text = ", ".join([f"cancelling for {span(facts.now - since)}", *left])
    return Verdict(kind="cancel-stuck", text=text, mood=Mood.LOST, needs_you=True)


def _driver_gone(facts: Facts) -> Verdict | None:
    if not facts.driver.dead or facts.run.state_type == "PAUSED":
        return None
    asked = facts.prefect.asked or 0
    if not facts.prefect.error and facts.driver_since is not None and asked < facts.driver_since:
        # Prefect was asked before the driver was seen to have ended: its answer may be older than the end.
        text = "ending" if facts.driver is DriverStatus.ENDED else "running"
        return Verdict(kind="running", text=text, mood=Mood.RUNNING)
    start = newest_start(facts.record) if facts.record is not None else None
    alive = f", {counted(len(facts.leftovers), 'job')} alive" if facts.leftovers and facts.queue.good else ""
    if facts.driver is DriverStatus.GONE:
        own = next((job for job in reversed(facts.attempt_ended) if job.id in facts.driver_jobs), None)
        place = start.host if start is not None else ""
        if own is not None:
            place = causes.job_words(own)
        elif start is not None and start.job_id:
            place = f"job {start.job_id}"
        where = f" ({visible(place)})" if place else ""
        return Verdict(kind="driver-gone", text=f"driver gone{where}{alive}", mood=Mood.LOST, needs_you=True)
    ended = facts.record.driver.ended if facts.record is not None and facts.record.driver is not None else None
    if facts.now - (ended or 0) < DRIVER_END_SECONDS:
        return Verdict(kind="running", text="ending", mood=Mood.RUNNING)
    text = f"driver ended, but Prefect says {facts.run.state_name or facts.run.state_type}{alive}"
    return Verdict(kind="driver-gone", text=visible(text), mood=Mood.LOST, needs_you=True)


def _refused(facts: Facts) -> Verdict | None:
    calls = facts.worker_calls  # a batch job's own task is told when it is refused
    if not calls or calls[-1].code == 0 or facts.workers:
        return None
    if not facts.queue.good and any(entry.code == 0 for entry in calls):
        return None  # jobs were made before, and whether they live is not known
    text = f"sbatch refused: {sbatch_words(calls[-1].said)}"
    return Verdict(kind="sbatch-refused", text=text, mood=Mood.LOST, needs_you=True)


def _scheduled(facts: Facts) -> Verdict | None:
    run = facts.run
    if run.state_type == "PAUSED":
        return Verdict(kind="paused", text=visible((run.state_name or "paused").lower()), mood=Mood.WAITING)
    if run.state_type != "SCHEDULED" or facts.driver.lives:
        return None
    due = f" {clock(run.expected_start, facts.now)}" if run.expected_start is not None else ""
    if run.state_name == "Late":
        return Verdict(kind="scheduled", text=f"late: due{due}, nobody has started it", mood=Mood.WAITING)
    words = {"AwaitingRetry": "tries again", "AwaitingConcurrencySlot": "waits for a concurrency slot"}
    return Verdict(kind="scheduled", text=words.get(run.state_name, "scheduled") + due, mood=Mood.WAITING)


def _starting(facts: Facts) -> Verdict | None:
    if facts.run.state_type not in {"PENDING", "SCHEDULED"} and facts.driver is not DriverStatus.STARTING:
        return None
    return Verdict(kind="starting", text="starting", mood=Mood.WAITING)


def _running(facts: Facts) -> Verdict:
    if facts.run.state_type != "RUNNING":
        text = f"Prefect says {facts.run.state_name or facts.run.state_type or 'nothing'}"
        return Verdict(kind="unknown", text=visible(text), mood=Mood.UNKNOWN)
    words = running(facts)
    if facts.driver is DriverStatus.ELSEWHERE and not facts.workers:
        start = newest_start(facts.record) if facts.record is not None else None
        place = f" on {visible(start.host)}" if start is not None and start.host else " elsewhere"
        return Verdict(kind="driver-elsewhere", text=f"running, driver{place}", mood=Mood.RUNNING)
    return Verdict(kind="running", text=words, mood=Mood.RUNNING)


_RULES = (
    _unknown, _starting_again, _final, _cancelling, _driver_gone, _refused, on_cluster, lost, _scheduled, waiting,
    _starting, _running,
)  # fmt: skip
