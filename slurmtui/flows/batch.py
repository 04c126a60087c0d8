"""``batch_job``: a Prefect task that is one SLURM batch job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prefect import task

from slurmtui.models.exit_words import signal_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slurmtui.flows.job_watch import JobNews
    from slurmtui.models.profile import Profile

_WORDS = {
    "OUT_OF_MEMORY": "ran out of memory",
    "TIMEOUT": "reached its time limit",
    "NODE_FAIL": "lost its node",
    "BOOT_FAIL": "was given a node that did not boot",
    "CANCELLED": "was cancelled",
    "PREEMPTED": "was preempted by another job",
    "DEADLINE": "missed its deadline",
    "UNKNOWN": "is not known to SLURM any more, and nobody can tell how it ended",
}


@dataclass(frozen=True)
class BatchJobResult:
    """A job that completed. ``elapsed`` is in seconds, ``stdout`` the path of its output."""

    job_id: str
    state: str
    elapsed: int | None
    stdout: str | None


class BatchJobFailed(Exception):
    """A batch job did not complete.

    Attributes:
        job_id: SLURM's id of the job.
        state: how it ended, in SLURM's word (``OUT_OF_MEMORY``, ``TIMEOUT``, ``NODE_FAIL``, ``FAILED`` …).
        exit_code: the script's exit code.
        signal: the number of the signal that ended it, 0 for none.
        log_tail: the last lines of its output.
    """

    def __init__(self, job_id: str, news: JobNews, log_tail: str = "") -> None:
        super().__init__(job_id, news, log_tail)  # all of it, so that it survives pickling
        self.job_id = job_id
        self.state = news.state
        self.exit_code = news.exit_code
        self.signal = news.signal
        self.log_tail = log_tail
        self._sentence = _why(job_id, news)

    def __str__(self) -> str:
        last = self.log_tail.rpartition("\n")[2].strip()
        return f"{self._sentence} Its last line: {last}" if last else self._sentence

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


@task(name="batch_job")
def batch_job(
    script: str | Path | None = None,
    *,
    command: str | Sequence[str] | None = None,
    profile: str | Profile | None = None,
    options: Sequence[str] = (),
    directory: str | Path | None = None,
    **overrides: Any,
) -> BatchJobResult:
    """Submit one SLURM job, wait for its end, and log its states and its output meanwhile.

    It is a Prefect task: call it, ``.submit()`` it, give it ``retries`` with ``.with_options(retries=2)``. When the run
    is cancelled, so is the job.

    Args:
        script: a batch script: the path of a file, or its text, which begins with ``#!``; a line of several words
            that is no file is taken as the command.
        command: a command instead, run inside a script made here: a list of arguments, or lines of bash.
        profile: what the job asks SLURM for. Without one a command gets the profile of the run; a script stands for
            itself.
        options: more options of sbatch, such as ``["--exclusive"]``; they win.
        directory: where the job runs; without one where the flow runs.
        **overrides: keys of a profile that shall differ, such as ``nodes=2`` or ``memory="16G"``.

    Raises:
        BatchJobFailed: the job did not complete; says why.
        CommandError: sbatch refused it; says why in SLURM's words.
        UsageError: the arguments do not go together, or there is no such profile.
    """
    # Imported here: to reach a Dask worker the task's function is pickled with the globals that it uses.
    from slurmtui.flows.batch_run import submit_and_wait
    from slurmtui.flows.batch_script import batch_script

    return submit_and_wait(batch_script(script, command, profile, options, overrides), directory)


def _why(job_id: str, news: JobNews) -> str:
    """One sentence on how the job ended."""
    words = _WORDS.get(news.state)
    if words is None:
        words = (
            f"was ended by {signal_words(news.signal)}" if news.signal else f"failed with exit code {news.exit_code}"
        )
    if news.state == "OUT_OF_MEMORY" and news.requested_memory:
        used = f"used {news.used_memory:.0f} of " if news.used_memory else "had "
        words += f" ({used}{news.requested_memory:.0f} MiB)"
    if news.state == "NODE_FAIL" and news.nodes:
        words += f" ({news.nodes})"
    after = f" after {news.elapsed} s" if news.elapsed else ""
    return f"SLURM job {job_id} {words}{after} ({news.state})."
