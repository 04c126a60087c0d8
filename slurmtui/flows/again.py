"""Another attempt without being asked, when SLURM ended the run and the profile's ``retry`` allows it.

The driver replaces itself by a new one (exec): it keeps its process id, and so its place in SLURM when it is a job,
and nothing of the failed attempt is left in it. What the code raised is never run again.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import re
import sys
import threading
import time
from typing import TYPE_CHECKING, NoReturn

import msgspec

from slurmtui.control.run_folder import add_override
from slurmtui.errors import CommandError, RunFolderError
from slurmtui.flows import state
from slurmtui.flows.memory_kills import memory_kills
from slurmtui.models.job import ENDED_STATES
from slurmtui.models.retry import CAUSE_WORDS, CODE, allowed, cause_of, grown, tried
from slurmtui.models.run_record import AttemptProfile, DriverRecord, RunSpec
from slurmtui.session import user_name
from slurmtui.sources.exec import Runner
from slurmtui.sources.run_folder import read_attempts, read_cancel, read_folder
from slurmtui.sources.slurm.client import Slurm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_log = logging.getLogger("slurmtui.driver")
_FAILED = frozenset({"FAILED", "CRASHED"})
_COUNTED = re.compile(r"\d+/\d+ states? ")
_ASKED_ONE_BY_ONE = 20
_SETTLE = 5.0  # seconds that accounting may learn late of the end of a job
_LONGEST_EXIT = 5.0


def judged(folder: Path, spec: RunSpec, ended: DriverRecord) -> DriverRecord:
    """The record of an attempt that ended, with its cause and, when another one is to follow, what it does.

    When one is to follow, all is made ready for it: what it asks for is in the run folder, and Prefect holds the run
    for pending.
    """
    if ended.outcome not in _FAILED:
        return ended
    policy = spec.profile.retry if spec.profile is not None else None
    messages = _messages(spec.id, ended.message)
    ended, job_id = asyncio.run(_with_cause(folder, ended, messages, patient=policy is not None))
    cause = ended.cause
    most, before = allowed(policy, cause), tried(read_attempts(folder), cause)
    if cause in {"", CODE} or not most:
        return ended
    what = f"{CAUSE_WORDS[cause]}{f': job {job_id}' if job_id else ''}"
    if before >= most:
        _log.info("%s; it was run again %d times for that, and is not any more", what, before)
        return ended
    change = _changed(spec, ended, cause)
    if change is None:
        _log.info("%s; there is no more to ask for, so it is not run again", what)
        return ended
    again = f"run again by itself, {before + 1} of {most}{f', {change.why}' if change.why else ''}"
    return _ready(folder, spec, msgspec.structs.replace(ended, again=again), what, change)


def start_over(folder: Path, environment: Mapping[str, str]) -> NoReturn:
    """Become the driver of the next attempt, in the environment that this one was started in."""

    def go() -> NoReturn:
        argv = [sys.executable, "-m", "slurmtui.flows.driver", str(folder)]
        os.execve(sys.executable, argv, dict(environment))  # noqa: S606 - no shell is what is wanted

    guard = threading.Timer(_LONGEST_EXIT, go)  # what the flow registered for the exit may hang
    guard.daemon = True
    guard.start()
    # An exec skips what Python does at its exit: Prefect's last log lines, Dask's files.
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()  # noqa: SLF001 - there is no other way to run them before an exec
    sys.stderr.write(f"\n──── another attempt, {time.strftime('%Y-%m-%d %H:%M:%S')} ────\n")
    sys.stderr.flush()
    go()


def _messages(run_id: str, own: str) -> str:
    """What Prefect says of the failure, with the words of failed tasks where the run's own only count them."""
    if own and not _COUNTED.match(own):
        return own
    return "\n".join(filter(None, state.failed_task_messages(run_id))) or own


async def _with_cause(folder: Path, ended: DriverRecord, messages: str, *, patient: bool) -> tuple[DriverRecord, str]:
    """The record with what ended the attempt, and the job that SLURM ended."""
    calls = read_folder(folder).submissions
    ids = [entry.job_id for entry in calls if entry.job_id and entry.attempt == ended.attempt]
    cause, job_id = cause_of(messages, {})
    for pause in (0.0, _SETTLE) if patient else (0.0,):
        if cause or not ids:
            break
        await asyncio.sleep(pause)
        kills = memory_kills(messages, [folder / "jobs" / f"{job_id}.err" for job_id in ids])
        if kills is not None:
            return msgspec.structs.replace(ended, cause="out_of_memory", memory_kills=kills), ""
        cause, job_id = cause_of(messages, await _ended(ids))
    return msgspec.structs.replace(ended, cause=cause), job_id


async def _ended(ids: Sequence[str]) -> dict[str, str]:
    """The states in which those of the jobs that are over ended."""
    slurm, states = Slurm(Runner(), user_name()), {}
    with contextlib.suppress(CommandError):
        states = {job_id: job.state for job_id, job in (await slurm.ended_jobs(ids)).items()}
    for job_id in ids[-_ASKED_ONE_BY_ONE:]:
        if states.get(job_id) not in ENDED_STATES:  # accounting is late, or there is none
            with contextlib.suppress(CommandError):
                detail = await slurm.job_detail(job_id)
                states[job_id] = detail.state if detail is not None else ""
    return {job_id: states[job_id] for job_id in ids if states.get(job_id) in ENDED_STATES}


def _changed(spec: RunSpec, ended: DriverRecord, cause: str) -> AttemptProfile | None:
    """What the next attempt asks for; None when more of the same would end the same way and no more is to be had."""
    if spec.profile is None or spec.profile.retry is None:
        return None
    factor = spec.profile.retry.grow
    same = AttemptProfile(attempt=ended.attempt + 1, profile=spec.profile, by="policy", time=time.time())
    if cause not in {"out_of_memory", "timeout"} or factor == 1:
        return same
    if not ended.uses_profile:
        return None
    try:
        partitions = asyncio.run(Slurm(Runner(), user_name()).partitions())
    except CommandError:
        partitions = ()
    profile, why = grown(spec.profile, cause, factor, partitions)
    return msgspec.structs.replace(same, profile=profile, why=why) if why else None


def _ready(folder: Path, spec: RunSpec, ended: DriverRecord, what: str, change: AttemptProfile) -> DriverRecord:
    """Make the next attempt ready; the record without it when that cannot be done or somebody cancelled meanwhile."""
    stays = msgspec.structs.replace(ended, again="")
    request = read_cancel(folder)
    if request is not None and not 0 < request.time <= ended.started:
        return stays
    try:
        if change.why:
            add_override(folder, change)
    except RunFolderError as error:
        _log.warning("%s; it is not run again: %s", what, error)
        return stays
    held = state.set_state(spec.id, "PENDING", f"{what}; {ended.again}", force=True)
    if held.type != "PENDING":
        _log.warning("%s; it is not run again, for Prefect holds it for %s", what, held.type or "nothing it tells")
        return stays
    _log.info("%s; %s", what, ended.again)
    return ended
