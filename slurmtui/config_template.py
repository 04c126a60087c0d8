"""The file that ``config init`` writes: a profile for each partition of this cluster, and a word on every key."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from slurmtui.config_values import clock
from slurmtui.models.text import visible
from slurmtui.profile_limits import split_gres

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.cluster import Partition

_HEAD = """\
# slurmtui's configuration. `slurmtui config check` finds mistakes, `slurmtui config reference` explains every key.
# YAML reads 12:00:00 and 010 as numbers when they stand without quotes: slurmtui understands or refuses them,
# but quotes keep other tools from stumbling as well.
"""

_TAIL = """
# Folders (or files) in which the console looks for flows.
# flows:
#   - ~/flows

# Where the process that drives a run lives: login (this node) or slurm (a small job of its own, for sites that
# end long processes on login nodes; driver_profile names what that job asks for).
# driver: slurm
# driver_profile: small

# Colours: midnight, paper, contrast, terminal16, or a file of yours in themes/ beside this one.
# theme: midnight

# A Prefect server that is there already. Without it: PREFECT_API_URL, Prefect's own profile, or
# the private server of `slurmtui server start`.
# prefect:
#   api_url: http://login01:4200/api
#   auth_file: ~/.prefect-password      # user:password, readable by you alone

# The private server: the address that compute nodes reach this node by.
# server:
#   interface: ib0

# How often squeue is asked, in seconds; a site may set the floor.
# slurm:
#   poll_seconds: 10
"""

_EXAMPLE = """
# profiles:
#   small:
#     partition: debug
#     account: proj42
#     cores: 1
#     memory: 1G
#     walltime: "00:30:00"
#     workers: 2
"""

_MOST_PROFILES = 12
_MOST_CORES = 4
_MOST_MEMORY = 8 * 1024
_USUAL_WALLTIME = 3600
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_YAML_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def template(partitions: Sequence[Partition], accounts: Sequence[str], reason: str = "") -> str:
    """The text of a new configuration; ``reason`` says why there are no partitions."""
    up = [one for one in partitions if one.state == "up" and one.nodes and _nameable(one.name)]
    accounts = [account for account in accounts if _nameable(account)]
    up.sort(key=lambda partition: not partition.default)
    shown, others = up[:_MOST_PROFILES], up[_MOST_PROFILES:]
    if not shown:
        why = f" ({_comment(reason)})" if reason else ""
        return f"{_HEAD}\n# SLURM told of no usable partition{why}: fill these in by hand.{_EXAMPLE}{_TAIL}"
    names = _profile_names(shown)
    parts = [_HEAD, f"\n# Used when no profile is named.\ndefault_profile: {written(names[0])}\n\nprofiles:\n"]
    parts += [_profile(name, partition, accounts) for name, partition in zip(names, shown, strict=True)]
    if others:
        parts.append(f"# Further partitions: {_comment(', '.join(partition.name for partition in others))}\n")
    return "".join(parts) + _TAIL


def _nameable(name: str) -> bool:
    """Whether a profile can hold the name (SLURM has no others; what came from outside is looked at all the same)."""
    return name.isprintable() and not name.startswith("-") and re.fullmatch(r"\S+", name) is not None


def _profile(name: str, partition: Partition, accounts: Sequence[str]) -> str:
    cores = max(1, min(_MOST_CORES, partition.cpus_per_node))
    longest = partition.max_time if isinstance(partition.max_time, int) else None
    node_memory = f"a node has {int(partition.memory_per_node)}M" if partition.memory_per_node else ""
    lines = [
        (f"partition: {written(partition.name)}", ""),
        *_account(accounts),
        (f"cores: {cores}", f"a node has {partition.cpus_per_node}" if partition.cpus_per_node else ""),
        (f"memory: {_memory(partition, cores)}", node_memory),
        (
            f'walltime: "{clock(min(_USUAL_WALLTIME, longest or _USUAL_WALLTIME))}"',
            f"at most {clock(longest)}" if longest else "",
        ),
    ]
    gpus = [split_gres(text) for text in partition.gres if split_gres(text)[0] == "gpu"]
    if gpus:
        _, kind, number = gpus[0]
        lines.append((f"gres: {written(f'gpu:{kind}:1' if kind else 'gpu:1')}", f"a node has {number}"))
    lines.append(("workers: 2", "jobs; or  adapt: {minimum: 1, maximum: 8}"))
    body = "".join(f"    {f'{text:<26}# {remark}' if remark else text}\n" for text, remark in lines)
    return f"  {written(name)}:\n{body}\n"


def _account(accounts: Sequence[str]) -> Sequence[tuple[str, str]]:
    """The only account, or in a comment the first of several: SLURM knows which one is the default."""
    if len(accounts) == 1:
        return ((f"account: {written(accounts[0])}", ""),)
    others = f"or {_comment(', '.join(accounts[1:8]))}; without it your default one"
    return ((f"# account: {written(accounts[0])}", others),) if accounts else ()


def _memory(partition: Partition, cores: int) -> str:
    """The job's share of a node, in a round number."""
    whole = partition.memory_per_node or _MOST_MEMORY
    share = int(min(_MOST_MEMORY, whole, whole * cores / max(1, partition.cpus_per_node)))
    if share >= 4 * 1024:
        return f"{share // 1024}G"
    return f"{share // 100 * 100 or max(1, share)}M"


def _comment(text: str) -> str:
    """Text from SLURM on one line of a comment."""
    return visible(" ".join(text.split()))[:200]


def written(value: str) -> str:
    """A text as YAML, in quotes where it could be taken for something else."""
    plain = _PLAIN.fullmatch(value) and value.lower() not in _YAML_WORDS
    return value if plain or re.fullmatch(r"gpu:[A-Za-z][\w.-]*:1", value, re.ASCII) else json.dumps(value)


def _profile_names(partitions: Sequence[Partition]) -> list[str]:
    """A profile's name for each partition: its own, without what a name may not have."""
    names: list[str] = []
    for partition in partitions:
        base = re.sub(r"[^A-Za-z0-9._-]+", "-", partition.name).strip("-.")[:60] or "profile"
        name, number = base, 2
        while name in names:
            name, number = f"{base}-{number}", number + 1
        names.append(name)
    return names
