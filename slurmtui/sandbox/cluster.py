"""The sandbox's SLURM as its own commands see it."""

from __future__ import annotations

import contextlib
import re
from datetime import datetime
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError, SandboxError
from slurmtui.sandbox import ports
from slurmtui.sandbox.daemons import environment, program
from slurmtui.sandbox.layout import NODES, Layout
from slurmtui.sandbox.texts import database_setup
from slurmtui.sources.exec import Finished, Runner

if TYPE_CHECKING:
    from collections.abc import Iterable

CLUSTER = "sandbox"
ACCOUNT = "research"
_SERVING = {"idle", "mixed", "allocated", "completing", "planned", "reserved"}
_VERSION = re.compile(r"\d+\.\d+(\.\d+)?")


class Cluster:
    """Asks and sets up the daemons of one sandbox. A question that is not answered in time is answered with no."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._runner = Runner(environment=environment(layout))

    async def _ask(self, *argv: str, seconds: float = 3, stdin: bytes | None = None) -> Finished | None:
        """Run a command; None when it failed."""
        try:
            return await self._runner.run([program(argv[0]), *argv[1:]], timeout=seconds, stdin=stdin)
        except CommandError:
            return None

    async def _do(self, *argv: str) -> None:
        """Run a command that must succeed."""
        try:
            await self._runner.run([program(argv[0]), *argv[1:]], timeout=20)
        except CommandError as error:
            message = f"`{' '.join(argv)}` failed in the sandbox: {error}"
            raise SandboxError(message) from error

    async def munge_answers(self) -> bool:
        """Whether munged signs."""
        if not self._layout.munge_socket.is_socket():
            return False
        return await self._ask("munge", "--no-input", "--socket", str(self._layout.munge_socket)) is not None

    async def database_is_set_up(self) -> bool:
        """Whether MariaDB answers; gives slurmdbd its database and account on the way."""
        if not self._layout.database_socket.is_socket():
            return False
        argv = (
            "mariadb", "--no-defaults", f"--socket={self._layout.database_socket}", f"--user={self._layout.user}",
        )  # fmt: skip
        return await self._ask(*argv, seconds=10, stdin=database_setup(self._layout).encode()) is not None

    async def accounting_answers(self) -> bool:
        """Whether slurmdbd answers."""
        if not ports.is_served(self._layout.slurmdbd_port):  # does not connect: each such knock is an error in its log
            return False
        return await self._ask("sacctmgr", "--noheader", "show", "cluster") is not None

    async def set_up_accounts(self) -> None:
        """See to it that the cluster, its account and the user are known to accounting.

        Raises:
            SandboxError: sacctmgr refused.
        """
        user = self._layout.user
        asked = await self._ask(
            "sacctmgr", "--noheader", "--parsable2", "show", "associations", "where", f"user={user}",
            f"cluster={CLUSTER}", "format=account", seconds=10,
        )  # fmt: skip
        if asked is not None and ACCOUNT in asked.stdout.decode().split():
            return
        for what in (
            ("cluster", CLUSTER),
            ("account", ACCOUNT, f"cluster={CLUSTER}", f"description={ACCOUNT}", "organization=sandbox"),
            ("user", user, f"cluster={CLUSTER}", f"account={ACCOUNT}", f"defaultaccount={ACCOUNT}"),
        ):
            # Says 1 when it is there already: what counts is asked for below.
            await self._ask("sacctmgr", "--immediate", "--quiet", "add", *what, seconds=10)
        # root has an account of its own from the start; here it is a user like any other.
        set_default = ("set", f"defaultaccount={ACCOUNT}", "where", f"user={user}", f"cluster={CLUSTER}")
        await self._do("sacctmgr", "--immediate", "--quiet", "modify", "user", *set_default)

    async def controller_answers(self) -> bool:
        """Whether slurmctld answers."""
        if not ports.is_served(self._layout.slurmctld_port):
            return False
        asked = await self._ask("scontrol", "ping")
        return asked is not None and b" UP" in asked.stdout

    async def node_states(self) -> dict[str, str]:
        """Each node's state as sinfo tells it (``idle``, ``down*`` …); empty when it does not answer."""
        asked = await self._ask("sinfo", "--noheader", "--Node", "--format=%N %T")
        lines = asked.stdout.decode().splitlines() if asked else []
        return dict(line.split(None, 1) for line in lines if len(line.split()) == 2)

    async def all_nodes_serve(self) -> bool:
        """Whether every node can run jobs; nodes that SLURM has taken out are put back."""
        states = await self.node_states()
        out = [node for node, state in states.items() if state.rstrip("*$+@-").startswith(("down", "drain", "fail"))]
        if out:
            await self._ask("scontrol", "update", f"nodename={','.join(out)}", "state=resume")
        return all(serves(states.get(node, "")) for node in NODES)

    async def takes_jobs(self) -> bool:
        """Whether sbatch and sacct answer."""
        tested = await self._ask("sbatch", "--test-only", "--output=/dev/null", "--wrap=true")
        return tested is not None and await self._ask("sacct", "--noheader", "--allocations") is not None

    async def running_since_before(self, moment: float) -> set[str]:
        """The ids of the jobs that SLURM takes for running and that began before ``moment``."""
        asked = await self._ask("squeue", "--noheader", "--array", "--states=running", "--format=%A %S", seconds=10)
        found = set()
        for line in asked.stdout.decode().splitlines() if asked else []:
            job, _, began = line.partition(" ")
            with contextlib.suppress(ValueError):
                if datetime.fromisoformat(began).timestamp() < moment:
                    found.add(job)
        return found

    async def put_back(self, jobs: Iterable[str]) -> None:
        """Queue jobs again whose processes are gone; those that may not run twice are cancelled."""
        for job in jobs:
            if await self._ask("scontrol", "requeue", job) is None:
                await self._ask("scancel", "--quiet", job)

    async def cancel_everything(self) -> int:
        """Ask for the end of every job; return how many there were."""
        count = await self.job_count()
        if count:
            await self._ask("scancel", "--quiet", f"--user={self._layout.user}", seconds=10)
        return count

    async def job_count(self) -> int:
        """How many jobs are in the queue, with those that are just ending; 0 when there is no answer."""
        asked = await self._ask("squeue", "--noheader", "--array", "--format=%i", seconds=10)
        return len(asked.stdout.split()) if asked else 0


def serves(state: str) -> bool:
    """Whether a node in this state takes jobs and answers."""
    return state.rstrip("$+@-") in _SERVING


async def slurm_version() -> str:
    """The version of the SLURM that is installed (``22.05.8``).

    Raises:
        SandboxError: slurmctld does not say one.
    """
    try:
        said = (await Runner().run([program("slurmctld"), "-V"], timeout=10)).stdout.decode("utf-8", "replace")
    except CommandError as error:
        message = f"slurmctld does not tell its version: {error}"
        raise SandboxError(message) from error
    found = _VERSION.search(said)
    if found is None:
        message = f"slurmctld does not tell its version: {said.strip()[:100]!r}"
        raise SandboxError(message)
    return found.group()
