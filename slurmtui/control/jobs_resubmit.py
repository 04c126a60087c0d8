"""Submits a job again from the script that SLURM keeps of it."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.control.slurm import submit_script
from slurmtui.errors import CommandError, Refused
from slurmtui.models.ids import base_id, parse_job_id
from slurmtui.models.job_again import array_option, options_of, throttled
from slurmtui.models.job_again_files import Texts, shared_files
from slurmtui.models.job_again_line import arguments_of, options_in
from slurmtui.models.records import Field, Layout
from slurmtui.models.values import known
from slurmtui.sources.slurm.ask import ask, records_of
from slurmtui.sources.slurm.detail import row_of
from slurmtui.sources.slurm.job_values import throttle_of
from slurmtui.sources.slurm.scripts import NO_SCRIPTS, live_script, stored_script

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job import JobDetail
    from slurmtui.sources.exec import Runner
    from slurmtui.sources.slurm.client import Slurm

_TEXTS = Layout(
    Field("id", "JobArrayID", 1024),
    Field("raw_id", "JobID", 12),
    Field("name", "Name", 1024, known),
    Field("comment", "Comment", 4096, known),
    Field("folder", "WorkDir", 1024, known),
    Field("stdout", "STDOUT", 1024, known),
    Field("stderr", "STDERR", 1024, known),
    Field("stdin", "STDIN", 1024, known),
)
"""What scontrol does not tell as it is: the job's number stands in its paths, its names are made fit for a screen."""

_SUBMITTED = Layout(
    Field("id", "JobID", 64),
    Field("partition", "Partition", 96),
    Field("account", "Account", 64, known),
    Field("qos", "QOS", 64, known),
    Field("time", "Timelimit", 24, known),
    Field("constraint", "Constraints", 200, known),
    Field("folder", "WorkDir", 1024),
    Field("name", "JobName", 512),
    gap=1,
)


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is needed to submit a job again.

    Attributes:
        origin: where the script comes from, in words.
        options: by long name; see ``models/job_again.py``.
        arguments: of the script.
        lost: how sure what it asked for is, in words; empty when SLURM told all of it.
    """

    id: str
    script: bytes
    origin: str
    options: dict[str, str]
    arguments: tuple[str, ...] = ()
    name: str = ""
    lost: str = ""

    @property
    def shared(self) -> list[str]:
        """The files that the job writes to and the new one would write to as well."""
        return shared_files(self.options, self.script)


async def again(slurm: Slurm, job_id: str, *, tasks: str = "") -> Again:
    """Find out how a job is submitted again.

    Raises:
        Refused: there is no script to submit (an interactive job; one that SLURM has forgotten).
        CommandError: SLURM does not answer.
    """
    detail = await slurm.job_detail(job_id)
    if detail is None:
        return await _from_accounting(slurm, job_id)
    told = dict(reversed(detail.fields))
    if told.get("BatchFlag") == "0":
        raise Refused(f"Job {job_id} has no batch script: it was started by srun or salloc")
    script = await live_script(slurm, job_id)
    origin = "as SLURM keeps it"
    if script is None:
        script, origin = await stored_script(slurm, job_id), "as accounting keeps it"
    if script is None:
        script, origin = (
            await asyncio.to_thread(_file, detail),
            f"the file as it is now: {detail.command.split(' ')[0]}",
        )
    files = await asyncio.to_thread(_files_in, detail.command)
    name, arguments = arguments_of(detail.command, told.get("SubmitLine", ""), files)
    if not arguments and "SubmitLine" not in told and name:  # 24.11 tells them in accounting alone
        name, arguments = arguments_of(detail.command, await submit_line(slurm, job_id), files)
    options = options_of(job_id, detail.fields, await _texts(slurm, job_id), script, tasks=tasks)
    if "array" in options:
        options["array"] = await _throttled(slurm, job_id, options["array"])
    return Again(
        id=job_id, script=script, origin=origin, options=options, arguments=tuple(arguments), name=Path(name).name
    )


async def submit_again(runner: Runner, job: Again, argv: Sequence[str]) -> str:
    """Submit the script with these options; the id of the new job.

    Raises:
        CommandError: sbatch refused.
    """
    if not job.arguments:
        return await submit_script(runner, job.script, argv)
    folder = paths.private_folder(paths.state_folder() / "again")
    with tempfile.TemporaryDirectory(dir=folder) as place:  # sbatch keeps a copy of its own
        file = Path(place) / (job.name or f"job-{job.id}.sh")
        file.write_bytes(job.script)
        return await submit_script(runner, file, argv, arguments=job.arguments)


def _files_in(command: str) -> list[str]:
    """The beginnings of a command, which SLURM tells without quotes, that are files."""
    words = command.split(" ")
    return [text for text in (" ".join(words[:number]) for number in range(1, len(words) + 1)) if Path(text).is_file()]


def _file(detail: JobDetail) -> bytes:
    path = Path(detail.command.split(" ")[0])
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"Neither SLURM nor accounting keeps the script of {detail.id}, and {path}: {error.strerror}"
        raise Refused(message) from error


async def _throttled(slurm: Slurm, job_id: str, array: str) -> str:
    """The tasks with the array's limit on how many of them run at once."""
    return array if array.isdigit() else throttled(array, await throttle_of(slurm, base_id(job_id)))


