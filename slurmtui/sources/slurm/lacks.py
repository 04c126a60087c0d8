"""Finds out what this SLURM does not offer of what is asked here and there, for one who wants to know beforehand."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.sources.slurm.ask import ask
from slurmtui.sources.slurm.scripts import stored_script

if TYPE_CHECKING:
    from slurmtui.sources.slurm.client import Slurm

_NODES = ("sinfo", "-h", "-N", "-O", "NodeList:8,StateComplete:8")
_PAST = ("sacct", "-n", "-X", "-j", "1", "-o", "JobID%-8,SubmitLine%-8,StdOut%-8,StdErr%-8")


async def find_lacks(slurm: Slurm) -> tuple[str, ...]:
    """A sentence for everything that is off here and why. Where accounting does not answer, it is not judged.

    Raises:
        CommandError: SLURM does not answer.
    """
    await ask(slurm.runner, _NODES, slurm.timeout)
    with contextlib.suppress(CommandError):
        await ask(slurm.runner, _PAST, slurm.timeout)
        await stored_script(slurm, "1")
    return tuple(slurm.lacks.values())
