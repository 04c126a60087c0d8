"""One watcher a process for all the jobs that its tasks wait for: one squeue a look, fewer looks the longer it takes.

It looks after 1, 2, 4 … 30 seconds; a new job or a change brings it back to 1. A job that is missing from the queue has
not ended for that: SLURM's controller is asked for it, then accounting, and only their word counts.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import CommandError
from slurmtui.models.job import ENDED_STATES, EndedJob
from slurmtui.models.values import Special, seconds
from slurmtui.session import user_name
from slurmtui.sources.exec import Runner
from slurmtui.sources.slurm.client import Slurm

if TYPE_CHECKING:
    from slurmtui.models.job import Job, JobDetail

FIRST_LOOK = 1.0
LONGEST_PAUSE = 30.0
UNKNOWN_FOR = 120.0
"""Seconds after which a job that neither the controller nor accounting knows is given up."""


class JobNews(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a job now; ``problem`` is why nothing newer is."""

    state: str = "PENDING"
    reason: str = ""
    nodes: str = ""
    exit_code: int = 0
    signal: int = 0
    elapsed: int | None = None
    used_memory: float | None = None  # mebibytes
    requested_memory: float | None = None
    problem: str = ""

    @property
    def ended(self) -> bool:
        """Whether SLURM has said that the job is over (or has forgotten it for good)."""
        return self.state in ENDED_STATES or self.state == "UNKNOWN"


class JobWatch:
    """Watches jobs from one thread, which lives as long as there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._news: dict[str, JobNews] = {}
        self._missing: dict[str, float] = {}
        self._thread: threading.Thread | None = None

    def add(self, job_id: str) -> None:
        """Begin to watch a job."""
        with self._lock:
            self._news[job_id] = JobNews()
            self._missing.pop(job_id, None)  # of a job of that number which was forgotten during a look
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="slurmtui-jobs", daemon=True)
                self._thread.start()
        self._hurry.set()

    def news(self, job_id: str) -> JobNews:
        """The newest that is known of a watched job."""
        with self._lock:
            return self._news[job_id]

    def hurry(self) -> None:
        """Look soon: something has happened."""
        self._hurry.set()

    def forget(self, job_id: str) -> None:
        """Watch a job no more."""
        with self._lock:
            self._news.pop(job_id, None)
            self._missing.pop(job_id, None)

    def _watch(self) -> None:
        pause = FIRST_LOOK
        while True:
            if self._hurry.wait(pause):
                self._hurry.clear()
                pause = FIRST_LOOK
                time.sleep(FIRST_LOOK)
            with self._lock:
                waiting = [job_id for job_id, news in self._news.items() if not news.ended]
                if not self._news:
                    self._thread = None
                    return
            changed = self._look(waiting) if waiting else False
            pause = FIRST_LOOK if changed else min(pause * 2, LONGEST_PAUSE)

    def _look(self, ids: list[str]) -> bool:
        """Ask about the jobs; True when anything has changed."""
        try:
            found = asyncio.run(self._ask(ids))
        except CommandError as error:
            found = {job_id: self._unchanged(job_id, str(error)) for job_id in ids}
        except Exception as error:  # noqa: BLE001 - said in the log of each job: without this thread all wait for ever
            words = f"{type(error).__name__}: {error}"
            found = {job_id: self._unchanged(job_id, words) for job_id in ids}
        with self._lock:
            changed = {job_id for job_id, news in found.items() if self._news.get(job_id, news) != news}
            self._news.update({job_id: news for job_id, news in found.items() if job_id in self._news})
        return bool(changed)

    async def _ask(self, ids: list[str]) -> dict[str, JobNews]:
        slurm = Slurm(Runner(), user_name())
        queued = await slurm.jobs_by_id(ids)
        answer = {job_id: _of_queued(job) for job_id, job in queued.items()}
        for job_id in ids:
            if job_id not in queued:
                answer[job_id] = await self._gone(slurm, job_id)
        return answer

    async def _gone(self, slurm: Slurm, job_id: str) -> JobNews:
        """What became of a job that is not in the queue any more."""
        detail = await slurm.job_detail(job_id)
        if detail is not None and detail.state not in ENDED_STATES:
            return JobNews(state=detail.state, nodes=detail.nodes)
        if detail is not None and detail.state == "COMPLETED":
            return _of_detail(detail)
        problem, ended = "", None
        try:
            ended = (await slurm.ended_jobs([job_id])).get(job_id)
        except CommandError as error:
            problem = str(error)
        if detail is not None:
            return _of_detail(detail, ended)
        if ended is not None:
            return _of_ended(ended)
        since = self._missing.setdefault(job_id, time.monotonic())
        if time.monotonic() - since > UNKNOWN_FOR:
            return JobNews(state="UNKNOWN", problem=problem or "SLURM and its accounting have forgotten the job")
        return self._unchanged(job_id, problem or "SLURM does not tell of the job")

    def _unchanged(self, job_id: str, problem: str) -> JobNews:
        """What was known, with why nothing newer is; the job may have been forgotten since the look began."""
        with self._lock:
            return msgspec.structs.replace(self._news.get(job_id, JobNews()), problem=problem)


def _of_queued(job: Job) -> JobNews:
    state = job.state if job.state not in ENDED_STATES else "COMPLETING"
    return JobNews(state=state, reason=job.reason, nodes=job.nodes)


def _of_detail(detail: JobDetail, ended: EndedJob | None = None) -> JobNews:
    """The controller's word, with what accounting adds: memory, and a lack of it that only a step tells of."""
    fields = dict(detail.fields)
    code, _, signal = (fields.get("ExitCode") or "0:0").partition(":")
    run_time = seconds(fields.get("RunTime", ""))
    out_of_memory = ended is not None and ended.state == "OUT_OF_MEMORY"
    return JobNews(
        state="OUT_OF_MEMORY" if out_of_memory else detail.state,
        reason=detail.reason,
        nodes=detail.nodes,
        exit_code=int(code) if code.isdigit() else 0,
        signal=int(signal) if signal.isdigit() else 0,
        elapsed=None if isinstance(run_time, Special) else run_time,
        used_memory=ended.max_rss if ended else None,
        requested_memory=ended.requested_memory if ended else None,
    )


def _of_ended(ended: EndedJob) -> JobNews:
    return JobNews(
        state=ended.state,
        reason=ended.reason,
        nodes=ended.nodes,
        exit_code=ended.exit_code,
        signal=ended.signal,
        elapsed=None if isinstance(ended.elapsed, Special) else ended.elapsed,
        used_memory=ended.max_rss,
        requested_memory=ended.requested_memory,
    )


WATCH = JobWatch()
"""The one of this process."""
