"""Tries from a compute node what a run's jobs will need: the Prefect server with its password, the same Python.

One small job, in a private folder from which it reads the password: that stands in no argv, no script and no
environment. What came of it is remembered in the state folder, for each server, place and Python.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import shlex
import shutil
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.atomic import write_private
from slurmtui.control.slurm import cancel_jobs, submit_script
from slurmtui.control.unbroken import unbroken
from slurmtui.errors import CommandError, Refused
from slurmtui.models.probe import Place, ProbeAnswer, ProbeResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slurmtui.models.profile import Profile
    from slurmtui.session import Session
    from slurmtui.sources.exec import Runner
    from slurmtui.sources.prefect.connection import Connection

JOB_NAME = "slurmtui-probe"
FRESH_SECONDS = 30 * 86400.0
"""So long a proof counts."""

_LOOK_EVERY = 0.3
_SQUEUE_EVERY = 3.0
_AFTER_END_SECONDS = 8.0  # a file written on another host may be seen late
_NOT_FOR_A_PROBE = ("--exclusive", "--gres", "--gpus", "--array", "--dependency", "--ntasks", "--nodes", "--mem", "-G")


def remembered(session: Session, profile: Profile, python: str) -> ProbeResult | None:
    """What the last probe for this profile's place and this server found; None when there was none."""
    try:
        return msgspec.json.decode(_memory(session, profile, python).read_bytes(), type=ProbeResult)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def is_fresh(result: ProbeResult | None) -> bool:
    """Whether it proves enough that no new job is needed."""
    return result is not None and result.proven and time.time() - result.time < FRESH_SECONDS


async def facts_here(runner: Runner, python: str) -> Place | None:
    """What this Python has on this host; None when it does not run."""
    script = str(Path(__file__).with_name("probe_job.py"))
    try:
        finished = await runner.run([python, "-B", script, "--facts"], timeout=20)
        return msgspec.json.decode(finished.stdout, type=Place)
    except (CommandError, msgspec.DecodeError):
        return None


async def probe(  # noqa: PLR0913 - one call, by name
    session: Session,
    profile: Profile,
    python: str,
    seen: Sequence[str] = (),
    *,
    seconds: float = 60.0,
    say: Callable[[str], None] | None = None,
) -> ProbeResult:
    """Send the job, wait for its answer at most ``seconds``, end it in any case, and remember what it found.

    Args:
        session: whose SLURM and Prefect server.
        profile: its partition, account, QOS and prologue are the job's; the job itself is small.
        python: what the job's Python is when the profile names none.
        seen: paths of which the job shall tell whether they are there.
        seconds: how long it may wait in the queue and run.
        say: told what is going on.

    Raises:
        Refused: there is no server, or SLURM does not take the job.
        OSError: the state folder cannot be written.
    """
    if (connection := session.connection) is None:
        raise Refused("No Prefect server is set up here, so there is nothing to probe.")
    folder, jobs = paths.state_folder() / "probes" / uuid.uuid4().hex, list[str]()
    try:
        await unbroken(asyncio.to_thread(_lay_out, folder, connection, seen))
        await unbroken(_submit(session, profile, python, folder, jobs))
        if say is not None:
            say(f"probe job {jobs[0]} in {_where(profile)}")
        result = await _answer(session, profile, folder, jobs[0], seconds)
    finally:
        await unbroken(_leave_nothing(session, folder, jobs))
    if not result.waits:
        await asyncio.to_thread(write_private, _memory(session, profile, python), msgspec.json.encode(result))
    return result


def _lay_out(folder: Path, connection: Connection, seen: Sequence[str]) -> None:
    """Make the folder that the job reads."""
    asked = {"api_url": connection.api_url, "paths": [*seen, str(folder)]}
    write_private(folder / "credentials", connection.auth or "")
    write_private(folder / "ask.json", msgspec.json.encode(asked))
    write_private(folder / "probe_job.py", Path(__file__).with_name("probe_job.py").read_bytes())


