"""From a short key to the log that is meant: what a pane shows is remembered by it.

``run:<id>``, ``job:<id>``, ``jobs:<id>,<id>`` (an array's number means all of its tasks), ``file:<path>``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.models.ids import parse_job_id
from slurmtui.models.text import visible
from slurmtui.store.ended_log import EndedJobLog
from slurmtui.store.log_document import LogDocument
from slurmtui.store.log_fixed import FixedLog
from slurmtui.store.log_jobs import JobsLog
from slurmtui.store.log_stream import RunLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.run_view import RunView
    from slurmtui.session import Session
    from slurmtui.store.snapshot import Snapshot


def run_key(run_id: str) -> str:
    """The key of a run's log."""
    return f"run:{run_id}"


def job_key(job_id: str) -> str:
    """The key of a job's log, or of all tasks of an array."""
    parsed = parse_job_id(job_id)
    return f"jobs:{parsed.base}" if parsed is not None and parsed.tasks else f"job:{job_id}"


def jobs_key(ids: Sequence[str]) -> str:
    """The key of the log of several jobs together."""
    return f"jobs:{','.join(ids)}"


def open_run(session: Session, view: RunView) -> LogDocument:
    """The whole log of a run."""
    return LogDocument(RunLog(session, view, 0), visible(view.run.name))


def open_key(session: Session, snapshot: Snapshot, key: str, name: str = "") -> LogDocument | None:
    """The log of a key; None when there is nothing of that name (any more)."""
    kind, _, what = key.partition(":")
    if not what:
        return None
    if kind == "run":
        view = snapshot.find_run(what)
        return None if view is None else open_run(session, view)
    if kind == "file":
        return LogDocument(FixedLog([Path(what)]), name or visible(Path(what).name))
    if kind == "jobs":
        ids = what.split(",")
        shown = f"array {what}" if len(ids) == 1 else f"{len(ids)} jobs"
        return LogDocument(JobsLog(session, ids), visible(name or shown))
    if kind == "job":
        return LogDocument(EndedJobLog(session, what, 0), visible(name or f"job {what}"))
    return None
