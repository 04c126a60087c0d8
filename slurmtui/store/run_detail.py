"""Loads the detail of the run that somebody looks at, and asks no more than has changed since."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slurmtui import paths
from slurmtui.errors import CommandError, PrefectError
from slurmtui.models.run_detail import RunDetail, StateChange
from slurmtui.models.run_record import DriverStatus
from slurmtui.sources.dask import dashboard_address, dask_counts
from slurmtui.sources.prefect.times import to_epoch
from slurmtui.sources.run_folder import read_attempts, read_task_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.flow_run import TaskRun
    from slurmtui.models.job import EndedJob
    from slurmtui.models.run_view import RunView
    from slurmtui.session import Session

_MOST_JOBS = 200
_MOST_RESULTS = 2000
_PATIENCE = 3  # so often accounting is asked for a job that it does not know


class DetailLoader:
    """Loads one run at a time; keeps what it knows of the run it was last asked for."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run_id = ""
        self._states: tuple[StateChange, ...] = ()
        self._states_of: tuple[Any, ...] | None = None
        self._jobs: dict[str, EndedJob] = {}
        self._asked: dict[str, int] = {}

    async def load(self, view: RunView, tasks: Sequence[TaskRun]) -> RunDetail:
        """The detail of ``view``; what cannot be read is named in it, and the rest is there."""
        if view.run.id != self._run_id:
            self._run_id, self._states, self._states_of = view.run.id, (), None
            self._jobs, self._asked = {}, {}
        problems: list[str] = []
        files, _, _ = await asyncio.gather(
            asyncio.to_thread(self._read_files, view, tuple(tasks)),
            self._ask_states(view, problems),
            self._ask_jobs(view, problems),
        )
        address = files.pop("address")
        dask = await dask_counts(address) if address and view.driver is DriverStatus.ALIVE else None
        return RunDetail(
            run_id=view.run.id,
            states=self._states,
            jobs=tuple(self._jobs.values()),
            dask=dask,
            problems=tuple(problems),
            **files,
        )

    def _read_files(self, view: RunView, tasks: Sequence[TaskRun]) -> dict[str, Any]:
        results = [task for task in tasks if task.result_file and task.state_type == "COMPLETED"][-_MOST_RESULTS:]
        kept = frozenset(task.id for task in results if Path(task.result_file or "").is_file())
        gone = frozenset(task.id for task in results) - kept
        found: dict[str, Any] = {"kept": kept, "gone": gone, "address": ""}
        if view.record is None:
            return found
        folder = Path(view.record.folder)
        places, script = read_task_places(folder), _script(folder)
        if view.record.shared is not None:  # its tasks run in the jobs of a shared cluster
            cluster = paths.clusters_folder() / view.record.shared.cluster_id
            there, own = read_task_places(cluster), {task.id for task in tasks}
            places |= {task_id: place for task_id, place in there.items() if task_id in own}
            script = script or _script(cluster)
        found |= {"attempts": read_attempts(folder), "places": places, "script": script}
        if view.driver is DriverStatus.ALIVE:
            found["address"] = dashboard_address(folder / "driver.log")
        return found

    async def _ask_states(self, view: RunView, problems: list[str]) -> None:
        version = (view.run.state_name, view.run.state_since, view.run.run_count)
        client = self._session.prefect
        if client is None or not view.known or version == self._states_of:
            return
        try:
            rows = await client.request("GET", f"/flow_run_states/?flow_run_id={view.run.id}")
        except PrefectError as error:
            problems.append(f"the state history: {error}")
            return
        self._states, self._states_of = _changes(rows), version

    async def _ask_jobs(self, view: RunView, problems: list[str]) -> None:
        self._jobs.update({job.id: job for job in view.ended_jobs})
        if view.record is None:
            return
        queued = {job.id for job in view.jobs}
        lacking = [
            job_id
            for job_id in view.record.job_ids[-_MOST_JOBS:]
            if job_id not in queued and job_id not in self._jobs and self._asked.get(job_id, 0) < _PATIENCE
        ]
        if not lacking:
            return
        for job_id in lacking:
            self._asked[job_id] = self._asked.get(job_id, 0) + 1
        try:
            self._jobs.update(await self._session.slurm.ended_jobs(lacking))
        except CommandError as error:
            problems.append(f"accounting: {error}")


def _changes(rows: Any) -> tuple[StateChange, ...]:
    found = [
        StateChange(
            type=str(row.get("type") or ""),
            name=str(row.get("name") or ""),
            message=str(row.get("message") or ""),
            time=to_epoch(row.get("timestamp")),
        )
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict)
    ]
    return tuple(sorted(found, key=lambda change: change.time or 0))


def _script(folder: Path) -> str:
    """The first script of the newest attempt that handed one to sbatch."""
    try:
        kept = sorted(folder.glob("script-*.sh"), key=lambda path: path.stat().st_mtime)
        return kept[-1].read_text("utf-8", "replace") if kept else ""
    except OSError:
        return ""
