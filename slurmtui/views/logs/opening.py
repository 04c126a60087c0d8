"""From what is marked, under the cursor or typed to the keys of the logs that are meant."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from slurmtui.models.ids import parse_job_id
from slurmtui.models.text import visible
from slurmtui.paths import typed_path
from slurmtui.store.log_open import job_key, run_key

if TYPE_CHECKING:
    from slurmtui.actions.model import Context
    from slurmtui.store.snapshot import Snapshot

_MOST = 500


def marked_keys(context: Context) -> list[str]:
    """The logs of the marked runs or jobs."""
    runs = [run_key(view.run.id) for view in context.marked_runs]
    jobs = [
        f"jobs:{context.groups[job.id].id}" if job.id in context.groups else job_key(job.id)
        for job in itertools.islice(context.marked_jobs, _MOST)
    ]
    return list(dict.fromkeys(runs + jobs))


def keys_meant(snapshot: Snapshot, text: str) -> tuple[list[str], str]:
    """The logs of what was typed (names or ids of runs, ids of jobs, paths), and what was not understood."""
    keys: list[str] = []
    for word in text.split():
        key = _key_of(snapshot, word)
        if not key:
            return keys, f"There is no run, job or file {visible(word)}"
        keys.append(key)
    return keys, ""


def _key_of(snapshot: Snapshot, word: str) -> str:
    if word.startswith(("/", "~", "./")):
        return f"file:{typed_path(word)}"
    runs = [view.run.id for view in snapshot.runs if view.run.name == word or view.run.id.startswith(word.lower())]
    if len(runs) == 1 and not word.isdigit():
        return run_key(runs[0])
    if parse_job_id(word) is not None:
        return (
            job_key(word)
            if snapshot.queue.data.index(word) is not None or not _is_array(snapshot, word)
            else f"jobs:{word}"
        )
    return run_key(runs[0]) if runs else ""


def _is_array(snapshot: Snapshot, word: str) -> bool:
    """Whether jobs in the queue are tasks of the array of this number."""
    return bool(snapshot.queue.data.rows_of(word)) and word.isdigit()
