"""What ``batch_job`` does: submit, wait, pass on the output, and cancel the job when the waiting is ended."""

from __future__ import annotations

import contextlib
import signal
import time
from typing import TYPE_CHECKING, Any

import msgspec
from prefect.exceptions import TerminationSignal
from prefect.logging import get_run_logger
from prefect.runtime import task_run

from slurmtui.atomic import write_private
from slurmtui.control.slurm import cancel_jobs, submit_script
from slurmtui.errors import CommandError
from slurmtui.flows.batch import BatchJobFailed, BatchJobResult
from slurmtui.flows.batch_log import JobOutput
from slurmtui.flows.blocking import run
from slurmtui.flows.ending import ENDING
from slurmtui.flows.job_watch import WATCH, JobNews
from slurmtui.models.reasons import explain
from slurmtui.models.run_record import TaskPlace
from slurmtui.session import user_name
from slurmtui.sources.exec import Runner
from slurmtui.sources.run_folder import TASKS_FOLDER
from slurmtui.sources.slurm.client import Slurm

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.flows.batch_script import BatchScript

_STEP = 0.5  # seconds between two looks at the job's output


def submit_and_wait(what: BatchScript, directory: str | Path | None) -> BatchJobResult:
    """One job from its submission to its end; see ``batch_job``."""
    logger = get_run_logger()
    job_id = _submitted(what, directory)
    try:  # at once: nothing may come between that would leave the job to itself
        logger.info("SLURM job %s is submitted", job_id)
        _note_place(what.folder, job_id)
        output = JobOutput(_detail(job_id), logger)
        news = _waited(job_id, output, logger)
    except BaseException:
        # Whatever ends the waiting ends the job: a cancelled run, a time limit of the task, an error of our own.
        run(cancel_jobs(Runner(), [job_id]))
        logger.info("SLURM job %s is cancelled", job_id)
        raise
    finally:
        WATCH.forget(job_id)
    if news.state != "COMPLETED":
        raise BatchJobFailed(job_id, news, output.last_lines())
    return BatchJobResult(job_id=job_id, state=news.state, elapsed=news.elapsed, stdout=output.stdout)


def _submitted(what: BatchScript, directory: str | Path | None) -> str:
    return run(submit_script(Runner(), what.script, what.options, chdir=directory, env=what.environment))


def _note_place(folder: Path | None, job_id: str) -> None:
    """Leave a note in the run's folder which task run the job is; not worth failing for."""
    if folder is None or not task_run.id:
        return
    place = TaskPlace(task_run_id=str(task_run.id), job_id=job_id, time=time.time())
    with contextlib.suppress(OSError):
        (folder / TASKS_FOLDER).mkdir(mode=0o700, exist_ok=True)
        write_private(folder / TASKS_FOLDER / f"{job_id}.jsonl", msgspec.json.encode(place) + b"\n")


def _detail(job_id: str) -> Any:
    try:
        return run(Slurm(Runner(), user_name()).job_detail(job_id))
    except CommandError:
        return None  # where its output is, is then not known; the job itself is well


def _waited(job_id: str, output: JobOutput, logger: Any) -> JobNews:
    """Wait for the job's end, with its states and its output in the log."""
    WATCH.add(job_id)
    shown = JobNews(state="")
    try:
        while True:
            if ENDING.wait(_STEP):
                raise TerminationSignal(signal.SIGTERM)
            news = WATCH.news(job_id)
            _tell(job_id, shown, news, logger)
            shown = news
            if output.pass_on():
                WATCH.hurry()
            if news.ended:
                output.pass_on(finish=True)
                return news
    finally:
        output.close()


def _tell(job_id: str, before: JobNews, now: JobNews, logger: Any) -> None:
    if now.problem and now.problem != before.problem:
        logger.warning("SLURM job %s: %s", job_id, now.problem)
    if (now.state, now.reason) == (before.state, before.reason):
        return
    if now.state == "PENDING":
        if now.reason and now.reason != "None":
            logger.info("SLURM job %s waits: %s", job_id, explain(now.reason).words)
    elif now.state != before.state:
        where = f" on {now.nodes}" if now.nodes and now.state == "RUNNING" else ""
        after = f" after {now.elapsed} s" if now.ended and now.elapsed is not None else ""
        logger.info("SLURM job %s: %s%s%s", job_id, now.state, where, after)
