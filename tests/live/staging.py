"""The stage of the fault suite and of the soak: flows whose course a test decides, and what is seen of their runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import psutil

from slurmtui.control import server
from slurmtui.control.cancel import cancel_run
from slurmtui.control.submit import SubmitRequest, submit_flow
from slurmtui.errors import Refused, SlurmtuiError
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import DriverStatus
from slurmtui.sources.processes import RUN_VARIABLE, driver_status, environment_of
from slurmtui.sources.run_folder import read_run
from slurmtui.store.once import gather
from slurmtui.store.rescue_look import examine
from tests.live.waiting import eventually_true

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from slurmtui.models.job import Job
    from slurmtui.models.rescue import Case
    from slurmtui.models.run_record import RunRecord
    from slurmtui.models.run_view import RunView
    from slurmtui.session import Session

OUTAGE = float(os.environ.get("SLURMTUI_TEST_OUTAGE_SECONDS", "20"))
"""So long a service is away; 60 where there is time."""

FLOWS = """
import os
import time
from pathlib import Path
from prefect import flow, task


@task
def nap(number, until):
    deadline = time.time() + 300
    while not Path(until).exists() and time.time() < deadline:
        time.sleep(0.2)
    return number


@flow
def naps(until: str, count: int = 1):
    return sum(future.result() for future in nap.map(list(range(count)), until=until))


@task
def step(number, executed):
    with open(executed, "a") as file:
        file.write(f"{number}\\n")
    return os.urandom(1000) * 100


@flow
def steps(until: str, executed: str, count: int = 2):
    [future.result() for future in step.map(list(range(count)), executed=executed)]
    nap.submit(0, until).result()


@task
def fails_unless(path):
    if not Path(path).exists():
        raise ValueError("not yet")
    return 1


@flow
def once_more(until: str, path: str):
    first = nap.submit(0, until).result()
    return first + fails_unless.submit(path).result()
"""

OWN = """
import time
from pathlib import Path
from prefect import flow, task
from prefect_dask import DaskTaskRunner


def runner(**keywords):
    asked = {"queue": "batch", "cores": 1, "memory": "500MB", "n_workers": 1, **keywords}
    return DaskTaskRunner(cluster_class="dask_jobqueue.SLURMCluster", cluster_kwargs=asked)


@task
def nap(until=""):
    while until and not Path(until).exists():
        time.sleep(0.2)


@flow(task_runner=runner(queue="no-such-partition"))
def partition():
    return nap.submit().result()


@flow(task_runner=runner(account="no-such-account"))
def account():
    return nap.submit().result()


@flow(task_runner=runner())
def plain(until: str):
    return nap.submit(until).result()
