"""How a job is submitted again: the options that ask for the same, and what a person changed. Pure.

SLURM keeps the script of a job and what the job asks for, not the options of its command line; so everything that can
be told is given as an option, which wins over the script's own ``#SBATCH`` lines.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.amounts import limit_words, memory_option
from slurmtui.models.gres import Gres
from slurmtui.models.ids import parse_job_id
from slurmtui.models.job_request import request_of
from slurmtui.models.values import Special, known, memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.job_request import JobRequest

_ARRAY_LINE = re.compile(rb"^#SBATCH\s+(?:--array|-a)\b", re.MULTILINE)
_PER_NODE = re.compile(r"(\d+):")
_SHORT = {
    "A": "account", "J": "job-name", "N": "nodes", "n": "ntasks", "c": "cpus-per-task", "t": "time", "p": "partition",
    "q": "qos", "o": "output", "e": "error", "i": "input", "D": "chdir", "C": "constraint", "w": "nodelist",
    "x": "exclude", "a": "array", "L": "licenses",
}  # fmt: skip
_WITH_VALUE = frozenset({
    *_SHORT.values(), "mem", "mem-per-cpu", "mem-per-gpu", "gres", "gpus", "gpus-per-node", "gpus-per-task",
    "gpus-per-socket", "cpus-per-gpu", "ntasks-per-node", "ntasks-per-gpu", "comment", "nice", "reservation", "export",
    "signal", "mail-type", "mail-user", "tmp", "switches", "wckey", "open-mode",
})  # fmt: skip
_WITHOUT_VALUE = frozenset({"exclusive", "requeue", "no-requeue", "contiguous", "overcommit", "oversubscribe"})
_PASSED_OVER = frozenset(
    {"d", "b", "M", "dependency", "begin", "deadline", "clusters"}
)  # with a value; not asked again
CHANGED = ("partition", "time", "mem")
"""Options that a form offers by themselves."""


class Patterns(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a job's streams, as patterns (``%j`` in them is the job's number)."""

    stdout: str = ""
    stderr: str = ""
    stdin: str = ""


def options_of(
    job_id: str, fields: Sequence[tuple[str, str]], patterns: Patterns, script: bytes, *, tasks: str = ""
) -> dict[str, str]:
    """The options that ask for what the job asked for, by their long names; "" for one without a value.

    Args:
        job_id: the job, task, rest of an array or array as a whole.
        fields: of ``scontrol show job``.
        patterns: where its output goes.
        script: its batch script.
        tasks: of an array as a whole, the tasks that are known (``0-99``), for when its script does not name them.
    """
    told = {key: known(value) for key, value in reversed(fields)}
    request = request_of(fields)
    found = {
        "job-name": told.get("JobName", ""),
        "account": told.get("Account", ""),
        "qos": told.get("QOS", ""),
        "comment": told.get("Comment", ""),
        "chdir": told.get("WorkDir", ""),
        "output": patterns.stdout,
        "error": patterns.stderr,
        "input": "" if patterns.stdin == "/dev/null" else patterns.stdin,
        "array": array_option(job_id, script, tasks),
        **_resources(told, request),
    }
    wanted = {name: value for name, value in found.items() if value}
    if request.exclusive:
        wanted["exclusive"] = ""
    if told.get("Nice", "0") not in {"", "0"}:
        wanted["nice"] = told["Nice"]
    if told.get("Requeue") == "0":
        wanted["no-requeue"] = ""
    return wanted


def _resources(told: Mapping[str, str], request: JobRequest) -> dict[str, str]:
    """The options for where it runs, how long, and on how much."""
    return {
        "partition": told.get("Partition", ""),
        "time": time_option(request),
        "nodes": told.get("NumNodes", ""),
        "ntasks": told.get("NumTasks", ""),
        "ntasks-per-node": _tasks_per_node(told),
        "cpus-per-task": told.get("CPUs/Task", ""),
        "mem": _memory_per_node(told),
        "mem-per-cpu": memory_option(request.memory_per_cpu) if request.memory_per_cpu else "",
        "gres": _gres(request.gres_per_node),
        "gpus": _gres(tuple(Gres("", thing.type, thing.count) for thing in request.gres_per_job)),
        "constraint": request.features,
        "nodelist": told.get("ReqNodeList", ""),
        "exclude": told.get("ExcNodeList", ""),
        "reservation": request.reservation,
        "licenses": request.licenses,
    }


