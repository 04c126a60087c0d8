"""What may be asked of nodes, partitions, ended jobs and shares in a filter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from slurmtui.models.history import PastJob, day_of
from slurmtui.models.share import Limits, Share
from slurmtui.models.values import Special
from slurmtui.store.query_objects import Fields, age_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slurmtui.models.gres import Gres
    from slurmtui.models.node import Node
    from slurmtui.models.partition_use import PartitionUse
    from slurmtui.models.values import Seconds


def _sum(things: Iterable[Gres]) -> int:
    return sum(thing.count for thing in things)


def _seconds(value: Seconds) -> float | None:
    if isinstance(value, Special):
        return math.inf if value is Special.UNLIMITED else None
    return float(value)


NODE_FIELDS: Fields[Node] = Fields(
    {
        "name node n": lambda node: (node.name,),
        "state st status": lambda node: (node.state.words, node.state.raw),
        "partition part p": lambda node: node.partitions,
        "reason why": lambda node: (node.reason,),
        "by who": lambda node: (node.by,),
        "gpu gres type": lambda node: tuple(str(thing) for thing in node.gres),
        "feature features f": lambda node: (node.features,),
    },
    {
        "cpus cpu": ("count", lambda node: node.cpus),
        "free": ("count", lambda node: node.free_cpus),
        "used": ("count", lambda node: node.cpus_used),
        "mem memory": ("memory", lambda node: node.memory),
        "freemem": ("memory", lambda node: node.free_memory),
        "gpus gpu": ("count", lambda node: _sum(node.gpus)),
        "freegpus": ("count", lambda node: _sum(node.free_gpus)),
        "load": ("count", lambda node: node.load),
        "age since": ("time", lambda node: age_of(node.since)),
    },
)

PARTITION_FIELDS: Fields[PartitionUse] = Fields(
    {
        "name partition part p": lambda use: (use.facts.name,),
        "state st": lambda use: (use.facts.state,),
        "gpu type gres": lambda use: tuple(gpu.type or "gpu" for gpu in use.gpus),
        "node": lambda use: tuple(node.name for node in use.nodes),
    },
    {
        "cpus cpu": ("count", lambda use: use.cpus),
        "free": ("count", lambda use: use.cpus_free),
        "nodes": ("count", lambda use: len(use.nodes)),
        "idle": ("count", lambda use: use.idle),
        "mem memory": ("memory", lambda use: use.memory),
        "freemem": ("memory", lambda use: use.memory_free),
        "gpus gpu": ("count", lambda use: sum(gpu.total for gpu in use.gpus)),
        "freegpus": ("count", lambda use: sum(gpu.free for gpu in use.gpus)),
        "limit time": ("time", lambda use: _seconds(use.facts.max_time)),
        "running": ("count", lambda use: use.jobs.running if use.jobs else None),
        "pending": ("count", lambda use: use.jobs.pending if use.jobs else None),
    },
    words=("name", "state", "gpu"),
)

PAST_FIELDS: Fields[PastJob] = Fields(
    {
        "id job jobid": lambda job: (job.id, job.raw_id),
        "name jobname": lambda job: (job.name,),
        "state st status": lambda job: (job.state,),
        "partition part p": lambda job: (job.partition,),
        "account acct": lambda job: (job.account,),
        "qos": lambda job: (job.qos,),
        "node nodes where": lambda job: (job.nodes,),
        "day date": lambda job: (day_of(job.end),),
        "run flow": lambda job: (job.run_mark,),
        "comment": lambda job: (job.comment,),
        "gpu type": lambda job: (job.gpu_type,),
    },
    {
        "cpus cpu": ("count", lambda job: job.cpus),
        "nodes": ("count", lambda job: job.node_count),
        "gpus gpu": ("count", lambda job: job.gpus),
        "mem memory": ("memory", lambda job: job.memory),
        "time elapsed": ("time", lambda job: _seconds(job.elapsed)),
        "limit": ("time", lambda job: _seconds(job.time_limit)),
        "wait": ("time", lambda job: job.wait),
        "age ended": ("time", lambda job: age_of(job.end)),
        "exit code": ("count", lambda job: job.exit_code),
    },
    words=("id", "name", "state", "partition", "account", "qos", "node", "run"),
    beginnings=("id", "day"),
    states=("state",),
)

SHARE_FIELDS: Fields[Share | Limits] = Fields(
    {
        "account acct": lambda one: (one.account if isinstance(one, Share) else one.name,),
        "qos": lambda one: () if isinstance(one, Share) else (*one.qos, *((one.name,) if one.kind == "qos" else ())),
        "partition part p": lambda one: (one.partition,),
        "user u": lambda one: (one.user,) if isinstance(one, Share) else (),
    },
    {
        "used usage": ("count", lambda one: one.usage if isinstance(one, Share) else None),
        "fairshare fair": ("count", lambda one: one.fair_share if isinstance(one, Share) else None),
    },
)
