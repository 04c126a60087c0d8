"""What would be asked of SLURM, and whether SLURM would take it: looked at before anything is created."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.control.slurm import test_only
from slurmtui.errors import CommandError, Refused
from slurmtui.models.text import visible
from slurmtui.models.values import Special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.profile import Profile
    from slurmtui.models.run_record import RunSpec
    from slurmtui.session import Session

_TRIAL = b"#!/bin/sh\ntrue\n"
_UNAVAILABLE = "Requested node configuration is not available"
_AWAY = ("drain", "down", "fail", "maint", "reboot", "unk")
_NOTHING = "Nothing was created."
_DRIVER_MEMORY = "2G"
_DRIVER_LONGEST = 2 * 86_400  # seconds: a driver waits for its jobs, and a longer limit makes it wait longer itself


def sbatch_options(profile: Profile) -> tuple[str, ...]:
    """The profile as options of sbatch, for one job."""
    options = [
        *_where(profile),
        f"--nodes={profile.nodes}",
        f"--cpus-per-task={profile.cores}",
        f"--mem={profile.memory}",
        f"--time={profile.walltime}",
    ]
    if profile.gres:
        options.append(f"--gres={profile.gres}")
    options.extend(profile.directives)
    return tuple(option for option in options if not any(skip in option for skip in profile.skip_directives))


async def driver_options(session: Session, spec: RunSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options of sbatch for a driver that is a job, and the lines to run before it.

    They come from the configuration's ``driver_profile``. Without one the job goes where the run's own jobs go, with
    one core, and for as long as its partition allows (two days at most).
    """
    marks = (f"--job-name={spec.job_name}", f"--comment={spec.comment}", "--ntasks=1", "--no-requeue")
    named = session.config.driver_profile
    if named is not None:
        profile = session.config.profiles[named]
        return (*sbatch_options(profile), *marks), profile.prologue
    small = ["--nodes=1", "--cpus-per-task=1", f"--mem={_DRIVER_MEMORY}"]
    run_profile = spec.profile
    where = _where(run_profile) if run_profile else []
    limit = await _longest(session, run_profile.partition if run_profile else None)
    time = [f"--time={limit // 60}"] if limit else []
    return (*where, *small, *time, *marks), run_profile.prologue if run_profile else ()


async def check_jobs(session: Session, profile: Profile) -> str:
    """Ask SLURM whether it would take a job of the profile; its words on when and where one would start.

    Raises:
        Refused: it would not, or it does not answer; the message holds its words.
    """
    try:
        return await check_options(session, sbatch_options(profile), f"a job of profile {profile.name!r}")
    except Refused as error:
        # With --test-only SLURM says the same of a request that no node can meet and of nodes that are drained for
        # an hour; sbatch takes the latter, and the jobs wait.
        if _UNAVAILABLE in str(error) and await _nodes_are_away(session, profile.partition):
            return "all nodes of the partition are drained or down now: the jobs would wait for them"
        raise


async def check_options(session: Session, options: Sequence[str], what: str) -> str:
    """Ask SLURM whether it would take a job with these options; its words.

    Raises:
        Refused: it would not, or it does not answer; the message holds its words.
    """
    try:
        answer = await test_only(session.runner, _TRIAL, options, timeout=session.config.slurm.timeout_seconds)
    except CommandError as error:
        raise Refused(f"SLURM could not be asked whether it takes {what}: {_ended(str(error))} {_NOTHING}") from error
    if not answer.ok:
        said = _ended(visible(answer.text) or "it did not say why")
        raise Refused(f"SLURM would not take {what}: {said} {_NOTHING}")
    return answer.text


async def _nodes_are_away(session: Session, partition: str | None) -> bool:
    """Whether there are nodes, and none of them takes jobs now."""
    where = (f"--partition={partition}",) if partition else ()
    try:
        timeout = session.config.slurm.timeout_seconds
        finished = await session.runner.run(("sinfo", "-h", "-N", *where, "-o", "%T"), timeout=timeout)
    except CommandError:
        return False
    states = finished.stdout.decode("ascii", "replace").split()
    return bool(states) and all(state.startswith(_AWAY) for state in states)


def _ended(sentence: str) -> str:
    """The sentence with a full stop, so that another can follow."""
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def _where(profile: Profile) -> list[str]:
    named = {"partition": profile.partition, "account": profile.account, "qos": profile.qos}
    return [f"--{option}={value}" for option, value in named.items() if value]


async def _longest(session: Session, partition: str | None) -> int | None:
    """The longest time a driver is given, None to leave it to the partition's default."""
    try:
        partitions = await session.slurm.partitions()
    except CommandError:
        return None
    found = next((one for one in partitions if one.name == partition or (partition is None and one.default)), None)
    if found is None:
        return None
    if isinstance(found.max_time, Special):
        return _DRIVER_LONGEST if found.max_time is Special.UNLIMITED else None
    return min(found.max_time, _DRIVER_LONGEST)
