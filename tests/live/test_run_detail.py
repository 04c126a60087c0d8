"""What is told of a run while somebody looks at it, and many runs retried at once, on the real thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui.app import SlurmtuiApp
from slurmtui.models.run_record import DriverStatus
from slurmtui.sources.processes import driver_status
from slurmtui.sources.run_folder import read_run
from slurmtui.store.once import gather
from slurmtui.store.run_detail import DetailLoader
from slurmtui.widgets.agreement import DEAF_SECONDS
from tests.live.waiting import tasks_ended
from tests.ui.seeing import see

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from slurmtui.models.flow_run import TaskRun
    from slurmtui.models.run_view import RunView
    from slurmtui.session import Session

    Drive = Callable[..., Awaitable[Any]]
    Eventually = Callable[..., Awaitable[Any]]

WATCHED = """
import time
from pathlib import Path
from prefect import flow, task
from slurmtui.flows import batch_job

@task
def part(number, folder):
    while not (Path(folder) / "go").exists():
        time.sleep(0.2)
    return number

@flow
def watched(folder: str):
    values = [future.result() for future in part.map([1, 2, 3], folder=folder)]
    batch_job(command="true")
    return sum(values)

@flow
def alltogether(folder: str):
    part.submit(1, folder).result()
    if not (Path(folder) / "open").exists():
        raise RuntimeError("the gate is shut")
"""


async def looked_at(session: Session, run_id: str) -> tuple[RunView, tuple[TaskRun, ...]]:
    assert session.prefect is not None
    view = (await gather(session)).find_run(run_id)
    assert view is not None
    return view, await session.prefect.task_runs(run_id)


async def test_the_detail_tells_where_tasks_run_and_what_dask_counts(
    session: Session, drive: Drive, eventually: Eventually, tmp_path: Path
) -> None:
    run = await drive(WATCHED, "watched", folder=str(tmp_path))
    loader = DetailLoader(session)

    async def counted() -> bool:
        view, tasks = await looked_at(session, run.spec.id)
        detail = await loader.load(view, tasks)
        return detail.dask is not None and detail.dask.workers == 2 and len(detail.places) >= 2

    await eventually(counted, 90, "two workers at work")
    (tmp_path / "go").touch()
    assert await run.ended() == 0
    await tasks_ended(session, run.spec.id, 4)
    view, tasks = await looked_at(session, run.spec.id)
    detail = await loader.load(view, tasks)
    record = read_run(run.spec.id)
    assert record is not None
    assert {task.id for task in tasks} == detail.places.keys()
    assert {place.job_id for place in detail.places.values()} <= set(record.job_ids)
    batch = next(task for task in tasks if task.name.startswith("batch_job"))
    calls = {entry.job_id: entry.by for entry in record.submissions}
    assert calls[detail.places[batch.id].job_id] == "batch_job"
    assert {task.id for task in tasks if task.name.startswith("part")} <= detail.kept
    assert [change.type for change in detail.states][-2:] == ["RUNNING", "COMPLETED"]
    assert [(attempt.outcome, attempt.uses_profile) for attempt in detail.attempts] == [("COMPLETED", True)]
    assert "#SBATCH --mem=500M" in detail.script
    assert detail.dask is None
    assert detail.problems == ()


async def test_failed_runs_are_retried_together_in_the_console(
    session: Session, drive: Drive, eventually: Eventually, tmp_path: Path
) -> None:
    (tmp_path / "go").touch()
    runs = [await drive(WATCHED, "alltogether", folder=str(tmp_path), profile={"workers": 1}) for _ in range(2)]
    for run in runs:
        assert await run.ended() == 1
        await tasks_ended(session, run.spec.id, 1)
    (tmp_path / "open").touch()
    async with SlurmtuiApp(session).run_test(size=(120, 34), notifications=True) as pilot:
        await pilot.press("slash", *"alltogether", "enter")
        for run in runs:
            await see(pilot, run.spec.name)
        await pilot.press("g", "space", "space", "R")
        text = await see(pilot, "SLURM says")
        assert "Retry 2 runs" in text
        assert "2 of 2 tasks have their results" in text
        assert "in 2 jobs, ≤ 0.33 core-hours" in text
        await pilot.pause(DEAF_SECONDS)
        await pilot.press("2", "enter")
        await see(pilot, "2 of 2 run again")
        for run in runs:

            async def done(run: Any = run) -> bool:
                assert session.prefect is not None
                ended = driver_status(read_run(run.spec.id), ()) is DriverStatus.ENDED
                return ended and (await session.prefect.flow_run(run.spec.id)).state_type == "COMPLETED"

            await eventually(done, 90, "the run to complete")
