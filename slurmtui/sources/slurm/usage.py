"""What one ended job used, from sacct: the job and its steps in one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.efficiency import StepUsage, Usage
from slurmtui.models.gres import gpus, parse_gres, tres, tres_memory
from slurmtui.models.ids import parse_job_id
from slurmtui.models.records import Field, Layout
from slurmtui.models.states import normal_state
from slurmtui.models.values import count, memory, moment, seconds
from slurmtui.sources.slurm.ask import ask, records_of

if TYPE_CHECKING:
    from slurmtui.models.records import Records
    from slurmtui.sources.slurm.client import Slurm

USAGE = Layout(
    Field("id", "JobID", 64),
    Field("raw_id", "JobIDRaw", 48),
    Field("state", "State", 32, normal_state),
    Field("exit", "ExitCode", 12),
    Field("start", "Start", 20, moment),
    Field("end", "End", 20, moment),
    Field("elapsed", "Elapsed", 20, seconds),
    Field("time_limit", "Timelimit", 20, seconds),
    Field("cpus", "AllocCPUS", 12, count),
    Field("nodes", "NNodes", 12, count),
    Field("tasks", "NTasks", 12, count),
    Field("cpu", "TotalCPU", 24, seconds),
    Field("asked", "ReqTRES", 256),
    Field("given", "AllocTRES", 256),
    Field("max_rss", "MaxRSS", 20, memory),
    Field("total", "TRESUsageInTot", 256),
    Field("average", "TRESUsageInAve", 256),
    Field("name", "JobName", 64),
    gap=1,
)


async def job_usage(slurm: Slurm, job_id: str) -> Usage | None:
    """Ask for one job or array task; None when accounting does not know it.

    Raises:
        CommandError: accounting is off or does not answer.
    """
    parsed = parse_job_id(job_id)
    asked = job_id if parsed is None or not parsed.tasks else f"{parsed.base}_{parsed.tasks[0][0]}"
    finished = await ask(slurm.runner, ("sacct", "-n", "-j", asked, "-o", USAGE.asked_left()), slurm.timeout)
    return collect_usage(records_of(USAGE, finished), asked)


def collect_usage(records: Records, job_id: str) -> Usage | None:
    """The job that is meant, with its steps."""
    jobs: dict[str, int] = {}
    steps: dict[str, list[StepUsage]] = {}
    for row in range(len(records)):
        name, _, step = records.plain(row, "id").partition(".")
        if step:
            steps.setdefault(name, []).append(_step(records, row, step))
        else:
            jobs[name] = row
    names = {records.plain(row, "raw_id"): name for name, row in jobs.items()}
    name = job_id if job_id in jobs else names.get(job_id, "")
    return _usage(records, jobs[name], tuple(steps.get(name, ()))) if name else None


def _usage(records: Records, row: int, steps: tuple[StepUsage, ...]) -> Usage:
    given, asked = records.plain(row, "given"), records.plain(row, "asked")
    amount = tres_memory(given)
    state = records.value(row, "state")
    if state == "FAILED" and any(step.state == "OUT_OF_MEMORY" for step in steps):
        state = "OUT_OF_MEMORY"  # of a step: the job itself only knows that it failed
    return Usage(
        id=records.plain(row, "id"),
        state=state,
        exit_code=records.plain(row, "exit"),
        start=records.value(row, "start"),
        end=records.value(row, "end"),
        elapsed=_whole(records, row, "elapsed"),
        time_limit=records.value(row, "time_limit"),
        cpus=records.value(row, "cpus") or 0,
        nodes=max(1, records.value(row, "nodes") or 1),
        cpu=_most(_whole(records, row, "cpu"), *([sum(step.cpu or 0 for step in steps)] if steps else [])),
        memory=amount if amount is not None else tres_memory(asked),
        gpus=gpus(parse_gres(given)),
        steps=steps,
    )


def _step(records: Records, row: int, step: str) -> StepUsage:
    tasks = records.value(row, "tasks") or 0
    total = tres(records.plain(row, "total"))
    largest = records.value(row, "max_rss")
    whole = memory(total["mem"], "B") if "mem" in total else None
    used = seconds(total.get("cpu", ""))
    return StepUsage(
        step=step,
        name=records.plain(row, "name"),
        state=records.value(row, "state"),
        exit_code=records.plain(row, "exit"),
        tasks=tasks,
        elapsed=_whole(records, row, "elapsed"),
        cpu=_most(_whole(records, row, "cpu"), used if isinstance(used, int) else None),
        memory=whole if whole is not None else None if largest is None else largest * max(1, tasks),
        gpu_percent=count(tres(records.plain(row, "average")).get("gres/gpuutil", "")),
    )


def _most(*values: int | None) -> int | None:
    """The larger: the time that a process was killed with stands in the one place only."""
    return max((value for value in values if value is not None), default=None)


def _whole(records: Records, row: int, name: str) -> int | None:
    value = records.value(row, name)
    return value if isinstance(value, int) else None
