"""Nodes and partitions as sinfo tells them, how many jobs each partition has, and the jobs on some nodes."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from slurmtui.models.gres import parse_gres
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.node import Node, natural, parse_node_state
from slurmtui.models.partition_use import ClusterUse, JobCounts, PartitionFacts
from slurmtui.models.records import Field, Layout, RecordError, Records
from slurmtui.models.states import normal_state
from slurmtui.models.values import count, known, memory, moment, seconds
from slurmtui.sources.slurm.ask import ask, broken, records_of
from slurmtui.sources.slurm.fields import key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.gres import Gres
    from slurmtui.sources.exec import Runner

_GRES_WIDTHS = (160, 2048)
_NODES_A_CALL = 50
STATE_WITH_FLAGS = "StateComplete"
"""SLURM 20.11 has no such column; ``StateLong`` then has to do."""
NO_FLAGS = key("sinfo", STATE_WITH_FLAGS)


def nodes_layout(gres: int = _GRES_WIDTHS[0]) -> Layout:
    """The columns of ``sinfo -N``: one record for each node in each of its partitions."""
    return Layout(
        Field("name", "NodeList", 64),
        Field("partition", "Partition", 64),
        Field("available", "Available", 12),
        Field("max_time", "Time", 20, seconds),
        Field("default_time", "DefaultTime", 20, seconds),
        Field("size", "Size", 24),
        Field("state_long", "StateLong", 24),
        Field("state", STATE_WITH_FLAGS, 128),
        Field("reason", "Reason", 256, known),
        Field("since", "Timestamp", 20, moment),
        Field("by", "User", 32, known),
        Field("cpus", "CPUsState", 32, _cpus),
        Field("memory", "Memory", 16, memory),
        Field("memory_used", "AllocMem", 16, memory),
        Field("memory_idle", "FreeMem", 16, memory),
        Field("load", "CPUsLoad", 12, _load),
        Field("features", "Features", 128, known),
        Field("gres", "Gres", gres),
        Field("gres_used", "GresUsed", gres),
    )


COUNTS = Layout(Field("state", "State", 20), Field("partition", "Partition", 128))
"""With ``squeue -r``: one record a job or array task."""


class NodesReader:
    """Asks sinfo. What a site makes necessary is found out once."""

    def __init__(self, runner: Runner, timeout: float) -> None:
        self._runner = runner
        self._timeout = timeout
        self._width = _GRES_WIDTHS[0]

    async def read(self) -> ClusterUse:
        """Nodes and partitions, by one sinfo.

        Raises:
            CommandError: sinfo failed or its answer was not whole.
        """
        records = await self._ask()
        if self._width == _GRES_WIDTHS[0] and _any_cut(records):
            self._width = _GRES_WIDTHS[1]
            records = await self._ask()
        return await asyncio.to_thread(collect_nodes, records)

    async def _ask(self) -> Records:
        layout = nodes_layout(self._width)
        argv = ("sinfo", "-h", "-N", "-O", layout.asked())
        return records_of(layout, await ask(self._runner, argv, self._timeout))

    async def counts(self) -> dict[str, JobCounts]:
        """Running and pending jobs of everybody, by partition.

        Raises:
            CommandError: squeue failed or its answer was not whole.
        """
        argv = ("squeue", "-h", "-r", "-O", COUNTS.asked())
        finished = await ask(self._runner, argv, self._timeout)
        return await asyncio.to_thread(collect_counts, records_of(COUNTS, finished))

    async def jobs_on(self, nodes: Sequence[str]) -> JobTable:
        """The jobs of everybody on these nodes.

        Raises:
            CommandError: squeue failed or its answer was not whole.
        """
        answers = []
        for first in range(0, len(nodes), _NODES_A_CALL):
            names = ",".join(nodes[first : first + _NODES_A_CALL])
            argv = ("squeue", "-h", "-a", "-w", names, "-O", QUEUE.asked())
            finished = await ask(self._runner, argv, self._timeout)
            try:
                QUEUE.check(finished.stdout)
            except RecordError as error:
                raise broken(finished, error) from error
            answers.append(finished.stdout)
        return JobTable(answers)


def collect_nodes(records: Records) -> ClusterUse:
    """Each node once, with its partitions; each partition once."""
    partitions: dict[str, PartitionFacts] = {}
    names: dict[str, list[str]] = {}
    rows: dict[str, int] = {}
    for row in range(len(records)):
        node, word = records.plain(row, "name"), records.plain(row, "partition")
        partition = word.removesuffix("*")
        rows.setdefault(node, row)
        if partition:
            names.setdefault(node, []).append(partition)
        if partition and partition not in partitions:
            partitions[partition] = PartitionFacts(
                name=partition,
                default=word != partition,
                state=records.plain(row, "available"),
                max_time=records.value(row, "max_time"),
                default_time=records.value(row, "default_time"),
                size=records.plain(row, "size"),
            )
    nodes = [_node(records, row, tuple(dict.fromkeys(names.get(name, ())))) for name, row in rows.items()]
    nodes.sort(key=lambda node: natural(node.name))
    ordered = sorted(partitions.values(), key=lambda facts: natural(facts.name))
    return ClusterUse(tuple(nodes), tuple(ordered))


def _node(records: Records, row: int, partitions: tuple[str, ...]) -> Node:
    used, idle, total = records.value(row, "cpus")
    return Node(
        name=records.plain(row, "name"),
        partitions=partitions,
        state=parse_node_state(records.plain(row, "state") or records.plain(row, "state_long")),
        reason=records.value(row, "reason"),
        since=records.value(row, "since"),
        by=records.value(row, "by"),
        cpus=total,
        cpus_used=used,
        cpus_idle=idle,
        memory=records.value(row, "memory"),
        memory_used=records.value(row, "memory_used"),
        memory_idle=records.value(row, "memory_idle"),
        load=records.value(row, "load"),
        gres=_things(records, row, "gres"),
        gres_used=_things(records, row, "gres_used"),
        features=records.value(row, "features"),
    )


def _things(records: Records, row: int, name: str) -> tuple[Gres, ...]:
    """The things in a column; not the last one where the column was cut."""
    text = records.plain(row, name)
    return parse_gres(text.rpartition(",")[0] if records.cut(row, name) else text)


def _any_cut(records: Records) -> bool:
    return any(records.cut(row, name) for row in range(len(records)) for name in ("gres", "gres_used"))


def _cpus(text: str) -> tuple[int, int, int]:
    """Allocated, idle and all CPUs from ``2/14/0/16`` (allocated, idle, other, all)."""
    parts = text.split("/")
    if len(parts) != 4:
        return 0, 0, 0
    used, idle, _, total = (count(part) or 0 for part in parts)
    return used, idle, total


def _load(text: str) -> float | None:
    """The load; None where the node does not tell."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found < 1e9 else None


def collect_counts(records: Records) -> dict[str, JobCounts]:
    """The jobs by partition; one that may start in several partitions waits in each of them."""
    split = records.layout.slots["state"].end
    found: dict[str, list[int]] = {}
    for raw, number in Counter(records.part_of("state")).items():
        state = normal_state(raw[:split].decode("utf-8", "replace"))
        place = 0 if state == "RUNNING" else 1 if state == "PENDING" else 2
        for name in raw[split:].decode("utf-8", "replace").strip().split(","):
            found.setdefault(name, [0, 0, 0])[place] += number
    return {name: JobCounts(*numbers) for name, numbers in found.items()}
