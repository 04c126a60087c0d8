"""Reading the end of a file that only the node of a running job can see: through a step of the job, once."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from slurmtui import paths
from slurmtui.atomic import write_private

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.sources.exec import Runner

BYTES = 1_000_000
_SECONDS = 40.0


def argv_of(job_id: str, node: str, path: str) -> tuple[str, ...]:
    """One task beside those of the job, on this node, that writes the file's end to us."""
    return (
        "srun", f"--jobid={job_id}", "--overlap", "-N1", "-n1", f"--nodelist={node}", "--input=none", "--quiet",
        "tail", "-c", str(BYTES), "--", path,
    )  # fmt: skip


async def read_elsewhere(runner: Runner, job_id: str, node: str, path: str) -> Path:
    """Read the file's end there; where its copy is now.

    Raises:
        CommandError: SLURM or the node says no, in its own words, or it took too long.
        OSError: the copy cannot be written.
    """
    finished = await runner.run(argv_of(job_id, node, path), timeout=_SECONDS)
    name = re.sub(r"[^\w.-]", "_", f"{job_id}-{node}-{path.rsplit('/', 1)[-1]}")[-150:]
    copy = paths.state_folder() / "elsewhere" / name
    await asyncio.to_thread(write_private, copy, finished.stdout)
    return copy
