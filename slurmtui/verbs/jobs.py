"""``slurmtui jobs [FILTER…]``: the queue, each job with the flow run it belongs to."""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.config import load_config
from slurmtui.models.text import visible
from slurmtui.models.values import Special
from slurmtui.session import open_session
from slurmtui.store.once import gather
from slurmtui.store.query import filter_jobs
from slurmtui.store.words import clock, short_span
from slurmtui.verbs.table import print_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from slurmtui.models.job import Job
    from slurmtui.models.job_table import JobTable
    from slurmtui.models.values import Seconds
    from slurmtui.store.snapshot import Snapshot

_HEAD = ("JOB", "NAME", "USER", "PARTITION", "STATE", "TIME", "LIMIT", "N", "CPU", "MEM", "GPU", "WHERE / WHY", "RUN")
_RIGHT = frozenset({"TIME", "LIMIT", "N", "CPU", "MEM"})
_WIDEST = {"JOB": 24, "NAME": 32, "WHERE / WHY": 48, "GPU": 16}
_GIVING = {"NAME": 10, "WHERE / WHY": 12, "GPU": 6, "JOB": 9, "PARTITION": 5, "USER": 5}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("--all", action="store_true", help="the jobs of everyone, not only yours")
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    parser.add_argument(
        "filter",
        nargs="*",
        metavar="FILTER",
        help="words and conditions, all of which must hold: gpu, !debug, state:pd, user=alice, 'cpus>8'",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the queue; 0 when SLURM answered."""
    snapshot = asyncio.run(_gather(arguments.config, everyone=arguments.all))
    if snapshot.queue.error:
        print(f"slurmtui: {visible(snapshot.queue.error)}", file=sys.stderr)
        return 1
    table, runs = snapshot.queue.data, run_ids(snapshot)
    rows = filter_jobs(table, " ".join(arguments.filter), None, _texts_of_runs(snapshot, runs))
    if arguments.json:
        found = [facts(table, row, runs) for row in rows]
        print(msgspec.json.encode(found).decode())
    elif rows:
        now = time.time()
        lines = [_line(table, row, runs, now) for row in rows]
        print_table(_HEAD, lines, right=_RIGHT, widest=_WIDEST, giving=_GIVING)
    else:
        whose = "" if arguments.all else f" of {snapshot.user}"
        print(f"no jobs{whose}{' that match' if arguments.filter else ''}", file=sys.stderr)
    return 0


async def _gather(config: str | None, *, everyone: bool) -> Snapshot:
    session = open_session(load_config(config))
    try:
        return await gather(session, everyone=everyone)
    finally:
        await session.close()


def run_ids(snapshot: Snapshot) -> dict[str, str]:
    """By job id the id of its flow run; a job's own mark counts although Prefect does not know the run (any more)."""
    return {**{orphan.job_id: orphan.run_id for orphan in snapshot.orphans}, **snapshot.run_of_job}


def _texts_of_runs(snapshot: Snapshot, runs: Mapping[str, str]) -> dict[str, str]:
    """By job id what ``run:`` and words may match: the id and the name of its run."""
    names = {view.run.id: view.run.name for view in snapshot.runs}
    return {job_id: f"{run_id} {names.get(run_id, '')}" for job_id, run_id in runs.items()}


def facts(table: JobTable, row: int, runs: Mapping[str, str]) -> dict[str, Any]:
    """One job for a script: the names here are a promise.

    ``id_whole`` is false for a list of array tasks that was too long for its column: such an id is not to be acted on;
    ``name_whole`` for a name that may be longer than what squeue was asked to tell. ``start`` of a waiting job is
    SLURM's estimate.
    """
    job = table.job(row)
    return {
        "id": job.id,
        "id_whole": table.id_is_whole(row),
        "name": job.name,
        "name_whole": not table.cut(row, "name"),
        "user": job.user,
        "account": job.account or None,
        "partition": job.partition,
        "qos": job.qos or None,
        "state": job.state,
        "reason": job.reason or None,
        "nodes": job.nodes or None,
        "node_count": job.node_count,
        "cpus": job.cpus,
        "memory": job.memory or None,
        "gres": job.gres or None,
        "elapsed": _number(job.elapsed),
        "time_limit": _number(job.time_limit),
        "submitted": _iso(job.submit),
        "start": _iso(job.start),
        "run": runs.get(job.id),
    }


def _number(duration: Seconds) -> int | str | None:
    """Seconds, ``"unlimited"``, or None where SLURM does not say."""
    if isinstance(duration, Special):
        return "unlimited" if duration is Special.UNLIMITED else None
    return duration


def _iso(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment).astimezone().isoformat(timespec="seconds")


def _line(table: JobTable, row: int, runs: Mapping[str, str], now: float) -> tuple[str, ...]:
    job = table.job(row)
    return (
        table.text(row, "id") + ("" if table.id_is_whole(row) else "…"),
        table.text(row, "name") + ("…" if table.cut(row, "name") else ""),
        table.text(row, "user"),
        table.text(row, "partition"),
        table.text(row, "state"),
        _span(job.elapsed),
        _span(job.time_limit),
        str(job.node_count),
        str(job.cpus),
        table.text(row, "memory"),
        table.text(row, "gres"),
        _where_or_why(table, row, job, now),
        visible(runs.get(job.id, "")[:8]),
    )


def _span(duration: Seconds) -> str:
    if isinstance(duration, Special):
        return "∞" if duration is Special.UNLIMITED else "-"
    return short_span(duration)


def _where_or_why(table: JobTable, row: int, job: Job, now: float) -> str:
    """Where the job runs, or why it does not and when SLURM thinks it will."""
    if job.state != "PENDING":
        return table.text(row, "nodes") or table.text(row, "reason")
    estimate = f", est. {clock(job.start, now)}" if job.start is not None and job.start > now else ""
    return (table.text(row, "reason") or "-") + estimate
