"""``slurmtui sandbox status``: what of the sandbox runs, as seen now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.sandbox import daemons, processes, record
from slurmtui.sandbox.cluster import Cluster, serves
from slurmtui.sandbox.layout import NODES, Layout, base_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psutil import Process


class DaemonStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One daemon; ``pid`` is None when it does not run."""

    name: str
    pid: int | None
    port: int | None
    log: str


class SandboxStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The sandbox now.

    ``state`` is ``up`` (every daemon runs, every node serves), ``broken`` (some of it runs: ``up`` repairs it)
    or ``down``. ``nodes`` are sinfo's words; ``jobs`` is None while nobody can say how many there are.
    """

    state: str
    folder: str
    slurm_conf: str | None = None
    version: str | None = None
    started: float | None = None
    daemons: tuple[DaemonStatus, ...] = ()
    nodes: dict[str, str] = msgspec.field(default_factory=dict)
    jobs: int | None = 0
    problems: tuple[str, ...] = ()


async def status() -> SandboxStatus:
    """Look at the sandbox; changes nothing."""
    folder = paths.sandbox_folder()
    settings = record.read(folder / "settings.json", record.Settings)
    facts = record.read(folder / "sandbox.json", record.SandboxRecord)
    if settings is None:
        return SandboxStatus(state="down", folder=str(folder))
    layout = Layout(
        folder=folder,
        base=base_of(folder),
        first_port=settings.first_port,
        user="",
        database_password="",
    )
    running = processes.find_own(folder).daemons
    seen = _seen(layout, running)
    if not running:
        return SandboxStatus(state="down", folder=str(folder), daemons=seen)
    cluster = Cluster(layout)
    answers = "slurmctld" in running and await cluster.controller_answers()
    nodes = await cluster.node_states() if answers else {}
    problems = _problems(seen, nodes if answers else None)
    return SandboxStatus(
        state="broken" if problems else "up",
        folder=str(folder),
        slurm_conf=str(layout.slurm_conf),
        version=facts.version if facts else None,
        started=facts.started if facts else None,
        daemons=seen,
        nodes={node: nodes[node] for node in NODES if node in nodes},
        jobs=await cluster.job_count() if answers else None,
        problems=problems,
    )


def _seen(layout: Layout, running: Mapping[str, Process]) -> tuple[DaemonStatus, ...]:
    return tuple(
        DaemonStatus(
            name=name,
            pid=running[name].pid if name in running else None,
            port=daemons.port_of(layout, name),
            log=str(daemons.out_file(layout, name)),
        )
        for name in daemons.NAMES
    )


def _problems(seen: tuple[DaemonStatus, ...], nodes: Mapping[str, str] | None) -> tuple[str, ...]:
    """What is not as ``up`` would have it, a sentence each; ``nodes`` is None when slurmctld does not answer."""
    found = [f"{daemon.name} does not run; its log: {daemon.log}" for daemon in seen if daemon.pid is None]
    if nodes is not None:
        found += [f"node {node} is {nodes.get(node, 'unknown')}" for node in NODES if not serves(nodes.get(node, ""))]
    elif any(daemon.name == "slurmctld" and daemon.pid is not None for daemon in seen):
        found.append("slurmctld runs but does not answer")
    return tuple(found)
