"""How a job is submitted again: the options that ask for the same, and what a person changed. Pure.

SLURM keeps the script of a job and what the job asks for, not the options of its command line; so everything that can
be told is given as an option, which wins over the script's own ``#SBATCH`` lines.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from slurmtui.models.amounts import limit_words, memory_option
from slurmtui.models.gres import Gres
from slurmtui.models.ids import parse_job_id
from slurmtui.models.job_again_files import output_options, shared_files
from slurmtui.models.job_request import request_of
from slurmtui.models.values import Special, known, memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.job_again_files import Texts
    from slurmtui.models.job_request import JobRequest

_ARRAY_LINE = re.compile(rb"^#SBATCH\s+(?:--array|-a)\b", re.MULTILINE)
_PER_NODE = re.compile(r"(\d+):")
CHANGED = ("partition", "time", "mem")
"""Options that a form offers by themselves."""


def options_of(
    job_id: str, fields: Sequence[tuple[str, str]], texts: Texts, script: bytes, *, tasks: str = ""
) -> dict[str, str]:
    """The options that ask for what the job asked for, by their long names; "" for one without a value.

    Args:
        job_id: the job, task, rest of an array or array as a whole.
        fields: of ``scontrol show job``.
        texts: its name and comment as they are, and where its output goes.
        script: its batch script.
        tasks: of an array as a whole, the tasks that are known (``0-99``), for when its script does not name them.
    """
    told = {key: known(value) for key, value in reversed(fields)}
    request = request_of(fields)
    found = {
        "job-name": texts.name,
        "account": told.get("Account", ""),
        "qos": told.get("QOS", ""),
        "comment": texts.comment,
        "chdir": texts.folder or told.get("WorkDir", ""),
        **output_options(texts, job_id, script),
        "input": "" if texts.stdin == "/dev/null" else texts.stdin,
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
    if "JobHeld" in told.get("Reason", ""):
        wanted["hold"] = ""
    if shared_files(wanted, script):
        wanted["open-mode"] = "append"
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


def throttled(array: str, limit: int | None) -> str:
    """The tasks with how many of them may run at once."""
    return f"{array}%{limit}" if limit and "%" not in array else array


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