async def _submit(session: Session, profile: Profile, python: str, folder: Path, jobs: list[str]) -> None:
    """Submit the job and put its id into ``jobs``, where it is found also by one who was cancelled meanwhile."""
    script = _script(profile, python, folder)
    try:
        jobs.append(await submit_script(session.runner, script, _options(profile, folder), chdir="/"))
    except CommandError as error:
        raise Refused(f"SLURM does not take the probe job: {error}") from error


async def _leave_nothing(session: Session, folder: Path, jobs: Sequence[str]) -> None:
    """End the job, and remove the password."""
    try:
        if jobs:
            await cancel_jobs(session.runner, jobs)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _answer(session: Session, profile: Profile, folder: Path, job_id: str, seconds: float) -> ProbeResult:
    assert session.connection is not None  # noqa: S101 - asked by the caller
    result = ProbeResult(time=time.time(), api_url=session.connection.api_url, where=_where(profile), job_id=job_id)
    until, next_look, ended = time.monotonic() + seconds, time.monotonic() + _SQUEUE_EVERY, 0.0
    state = "in the queue"
    while time.monotonic() < until:
        answer = await asyncio.to_thread(_read, folder / "answer.json")
        if answer is not None:
            return msgspec.structs.replace(result, answer=answer)
        if ended and time.monotonic() - ended > _AFTER_END_SECONDS:
            problem = (
                f"Job {job_id} ended without an answer: is {paths.state_folder()} on a file system that compute "
                f"nodes have, and {profile.python or sys.executable} too? {await _end_of(session, job_id)}"
            )
            return msgspec.structs.replace(result, problem=problem.strip())
        if not ended and time.monotonic() > next_look:
            next_look = time.monotonic() + _SQUEUE_EVERY
            with contextlib.suppress(CommandError):
                jobs = [job for job in (await session.slurm.jobs_by_id([job_id])).values() if job.active]
                state = f"{jobs[0].state} {jobs[0].reason}".strip() if jobs else state
                ended = 0.0 if jobs else time.monotonic()
        await asyncio.sleep(_LOOK_EVERY)
    problem = f"Job {job_id} gave no answer within {seconds:.0f} s ({state}); it was cancelled."
    return msgspec.structs.replace(result, problem=problem, waits=True)


def _read(path: Path) -> ProbeAnswer | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=ProbeAnswer)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


async def _end_of(session: Session, job_id: str) -> str:
    with contextlib.suppress(CommandError):
        ended = (await session.slurm.ended_jobs([job_id])).get(job_id)
        if ended is not None:
            return f"SLURM: {ended.state}, exit code {ended.exit_code}, on {ended.nodes or 'no node'}."
    return ""


def _script(profile: Profile, python: str, folder: Path) -> bytes:
    call = f"exec {shlex.quote(profile.python or python)} -B {shlex.quote(str(folder / 'probe_job.py'))}"
    lines = ["#!/bin/bash", *profile.prologue, f"{call} {shlex.quote(str(folder))}", ""]
    return "\n".join(lines).encode()


def _options(profile: Profile, folder: Path) -> list[str]:
    named = {"partition": profile.partition, "account": profile.account, "qos": profile.qos}
    pattern = str(folder / "job.out").replace("%", "%%")
    directives = [line for line in profile.directives if not line.startswith(_NOT_FOR_A_PROBE)]
    return [
        *(f"--{option}={value}" for option, value in named.items() if value),
        *directives,
        "--nodes=1", "--ntasks=1", "--cpus-per-task=1", "--mem=200M", "--time=5", "--no-requeue",
        f"--job-name={JOB_NAME}", "--comment=slurmtui-probe", f"--output={pattern}", f"--error={pattern}",
    ]  # fmt: skip


def _where(profile: Profile) -> str:
    parts = [f"partition {profile.partition}" if profile.partition else "the default partition"]
    parts += [f"{word} {value}" for word, value in (("account", profile.account), ("QOS", profile.qos)) if value]
    return ", ".join(parts)


def _memory(session: Session, profile: Profile, python: str) -> Path:
    api_url = session.connection.api_url if session.connection else ""
    facts = (api_url, profile.partition, profile.account, profile.qos, profile.python or python, profile.prologue)
    name = hashlib.sha256(repr(facts).encode()).hexdigest()[:24]
    return paths.state_folder() / "probes" / f"{name}.json"
