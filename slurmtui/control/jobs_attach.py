"""How to get into a running job: a shell beside it on its node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.nodes import expand_nodes

if TYPE_CHECKING:
    from slurmtui.models.job import Job

SHELL = "bash"


def attach_argv(job: Job, node: str = "") -> tuple[str, ...]:
    """A shell inside the job, which shares its CPUs and memory (``--overlap``), one only (``-n1``), on one node."""
    where = ("-w", node) if node else ()
    return ("srun", f"--jobid={job.raw_id}", "--overlap", "-N1", "-n1", *where, "--pty", SHELL)


def nodes_of(job: Job) -> tuple[str, ...]:
    """The nodes of a job, to choose from."""
    return expand_nodes(job.nodes)


def ssh_line(node: str) -> str:
    """The way without SLURM, where the site allows it."""
    return f"ssh {node}"
