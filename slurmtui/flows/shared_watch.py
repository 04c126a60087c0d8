"""When the shared cluster that a run works on is gone, or SLURM refuses its jobs, and the run would wait for ever."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from slurmtui import paths
from slurmtui.errors import RunFolderError
from slurmtui.flows import jobs
from slurmtui.flows.refusal import GRACE, trailing_refusals, words_of
from slurmtui.models.run_record import SharedUse
from slurmtui.sources.cluster_folder import keeper_status, read_cluster
from slurmtui.sources.record_files import read_facts
from slurmtui.sources.run_folder import SHARED_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.models.shared_cluster import ClusterRecord

GONE_FOR = 5.0
"""Seconds that a keeper must be gone: a flow whose last task has ended may just be ending itself."""

_ASK_EVERY = 2.0


class SharedWatch:
    """Looks again and again at the cluster that one attempt uses; nothing while it uses none."""

    def __init__(self, folder: Path, attempt: int) -> None:
        self._folder, self._attempt = folder, attempt
        self._gone_since: float | None = None
        self._next = 0.0

    def for_good(self) -> str:
        """Why the run can only wait for ever; empty otherwise."""
        now = time.monotonic()
        if now < self._next:
            return ""
        self._next = now + _ASK_EVERY
        use = read_facts(self._folder / SHARED_FILE, SharedUse, [])
        if use is None or use.attempt != self._attempt:
            return ""
        record = _record(use)
        if record is None or keeper_status(record).dead:
            self._gone_since = now if self._gone_since is None else self._gone_since
            why = record.keeper.message if record is not None and record.keeper is not None else ""
            said = f"the shared cluster {use.name!r} is gone{f': {why}' if why else ''}"
            return said if now - self._gone_since >= GONE_FOR else ""
        self._gone_since = None
        return _refused(record, use)


def _record(use: SharedUse) -> ClusterRecord | None:
    try:
        return read_cluster(paths.clusters_folder() / use.cluster_id)
    except RunFolderError:
        return None


def _refused(record: ClusterRecord, use: SharedUse) -> str:
    """SLURM's words when it has refused the cluster's jobs since the run uses it, and there is none."""
    since = trailing_refusals([entry for entry in record.submissions if entry.time >= use.time])
    if not since or time.time() - since[0].time < GRACE:
        return ""
    known = jobs.submitted_by_cluster(record)
    if known.ids and asyncio.run(jobs.alive(known)) != set():
        return ""
    return f"sbatch refused: {words_of(since[-1])} (shared cluster {use.name!r})"
