"""``slurmtui sandbox up``: whatever state the sandbox is in, make it whole."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import TYPE_CHECKING

import msgspec
import psutil

from slurmtui import paths
from slurmtui.errors import SandboxError
from slurmtui.sandbox import daemons, lock, ports, prepare, processes, record
from slurmtui.sandbox.cluster import Cluster, serves, slurm_version
from slurmtui.sandbox.daemons import Daemon, DaemonFailed
from slurmtui.sandbox.layout import NODES, Layout, jobs_to_cancel
from slurmtui.sandbox.packages import require_programs
from slurmtui.sandbox.waiting import together, until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Awaitable, Callable
    from pathlib import Path

_TRIES = 3
_PORT_TAKEN = "Address already in use"  # who had it may have given it back meanwhile
_GRACE = 5
_GRACE_OF_NEWS = 20  # for one that runs and needs another which was just started: it has to find it again
_START_SECONDS = 30
_NODE_SECONDS = 30


class UpReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``up`` did: the daemons it had to start (none when all was well), and how long it took."""

    slurm_conf: str
    started: tuple[str, ...]
    seconds: float


async def up(say: Callable[[str], None]) -> UpReport:
    """Bring the sandbox up, or back up; return when every node serves and sbatch and sacct answer.

    Args:
        say: is told, in short sentences, what takes time or was repaired.

    Raises:
        SandboxError: programs are missing, or a daemon does not come up (with the end of its log).
    """
    clock = time.monotonic()
    require_programs()
    folder = paths.sandbox_folder()
    async with lock.hold(folder, say):
        version = await slurm_version()
        layout = prepare.load_layout(folder)
        for attempt in range(1, _TRIES + 1):
            rise = _Rise(layout, version, say)
            try:
                await rise.run()
            except DaemonFailed as error:
                await rise.undo()
                if not (_PORT_TAKEN in str(error) or _port_was_taken(error.daemon)) or attempt == _TRIES:
                    raise
                say(f"port {error.daemon.port} of {error.daemon.name} was taken by another program; choosing others")
                layout = prepare.with_new_ports(layout)
            except BaseException:
                await rise.undo()
                raise
            else:
                return UpReport(
                    slurm_conf=str(rise.layout.slurm_conf),
                    started=tuple(rise.started),
                    seconds=time.monotonic() - clock,
                )
    raise AssertionError  # the last attempt returned or raised


def _port_was_taken(daemon: Daemon) -> bool:
    return daemon.port is not None and not ports.is_free(daemon.port)


