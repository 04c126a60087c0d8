"""Finds out from the workers' logs that Dask killed workers for the memory they used.

Each worker has a nanny beside it, which kills the worker before SLURM would end the job, and says so in the job's
stderr only. The flow learns no more than that its workers died (``KilledWorker``), and which was the last of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slurmtui.models.run_record import MemoryKills
from slurmtui.models.values import memory

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_LAST_WORKER = re.compile(
    r"KilledWorker: .*?The last worker that attempt(?:ed)? to run the task was ([\w+.-]+://\S+?)\.?(?:\s|$)", re.DOTALL
)
_KILL = re.compile(rb" - distributed\.nanny\S* - WARNING - Worker (\S+) \(pid=\d+\) exceeded (\d+)% memory budget")
_LIMIT = re.compile(rb" - distributed\.worker - INFO - +Memory: +([\d.]+) ([KMGT])iB")


def memory_kills(messages: str, logs: Iterable[Path]) -> MemoryKills | None:
    """The kills for memory that the logs tell of, when one of them hit the last worker that the failure names."""
    named = _LAST_WORKER.search(messages)
    if named is None:
        return None
    kills: list[tuple[str, bytes, int]] = []
    limit: float | None = None
    for log in logs:
        for line in _telling_lines(log):
            if found := _KILL.search(line):
                kills.append((str(log), found[1], int(found[2])))
            elif found := _LIMIT.search(line):
                limit = memory(f"{found[1].decode()}{found[2].decode()}")
    if named[1].encode() not in {worker for _, worker, _ in kills}:
        return None
    places = tuple(dict.fromkeys(place for place, _, _ in kills))
    return MemoryKills(times=len(kills), percent=kills[-1][2], limit=limit, logs=places)


def _telling_lines(log: Path) -> Iterable[bytes]:
    """The lines in which a nanny tells of a kill, or a worker of its limit; none of a log that cannot be read."""
    try:
        with log.open("rb") as stream:
            return [line for line in stream if b"% memory budget" in line or b"- distributed.worker - INFO -" in line]
    except OSError:
        return []
