"""Services that go away and come back: the run lives through it, and nobody is taken for lost meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from typing import TYPE_CHECKING

import psutil
import pytest

from slurmtui.control import server
from slurmtui.control.rescue import repair
from slurmtui.sandbox.up import up
from slurmtui.store.once import gather
from tests.live.staging import OUTAGE, Stage, server_process
from tests.live.waiting import eventually_true

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from slurmtui.session import Session
    from slurmtui.store.snapshot import Snapshot
    from tests.live.conftest import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.timeout(420 + 4 * OUTAGE)]


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that neither lives nor dies: it answers nobody."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def assert_nobody_is_lost(snapshot: Snapshot, run_id: str) -> None:
    view = snapshot.find_run(run_id)
    if view is not None:
        assert view.verdict.kind in {"running", "unknown", "starting", "waiting"}, view.verdict


async def test_the_prefect_server_frozen_and_then_killed(stage: Stage) -> None:
    session, go_on = stage.session, stage.folder / "after-all"
    run_id = await stage.start(until=str(go_on), count=2)
    await stage.working(run_id)
    with stopped(server_process().pid):
        snapshot = await gather(session)
        assert snapshot.flow_runs.error
        assert_nobody_is_lost(snapshot, run_id)
        assert run_id not in {case.run_id for case in await stage.cases()}
        await asyncio.sleep(OUTAGE)
    await stage.verdict(run_id, "running")
    server_process().kill()
    await eventually_true(lambda: server.status().state == "crashed", 20, "the server to be dead")
    case = await stage.server_case()
    assert_nobody_is_lost(await gather(session), run_id)
    go_on.touch()  # the tasks end while there is no server
    await asyncio.sleep(OUTAGE)
    assert (await repair(session, case, "start-server")).ok
    assert server.status().state == "running"
    await stage.ended(run_id, "COMPLETED")
    await stage.verdict(run_id, "done")


@contextlib.asynccontextmanager
async def without_patience(session: Session) -> AsyncIterator[None]:
    """SLURM is asked with a short time limit: it will not answer."""
    session.slurm.timeout = 2
    try:
        yield
    finally:
        session.slurm.timeout = session.config.slurm.timeout_seconds


async def controller(record: Path) -> int:
    return int(json.loads(await asyncio.to_thread(record.read_bytes))["slurmctld_pid"])


async def test_slurms_controller_frozen_and_then_killed(stage: Stage, sandbox: Sandbox) -> None:
    session, go_on = stage.session, stage.folder / "after-slurm"
    run_id, later = await stage.start(until=str(go_on)), stage.folder / "after-slurm-is-back"
    other = await stage.start(until=str(later))
    await stage.working(run_id)
    await stage.working(other)
    record = sandbox.state / "sandbox" / "sandbox.json"
    async with without_patience(session):
        with stopped(await controller(record)):
            snapshot = await gather(session)
            assert snapshot.queue.error
            assert_nobody_is_lost(snapshot, run_id)
            go_on.touch()  # it ends while SLURM is deaf
            await asyncio.sleep(OUTAGE)
    await stage.ended(run_id, "COMPLETED")
    await stage.verdict(run_id, "done")
    psutil.Process(await controller(record)).kill()
    async with without_patience(session):
        await asyncio.sleep(OUTAGE / 4)
        assert_nobody_is_lost(await gather(session), other)
        assert other not in {case.run_id for case in await stage.cases()}
    await up(lambda _said: None)
    later.touch()  # its job lives on, or what SLURM had not yet saved of it was lost and it begins again
    await stage.ended(other, "COMPLETED")