class _Rise:
    """One attempt to make the sandbox whole."""

    def __init__(self, layout: Layout, version: str, say: Callable[[str], None]) -> None:
        self.layout = layout
        self.started: dict[str, subprocess.Popen[bytes]] = {}
        self._version = version
        self._began = time.time()
        self._say = say
        self._running: dict[str, psutil.Process] = {}
        self._daemons: dict[str, Daemon] = {}
        self._cluster = Cluster(layout)

    async def run(self) -> None:
        """Bring up what is not up."""
        await self._settle()
        cluster = self._cluster
        await together(self._munged(), self._database())
        await self._serve("slurmdbd", cluster.accounting_answers)
        await cluster.set_up_accounts()
        await self._serve("slurmctld", cluster.controller_answers)
        await together(*(self._slurmd(node) for node in NODES))
        if not await until(cluster.all_nodes_serve, _NODE_SECONDS, given_up=self._some_ended):
            await self._blame_a_node()
        await self._settle_jobs()
        if not await until(cluster.takes_jobs, _START_SECONDS):
            raise DaemonFailed(self._daemons["slurmctld"], "takes no jobs", self.layout)
        record.write(self.layout.record, self._facts())

    async def _settle_jobs(self) -> None:
        """Make true what SLURM believes of jobs that ran when it was killed, or that ``down`` could not cancel."""
        if not self.started:
            return
        if jobs_to_cancel(self.layout.folder).exists():
            await self._cluster.cancel_everything()
            jobs_to_cancel(self.layout.folder).unlink(missing_ok=True)
            return
        believed = await self._cluster.running_since_before(self._began)
        alive = processes.jobs_with_processes(processes.find_own(self.layout.folder)) if believed else set()
        if alive is not None and (gone := sorted(believed - alive)):
            self._say(f"queued again, because their processes are gone: jobs {', '.join(gone)}")
            await self._cluster.put_back(gone)

    async def undo(self) -> None:
        """End what this attempt started."""
        found = []
        for process in self.started.values():
            with contextlib.suppress(psutil.Error):
                found.append(psutil.Process(process.pid))
        await processes.end(found, _GRACE)
        for process in self.started.values():
            process.poll()

    async def _settle(self) -> None:
        """Find what runs already, settle the ports, write the configuration."""
        self._running = processes.find_own(self.layout.folder).daemons
        if any(_port_was_taken(daemon) for daemon in self._missing()):
            self._say("another program has taken one of the sandbox's ports; choosing others")
            self.layout = prepare.with_new_ports(self.layout)
            self._cluster = Cluster(self.layout)
        changed = prepare.write_files(self.layout, self._version)
        if changed and self._running:
            self._say("the configuration has changed; starting the daemons that ran anew")
            await processes.end(self._running.values(), _GRACE)
            self._running = {}
        self._daemons = daemons.all_daemons(self.layout)
        if self._running and (missing := self._missing()):
            self._say(f"not running: {', '.join(daemon.name for daemon in missing)}; starting them again")

    def _missing(self) -> list[Daemon]:
        every = daemons.all_daemons(self.layout)
        return [daemon for name, daemon in every.items() if name not in self._running]

    async def _munged(self) -> None:
        await self._serve("munged", self._cluster.munge_answers)

    async def _database(self) -> None:
        await prepare.make_database(self.layout)
        await self._serve("mariadbd", self._cluster.database_is_set_up)

    async def _slurmd(self, node: str) -> None:
        name = f"slurmd-{node}"
        port = self._daemons[name].port or 0

        async def answers() -> bool:
            return ports.is_served(port)

        await self._serve(name, answers)

    async def _serve(self, name: str, ready: Callable[[], Awaitable[bool]]) -> None:
        """See one daemon answer, starting it if it does not run, and once more if it runs but is deaf."""
        daemon, running = self._daemons[name], self._running.get(name)
        if running is not None:
            grace = _GRACE_OF_NEWS if self.started else _GRACE
            if await until(ready, grace, given_up=lambda: not processes.is_alive(running)):
                return
            self._say(f"{name} does not answer; starting it anew")
            await processes.end([running], 1)
        process = self.started[name] = daemons.start(daemon, self.layout)
        if await until(ready, _START_SECONDS, given_up=lambda: process.poll() is not None):
            return
        code = process.poll()
        what = f"did not answer within {_START_SECONDS} s" if code is None else f"ended at once (exit code {code})"
        raise DaemonFailed(daemon, what, self.layout)

    def _some_ended(self) -> bool:
        return any(process.poll() is not None for process in self.started.values())

    async def _blame_a_node(self) -> None:
        for name, process in self.started.items():
            if process.poll() is not None:
                raise DaemonFailed(self._daemons[name], f"ended (exit code {process.returncode})", self.layout)
        states = await self._cluster.node_states()
        for node in NODES:
            state = states.get(node, "unknown")
            if not serves(state):
                raise DaemonFailed(self._daemons[f"slurmd-{node}"], f"does not serve: its node is {state}", self.layout)
        message = "the nodes of the sandbox do not serve, and do not say why"
        raise SandboxError(message)

    def _facts(self) -> record.SandboxRecord:
        found = processes.find_own(self.layout.folder).daemons
        try:
            controller = found["slurmctld"]
            return record.SandboxRecord(
                slurm_conf=str(self.layout.slurm_conf),
                slurmctld_pid=controller.pid,
                slurmctld_pid_started=controller.create_time(),
                folder=str(self.layout.folder),
                host=socket.gethostname(),
                version=self._version,
                started=time.time(),
                first_port=self.layout.first_port,
                daemons=tuple(
                    record.DaemonRecord(
                        name=name,
                        pid=process.pid,
                        pid_started=process.create_time(),
                        log=str(daemons.out_file(self.layout, name)),
                    )
                    for name, process in found.items()
                ),
            )
        except (KeyError, psutil.Error):
            raise DaemonFailed(self._daemons["slurmctld"], "ended just now", self.layout) from None


def slurm_conf_if_up(folder: Path) -> str | None:
    """The SLURM configuration of a sandbox that is up; None when its slurmctld cannot be proved to run."""
    facts = record.read(folder / "sandbox.json", record.SandboxRecord)
    if facts is None or "slurmctld" not in processes.find_own(folder).daemons:
        return None
    return facts.slurm_conf
