"""Where the output of a job went that slurmctld has forgotten, from what accounting keeps.

SLURM 24.05 and newer keep the file names. Older ones keep the words of the submission and maybe the script, in which
the names stand; what stood in the environment (``SBATCH_OUTPUT``) is lost. Those before 21.08 keep neither.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import CommandError
from slurmtui.models.job import JobDetail
from slurmtui.models.log_path import default_pattern, expand_log_path
from slurmtui.models.records import Field, Layout
from slurmtui.models.values import known
from slurmtui.sources.slurm.ask import ask, records_of
from slurmtui.sources.slurm.fields import key
from slurmtui.sources.slurm.scripts import stored_script

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.models.records import Records
    from slurmtui.sources.slurm.client import Slurm

_DIRECTIVE = re.compile(rb"^#SBATCH[ \t]+(.*?)(?:[ \t]#.*)?$", re.MULTILINE)
_SHORT = {"o": "output", "e": "error"}
_LARGEST = 1 << 20
NO_LINES = key("sacct", "SubmitLine")


class PastOutput(msgspec.Struct, frozen=True):
    """Paths with whose output it is ("out", "err"), and how they are known."""

    paths: tuple[tuple[str, str], ...] = ()
    how: str = ""


PAST = Layout(
    Field("id", "JobID", 48),
    Field("raw_id", "JobIDRaw", 16),
    Field("user", "User", 32),
    Field("nodes", "NodeList", 512, known),
    Field("folder", "WorkDir", 1024),
    Field("name", "JobName", 256),
    Field("line", "SubmitLine", 4096),
    Field("stdout", "StdOut", 1024, known),
    Field("stderr", "StdErr", 1024, known),
    gap=1,
)


async def past_output(slurm: Slurm, job_id: str) -> PastOutput:
    """Where the output of an ended job went, as far as it can be told.

    Raises:
        CommandError: accounting does not answer.
    """
    records, script = await _asked(slurm, job_id)
    row = next((row for row in range(len(records)) if job_id in _names(records, row)), None)
    return PastOutput() if row is None else output_of(records, row, script, why_lost=slurm.lacks.get(NO_LINES, ""))


async def past_outputs(slurm: Slurm, array: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """The same of each task of an array that has run, by the task's id.

    Raises:
        CommandError: accounting does not answer.
    """
    records, script = await _asked(slurm, array)
    return {records.plain(row, "id"): output_of(records, row, script).paths for row in range(len(records))}


async def _asked(slurm: Slurm, job_id: str) -> tuple[Records, bytes]:
    """What accounting keeps, and the batch script where it tells more."""
    finished = await ask(slurm.runner, ("sacct", "-n", "-X", "-j", job_id, "-o", PAST.asked_left()), slurm.timeout)
    records = records_of(PAST, finished)
    if not len(records) or any(records.value(row, "stdout") for row in range(len(records))):
        return records, b""
    try:
        return records, await stored_script(slurm, job_id) or b""
    except CommandError:
        return records, b""


def _names(records: Records, row: int) -> tuple[str, str]:
    return records.plain(row, "id"), records.plain(row, "raw_id")


def output_of(records: Records, row: int, script: bytes = b"", *, why_lost: str = "") -> PastOutput:
    """The paths, from a record and the job's script; ``why_lost`` is why the words of its submission are not known."""
    if records.cut(row, "folder"):
        return PastOutput()
    stdout, stderr = records.value(row, "stdout"), records.value(row, "stderr")
    how = "accounting keeps the names of its files"
    if not stdout:
        options = {**_options(_directives(script[:_LARGEST])), **_options(_words(records.plain(row, "line")))}
        stdout, stderr = options.get("output", ""), options.get("error", "")
        usual = "where sbatch writes when it is told nothing else" + (f"; {why_lost}" if why_lost else "")
        how = "as its submission named it" if stdout else usual
    stdout = stdout or default_pattern(records.plain(row, "id"))
    detail = JobDetail(
        id=records.plain(row, "id"),
        name=records.plain(row, "name"),
        user=records.plain(row, "user"),
        nodes=records.value(row, "nodes"),
        work_dir=records.plain(row, "folder"),
    )
    raw_id = records.plain(row, "raw_id")
    named = ((stdout, "out"), (stderr if stderr != stdout else "", "err"))
    paths = [(expand_log_path(pattern, detail, raw_id), source) for pattern, source in named if pattern]
    return PastOutput(tuple((path, source) for path, source in paths if path), how)


def _words(line: str) -> list[str]:
    """The words of a command line without the command."""
    return _split(line)[1:]


def _directives(script: bytes) -> list[str]:
    words: list[str] = []
    for match in _DIRECTIVE.finditer(script):
        words += _split(match[1].decode("utf-8", "replace"))
    return words


def _split(text: str) -> list[str]:
    """The words of a shell; of what is no shell's, words between blanks."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _options(words: Sequence[str]) -> dict[str, str]:
    """``--output`` and ``--error`` in any of the forms sbatch takes; the last one counts."""
    found: dict[str, str] = {}
    rest: Iterable[str] = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in {"--output", "--error"}:
            found[name[2:]] = value if equals else next(iter(rest), "")
        elif word[:2] in {"-o", "-e"} and not word.startswith("--"):
            found[_SHORT[word[1]]] = word[2:] or next(iter(rest), "")
    return found
