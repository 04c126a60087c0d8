"""Where the output of a job that is submitted again goes: never over the lines of the job before. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.job_again_line import options_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SIGN = re.compile(r"%(?:%|\d{0,2}([A-Za-z]))")
_OF_ONE_JOB = frozenset({"j", "J", "A"})


class Texts(msgspec.Struct, frozen=True, kw_only=True):
    """What squeue tells of a job as it is, not as a screen shows it.

    Attributes:
        raw_id: the job's own number, also of an array's task.
        name: nothing where it is not known whole; ``comment`` and the files likewise.
        stdout: as a pattern (``%j`` in it is the job's number), as are the other streams.
    """

    raw_id: str = ""
    name: str = ""
    comment: str = ""
    folder: str = ""
    stdout: str = ""
    stderr: str = ""
    stdin: str = ""


def is_default(path: str, job_id: str, raw_id: str, folder: str) -> bool:
    """Whether SLURM chose this file by itself: ``slurm-<id>.out`` in the job's folder, resolved or as a pattern.

    Up to 22.05 squeue names the resolved file of a job that was told nothing, and that of an array's task by the task's
    own number; newer ones give the pattern. A pattern that was asked for stays one on every version.
    """
    name = path.removeprefix(f"{folder.rstrip('/')}/")
    return name in {"slurm-%j.out", "slurm-%A_%a.out", f"slurm-{raw_id}.out", f"slurm-{job_id}.out"}


def has_own_file(pattern: str) -> bool:
    """Whether every job that is given this pattern writes to a file of its own (or to none)."""
    if pattern.startswith("/dev/"):
        return True
    if "\\" in pattern:  # a backslash anywhere switches the patterns off
        return False
    return any(sign[1] in _OF_ONE_JOB for sign in _SIGN.finditer(pattern))


def output_options(texts: Texts, job_id: str, script: bytes) -> dict[str, str]:
    """The options for what a job writes; none where SLURM chose the file, or where errors go with the output.

    SLURM's own choice is asked for only where the script has a line that would win over it.
    """
    of_script = options_of_script(script)
    found = {"output": texts.stdout, "error": "" if texts.stderr == texts.stdout else texts.stderr}
    for name, path in found.items():
        if name not in of_script and is_default(path, job_id, texts.raw_id, texts.folder):
            found[name] = ""
    return found


def files_of(options: Mapping[str, str], script: bytes) -> list[str]:
    """The files that are asked for, by the options or else by the script's own lines; none for SLURM's default."""
    asked = {**options_of_script(script), **options}
    return list(dict.fromkeys(asked[name] for name in ("output", "error") if asked.get(name)))


def shared_files(options: Mapping[str, str], script: bytes) -> list[str]:
    """Those of the files that the job before and the new one both write to."""
    return [file for file in files_of(options, script) if not has_own_file(file)]


def files_words(job_id: str, shared: Sequence[str], argv: Sequence[str], script: bytes) -> list[str]:
    """What happens to the files that the job before writes to, in words, by the options that are really given."""
    options, _ = options_in_words(argv)
    append = {**options_of_script(script), **options}.get("open-mode") == "append"
    after = "what the new job writes is added" if append else "the new job EMPTIES it when it starts"
    return [f"{file} is job {job_id}'s file too: {after}" for file in files_of(options, script) if file in shared]


def options_of_script(script: bytes) -> dict[str, str]:
    """What the script's ``#SBATCH`` lines ask for: sbatch reads them down to the first command."""
    found: dict[str, str] = {}
    for line in script.decode("utf-8", "replace").splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            break
        if words and words[0] == "#SBATCH":
            options, _ = options_in_words(words[1:])
            found |= {name: value.strip("'\"") for name, value in options.items()}
    return found
