"""Gathers what there is to know about why a job waits: a handful of questions, asked at once when a person asks."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, TypeVar

from slurmtui.errors import CommandError
from slurmtui.models.gres import parse_gres
from slurmtui.models.job_dependency import parse_dependency
from slurmtui.models.job_request import request_of
from slurmtui.models.job_why import Precondition, Waiting, WhyFacts
from slurmtui.models.node import parse_node_state
from slurmtui.models.partition_rules import NodeKind, PartitionRules, parse_partitions
from slurmtui.models.reasons import bare
from slurmtui.models.records import Field, Layout
from slurmtui.models.values import count, known, memory, moment
from slurmtui.sources.slurm.ask import ask, records_of
from slurmtui.sources.slurm.limits import limits_of
from slurmtui.sources.slurm.priority import factors_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from slurmtui.models.job import Job
    from slurmtui.models.records import Records
    from slurmtui.sources.slurm.client import Slurm

_T = TypeVar("_T")

LINE = Layout(
    Field("id", "JobArrayID", 56),
    Field("raw_id", "JobID", 12, count),
    Field("user", "UserName", 24),
    Field("priority", "PriorityLong", 14, count),
    Field("reason", "Reason", 48, known),
    Field("start", "StartTime", 12, moment),
    Field("planned", "SchedNodes", 64, known),
)
"""The waiting jobs of some partitions, and what the scheduler plans for each."""

KINDS = Layout(
    Field("partition", "Partition", 64),
    Field("state", "StateLong", 32),
    Field("count", "Nodes", 10, count),
    Field("cpus", "CPUs", 10, count),
    Field("memory", "Memory", 16, memory),
    Field("gres", "Gres", 512, known),
    Field("features", "Features", 512, known),
    Field("names", "NodeList", 1024, known),
)

_OWN_TURN = frozenset({"Priority", "Resources", "None", "", "ReqNodeNotAvail"})
"""Reasons of a job that could start as soon as there is room."""


async def why_facts(slurm: Slurm, job: Job) -> WhyFacts:
    """Ask for everything about a waiting job; what cannot be found out stands in ``missing``.

    Raises:
        CommandError: SLURM does not tell of the job itself.
    """
    missing: dict[str, str] = {}
    detail = await slurm.job_detail(job.id)
    fields = () if detail is None else detail.fields
    if detail is None:
        missing["request"] = "SLURM does not know this job any more"
    request = request_of(fields)
    names = request.partitions or (job.partition,)
    rules, kinds, line, factors = await asyncio.gather(
        _or(missing, "partitions", partition_rules(slurm), {}),
        _or(missing, "nodes", node_kinds(slurm), ()),
        _or(missing, "line", waiting_line(slurm, names), ()),
        _or(missing, "factors", factors_of(slurm, job.raw_id), ()),
    )
    qos = [request.qos or job.qos, *(rules[name].qos for name in names if name in rules)]
    limits = await _or(missing, "limits", limits_of(slurm, job.user, request.account or job.account, qos), ())
    told = dict(reversed(fields))
    return WhyFacts(
        job=job,
        now=time.time(),
        request=request,
        rules=rules,
        kinds=kinds,
        line=line,
        factors=factors,
        limits=limits,
        preconditions=await _or(missing, "dependencies", preconditions(slurm, told.get("Dependency", "")), ()),
        begin=moment(told.get("EligibleTime", "")),
        throttle=count(told.get("ArrayTaskThrottle", job.array_tasks.partition("%")[2])) or 0,
        missing=missing,
    )


async def _or(missing: dict[str, str], part: str, question: Awaitable[_T], nothing: _T) -> _T:
    """The answer, or nothing and SLURM's words why not."""
    try:
        return await question
    except CommandError as error:
        missing[part] = str(error)
        return nothing


async def partition_rules(slurm: Slurm) -> dict[str, PartitionRules]:
    """What each partition allows."""
    finished = await ask(slurm.runner, ("scontrol", "-o", "show", "partition"), slurm.timeout)
    return parse_partitions(finished.stdout.decode("utf-8", "replace"))


async def node_kinds(slurm: Slurm) -> tuple[NodeKind, ...]:
    """The kinds of nodes of each partition."""
    finished = await ask(slurm.runner, ("sinfo", "-h", "-e", "-O", KINDS.asked()), slurm.timeout)
    records = records_of(KINDS, finished)
    return tuple(_kind(records, row) for row in range(len(records)))


def _kind(records: Records, row: int) -> NodeKind:
    value: Any = records.value
    features = value(row, "features")
    return NodeKind(
        partition=records.plain(row, "partition").removesuffix("*"),
        state=parse_node_state(records.plain(row, "state")),
        count=value(row, "count") or 0,
        cpus=value(row, "cpus") or 0,
        memory=value(row, "memory"),
        gres=parse_gres(value(row, "gres")),
        features=None if records.cut(row, "features") else frozenset(filter(None, features.split(","))),
        names="" if records.cut(row, "names") else value(row, "names"),
    )


async def waiting_line(slurm: Slurm, partitions: Sequence[str]) -> tuple[Waiting, ...]:
    """Everybody's waiting jobs in some partitions, highest priority first, and of equals the one submitted first."""
    argv = ("squeue", "-h", "-a", "-t", "PD", "-p", ",".join(partitions), "-O", LINE.asked())
    finished = await ask(slurm.runner, argv, slurm.timeout)
    records = records_of(LINE, finished)
    line = [_waiting(records, row) for row in range(len(records))]
    return tuple(sorted(line, key=lambda one: (-one.priority, one.raw_id)))


def _waiting(records: Records, row: int) -> Waiting:
    reasons = {part.strip().partition(":")[0] for part in bare(records.value(row, "reason")).split(",")}
    priority = records.value(row, "priority") or 0
    return Waiting(
        id=records.plain(row, "id"),
        raw_id=records.value(row, "raw_id") or 0,
        user=records.plain(row, "user"),
        priority=priority,
        could_start=priority > 0 and bool(reasons & _OWN_TURN),
        start=records.value(row, "start"),
        nodes_planned=records.value(row, "planned"),
    )


async def preconditions(slurm: Slurm, dependency: str) -> tuple[Precondition, ...]:
    """The jobs that a dependency names, with their states now."""
    terms = parse_dependency(known(dependency))
    if not terms:
        return ()
    jobs = await slurm.jobs_by_id([term.job_id for term in terms if term.job_id])
    found = []
    for term in terms:
        mine = [job for job_id, job in jobs.items() if job_id == term.job_id or job.id.startswith(f"{term.job_id}_")]
        one = mine[0] if mine else None
        states = {job.state for job in mine}
        found.append(
            Precondition(
                condition=term.condition,
                id=term.job_id + ("_*" if term.whole_array else ""),
                name="" if one is None else one.name,
                state="" if one is None else one.state if len(states) == 1 else f"{len(mine)} parts left",
                end=one.end if one is not None and len(mine) == 1 else None,
            )
        )
    return tuple(found)
