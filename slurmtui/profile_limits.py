"""Profiles held against the cluster: does it have the partition and account, do the jobs fit its limits?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.config_values import clock, duration
from slurmtui.models.nearest import did_you_mean
from slurmtui.models.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.cluster import Partition
    from slurmtui.models.profile import Profile


class Finding(NamedTuple):
    """What is the matter with a profile's key; ``wrong`` when a job of it could not run."""

    key: str
    sentence: str
    wrong: bool = True


def compare(profile: Profile, partitions: Sequence[Partition], accounts: Sequence[str]) -> list[Finding]:
    """What does not fit; ``accounts`` is empty where accounting does not tell."""
    known = {partition.name: partition for partition in partitions}
    found: list[Finding] = []
    named = profile.partition.split(",") if profile.partition else []
    for name in named:
        if name not in known:
            hint = did_you_mean(name, [visible(partition) for partition in known])
            found.append(Finding("partition", f"this cluster has no partition {name!r}: {hint}"))
        elif known[name].state != "up":
            state = visible(known[name].state)
            found.append(Finding("partition", f"{name} is {state}, not up: jobs would wait.", wrong=False))
    if profile.account and accounts and profile.account not in accounts:
        hint = did_you_mean(profile.account, accounts)
        found.append(Finding("account", f"you have no account {profile.account!r}: {hint}"))
    usable = [known[name] for name in named if name in known] if named else [one for one in partitions if one.default]
    return found + _limits(profile, usable) if usable else found


def _limits(profile: Profile, partitions: Sequence[Partition]) -> list[Finding]:
    """What is more than every one of the partitions gives."""
    names = "/".join(visible(partition.name) for partition in partitions)
    found: list[Finding] = []
    seconds = duration(profile.walltime) or 0
    longest = [partition.max_time for partition in partitions if isinstance(partition.max_time, int)]
    if len(longest) == len(partitions) and seconds > max(longest):
        found.append(Finding("walltime", f"{profile.walltime} is more than {names} allows: {clock(max(longest))}."))
    cores = max(partition.cpus_per_node for partition in partitions)
    if cores and profile.cores > cores:
        found.append(Finding("cores", f"{profile.cores} cores are more than any node of {names} has: {cores}."))
    memories = [partition.memory_per_node for partition in partitions if partition.memory_per_node]
    if len(memories) == len(partitions) and mebibytes(profile.memory) > max(memories):
        most = f"{int(max(memories))}M"
        found.append(Finding("memory", f"{profile.memory} is more than any node of {names} has: {most}."))
    nodes = max(partition.nodes for partition in partitions)
    if nodes and profile.nodes > nodes:
        found.append(Finding("nodes", f"{profile.nodes} nodes are more than {names} has: {nodes}."))
    return found + _gres(profile, partitions, names)


def _gres(profile: Profile, partitions: Sequence[Partition], names: str) -> list[Finding]:
    there: dict[tuple[str, str], int] = {}
    for text in (text for partition in partitions for text in partition.gres):
        name, kind, number = split_gres(text)
        for key in {(name, kind), (name, "")}:
            there[key] = max(there.get(key, 0), number)
    found = []
    for wanted in (profile.gres or "").split(","):
        name, kind, number = split_gres(wanted)
        have = there.get((name, kind))
        if wanted and have is None:
            kinds = ", ".join(sorted({visible(text) for partition in partitions for text in partition.gres})) or "none"
            found.append(Finding("gres", f"no node of {names} has {wanted}; there is: {kinds}."))
        elif wanted and have is not None and number > have:
            found.append(Finding("gres", f"{wanted} is more than a node of {names} has: {have}."))
    return found


def split_gres(text: str) -> tuple[str, str, int]:
    """Name, type ("" when none is named) and count of ``gpu:a100:4``."""
    name, *rest = re.sub(r"\(.*", "", text).split(":")
    number = 1
    if rest and rest[-1].isdecimal():
        number = int(rest.pop())
    return name, ":".join(rest), number


def mebibytes(memory: str) -> float:
    """A profile's memory (``4G``, ``512M``) in mebibytes."""
    units: Mapping[str, float] = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}
    return float(memory[:-1]) * units[memory[-1]]
