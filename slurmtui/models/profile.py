"""A profile: what a set of SLURM jobs asks for, in the user's words."""

from __future__ import annotations

import msgspec


class Adapt(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of an adaptive Dask cluster, in jobs."""

    maximum: int
    minimum: int = 0


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often a run is started again by itself after an end that is SLURM's doing, by what ended it.

    ``grow`` is how much more memory (time) is asked for after ``out_of_memory`` (``timeout``), as a factor.
    """

    node_fail: int = 0
    preempted: int = 0
    out_of_memory: int = 0
    timeout: int = 0
    grow: int = 2


class SharedPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """When a shared cluster of the profile lets go, in seconds.

    ``idle`` is how long a job without work is kept for the next one; ``end`` how long the cluster lives without a flow.
    """

    idle: float = 300.0
    end: float = 3600.0


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What dask-jobqueue's SLURMCluster and sbatch need for the jobs of a run.

    ``memory`` is per job, as SLURM writes it (``4G``); ``walltime`` is ``[D-]HH:MM:SS``; ``workers`` is the fixed
    number of jobs, ``adapt`` the bounds of a number that follows the work (one of the two; neither means one job).
    ``directives`` are extra ``#SBATCH`` options, ``skip_directives`` substrings of those to leave out. ``retry`` and
    ``shared`` are not for SLURM: they say when the driver starts a run again by itself, and when a shared cluster
    lets go.
    """

    name: str
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    cores: int = 1
    processes: int = 1
    memory: str = "1G"
    walltime: str = "00:30:00"
    nodes: int = 1
    gres: str | None = None
    workers: int | None = None
    adapt: Adapt | None = None
    python: str | None = None
    prologue: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    skip_directives: tuple[str, ...] = ()
    interface: str | None = None
    local_directory: str | None = None
    log_directory: str | None = None
    tls: bool = True
    retry: RetryPolicy | None = None
    shared: SharedPolicy | None = None
