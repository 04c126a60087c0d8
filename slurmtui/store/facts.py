"""Everything a verdict is made from: the facts of one run, and what follows from them at once."""

from __future__ import annotations

import msgspec

from slurmtui.models.flow_run import FlowRun, TaskCounts, TaskRun
from slurmtui.models.ids import base_id
from slurmtui.models.job import ENDED_STATES, EndedJob, Job
from slurmtui.models.run_record import DriverStatus, MemoryKills, RunRecord, SharedUse, Submission
from slurmtui.models.shared_cluster import ClusterView


class Source(msgspec.Struct, frozen=True):
    """How far a source can be trusted: when it was last asked with success, what it says now instead of answering."""

    asked: float | None = None
    error: str = ""

    @property
    def good(self) -> bool:
        """Whether its data is of now."""
        return self.asked is not None and not self.error


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one run.

    Attributes:
        known: whether Prefect knows the run; otherwise ``run`` was made from the run's folder.
        driver_since: when the driver was first seen in this state, None if it was always so.
        jobs: the run's jobs in the queue, that of the driver among them.
        ended: what accounting says of jobs that left the queue.
        task_runs: None while they are not loaded.
        cluster: the shared cluster that the run uses, None also when nothing of it is left.
        jobs_seen: when a job of the run was last seen in the queue.
        api_url: where Prefect was asked.
    """

    now: float
    run: FlowRun
    known: bool = True
    record: RunRecord | None = None
    driver: DriverStatus = DriverStatus.NONE
    driver_since: float | None = None
    jobs: tuple[Job, ...] = ()
    ended: tuple[EndedJob, ...] = ()
    tasks: TaskCounts | None = None
    task_runs: tuple[TaskRun, ...] | None = None
    jobs_seen: float | None = None
    cluster: ClusterView | None = None
    queue: Source = Source()
    prefect: Source = Source()
    accounting: Source = Source()
    api_url: str = ""

    @property
    def attempt(self) -> int:
        """The number of the newest start of the driver."""
        if self.record is None:
            return max(1, self.run.run_count)
        return max(start.attempt if start is not None else 1 for start in (self.record.driver, self.record.launch))

    @property
    def shared(self) -> SharedUse | None:
        """That the newest attempt uses a shared cluster."""
        use = self.record.shared if self.record is not None else None
        return use if use is not None and use.attempt == self.attempt else None

    @property
    def attempt_started(self) -> float:
        """When the newest driver was started, 0 when nothing is known of one."""
        if self.record is None:
            return 0.0
        launched = self.record.launch.time if self.record.launch is not None else 0.0
        return max(launched, self.record.driver.started if self.record.driver is not None else 0.0)

    @property
    def memory_kills(self) -> MemoryKills | None:
        """What the driver of the newest attempt has found out of workers that Dask killed for their memory."""
        driver = self.record.driver if self.record is not None else None
        return driver.memory_kills if driver is not None and driver.attempt == self.attempt else None

    @property
    def submissions(self) -> tuple[Submission, ...]:
        """The calls of sbatch of the newest attempt, oldest first."""
        if self.record is None:
            return ()
        return tuple(entry for entry in self.record.submissions if entry.attempt == self.attempt)

    @property
    def worker_calls(self) -> tuple[Submission, ...]:
        """Calls of sbatch of the newest attempt that were not a batch job's: most likely Dask's, for its workers."""
        return tuple(entry for entry in self.submissions if entry.by != "batch_job")

    @property
    def driver_jobs(self) -> frozenset[str]:
        """The ids of the jobs that are the driver."""
        return driver_job_ids(self.record)

    @property
    def driver_job(self) -> Job | None:
        """The driver's own job in the queue."""
        return next((job for job in self.jobs if job.id in self.driver_jobs), None)

    @property
    def workers(self) -> tuple[Job, ...]:
        """The run's jobs in the queue without that of the driver."""
        own = self.driver_jobs
        return tuple(job for job in self.jobs if job.id not in own) if own else self.jobs

    @property
    def leftovers(self) -> tuple[Job, ...]:
        """Jobs in the queue that are not on their way out already."""
        return tuple(job for job in self.jobs if job.active and job.state != "COMPLETING")

    @property
    def attempt_ended(self) -> tuple[EndedJob, ...]:
        """Jobs of the newest attempt that have ended, the driver's own among them, the newest end last."""
        return self._ended_of(self.submissions, self.driver_jobs)

    @property
    def workers_ended(self) -> tuple[EndedJob, ...]:
        """Those of ``worker_calls`` that have ended."""
        return self._ended_of(self.worker_calls, frozenset())

    def _ended_of(self, calls: tuple[Submission, ...], others: frozenset[str]) -> tuple[EndedJob, ...]:
        ended = [job for job in self.ended if job.state in ENDED_STATES]
        if self.record is not None:
            made = {base_id(entry.job_id) for entry in calls if entry.job_id} | others
            ended = [job for job in ended if base_id(job.id) in made]
        return tuple(sorted(ended, key=lambda job: job.end or 0))

    @property
    def jobs_made(self) -> bool:
        """Whether the newest attempt is known to have had jobs beside its driver's."""
        if any(entry.job_id for entry in self.submissions):
            return True
        return self.jobs_seen is not None and self.jobs_seen > self.attempt_started

    @property
    def jobs_to_come(self) -> bool:
        """Whether the newest attempt has just begun: what jobs it makes were made after SLURM was last asked."""
        if self.jobs_seen is not None and self.jobs_seen > self.attempt_started:
            return False
        made = [entry.time for entry in self.submissions if entry.job_id]
        driver = self.record.driver if self.record is not None else None
        expected = driver is not None and driver.attempt == self.attempt and bool(driver.uses_profile)
        return min(made) > (self.queue.asked or 0) if made else expected

    @property
    def workers_made(self) -> bool:
        """Whether the newest attempt is known to have had workers."""
        return any(entry.job_id for entry in self.worker_calls) if self.submissions else self.jobs_made

    @property
    def last_job_time(self) -> float:
        """The latest moment at which a job of the attempt is known to have been there."""
        own = self.driver_jobs
        times: list[float] = [self.jobs_seen or 0]
        times += [entry.time for entry in self.submissions if entry.job_id]
        times += [job.end or 0 for job in self.attempt_ended if job.id not in own]
        return max(times)


def driver_job_ids(record: RunRecord | None) -> frozenset[str]:
    """The ids of the jobs that are the driver of a run, earlier attempts' left out where they are not recorded."""
    if record is None:
        return frozenset()
    found = (
        record.driver_job_id,
        record.launch.job_id if record.launch is not None else None,
        record.driver.job_id if record.driver is not None else None,
    )
    return frozenset(job_id for job_id in found if job_id)