def _memory_per_node(told: Mapping[str, str]) -> str:
    """What was asked for; nothing where SLURM gave the memory of its own accord (0)."""
    amount = memory(told.get("MinMemoryNode", ""))
    return memory_option(amount) if amount else ""


def time_option(request: JobRequest) -> str:
    """The time limit as sbatch takes it; nothing where it is the partition's."""
    if request.time_limit is Special.UNLIMITED:
        return "UNLIMITED"
    return limit_words(request.time_limit) if isinstance(request.time_limit, int) else ""


def array_option(job_id: str, script: bytes, tasks: str = "") -> str:
    """Which tasks are submitted again; those of a whole array are left to its script, if that names them."""
    parsed = parse_job_id(job_id)
    if parsed is not None and parsed.task is not None:
        return str(parsed.task)
    if parsed is not None and parsed.tasks:
        return job_id.partition("_")[2].strip("[]")
    return "" if not tasks or _ARRAY_LINE.search(script) else tasks


def _tasks_per_node(told: Mapping[str, str]) -> str:
    found = _PER_NODE.match(told.get("NtasksPerN:B:S:C", ""))
    return found[1] if found is not None and found[1] != "0" else ""


def _gres(things: Sequence[Gres]) -> str:
    return ",".join(":".join(filter(None, (thing.name, thing.type, str(thing.count)))) for thing in things)


def as_argv(options: Mapping[str, str]) -> list[str]:
    """The options as arguments."""
    return [f"--{name}={value}" if value else f"--{name}" for name, value in options.items()]


def as_text(options: Mapping[str, str]) -> str:
    """The options as a person would type them."""
    return shlex.join(as_argv(options))


def from_text(text: str) -> list[str]:
    """What a person typed, as arguments.

    Raises:
        ValueError: a quotation mark is open.
    """
    return shlex.split(text)


def arguments_of(command: str, submit_line: str, exists: Sequence[str]) -> tuple[str, list[str]]:
    """The script's name and its arguments.

    SLURM joins both with spaces, so that the longest beginning that is a file (one of ``exists``) is taken for the
    script; where only the name stands (26.05), the arguments are what follows it in the line of the submission.
    """
    words = command.split(" ")
    beginnings = [" ".join(words[:number]) for number in range(len(words), 0, -1)]
    name = next((text for text in beginnings if text in exists), words[0])
    rest = command[len(name) :].split()
    if rest or not submit_line or not name:
        return name, rest
    short = name.rpartition("/")[2]
    place = re.search(rf"(?:^|[\s/]){re.escape(short)}(?=\s|$)", submit_line)
    return name, [] if place is None else submit_line[place.end() :].split()


def options_in(submit_line: str) -> tuple[dict[str, str], list[str]]:
    """The options of a submission and its script with the arguments, as far as the line tells.

    SLURM keeps the line without quotes: a value with spaces in it is torn. What is not known is left out, and so is
    what must not be asked for again (a dependency, a begin time, being held).
    """
    words = submit_line.split()[1:]
    found: dict[str, str] = {}
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word.startswith("--wrap"):  # what follows is the command that was wrapped, and SLURM keeps it as a script
            return found, []
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--"):
            name, value = word[1:2], word[2:]
        name, has_value = _SHORT.get(name, name), bool(equals or value)
        if name in _WITH_VALUE | _PASSED_OVER and not has_value:
            value = words.pop(0) if words else ""
        if (name in _WITH_VALUE and value) or name in _WITHOUT_VALUE:
            found[name] = value
    return found, words
