"""Profiles: which one is meant, what does not go together in one, and those that are built in for the sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui import paths
from slurmtui.errors import UsageError
from slurmtui.models.nearest import did_you_mean
from slurmtui.models.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from slurmtui.models.config import Config

    Say = Callable[[str, str], None]  # key, sentence

_DIRECTIVE = 'write it in directives, such as ["--{0}=…"].'
OTHER_NAMES = {
    "queue": "this is `partition` here.",
    "project": "this is `account` here.",
    "ncpus": "this is `cores` here.",
    "cpus": "this is `cores` here.",
    "cpus_per_task": "this is `cores` here.",
    "job_cpu": "this is `cores` here.",
    "mem": "this is `memory` here.",
    "job_mem": "this is `memory` here.",
    "time": "this is `walltime` here.",
    "time_limit": "this is `walltime` here.",
    "gpus": 'this is `gres` here, such as "gpu:1".',
    "job_extra": "this is `directives` here.",
    "job_extra_directives": "this is `directives` here.",
    "env_extra": "this is `prologue` here.",
    "job_script_prologue": "this is `prologue` here.",
    "header_skip": "this is `skip_directives` here.",
    "job_directives_skip": "this is `skip_directives` here.",
    "n_workers": "this is `workers` here, a number of jobs.",
    "num_workers": "this is `workers` here, a number of jobs.",
    "jobs": "this is `workers` here, a number of jobs.",
    "minimum_jobs": "this is `adapt: {minimum: …}` here.",
    "maximum_jobs": "this is `adapt: {maximum: …}` here.",
    "adapt_kwargs": "this is `adapt: {minimum: …, maximum: …}` here.",
    "security": "this is `tls` here, true unless it is set to false.",
    "protocol": "this is `tls` here, true unless it is set to false.",
    "num_nodes": "this is `nodes` here.",
    "extra": "there is no such key here: options of dask-worker are slurm_runner's arguments, in the flow.",
    "worker_extra_args": "there is no such key here: options of dask-worker are slurm_runner's arguments, in the flow.",
    "scheduler_options": "there is no such key here: it is one of slurm_runner's arguments, in the flow.",
    "shebang": "there is no such key here: jobs run by bash.",
    "job_name": "there is no such key here: a job is named after its run, so that the two stay tied.",
    "name": "a profile is named by the line above it.",
    "constraint": _DIRECTIVE.format("constraint"),
    "reservation": _DIRECTIVE.format("reservation"),
    "exclude": _DIRECTIVE.format("exclude"),
    "nodelist": _DIRECTIVE.format("nodelist"),
    "mail_user": _DIRECTIVE.format("mail-user"),
    "mail_type": _DIRECTIVE.format("mail-type"),
}
"""What keys of dask-jobqueue, old and new, and other likely words are called here."""

_OWN_KEY = {
    "--partition": "partition", "-p": "partition", "--account": "account", "-A": "account", "--qos": "qos",
    "-q": "qos", "--mem": "memory", "--time": "walltime", "-t": "walltime", "--nodes": "nodes", "-N": "nodes",
    "--gres": "gres", "--cpus-per-task": "cores", "-c": "cores",
}  # fmt: skip
_NEVER = {
    "--job-name": "a job is named after its run", "-J": "a job is named after its run",
    "--comment": "the comment carries the run's id", "--output": "use log_directory", "-o": "use log_directory",
    "--error": "use log_directory", "-e": "use log_directory", "--array": "use workers", "-a": "use workers",
    "--parsable": "it is always asked for", "--wrap": "jobs have their own script",
}  # fmt: skip


def check_profile(profile: Mapping[str, Any], given: Collection[str], wrong: Say, note: Say) -> None:
    """Say what does not go together in a profile, each at the key that should change.

    Args:
        profile: the values that were understood.
        given: all keys that stand there, also those whose value is wrong.
        wrong: is called with a key and a sentence for each mistake.
        note: the same for what is allowed, but should be known.
    """
    adapt = profile.get("adapt") or {}
    if "workers" in given and "adapt" in given:
        wrong("adapt", "excludes workers: keep `workers` for a fixed number of jobs, or `adapt` for one that follows.")
    if "adapt" in profile:
        if "maximum" not in adapt:
            wrong("adapt", "has no usable maximum: write {minimum: 0, maximum: 8}.")
        elif adapt.get("minimum", 0) > adapt["maximum"]:
            wrong("adapt.maximum", f"is less than the minimum: {adapt['maximum']} < {adapt['minimum']}.")
        elif adapt.get("minimum", 0) == 0:
            note("adapt", "with minimum 0 all jobs may end between two quick steps, and queue again for the next.")
    cores, processes = profile.get("cores", 1), profile.get("processes", 1)
    if processes > cores:
        wrong("processes" if "processes" in profile else "cores", f"{processes} processes need as many cores: {cores}.")
    if profile.get("nodes", 1) > 1:
        note("nodes", "is for batch jobs: each of Dask's jobs uses one node, so this profile is not for task runners.")
    if profile.get("tls") is False:
        note("tls", "is off: whoever reaches the scheduler's port can run code as you.")
    _check_directives(profile, wrong, note)


def _check_directives(profile: Mapping[str, Any], wrong: Say, note: Say) -> None:
    skipped = profile.get("skip_directives", ())
    for directive in profile.get("directives", ()):
        option = directive.split("=")[0].split()[0]
        if option in _NEVER:
            wrong("directives", f"{option} may not be set: {_NEVER[option]}.")
        elif option in _OWN_KEY and not any(text in option for text in skipped):
            note("directives", f"{option} goes before the key {_OWN_KEY[option]}, where the console looks for it.")


def pick_profile(config: Config, name: str | None = None) -> Profile:
    """The profile named ``name``, else the configuration's default, else its only one.

    Raises:
        UsageError: there is no such profile, or none was named and it is not clear which one is meant.
    """
    profiles = config.profiles
    where = config.source or "the built-in configuration"
    if not profiles:
        raise UsageError(f"{where} has no profiles: what a job asks SLURM for. `slurmtui config init` writes some.")
    wanted = name or config.default_profile or (next(iter(profiles)) if len(profiles) == 1 else None)
    if wanted is None:
        raise UsageError(f"Name a profile ({', '.join(profiles)}), or set default_profile in {where}.")
    if wanted not in profiles:
        raise UsageError(f"There is no profile {wanted!r} in {where}: {did_you_mean(wanted, profiles)}")
    return profiles[wanted]


def sandbox_profiles() -> dict[str, Profile]:
    """Small profiles for the sandbox's partitions, used when the configuration names none."""

    def small(name: str, walltime: str, gres: str | None = None) -> Profile:
        scratch = str(paths.sandbox_folder() / "scratch")  # so that nothing is left outside the state folder
        return Profile(
            name=name, partition=name, cores=1, memory="1G", walltime=walltime, workers=2, gres=gres,
            local_directory=scratch,
        )  # fmt: skip

    found = (small("debug", "00:20:00"), small("batch", "01:00:00"), small("gpu", "01:00:00", "gpu:a100:1"))
    return {profile.name: profile for profile in found}
