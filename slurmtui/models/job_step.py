"""The steps of a running job and what they use now; sizes in mebibytes, times in seconds."""

from __future__ import annotations

import msgspec

from slurmtui.models.gres import tres
from slurmtui.models.values import count, memory, seconds


class StepUse(msgspec.Struct, frozen=True, kw_only=True):
    """What sstat tells of one step.

    ``memory`` is what all its tasks use together, ``memory_task`` the largest of them, on ``node``.
    """

    id: str
    tasks: int = 0
    cpu: int | None = None
    memory: float | None = None
    memory_task: float | None = None
    node: str = ""
    read: float | None = None
    written: float | None = None
    gpu_percent: int | None = None
    gpu_memory: float | None = None


class LiveStep(StepUse, frozen=True, kw_only=True):
    """One step of a running job, with what it uses where sstat tells it."""

    name: str = ""
    state: str = ""
    nodes: str = ""
    elapsed: int | None = None

    @property
    def step(self) -> str:
        """The step's own name: ``batch``, ``0``."""
        return self.id.rpartition(".")[2]

    @property
    def busy(self) -> float | None:
        """How many CPUs it has kept busy so far, on average."""
        return None if self.cpu is None or not self.elapsed else self.cpu / self.elapsed


ASKED = ("JobID", "NTasks", "AveCPU", "MaxRSS", "MaxRSSNode", "MaxDiskRead", "MaxDiskWrite", "TRESUsageInTot",
         "TRESUsageInAve")  # fmt: skip
"""What is asked of sstat; none of it is free text, so that the separators can be trusted."""


def parse_sstat(text: str) -> tuple[StepUse, ...]:
    """The answer of ``sstat -a -n -P`` for these fields."""
    found = []
    for line in text.splitlines():
        told = dict(zip(ASKED, line.split("|"), strict=False))
        if len(told) != len(ASKED) or "." not in told["JobID"]:
            continue
        total, average = tres(told["TRESUsageInTot"]), tres(told["TRESUsageInAve"])
        tasks = count(told["NTasks"]) or 0
        largest = memory(told["MaxRSS"], "B")
        found.append(
            StepUse(
                id=told["JobID"],
                tasks=tasks,
                cpu=_cpu(total.get("cpu", ""), told["AveCPU"], tasks),
                memory=memory(total["mem"], "B") if "mem" in total else largest,
                memory_task=largest,
                node=told["MaxRSSNode"],
                read=memory(told["MaxDiskRead"], "B"),
                written=memory(told["MaxDiskWrite"], "B"),
                gpu_percent=count(average.get("gres/gpuutil", "")),
                gpu_memory=memory(total["gres/gpumem"], "B") if "gres/gpumem" in total else None,
            )
        )
    return tuple(found)


def _cpu(total: str, average: str, tasks: int) -> int | None:
    """The CPU time of all tasks together."""
    value = seconds(total)
    if isinstance(value, int):
        return value
    each = seconds(average)
    return each * max(1, tasks) if isinstance(each, int) else None
