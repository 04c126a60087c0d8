"""What is worth asking beside the lists: accounting and task runs cost a question each, so only where they tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slurmtui.models.ids import base_id
from slurmtui.models.run_record import DriverStatus
from slurmtui.store.facts import driver_job_ids
from slurmtui.store.link import facts_of
from slurmtui.store.lost import suspected

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from slurmtui.models.flow_run import FlowRun
    from slurmtui.models.run_view import RunView
    from slurmtui.store.snapshot import Snapshot

NEWEST = 100
"""Of so many ended runs the causes are looked for unasked; of older ones when they are shown."""

COUNTED = 50
"""Of so many ended runs the tasks are counted unasked."""

_FAILED = frozenset({"FAILED", "CRASHED"})
_STATES_FAILED = re.compile(r"^\d+/\d+ states? ", re.IGNORECASE)


def ended_job_ids(snapshot: Snapshot, shown: Collection[str], now: float) -> list[str]:
    """Jobs of runs that failed or lost their jobs, which left the queue and of which accounting has said nothing."""
    if not snapshot.queue.good:
        return []
    known = {base_id(job_id) for job_id in snapshot.ended.data} | {base_id(job_id) for job_id in snapshot.run_of_job}
    wanted: dict[str, None] = {}
    for view in _troubled(snapshot, shown, now):
        if view.record is not None:
            attempt = facts_of(snapshot, view, now).submissions
            ids = [entry.job_id for entry in attempt if entry.job_id] + sorted(driver_job_ids(view.record))
            wanted.update(dict.fromkeys(job_id for job_id in ids if base_id(job_id) not in known))
    return list(wanted)


def _troubled(snapshot: Snapshot, shown: Collection[str], now: float) -> Iterator[RunView]:
    ended = 0
    for view in snapshot.runs:
        if view.run.final:
            ended += 1
            if view.run.state_type in _FAILED and (ended <= NEWEST or view.run.id in shown):
                yield view
        elif view.record is not None and (view.driver is DriverStatus.GONE or suspected(facts_of(snapshot, view, now))):
            yield view


def runs_to_count(snapshot: Snapshot, shown: Collection[str]) -> list[FlowRun]:
    """Runs whose task runs are counted: active ones, the newest ended ones and those that are shown."""
    ended = 0
    found = []
    for run in sorted(snapshot.flow_runs.data, key=lambda run: run.start or run.created or 0, reverse=True):
        ended += run.final
        if not run.final or ended <= COUNTED or run.id in shown:
            found.append(run)
    return found


def task_runs_to_read(snapshot: Snapshot, watched: Collection[str], shown: Collection[str], now: float) -> list[str]:
    """Runs whose task runs are read: those watched, those that may be lost, and those that failed by their tasks."""
    found = [run.id for run in snapshot.flow_runs.data if run.id in watched]
    for view in _troubled(snapshot, shown, now):
        if view.run.id in watched or not view.known:
            continue
        if not view.run.final or _STATES_FAILED.match(view.run.state_message):
            found.append(view.run.id)
    return found
