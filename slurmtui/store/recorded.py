"""A run of which Prefect tells nothing, as its folder tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.flow_run import FlowRun
from slurmtui.models.run_record import DriverStatus

if TYPE_CHECKING:
    from slurmtui.models.run_record import RunRecord


def recorded_run(record: RunRecord, driver: DriverStatus) -> FlowRun:
    """The run, without a state. Its time is that of its drivers, where each of them wrote down its end or is alive."""
    spec, newest = record.spec, record.driver
    begun = (*record.attempts, newest) if newest is not None else record.attempts
    lasted = {one.attempt: max(0.0, one.ended - one.started) for one in begun if one.ended is not None}
    alive = newest is not None and driver is DriverStatus.ALIVE and newest.attempt not in lasted
    complete = newest is not None and len(lasted) + alive == newest.attempt
    return FlowRun(
        id=spec.id,
        name=spec.name,
        flow_name=spec.flow_name,
        parameters=spec.parameters,
        created=spec.created,
        start=min((one.started for one in begun), default=None),
        # Not the end of the run when another driver was started since.
        end=newest.ended if newest is not None and driver is DriverStatus.ENDED else None,
        run_time=sum(lasted.values()) if complete else None,
        running_since=newest.started if newest is not None and alive else None,
        run_count=newest.attempt if newest is not None else 0,
    )
