"""``slurmtui cluster up PROFILE | down [NAME] | ls``: a Dask cluster on SLURM that many flows share."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.config import load_config
from slurmtui.control.clusters import Bounds, find, up
from slurmtui.control.clusters_down import down
from slurmtui.errors import CommandError, UsageError
from slurmtui.models.marks import Marks
from slurmtui.models.run_record import DriverStatus
from slurmtui.models.text import visible
from slurmtui.session import open_session
from slurmtui.sources.cluster_folder import keeper_status, read_clusters
from slurmtui.sources.run_folder import read_all
from slurmtui.store.clusters import cluster_view
from slurmtui.store.words import short_span
from slurmtui.verbs.steps import tell_step
from slurmtui.verbs.table import DASH, print_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from slurmtui.models.shared_cluster import ClusterView
    from slurmtui.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("what", choices=("up", "down", "ls"), help="start one, end one, or list them")
    parser.add_argument(
        "name", nargs="?", metavar="NAME",
        help="up: the profile (else the default one); down: the cluster (may be left out when only one is up)",
    )  # fmt: skip
    parser.add_argument("--minimum", type=int, metavar="N", help="up: jobs that are kept without work (default: 0)")
    parser.add_argument("--maximum", type=int, metavar="N", help="up: jobs at most (default: as in the profile)")
    parser.add_argument("--idle", type=float, metavar="SECONDS", help="up: how long a job without work is kept")
    parser.add_argument("--end", type=float, metavar="SECONDS", help="up: end the cluster so long after the last flow")
    parser.add_argument("--all", action="store_true", help="ls: those that have ended as well")
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Do it; 0 when the cluster is then up (up), nothing of it is left (down), or SLURM has answered (ls)."""
    given = [name for name in ("minimum", "maximum", "idle", "end") if getattr(arguments, name) is not None]
    if given and arguments.what != "up":
        raise UsageError(f"--{given[0]} goes with `cluster up` only")
    for name in given:
        if getattr(arguments, name) < (0 if name == "minimum" else 1):
            raise UsageError(f"--{name} {getattr(arguments, name):g} is too little")
    if arguments.what == "ls" and arguments.name:
        raise UsageError("`cluster ls` lists all of them: it takes no name")
    return asyncio.run({"up": _up, "down": _down, "ls": _ls}[arguments.what](arguments))


async def _up(arguments: argparse.Namespace) -> int:
    session = open_session(load_config(arguments.config))
    try:
        bounds = Bounds(
            minimum=arguments.minimum, maximum=arguments.maximum, idle=arguments.idle, end=arguments.end
        )  # fmt: skip
        record, started = await up(session, arguments.name, bounds)
    finally:
        await session.close()
    if arguments.json:
        view = cluster_view(record, keeper_status(record), (), time.time())
        print(msgspec.json.encode({**facts(view, ()), "started": started}).decode())
        return 0
    spec = record.spec
    bounds_words = f"{spec.minimum} to {spec.maximum} jobs as there is work"
    print(f"The shared cluster {spec.name} is up{'' if started else ' already'} ({record.where}): {bounds_words}.")
    print(f'Flows use it by  @flow(task_runner=slurm_runner("{spec.name}", shared=True)).')
    return 0


async def _down(arguments: argparse.Namespace) -> int:
    session = open_session(load_config(arguments.config))
    try:
        record = find(arguments.name)
        report = await down(session, record, None if arguments.json else tell_step)
    finally:
        await session.close()
    if arguments.json:
        found = {"id": record.spec.id, "name": record.spec.name, "ok": report.ok, "left_jobs": report.left_jobs}
        print(msgspec.json.encode({**found, "problems": report.problems}).decode())
    elif report.ok:
        print(f"The shared cluster {record.spec.name} is down; nothing of it is left.")
    else:
        print(f"The shared cluster {record.spec.name} is not wholly down: {' '.join(report.problems)}")
    return 0 if report.ok else 1


async def _ls(arguments: argparse.Namespace) -> int:
    session = open_session(load_config(arguments.config))
    try:
        views, problem = await _views(session)
    finally:
        await session.close()
    if problem:
        print(f"slurmtui: SLURM: {visible(problem)}", file=sys.stderr)
    shown = [view for view in views if arguments.all or view.keeper is not DriverStatus.ENDED or view.jobs]
    users = runs_on_clusters() if shown else {}
    if arguments.json:
        print(msgspec.json.encode([facts(view, users.get(view.record.spec.id, ())) for view in shown]).decode())
    elif shown:
        print_clusters(shown, time.time())
    else:
        print("no shared cluster is up")
    return 1 if problem else 0


async def _views(session: Session) -> tuple[list[ClusterView], str]:
    records, problem, jobs = read_clusters(), "", []
    try:
        jobs = list((await session.slurm.queue(everyone=False)).jobs()) if records else []
    except CommandError as error:
        problem = str(error)
    own = [job for job in jobs if job.user == session.user]
    now = time.time()
    return [
        cluster_view(record, keeper_status(record), tuple(Marks(record.spec.id, ()).select(own)), now)
        for record in records.values()
    ], problem


def runs_on_clusters() -> dict[str, list[str]]:
    """By cluster, the ids of the runs submitted from here that use it now: their drivers have not ended."""
    found: dict[str, list[str]] = {}
    for record in read_all().values():
        if record.shared is not None and record.driver is not None and record.driver.ended is None:
            found.setdefault(record.shared.cluster_id, []).append(record.spec.id)
    return found


def facts(view: ClusterView, runs: Sequence[str]) -> dict[str, Any]:
    """A cluster for a script."""
    record, status, keeper = view.record, view.record.status, view.record.keeper
    return {
        "id": record.spec.id,
        "name": record.spec.name,
        "state": view.verdict.kind,
        "text": view.verdict.text,
        "needs_you": view.verdict.needs_you,
        "evidence": view.verdict.evidence,
        "minimum": record.spec.minimum,
        "maximum": record.spec.maximum,
        "idle": record.spec.idle,
        "end": record.spec.end,
        "host": keeper.host if keeper is not None else "",
        "pid": keeper.pid if keeper is not None else 0,
        "address": keeper.address if keeper is not None else "",
        "workers": status.workers if status is not None else 0,
        "tasks": status.tasks if status is not None else 0,
        "flows": status.flows if status is not None else 0,
        "runs": runs,
        "jobs": [{"id": job.id, "state": job.state, "nodes": job.nodes} for job in view.jobs],
        "folder": record.folder,
    }


def print_clusters(views: Sequence[ClusterView], now: float) -> None:
    """The clusters for a person."""
    rows = []
    for view in views:
        record, status = view.record, view.record.status
        running = sum(1 for job in view.jobs if job.state == "RUNNING")
        waiting = sum(1 for job in view.jobs if job.state == "PENDING")
        jobs = " ".join(filter(None, (f"{running}R" if running else "", f"{waiting}PD" if waiting else ""))) or DASH
        flows = str(status.flows) if status is not None and view.keeper is DriverStatus.ALIVE else DASH
        rows.append((
            visible(record.spec.name), visible(view.verdict.text), jobs, flows,
            f"{record.spec.minimum}-{record.spec.maximum}", short_span(view.lasted(now)),
        ))  # fmt: skip
    print_table(
        ("NAME", "STATE", "JOBS", "FLOWS", "BOUNDS", "TIME"), rows, right={"FLOWS", "TIME"}, giving={"STATE": 20}
    )