"""
# Flows as people have them, written without slurmtui: such a cluster never asks for jobs again.


def profiles() -> dict[str, Profile]:
    """What the runs here may ask for."""
    small = Profile(name="small", partition="batch", memory="700M", walltime="00:20:00", workers=1)
    proxied = ("export http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9", "unset no_proxy NO_PROXY")
    return {
        "small": small,
        "minute": msgspec.structs.replace(small, name="minute", walltime="00:01:00"),
        "gpu": msgspec.structs.replace(small, name="gpu", partition="gpu"),
        "proxied": msgspec.structs.replace(small, name="proxied", prologue=proxied),
        "nowhere": msgspec.structs.replace(small, name="nowhere", partition="no-such-partition"),
        "nobody": msgspec.structs.replace(small, name="nobody", account="no-such-account"),
    }


class Stage:
    """Runs of these flows, ended after the test whatever happened."""

    def __init__(self, session: Session, folder: Path) -> None:
        session.config = msgspec.structs.replace(session.config, profiles=profiles(), default_profile="small")
        self.session, self.folder = session, folder
        self.file, self.own = folder / "faults.py", folder / "own.py"
        self.file.write_text(FLOWS)
        self.own.write_text(OWN)
        self.made: list[str] = []
        self._starting = asyncio.Semaphore(3)  # each reads its flow's file, and imports Prefect for it

    async def start(self, flow: str = "naps", profile: str = "small", **parameters: Any) -> str:
        """Submit a run; its id. With the profile ``none`` it is a flow with a cluster of its own."""
        file = self.own if profile == "none" else self.file
        request = SubmitRequest(
            target=f"{file}:{flow}", profile=profile, parameters=parameters, directory=str(self.folder)
        )
        async with self._starting:
            spec = await submit_flow(self.session, request)
        self.made.append(spec.id)
        return spec.id

    async def jobs(self, run_id: str, state: str = "") -> list[Job]:
        """The run's jobs in the queue that are not just completing."""
        table = await self.session.slurm.queue(everyone=False)
        return [
            job
            for job in table.jobs()
            if job.comment == f"slurmtui:{run_id}" and job.state != "COMPLETING" and state in {"", job.state}
        ]

    async def working(self, run_id: str, tasks: int = 1, done: int = 0) -> list[Job]:
        """Wait until so many of its tasks run, and are done, on its jobs; the jobs."""
        client = self.session.prefect
        assert client is not None

        async def at_work() -> bool:
            run = await client.flow_run(run_id)
            counts = (await client.task_counts([run])).get(run_id)
            assert not run.final, f"{run.state_name}: {run.state_message}"
            return counts is not None and counts.running >= tasks and counts.completed >= done

        await eventually_true(at_work, 240, f"tasks of {run_id[:8]} to run")
        return await self.jobs(run_id, "RUNNING")

    async def at_work_for(self, run_id: str, seconds: float) -> list[Job]:
        """Wait until one of its tasks has run for so long; the run's jobs."""
        client = self.session.prefect
        assert client is not None

        async def long_enough() -> bool:
            return any(
                task.state_type == "RUNNING" and task.start is not None and time.time() - task.start > seconds
                for task in await client.task_runs(run_id)
            )

        await eventually_true(long_enough, 240, f"a task of {run_id[:8]} to run for {seconds} s")
        return await self.jobs(run_id, "RUNNING")

    async def ended(self, run_id: str, state: str, seconds: float = 150) -> str:
        """Wait for the run's end in that state, and until its driver and its jobs are gone; the state's message."""
        client = self.session.prefect
        assert client is not None
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(SlurmtuiError):
                run = await client.flow_run(run_id)
                if run.final:
                    break
            assert time.monotonic() < deadline, f"{run_id[:8]} is not {state}: {(await self.view(run_id)).verdict}"
            await asyncio.sleep(0.5)
        await eventually_true(lambda: self.is_over(run_id), 90, f"driver and jobs of {run_id[:8]} to be gone")
        run = await client.flow_run(run_id)  # an engine that was ended on the way is put right by its driver at last
        assert run.state_type == state, (run.state_name, run.state_message, self.log(run_id))
        return run.state_message

    async def ended_again(self, run_id: str) -> None:
        """Wait until the run, started again, has completed."""

        async def completed() -> bool:
            assert self.session.prefect is not None
            return (await self.session.prefect.flow_run(run_id)).state_type == "COMPLETED"

        await eventually_true(completed, 150, f"{run_id[:8]} to complete")
        await self.ended(run_id, "COMPLETED")

    async def is_over(self, run_id: str) -> bool:
        """Whether neither its driver nor a job of it is left."""
        dead = driver_status(read_run(run_id), ()) in {DriverStatus.ENDED, DriverStatus.GONE}
        return dead and not await self.jobs(run_id)

    async def view(self, run_id: str) -> RunView:
        """The run as ``slurmtui runs`` shows it."""
        found = (await gather(self.session, ids=[run_id])).find_run(run_id)
        assert found is not None
        return found

    async def verdict(self, run_id: str, kind: str, seconds: float = 60) -> RunView:
        """Wait until the run is judged so."""
        deadline = time.monotonic() + seconds
        while (view := await self.view(run_id)).verdict.kind != kind:
            assert time.monotonic() < deadline, f"{run_id[:8]} never {kind}: {view.verdict}"
            await asyncio.sleep(1)
        return view

    async def case(self, run_id: str) -> Case:
        """What rescue has to say of the run, as soon as it says something."""
        return await self._case(lambda case: case.run_id == run_id, f"rescue to tell of {run_id[:8]}")

    async def server_case(self) -> Case:
        """What rescue has to say of the Prefect server, as soon as it says something."""
        return await self._case(lambda case: case.kind == "dead-server", "rescue to tell of the server")

    async def _case(self, wanted: Callable[[Case], bool], why: str) -> Case:
        async def told() -> Case | None:
            return next(filter(wanted, await self.cases()), None)

        found: Case = await eventually_true(told, 60, why)
        return found

    async def cases(self) -> tuple[Case, ...]:
        """All that rescue finds."""
        return await examine(self.session, await gather(self.session))

    def record(self, run_id: str) -> RunRecord:
        """The run's folder."""
        found = read_run(run_id)
        assert found is not None
        return found

    def driver(self, run_id: str) -> psutil.Process:
        """The process of the run's driver."""
        record = self.record(run_id)
        assert record.driver is not None
        return psutil.Process(record.driver.pid)

    def log(self, run_id: str) -> str:
        """The end of what the driver wrote."""
        record = read_run(run_id)
        return (Path(record.folder) / "driver.log").read_text()[-3000:] if record else ""

    async def left(self) -> list[str]:
        """What there still is of its runs in the queue and, on this machine and so on its nodes, in processes."""
        table = await self.session.slurm.queue(everyone=False)
        marks = {f"slurmtui:{run_id}" for run_id in self.made}
        jobs = [job for job in table.jobs() if job.comment in marks and job.state != "COMPLETING"]
        processes = [process for process in psutil.process_iter() if works_for(process, self.made)]
        return [f"job {job.id}" for job in jobs] + [str(process) for process in processes]

    async def assert_nothing_left(self) -> None:
        """Wait until there is none of it."""
        deadline = time.monotonic() + 30
        while left := await self.left():
            assert time.monotonic() < deadline, f"left of the runs: {left}"
            await asyncio.sleep(0.5)

    async def close(self) -> None:
        """End what has not ended; nothing may be left of any run."""
        for run_id in self.made:
            with contextlib.suppress(Refused):
                await cancel_run(self.session, run_id)
        await self.assert_nothing_left()


def works_for(process: psutil.Process, run_ids: Collection[str]) -> bool:
    """Whether the process is a driver or a worker of one of the runs, or was started by one."""
    try:
        return environment_of(process).get(RUN_VARIABLE) in run_ids and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return False


def server_process() -> psutil.Process:
    """The process of the private Prefect server."""
    record = server.status().record
    assert record is not None
    return psutil.Process(record.pid)
