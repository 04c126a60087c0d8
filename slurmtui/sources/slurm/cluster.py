"""What the cluster is and offers: its name, version, partitions and the user's accounts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.models.cluster import Partition
from slurmtui.models.gres import parse_gres
from slurmtui.models.records import Field, Layout
from slurmtui.models.values import count, known, memory, seconds
from slurmtui.sources.slurm.ask import ask, records_of

if TYPE_CHECKING:
    from slurmtui.models.records import Records
    from slurmtui.sources.exec import Runner

PARTITIONS = Layout(
    Field("name", "Partition", 64),
    Field("state", "Available", 16),
    Field("max_time", "Time", 20, seconds),
    Field("default_time", "DefaultTime", 20, seconds),
    Field("nodes", "Nodes", 12, count),
    Field("cpus", "CPUs", 16, count),
    Field("memory", "Memory", 20, lambda text: memory(text.rstrip("+"))),
    Field("gres", "Gres", 512, known),
)
"""``sinfo -O`` tells one record for each kind of node of a partition."""

_CONFIG_LINE = re.compile(r"^(ClusterName|SLURM_VERSION)\s*= (.*)$", re.MULTILINE)


async def identify(runner: Runner, timeout: float) -> tuple[str, tuple[int, ...]]:
    """The cluster's name and SLURM's version, from the controller's own configuration."""
    finished = await ask(runner, ("scontrol", "show", "config"), timeout)
    return read_config(finished.stdout)


def read_config(said: bytes) -> tuple[str, tuple[int, ...]]:
    """Name and version from what ``scontrol show config`` said."""
    found = dict(_CONFIG_LINE.findall(said.decode("utf-8", "replace")))
    version = tuple(int(part) for part in re.findall(r"\d+", found.get("SLURM_VERSION", ""))[:3])
    return found.get("ClusterName", "").strip(), version


async def partitions(runner: Runner, timeout: float) -> tuple[Partition, ...]:
    """Every partition that sinfo shows this user, in its order."""
    finished = await ask(runner, ("sinfo", "-h", "-e", "-O", PARTITIONS.asked()), timeout)
    return collect_partitions(records_of(PARTITIONS, finished))


def collect_partitions(records: Records) -> tuple[Partition, ...]:
    """One partition from the records of each kind of its nodes."""
    found: dict[str, Partition] = {}
    for row in range(len(records)):
        name = records.plain(row, "name")
        default, name = name.endswith("*"), name.removesuffix("*")
        before = found.get(name, Partition(name=name))
        gres = tuple(dict.fromkeys((*before.gres, *(str(thing) for thing in parse_gres(records.value(row, "gres"))))))
        amount = records.value(row, "memory")
        found[name] = Partition(
            name=name,
            default=default,
            state=records.plain(row, "state"),
            max_time=records.value(row, "max_time"),
            default_time=records.value(row, "default_time"),
            nodes=before.nodes + (records.value(row, "nodes") or 0),
            cpus_per_node=max(before.cpus_per_node, records.value(row, "cpus") or 0),
            memory_per_node=max(before.memory_per_node or 0, amount) if amount is not None else before.memory_per_node,
            gres=gres,
        )
    return tuple(found.values())


async def accounts(runner: Runner, user: str, timeout: float) -> tuple[tuple[str, ...], str]:
    """The accounts of ``user``, the default one first, and, where there are none, why."""
    argv = ("sacctmgr", "-n", "-P", "show", "user", user, "withassoc", "format=defaultaccount,account")
    try:
        finished = await ask(runner, argv, timeout)
    except CommandError as error:
        return (), str(error)
    rows = [line.split("|") for line in finished.stdout.decode("utf-8", "replace").splitlines()]
    known_accounts = {row[-1] for row in rows}
    names = tuple(dict.fromkeys(name for row in rows for name in row if name and name in known_accounts))
    return names, "" if names else finished.stderr or f"accounting knows no account of {user}"
