"""The cluster: what a profile may name."""

from __future__ import annotations

import msgspec

from slurmtui.models.values import Seconds, Special


class Partition(msgspec.Struct, frozen=True, kw_only=True):
    """A partition. ``memory_per_node`` (mebibytes) and ``cpus_per_node`` are the largest of its nodes.

    ``state`` is SLURM's word (``up``, ``drain`` …); ``gres`` lists what its nodes have (``gpu:a100:4``).
    """

    name: str
    default: bool = False
    state: str = ""
    max_time: Seconds = Special.UNKNOWN
    default_time: Seconds = Special.UNKNOWN
    nodes: int = 0
    cpus_per_node: int = 0
    memory_per_node: float | None = None
    gres: tuple[str, ...] = ()
