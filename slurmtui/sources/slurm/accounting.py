"""What accounting (sacct) says of jobs that have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.gres import tres_memory
from slurmtui.models.ids import parse_job_id
from slurmtui.models.job import ENDED_STATES, EndedJob
from slurmtui.models.records import Field, Layout
from slurmtui.models.states import normal_state
from slurmtui.models.values import count, known, memory, moment, seconds
from slurmtui.sources.slurm.ask import ask, records_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slurmtui.models.records import Records
    from slurmtui.sources.exec import Runner

_IDS_A_CALL = 400

ENDED = Layout(
    Field("id", "JobID", 48),
    Field("raw_id", "JobIDRaw", 32),
    Field("user", "User", 32),
    Field("partition", "Partition", 48),
    Field("state", "State", 32, normal_state),
    Field("exit", "ExitCode", 12),
    Field("nodes", "NodeList", 64, known),
    Field("submit", "Submit", 20, moment),
    Field("start", "Start", 20, moment),
    Field("end", "End", 20, moment),
    Field("elapsed", "Elapsed", 20, seconds),
    Field("time_limit", "Timelimit", 20, seconds),
    Field("cpus", "AllocCPUS", 12, count),
    Field("tres", "ReqTRES", 96),
    Field("requested", "ReqMem", 16, memory),
    Field("max_rss", "MaxRSS", 20, memory),
    Field("name", "JobName", 80),
    gap=1,
)
"""Fixed widths here too: a newline or ``|`` in a job's name shifts nothing."""


async def ended_jobs(runner: Runner, ids: Sequence[str], timeout: float) -> dict[str, EndedJob]:
    """Ask for ``ids`` in chunks; jobs that have not ended are left out.

    A job is found under its shown id and, where that is another, under the id that was asked for.

    Raises:
        CommandError: accounting is off or does not answer.
    """
    answer: dict[str, EndedJob] = {}
    wanted = list(dict.fromkeys(job_id for job_id in ids if parse_job_id(job_id) is not None))
    for first in range(0, len(wanted), _IDS_A_CALL):
        chunk = wanted[first : first + _IDS_A_CALL]
        asked = ",".join(dict.fromkeys(_askable(job_id) for job_id in chunk))
        finished = await ask(runner, ("sacct", "-n", "-j", asked, "-o", ENDED.asked_left()), timeout)
        answer.update(collect_ended(records_of(ENDED, finished), chunk))
    return answer


def collect_ended(records: Records, asked: Iterable[str] = ()) -> dict[str, EndedJob]:
    """Jobs with what their steps add, from the records of both; the newest life of each job counts."""
    jobs: dict[str, EndedJob] = {}
    raw_ids: dict[str, str] = {}
    for row in range(len(records)):
        job_id, _, step = records.plain(row, "id").partition(".")
        if not step:
            job = _job(records, row, job_id)
            before = jobs.get(job_id)
            if before is None or (job.submit or 0, job.start or 0) >= (before.submit or 0, before.start or 0):
                jobs[job_id] = job
                raw_ids[records.plain(row, "raw_id")] = job_id
        elif job_id in jobs:
            jobs[job_id] = _with_step(jobs[job_id], records, row, step)
    ended = {job_id: job for job_id, job in jobs.items() if job.state in ENDED_STATES}
    return {**ended, **_by_other_names(ended, raw_ids, [job_id for job_id in asked if job_id not in jobs])}


def _by_other_names(
    ended: Mapping[str, EndedJob], raw_ids: Mapping[str, str], asked: Sequence[str]
) -> dict[str, EndedJob]:
    """Jobs asked for by SLURM's own number, and tasks that ended while they waited in the rest of an array."""
    found = {job_id: ended[raw_ids[job_id]] for job_id in asked if raw_ids.get(job_id) in ended}
    rests = [(parse_job_id(job_id), job) for job_id, job in ended.items() if "[" in job_id]
    for job_id in asked:
        task = parse_job_id(job_id)
        for rest, job in rests:
            if rest is not None and task is not None and task.task is not None and rest.holds(task):
                found.setdefault(job_id, job)
    return found


def _job(records: Records, row: int, job_id: str) -> EndedJob:
    code, _, signal = records.plain(row, "exit").partition(":")
    requested = tres_memory(records.plain(row, "tres"))
    return EndedJob(
        id=job_id,
        name=shown_name(records, row),
        user=records.plain(row, "user"),
        partition=records.plain(row, "partition"),
        state=records.value(row, "state"),
        exit_code=count(code) or 0,
        signal=count(signal) or 0,
        nodes=records.value(row, "nodes"),
        submit=records.value(row, "submit"),
        start=records.value(row, "start"),
        end=records.value(row, "end"),
        elapsed=records.value(row, "elapsed"),
        time_limit=records.value(row, "time_limit"),
        cpus=records.value(row, "cpus") or 0,
        requested_memory=requested if requested is not None else records.value(row, "requested"),
        max_rss=records.value(row, "max_rss"),
    )


def shown_name(records: Records, row: int) -> str:
    """The job's name; sacct ends one that it cut with a ``+``."""
    name = records.plain(row, "name")
    return name.removesuffix("+") if records.cut(row, "name") else name


def _with_step(job: EndedJob, records: Records, row: int, step: str) -> EndedJob:
    """The job with the memory its step used, and with an end by lack of memory that stands at the step only."""
    used = records.value(row, "max_rss")
    if used is not None and used > (job.max_rss or -1):
        job = msgspec.structs.replace(job, max_rss=used)
    if records.value(row, "state") == "OUT_OF_MEMORY":
        reason = job.reason or f"step {step} ran out of memory"
        state = "OUT_OF_MEMORY" if job.state == "FAILED" else job.state
        job = msgspec.structs.replace(job, reason=reason, state=state)
    return job


def _askable(job_id: str) -> str:
    """What ``sacct -j`` takes for an id: the waiting rest of an array is asked for by the array."""
    parsed = parse_job_id(job_id)
    if parsed is None or not parsed.tasks:
        return job_id.partition(".")[0]
    return str(parsed.base)
