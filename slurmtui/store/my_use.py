"""What a user's jobs hold now, by account and by QOS: counted from the queue, once a poll."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from slurmtui.models.ids import parse_job_id
from slurmtui.store.job_marks import own_rows
from slurmtui.store.query_values import gpu_reader, number, reader

if TYPE_CHECKING:
    from slurmtui.models.job_table import JobTable


class MyUse(NamedTuple):
    """Jobs (array tasks one by one) that run and wait, and what the running ones hold."""

    running: int = 0
    waiting: int = 0
    cpus: int = 0
    gpus: int = 0


def my_use(table: JobTable, user: str) -> dict[tuple[str, str], MyUse]:
    """By ``("account", name)`` and ``("qos", name)``."""
    state, account, qos = (reader(table, field, bytes.strip) for field in ("state", "account", "qos"))
    cpus, gpus = reader(table, "cpus", number), gpu_reader(table)
    found: dict[tuple[str, str], list[int]] = {}
    for row in own_rows(table, user):
        kind = state(row)
        if kind == b"RUNNING":
            more = (1, 0, cpus(row) or 0, gpus(row))
        elif kind == b"PENDING":
            waiting = parse_job_id(table.plain(row, "id"))
            more = (0, waiting.count() if waiting is not None else 1, 0, 0)
        else:
            continue
        for key in (("account", account(row).decode()), ("qos", qos(row).decode())):
            sums = found.setdefault(key, [0, 0, 0, 0])
            for place, amount in enumerate(more):
                sums[place] += amount
    return {key: MyUse(*sums) for key, sums in found.items()}
