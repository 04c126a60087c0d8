"""Questions to SLURM's commands and what all answers have in common: epoch times, whole records, clear errors."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import CommandError
from slurmtui.models.records import Layout, RecordError, Records
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm.fields import asked_in, filled, filling, key, lacking, unknown_column
from slurmtui.sources.slurm.fields import sentence as lack_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.sources.digest import Digest
    from slurmtui.sources.exec import Finished, Runner

EPOCH_TIMES = {"SLURM_TIME_FORMAT": "%s"}
"""SLURM then writes times as seconds since the epoch: no zone and no hour that exists twice."""

_UNKNOWN_JOB = ("invalid job id", "invalid job array", "no job found", "job(s) not found")


def knows_no_such_job(stderr: str) -> bool:
    """Whether SLURM's words mean that the id is not (or no longer) known, rather than that it could not answer."""
    lower = stderr.lower()
    return any(words in lower for words in _UNKNOWN_JOB)


def records_of(layout: Layout, finished: Finished) -> Records:
    """The records a command wrote.

    Raises:
        CommandError: its output is not made of whole records; nothing of it is to be used.
    """
    try:
        return Records(layout, finished.stdout)
    except RecordError as error:
        raise broken(finished, error) from error


def broken(finished: Finished, error: RecordError) -> CommandError:
    """The error for output that is not what was asked for."""
    said = f" ({finished.stderr})" if finished.stderr else ""
    message = f"{finished.argv[0]}: the answer cannot be read: {error}{said}"
    return CommandError(message, argv=finished.argv, code=finished.code, stderr=finished.stderr)


async def ask(
    runner: Runner, argv: Sequence[str], timeout: float, *, check: bool = True, digest: Digest | None = None
) -> Finished:
    """Run one of SLURM's commands that only reads, with times as seconds since the epoch.

    A column that this SLURM does not know is left out of this and every later question, and is empty in the answer.

    Raises:
        CommandError: it failed (with ``check``), or its answer with columns left out is not made of whole records.
    """
    columns = asked_in(argv)
    if columns is None:
        return await runner.run(argv, timeout=timeout, check=check, env=EPOCH_TIMES, digest=digest)
    while True:
        missing = lacking(runner.lacks, argv[0], columns)
        question = (*argv[:-1], columns.without(missing).word()) if missing else argv
        use = filling(digest, columns, missing) if digest is not None and missing else digest
        finished = await runner.run(question, timeout=timeout, check=False, env=EPOCH_TIMES, digest=use)
        unknown = unknown_column(finished.stderr, columns)
        if not unknown or unknown in missing:
            break
        runner.lacks[key(argv[0], unknown)] = lack_of(argv[0], unknown)
    if finished.code and check:
        raise failure(finished)
    if finished.code or not missing or digest is not None:
        return finished
    try:
        whole = await asyncio.to_thread(filled, finished.stdout, columns, missing)
    except RecordError as error:
        raise broken(finished, error) from error
    return msgspec.structs.replace(finished, stdout=whole)
