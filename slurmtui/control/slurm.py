"""Writes to SLURM: submit, cancel, and ask what a submission would do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import CommandError
from slurmtui.models.ids import base_id
from slurmtui.models.job_units import chunks, units
from slurmtui.models.values import moment
from slurmtui.sources.exec import failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from slurmtui.sources.exec import Finished, Runner

SUBMIT_SECONDS = 60.0
CANCEL_SECONDS = 60.0
_PARSABLE = re.compile(r"^(\d+)(?:;(\S+))?\s*$", re.MULTILINE | re.ASCII)
_NAMED_ID = re.compile(r"(?<![\w.+\[])\d+(?:_(?:\d+|\[[\d,:%-]+\])|\+\d+)?(?![\w+\[])", re.ASCII)
_ESTIMATE = re.compile(r"Job \S+ to start at (\S+)(?: \S+)? using \S+ processors on (?:nodes )?(\S+)", re.ASCII)


class TestOnly(msgspec.Struct, frozen=True, kw_only=True):
    """SLURM's answer to ``sbatch --test-only``: whether it would take the job, and when and where it would start it."""

    __test__ = False  # pytest: this is no test

    ok: bool
    text: str
    start: float | None = None
    nodes: str = ""


async def submit_script(  # noqa: PLR0913 - one call, every option by name
    runner: Runner,
    script: Path | bytes,
    options: Sequence[str] = (),
    *,
    arguments: Sequence[str] = (),
    chdir: str | Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """Submit a script, a file or its bytes, and return the job's id; only a file can be given ``arguments``.

    Raises:
        CommandError: sbatch refused; the message holds its words. After a time-out it is not known whether it took it.
    """
    argv = ("sbatch", "--parsable", *options, *(() if isinstance(script, bytes) else (str(script), *arguments)))
    stdin = script if isinstance(script, bytes) else None
    finished = await runner.run(argv, timeout=SUBMIT_SECONDS, stdin=stdin, env=env, chdir=chdir, pinned=False)
    found = _PARSABLE.findall(finished.stdout.decode("utf-8", "replace"))
    if not found:
        said = (finished.stdout.decode("utf-8", "replace").strip() or finished.stderr)[:400]
        message = f"sbatch named no job id; it said: {said or 'nothing'}"
        raise CommandError(message, argv=argv, code=finished.code, stderr=finished.stderr)
    job_id: str = found[-1][0]
    return job_id


async def cancel_jobs(runner: Runner, ids: Sequence[str]) -> dict[str, str]:
    """Cancel jobs, many in one call; for each id nothing, or SLURM's words why it was not cancelled.

    SLURM may also say nothing about a job that has ended: look at the queue to know. Tasks of one array are one
    request. An id that is not whole (a list of tasks that was cut) is never passed on.
    """
    made, unfit = units(ids)
    answer = dict.fromkeys(unfit, "not a whole job id: nothing was cancelled")
    for chunk in chunks(made):
        texts = [unit.text for unit in chunk]
        try:
            finished = await runner.run(("scancel", *texts), timeout=CANCEL_SECONDS, check=False)
        except CommandError as error:
            said = dict.fromkeys(texts, str(error))
        else:
            said = words_by_id(texts, finished)
        for unit in chunk:  # an id whose list of tasks was too long for one argument comes again
            answer.update((job_id, answer.get(job_id) or said[unit.text]) for job_id in unit.ids)
    return {job_id: answer[job_id] for job_id in dict.fromkeys(ids)}


async def test_only(
    runner: Runner,
    script: bytes,
    options: Sequence[str] = (),  # noqa: PT028 - not a test, whatever its name
    *,
    timeout: float = SUBMIT_SECONDS,  # noqa: PT028 - the same
) -> TestOnly:
    """Ask what ``sbatch`` would do with a script; nothing is submitted.

    Raises:
        CommandError: sbatch is missing or did not answer in time.
    """
    argv = ("sbatch", "--test-only", *options)
    finished = await runner.run(argv, timeout=timeout, check=False, stdin=script, pinned=False)
    return read_test_only(finished)


def read_test_only(finished: Finished) -> TestOnly:
    """What sbatch said on stderr, as facts."""
    text = " ".join(
        line.strip().removeprefix("sbatch: ").removeprefix("error: ") for line in finished.stderr.splitlines()
    )
    found = _ESTIMATE.search(finished.stderr)
    if finished.code or found is None:
        return TestOnly(ok=not finished.code, text=text)
    return TestOnly(ok=True, text=text, start=moment(found[1]), nodes=found[2])


def words_by_id(ids: Sequence[str], finished: Finished) -> dict[str, str]:
    """Share out what scancel said on stderr among the ids it was about."""
    answer = dict.fromkeys(ids, "")
    by_base: dict[str, list[str]] = {}
    for job_id in answer:
        by_base.setdefault(base_id(job_id), []).append(job_id)
    general = []
    for line in finished.stderr.splitlines():
        words = line.strip().removeprefix("scancel: ").removeprefix("error: ")
        named = [job_id for job_id in _NAMED_ID.findall(words) if job_id in answer]
        if not named:
            named = [job_id for number in re.findall(r"\d+", words) for job_id in by_base.get(number, ())]
        answer.update(dict.fromkeys(named, words))
        if not named and words:
            general.append(words)
    if finished.code and not any(answer.values()):
        words = " ".join(general) or str(failure(finished))
        answer = dict.fromkeys(ids, words)
    return answer