async def _texts(slurm: Slurm, job_id: str) -> Texts:
    parsed = parse_job_id(job_id)
    askable = job_id if parsed is None else str(parsed.base)
    argv = ("squeue", "-h", "-a", "-t", "all", "-j", askable, "-O", _TEXTS.asked())
    records = records_of(_TEXTS, await ask(slurm.runner, argv, slurm.timeout))
    row = row_of(records, job_id)
    if row is None:
        return Texts()
    whole = {name: records.value(row, name) for name in _TEXTS.slots if name != "id" and not records.cut(row, name)}
    return Texts(**whole)


async def _from_accounting(slurm: Slurm, job_id: str) -> Again:
    """A job that the controller has forgotten: the script and what accounting has in fields of its own."""
    script = await stored_script(slurm, job_id)
    if script is None:
        why = slurm.lacks.get(NO_SCRIPTS, "accounting keeps no script of it (AccountingStoreFlags=job_script would)")
        raise Refused(f"SLURM has forgotten job {job_id}, and {why}")
    argv = ("sacct", "-n", "-X", "-j", job_id, "-o", _SUBMITTED.asked_left())
    records = records_of(_SUBMITTED, await ask(slurm.runner, argv, slurm.timeout))
    told = {} if not len(records) else {name: records.plain(0, name) for name in _SUBMITTED.slots}
    names = {"job-name": "name", "partition": "partition", "account": "account", "qos": "qos", "time": "time",
             "constraint": "constraint", "chdir": "folder"}  # fmt: skip
    options = {option: known(told.get(name, "")) for option, name in names.items()}
    submitted = await submit_line(slurm, job_id)
    typed, command = options_in(submitted)
    options = {**typed, **{name: value for name, value in options.items() if value and value != "Partition_Limit"}}
    options.pop("array", None)
    array = array_option(job_id, script)
    if array:
        options["array"] = array
    if shared_files(options, script):
        options["open-mode"] = "append"
    how = f"read from the line it was submitted with: {submitted}" if submitted else "not kept by accounting"
    return Again(
        id=job_id, script=script, origin="as accounting keeps it", options=options, arguments=tuple(command[1:]),
        name=Path(command[0]).name if command else options.get("job-name", ""),
        lost=f"what its command line asked for is {how}",
    )  # fmt: skip


async def submit_line(slurm: Slurm, job_id: str) -> str:
    """How it was submitted, where this SLURM tells (21.08 and newer)."""
    try:
        finished = await ask(slurm.runner, ("sacct", "-n", "-X", "-P", "-j", job_id, "-o", "SubmitLine"), slurm.timeout)
    except CommandError:
        return ""
    return " ".join(_once(finished.stdout.decode("utf-8", "replace").splitlines()).split())


def _once(lines: list[str]) -> str:
    """Accounting tells the line of an array once for each of its tasks."""
    count = len(lines)
    sizes = (size for size in range(1, count + 1) if count % size == 0)
    return "\n".join(next((lines[:size] for size in sizes if lines[:size] * (count // size) == lines), lines))
