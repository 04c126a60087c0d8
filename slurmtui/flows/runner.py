"""A Dask task runner from a profile."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from slurmtui import paths
from slurmtui.errors import UsageError
from slurmtui.flows.profile import KEYS, changed, find_profile
from slurmtui.models.nearest import did_you_mean
from slurmtui.models.profile import Profile
from slurmtui.models.values import Special, memory, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prefect_dask.task_runners import DaskTaskRunner

_CLUSTER_KEYS = frozenset(
    {"death_timeout", "job_cpu", "job_mem", "job_name", "nanny", "scheduler_cls", "scheduler_options", "shebang",
     "silence_logs", "worker_command", "worker_extra_args"}
)  # fmt: skip
_RUNNER_KEYS = frozenset({"adapt_kwargs", "client_kwargs", "performance_report_path"})
_SHARED_KEYS = _RUNNER_KEYS - {"adapt_kwargs"}
_PLAIN = re.compile(r"[\w./~${}@%+=:,-]+")


def slurm_runner(profile: str | Profile | None = None, *, shared: bool = False, **overrides: Any) -> DaskTaskRunner:
    """A task runner whose tasks run in SLURM jobs.

    Args:
        profile: a profile's name in slurmtui's configuration, None for the default one, or a profile itself.
        shared: use the shared cluster of the profile, which ``slurmtui cluster up PROFILE`` has started, and which
            other flows use as well; what its jobs ask for is said there.
        **overrides: keys of a profile that shall differ (``workers=8``, ``memory="16G"``, ``adapt={"maximum": 10}``),
            arguments of dask-jobqueue's SLURMCluster that a profile does not have (``worker_extra_args``,
            ``scheduler_options`` …) and of prefect-dask's DaskTaskRunner (``client_kwargs`` …).

    Raises:
        ConfigError: the configuration holds mistakes.
        UsageError: there is no such profile, or an override is unknown or does not fit.
    """
    chosen = profile if isinstance(profile, Profile) else find_profile(profile)
    unknown = overrides.keys() - KEYS - _CLUSTER_KEYS - _RUNNER_KEYS
    for name in sorted(unknown):
        known = sorted(KEYS | _CLUSTER_KEYS | _RUNNER_KEYS)
        raise UsageError(f"slurm_runner has no argument {name!r}; {did_you_mean(name, known)}")
    if shared:
        return _shared(chosen.name, overrides)
    chosen = changed(chosen, {name: value for name, value in overrides.items() if name in KEYS})
    return runner_for(
        chosen,
        {name: value for name, value in overrides.items() if name in _CLUSTER_KEYS},
        {name: value for name, value in overrides.items() if name in _RUNNER_KEYS},
    )


def _shared(name: str, overrides: Mapping[str, Any]) -> DaskTaskRunner:
    from slurmtui.flows.shared import SharedTaskRunner

    for key in sorted(overrides.keys() - _SHARED_KEYS):
        raise UsageError(
            f"slurm_runner: {key!r} does not go with shared=True. What the jobs of a shared cluster ask for is said "
            f"when it is started: slurmtui cluster up {name}."
        )
    return SharedTaskRunner(name, **overrides)


def runner_for(
    profile: Profile, cluster: Mapping[str, Any] | None = None, runner: Mapping[str, Any] | None = None
) -> DaskTaskRunner:
    """A DaskTaskRunner whose workers are SLURM jobs as the profile describes them.

    Args:
        profile: what each job asks for, and how many there are.
        cluster: more arguments of SLURMCluster; they win over the profile's.
        runner: more arguments of DaskTaskRunner; the same.
    """
    from prefect_dask.task_runners import DaskTaskRunner

    from slurmtui.flows.cluster import slurm_cluster

    keywords: dict[str, Any] = {"cluster_class": slurm_cluster, "cluster_kwargs": cluster_arguments(profile, cluster)}
    if profile.adapt is not None:
        keywords["adapt_kwargs"] = {
            "minimum_jobs": profile.adapt.minimum,
            "maximum_jobs": profile.adapt.maximum,
        }
    else:
        keywords["cluster_kwargs"]["jobs"] = profile.workers or 1
    return DaskTaskRunner(**{**keywords, **(runner or {})})


def cluster_arguments(profile: Profile, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The profile in the words of dask-jobqueue's SLURMCluster."""
    more = dict(more or {})
    workers_extra = [*_lifetime(profile.walltime), *more.pop("worker_extra_args", ())]
    found: dict[str, Any] = {
        "queue": profile.partition,
        "account": profile.account,
        "cores": profile.cores,
        "processes": profile.processes,
        "memory": _dask_memory(profile.memory),
        "job_mem": profile.memory,
        "walltime": profile.walltime,
        "python": shlex.quote(profile.python) if profile.python else None,
        "interface": profile.interface,
        "local_directory": _in_script(profile.local_directory),
        "job_script_prologue": list(profile.prologue),
        "job_extra_directives": _directives(profile),
        "job_directives_skip": list(profile.skip_directives),
        "worker_extra_args": workers_extra,
        "scheduler_options": {"dashboard_address": ":0"},
    }
    if profile.tls:
        found |= {"security": True, "certificates": str(paths.state_folder() / "tls")}
    options = {**found["scheduler_options"], **more.pop("scheduler_options", {})}
    return {name: value for name, value in {**found, **more, "scheduler_options": options}.items() if value is not None}


def _directives(profile: Profile) -> list[str]:
    named = {"qos": profile.qos, "gres": profile.gres}
    written = [*(f"--{option}={value}" for option, value in named.items() if value), *profile.directives]
    return [line for line in written if not any(skip in line for skip in profile.skip_directives)]


def _dask_memory(text: str) -> str:
    """SLURM's memory for Dask, which reads ``4G`` as four billion bytes where SLURM means gibibytes."""
    mebibytes = memory(text)
    if mebibytes is None:
        raise UsageError(f'memory: {text!r} is no memory of SLURM\'s, such as "4G" or "512M"')
    return f"{mebibytes:.0f}MiB"


def _lifetime(walltime: str) -> list[str]:
    """Let workers end by themselves shortly before SLURM would kill them, not all at once, their results handed on."""
    limit = seconds(walltime)
    if isinstance(limit, Special):
        return []
    margin = max(min(limit // 12, 300), 30)
    if limit <= 4 * margin:
        return []
    return ["--lifetime", f"{limit - margin}s", "--lifetime-stagger", f"{margin * 4 // 5}s"]


def _in_script(path: str | None) -> str | None:
    """A path as it stands in the job's script: variables stay, anything else that a shell would read is quoted."""
    return path if path is None or _PLAIN.fullmatch(path) else shlex.quote(path)
