"""Run by each Dask worker at its start: tells which SLURM job the worker is, and which task runs begin in it.

Dask loads this file by its path, so it may import nothing of slurmtui.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import Any

from distributed.diagnostics.plugin import WorkerPlugin


class TaskPlaces(WorkerPlugin):
    """Writes a line for each of Prefect's task runs that begins here; see ``models.run_record``."""

    name = "slurmtui-task-places"

    def __init__(self, folder: str, job_id: str) -> None:
        self._path, self._job_id = f"{folder}/tasks/{job_id}.jsonl", job_id
        self._worker: Any = None

    def setup(self, worker: Any) -> None:
        """Called by Dask."""
        self._worker = worker

    def transition(self, key: Any, start: str, finish: str, **_more: Any) -> None:
        """Called by Dask when a task changes its state; never a reason for a task to fail."""
        del start
        if finish != "executing":
            return
        with contextlib.suppress(Exception):
            asked = self._worker.state.tasks[key].run_spec.kwargs["task_run_id"]
            place = {
                "task_run_id": str(getattr(asked, "value", asked)),
                "job_id": self._job_id,
                "host": os.environ.get("SLURMD_NODENAME") or os.uname().nodename,
                "time": time.time(),
            }
            with contextlib.suppress(FileExistsError):
                os.mkdir(os.path.dirname(self._path), 0o700)  # noqa: PTH102, PTH120 - the run's folder may be gone
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, json.dumps(place).encode() + b"\n")
            finally:
                os.close(handle)


async def dask_setup(worker: Any) -> None:
    """Add the job's id to what the worker reports with each heartbeat, and note the tasks."""
    job_id, folder = os.environ.get("SLURM_JOB_ID"), os.environ.get("SLURMTUI_RUN_FOLDER")
    if not job_id:
        return
    worker.metrics["slurm_job_id"] = lambda _worker: job_id
    if folder:
        await worker.plugin_add(TaskPlaces(folder, job_id), name=TaskPlaces.name)
