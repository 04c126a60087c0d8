"""A run as slurmtui's own files tell it: the run folder.

``<state>/runs/<run id>/``: each file has one writer, so that nobody overwrites another's facts.

| file | written by | holds |
|---|---|---|
| run.json | the submitter, once | RunSpec |
| driver.json | the driver, at its start and end | DriverRecord of the current attempt |
| attempt-<n>.lock | the driver, whose creation of it takes the attempt; touched while it lives | DriverRecord |
| attempts.jsonl | the driver, one line an attempt when it ends | DriverRecord |
| submissions.jsonl | the sbatch wrapper on the driver's PATH, one line a call | Submission |
| overrides.json | whoever starts an attempt with another profile, before it | AttemptProfile, one a change |
| script-<attempt>.sh | the sbatch wrapper, once an attempt | the first script handed to sbatch |
| tasks/<job id>.jsonl | the Dask workers, one line a task they begin | TaskPlace |
| cancel.json | whoever asks for the end of the run | CancelRequest |
| launch.json | the launcher, once an attempt | LaunchRecord: the newest start of a driver |
| shared.json | the driver, when it connects to a shared cluster | SharedUse |
| credentials | the launcher, once an attempt | the Prefect server's ``user:password``, for the driver |
| control.lock | who is cancelling or retrying the run now | LockRecord |
| driver.log | the driver's stdout and stderr | text |
| jobs/<job id>.out, .err | the jobs | text |
| bin/sbatch | the launcher | the wrapper that marks and records each job |
"""

from __future__ import annotations

import enum
from typing import Any

import msgspec

from slurmtui.models.profile import Profile


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What was submitted. ``entrypoint`` is ``/abs/file.py:function``; ``created`` seconds since the epoch.

    ``job_name`` and ``comment`` are the marks the run's SLURM jobs carry. ``submitted_from`` is a host name.
    """

    id: str
    name: str
    flow_name: str
    entrypoint: str
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    profile: Profile | None = None
    driver_kind: str = "login"  # or "slurm": the driver is itself a job
    job_name: str = ""
    comment: str = ""
    api_url: str = ""
    created: float = 0
    user: str = ""
    submitted_from: str = ""
    directory: str = ""  # where the user was: the driver runs there, so that relative paths mean what they meant
    python: str = ""
    version: int = 1


class MemoryKills(msgspec.Struct, frozen=True, kw_only=True):
    """Dask killed workers ``times`` times, at ``percent`` of their ``limit`` (mebibytes), as their ``logs`` tell."""

    times: int
    percent: int
    limit: float | None = None
    logs: tuple[str, ...] = ()


class DriverRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt's driver process. ``pid_started`` proves a pid is the same process (psutil create_time).

    ``uses_profile`` says whether the flow takes its jobs from the run's profile, None while that is not known.
    ``cause`` is what ended the attempt (``node_fail``, ``out_of_memory``, ``code`` …), ``again`` what is done about it
    without being asked, in words. ``memory_kills`` proves that it was a lack of memory of which SLURM knows nothing.
    """

    host: str
    pid: int
    pid_started: float
    attempt: int = 1
    started: float = 0
    ended: float | None = None
    job_id: str | None = None
    outcome: str | None = None  # Prefect's final state, or what ended the driver
    message: str = ""
    uses_profile: bool | None = None
    cause: str = ""
    again: str = ""
    memory_kills: MemoryKills | None = None


class AttemptProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What the jobs ask for from this attempt on, and why; ``by`` is ``person`` or ``policy``."""

    attempt: int
    profile: Profile
    why: str = ""
    by: str = "person"
    time: float = 0


class TaskPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A task run began in this SLURM job, on this host."""

    task_run_id: str
    job_id: str
    host: str = ""
    time: float = 0


class LaunchRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The newest start of a driver, written by whoever started it.

    On ``host`` as process ``pid`` (``pid_started`` as in DriverRecord), or, with ``job_id``, as that SLURM job.
    """

    host: str
    time: float
    attempt: int = 1
    pid: int = 0
    pid_started: float = 0
    job_id: str | None = None


class LockRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Who acts on the run now, so that a second console is told instead of doing the same."""

    host: str
    pid: int
    pid_started: float
    time: float
    doing: str = ""


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """One call of sbatch by the run: the job it made, or SLURM's words when it was refused."""

    time: float
    code: int
    job_id: str | None = None
    said: str = ""
    attempt: int = 1
    by: str = ""  # "batch_job": the caller sees the refusal itself; empty: Dask's workers, or the flow's own call


class CancelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody wants the run ended."""

    time: float
    host: str = ""
    pid: int = 0


class SharedUse(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt of the run works on this shared cluster since ``time``; ``name`` is the cluster's."""

    cluster_id: str
    name: str
    attempt: int = 1
    time: float = 0


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in one run folder."""

    spec: RunSpec
    folder: str
    driver: DriverRecord | None = None
    launch: LaunchRecord | None = None
    driver_job_id: str | None = None  # of a driver that runs as a SLURM job, known from its submission on
    submissions: tuple[Submission, ...] = ()
    cancel: CancelRequest | None = None
    overrides: tuple[AttemptProfile, ...] = ()
    shared: SharedUse | None = None
    attempts: tuple[DriverRecord, ...] = ()  # those that said that they ended, oldest first

    @property
    def profile(self) -> Profile | None:
        """What the jobs ask for now: as submitted, or as it was last changed."""
        return self.overrides[-1].profile if self.overrides else self.spec.profile

    @property
    def job_ids(self) -> tuple[str, ...]:
        """Ids of every job the run is known to have made, oldest first."""
        return tuple(entry.job_id for entry in self.submissions if entry.job_id)


class DriverStatus(str, enum.Enum):
    """What can be proved from this host about a run's driver, or the keeper of a shared cluster."""

    NONE = "none"  # slurmtui did not start one
    STARTING = "starting"  # launched, has not written its record yet
    ALIVE = "alive"
    ENDED = "ended"  # it said so itself
    GONE = "gone"  # it is not there, and never said that it ended
    ELSEWHERE = "elsewhere"  # on a host that cannot be looked at from here

    @property
    def lives(self) -> bool:
        """Whether it is seen to live, or to be about to."""
        return self in {DriverStatus.STARTING, DriverStatus.ALIVE}

    @property
    def may_live(self) -> bool:
        """Whether it lives, or cannot be shown not to."""
        return self.lives or self is DriverStatus.ELSEWHERE

    @property
    def dead(self) -> bool:
        """Whether it is proved not to live, whatever it said; one that there never was is not dead."""
        return self in {DriverStatus.ENDED, DriverStatus.GONE}
