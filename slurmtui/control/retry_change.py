"""What the jobs of another attempt ask for, when it is not what they asked for before."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.config_values import clock, duration
from slurmtui.control.plan import sbatch_options
from slurmtui.control.slurm import test_only
from slurmtui.errors import CommandError, Refused, UsageError
from slurmtui.models.retry import Way, difference, memory_text, ways
from slurmtui.models.text import visible
from slurmtui.models.values import memory
from slurmtui.profiles import pick_profile

if TYPE_CHECKING:
    from slurmtui.models.profile import Profile
    from slurmtui.models.run_record import RunRecord
    from slurmtui.session import Session

OWN_RUNNER = "the flow has a task runner of its own: what its jobs ask for stands in its file, and is not changed here"
_TRIAL = b"#!/bin/sh\ntrue\n"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a person typed: another profile, and keys of it that shall differ."""

    profile: str | None = None
    memory: str | None = None
    time: str | None = None
    partition: str | None = None

    @property
    def empty(self) -> bool:
        """Whether all shall be as it was."""
        return self == Change()


def fixed_by_flow(record: RunRecord) -> str:
    """Why another profile would change nothing for this run; empty when it would."""
    if record.driver is not None and record.driver.uses_profile is not None:
        return "" if record.driver.uses_profile else OWN_RUNNER
    return "" if record.profile is not None else OWN_RUNNER


def changed_profile(session: Session, record: RunRecord, change: Change) -> Profile | None:
    """The profile with the change in it, None when nothing is to change.

    Raises:
        UsageError: there is no such profile, or a value is not understood.
        Refused: the flow does not take its jobs from a profile.
    """
    if change.empty:
        return None
    if fixed := fixed_by_flow(record):
        raise Refused(f"{visible(record.spec.name)}: {fixed}.")
    profile = pick_profile(session.config, change.profile) if change.profile else record.profile
    if profile is None:
        raise Refused(f"{visible(record.spec.name)}: {OWN_RUNNER}.")
    wanted: dict[str, str] = {}
    if change.memory is not None:
        wanted["memory"] = _memory(change.memory)
    if change.time is not None:
        wanted["walltime"] = _walltime(change.time)
    if change.partition is not None:
        wanted["partition"] = change.partition
    return msgspec.structs.replace(profile, **wanted)


async def ways_for(session: Session, record: RunRecord) -> tuple[Way, ...]:
    """Every way to retry the run, those that cannot be taken with the reason."""
    profile = None if fixed_by_flow(record) else record.profile
    if profile is None:
        return ways(None)
    try:
        partitions = await session.slurm.partitions()
    except CommandError:
        partitions = ()  # without SLURM's word there are no bounds, and sbatch has the last word anyway
    return ways(profile, record.spec.profile, partitions, session.config.profiles.values())


async def slurm_says(session: Session, profile: Profile) -> tuple[bool, str]:
    """Whether SLURM would take one job of the profile, and its words."""
    try:
        timeout = session.config.slurm.timeout_seconds
        answer = await test_only(session.runner, _TRIAL, sbatch_options(profile), timeout=timeout)
    except CommandError as error:
        return False, f"SLURM could not be asked: {error}"
    if answer.ok and answer.start is not None:
        return True, f"one would start {_when(answer.start)} on {visible(answer.nodes)}"
    return answer.ok, visible(answer.text) or "it said nothing"


def _when(moment: float) -> str:
    """As local time, with the day when it is another one."""
    here, today = time.localtime(moment), time.localtime()
    return time.strftime("%H:%M" if here[:3] == today[:3] else "on %d %b at %H:%M", here)


def why_changed(before: Profile | None, after: Profile | None, reason: str = "") -> str:
    """The change in words, with what it answers."""
    told = difference(before, after)
    return f"{told} (after {reason})" if told and reason else told


def _memory(text: str) -> str:
    amount = memory(text.strip())
    if amount is None or amount < 1:
        raise UsageError(f"--memory {visible(text)!r} is no memory of SLURM's, such as 32G or 500M.")
    return memory_text(amount)


def _walltime(text: str) -> str:
    """A time limit as the configuration takes it; bare minutes would be guessed at, so they need a unit."""
    total = duration(text.strip())
    if not total:
        raise UsageError(f"--time {visible(text)!r} is no time limit: write 4:00:00, 1-00:00:00 or 30m.")
    return clock(total)
