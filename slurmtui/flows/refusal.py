"""When sbatch refused the jobs of a run, and the run waits for them for ever.

dask-jobqueue only prints the refusal; the flow stays Running without a job. It is over when the newest answers of
sbatch were all refusals, none of the run's jobs lives, and some time was left for a change.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from typing import TYPE_CHECKING

from slurmtui.flows import jobs
from slurmtui.models.text import visible
from slurmtui.sources.run_folder import SUBMISSIONS_FILE, read_folder

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.models.run_record import Submission

GRACE = 10.0
"""Seconds between the first refusal and the end of the run."""


class Refusals:
    """Looks again and again at what sbatch answered to one attempt; reads the answers only when there are new ones."""

    def __init__(self, folder: Path, attempt: int) -> None:
        self._folder, self._attempt = folder, attempt
        self._seen = 0
        self._refusals: list[Submission] = []

    def for_good(self) -> str:
        """SLURM's words when the run can only wait for ever; empty otherwise."""
        if "dask_jobqueue" not in sys.modules:
            return ""  # who calls sbatch otherwise gets its answer and acts on it
        self._read()
        if not self._refusals or time.time() - self._refusals[0].time < GRACE:
            return ""
        known = jobs.submitted(self._folder, self._attempt)
        if known.ids and asyncio.run(jobs.alive(known)) != set():
            return ""
        return words_of(self._refusals[-1])

    def _read(self) -> None:
        try:
            size = (self._folder / SUBMISSIONS_FILE).stat().st_size
        except OSError:
            return
        if size != self._seen:
            self._seen = size
            own = [entry for entry in read_folder(self._folder).submissions if entry.attempt == self._attempt]
            self._refusals = trailing_refusals(own)


def trailing_refusals(submissions: list[Submission]) -> list[Submission]:
    """The refusals of workers' jobs after the last job that SLURM took."""
    workers = [entry for entry in submissions if entry.by != "batch_job"]
    last = max((number for number, entry in enumerate(workers) if entry.job_id), default=-1)
    return [entry for entry in workers[last + 1 :] if entry.code]


def words_of(refusal: Submission) -> str:
    """SLURM's words without its commands' names: the last line, which says why, before what it said on the way."""
    lines = [
        re.sub(r"^(sbatch: )?(error: )?(Batch job submission failed: )?", "", line.strip())
        for line in refusal.said.splitlines()
        if line.strip()
    ]
    why = visible(lines[-1]) if lines else f"exit code {refusal.code}, without a word"
    return f"{why} ({'; '.join(visible(line) for line in lines[:-1])})" if lines[1:] else why
