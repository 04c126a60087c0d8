"""Looks for what needs rescue: asks Prefect by id where its list does not tell, and looks through the state folder."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from slurmtui.control.rescue import ask_about
from slurmtui.control.rescue_files import OLD_DAYS, find_leftovers
from slurmtui.store.rescue import Beyond, find_cases, runs_to_seek

if TYPE_CHECKING:
    from slurmtui.models.rescue import Case
    from slurmtui.session import Session
    from slurmtui.store.snapshot import Snapshot


async def examine(session: Session, snapshot: Snapshot, *, days: float = OLD_DAYS) -> tuple[Case, ...]:
    """Every case there is now; run folders count as old after so many ``days``."""
    return find_cases(snapshot, await look_beyond(session, snapshot, days=days))


async def look_beyond(session: Session, snapshot: Snapshot, *, days: float = OLD_DAYS) -> Beyond:
    """What the snapshot does not hold."""
    known, unknown = await ask_about(session, runs_to_seek(snapshot))
    active = None
    if snapshot.flow_runs.good and snapshot.queue.good:
        active = {run.id for run in snapshot.flow_runs.data if not run.final} | set(snapshot.run_of_job.values())
    leftovers = await asyncio.to_thread(find_leftovers, snapshot.records.data, active, days=days)
    return Beyond(leftovers=leftovers, known=known, unknown=unknown)
