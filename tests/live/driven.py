"""A run whose driver is started by hand, so that a test may look at each of its parts."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from slurmtui.control.launch import driver_environment
from tests.live.waiting import eventually_true

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.models.job import Job
    from slurmtui.models.run_record import RunSpec
    from slurmtui.session import Session


class Driven:
    """A run whose driver was started by hand: a run in Prefect, its folder, and the driver's process."""

    def __init__(self, session: Session, spec: RunSpec, folder: Path) -> None:
        self.session, self.spec, self.folder = session, spec, folder
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Driven:
        """Start a driver, as the launcher does: in a session of its own, its output in the folder."""
        environment = {**os.environ, **driver_environment(self.session, self.spec, self.folder)}
        with (self.folder / "driver.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "slurmtui.flows.driver", str(self.folder)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True,
            )  # fmt: skip
        return self

    async def ended(self, seconds: float = 90) -> int:
        """Wait for the driver's end; its exit code."""
        assert self.process is not None
        await eventually_true(lambda: self.process and self.process.poll() is not None, seconds, "the driver to end")
        return self.process.wait()

    async def jobs(self) -> list[Job]:
        """The run's jobs in the queue, by their name."""
        table = await self.session.slurm.queue(everyone=False)
        return [job for job in table.jobs() if job.name == self.spec.job_name and job.state != "COMPLETING"]

    async def states(self) -> list[tuple[str, str]]:
        """Every state the run has had: type and message."""
        assert self.session.prefect is not None
        found = await self.session.prefect.request("GET", f"/flow_run_states/?flow_run_id={self.spec.id}")
        ordered = sorted(found, key=lambda state: state["timestamp"])
        return [(state["type"], state["message"] or "") for state in ordered]

    @property
    def log(self) -> str:
        """What the driver and the flow have written."""
        return (self.folder / "driver.log").read_text()
