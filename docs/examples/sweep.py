"""A sweep whose last step fails until it is given what it waits for: for trying out retry.

Run it, let it fail, make the file that it names, retry: the finished points are reused, only the last step runs.
"""

from __future__ import annotations

import time
from pathlib import Path

from prefect import flow, task


@task
def measure(point: int) -> int:
    """Something that one would not want to compute twice."""
    print(f"measuring point {point}")
    time.sleep(1)
    return (point - 3) ** 2


@task
def publish(best: int, permission: str) -> str:
    """Publish the best point; only with permission, which is a file."""
    if not Path(permission).exists():
        raise FileNotFoundError(f"no permission to publish: make the file {permission} and retry this run")
    return f"point {best} is published"


@flow(log_prints=True)
def sweep(points: int = 6, permission: str = "sweep-may-publish") -> str:
    """Measure all points, then publish the best one.

    Args:
        points: how many there are to measure.
        permission: a file that must be there before anything is published; relative to where the run was submitted.
    """
    measured = measure.map(range(points))
    values = [value.result() for value in measured]
    best = values.index(min(values))
    said = publish.submit(best, str(Path(permission).absolute())).result()
    print(said)
    return said
