"""Jobs, drivers and nodes that are lost: the verdict shown, what Prefect holds in the end, and an empty queue.

These faults do not touch each other, so they happen at the same time; each has a test that waits for its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from slurmtui.config import load_config
from slurmtui.control.cancel import cancel_run
from slurmtui.control.rescue import repair
from slurmtui.control.retry import retry_run
from slurmtui.control.slurm import cancel_jobs
from slurmtui.errors import Refused
from slurmtui.session import open_session
from tests.live.staging import Stage
from tests.live.waiting import eventually_true

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from slurmtui.models.job import Job
    from slurmtui.models.server import ServerRecord
    from slurmtui.session import Session
    from tests.live.conftest import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


async def driver_killed(stage: Stage) -> None:
    """Kill -9 of the driver: it is told, offered for rescue, and marked crashed with the reason when that is chosen."""
    run_id = await stage.start(until=str(stage.folder / "never"))
    await stage.working(run_id)
    stage.driver(run_id).kill()
    assert (await stage.verdict(run_id, "driver-gone")).verdict.needs_you
    case = await stage.case(run_id)
    assert [one.key for one in case.repairs] == ["crash", "retry", "cancel"]
    report = await repair(stage.session, case, "crash")
    assert report.ok, report
    assert "driver gone" in await stage.ended(run_id, "CRASHED")
    await stage.verdict(run_id, "crashed")


async def driver_terminated(stage: Stage) -> None:
    """SIGTERM to the driver, as at a reboot: it ends its jobs, says so, and what was done is reused afterwards."""
    until, executed = stage.folder / "after-sigterm", stage.folder / "executed-before-sigterm"
    run_id = await stage.start("steps", until=str(until), executed=str(executed))
    await stage.working(run_id, done=2)
    stage.driver(run_id).terminate()
    assert "termination signal" in await stage.ended(run_id, "CRASHED")
    await stage.verdict(run_id, "crashed")
    until.touch()
    await retry_run(stage.session, run_id)
    await stage.ended_again(run_id)
    assert sorted(executed.read_text().split()) == ["0", "1"], "a task whose result was kept was executed again"


async def jobs_cancelled_behind_the_back(stage: Stage) -> None:
    """Scancel of all jobs of a cluster of fixed size: it is meant, so none is replaced; the run ends and says why."""
    run_id = await stage.start(until=str(stage.folder / "never"))
    jobs = await stage.working(run_id)
    await cancel_jobs(stage.session.runner, [job.id for job in jobs])
    message = await stage.ended(run_id, "FAILED")
    assert message.startswith("no job of its cluster is left (job"), message
    assert "CANCELLED" in message
    assert (await stage.verdict(run_id, "failed")).jobs == ()


async def jobs_of_the_flows_own_cluster_cancelled(stage: Stage) -> None:
    """The same under a plain SLURMCluster: shown as lost, and it does not wait for ever either."""
    run_id = await stage.start("plain", profile="none", until=str(stage.folder / "never"))
    jobs = await stage.at_work_for(run_id, 5)  # it could be the driver's own, if it began as the job ended
    await cancel_jobs(stage.session.runner, [job.id for job in jobs])
    assert "no jobs left" in (await stage.verdict(run_id, "lost", 90)).verdict.text
    message = await stage.ended(run_id, "FAILED", 240)
    assert message.startswith("no job of its cluster is left (job"), message
    await stage.verdict(run_id, "failed")


async def jobs_cancelled_while_they_wait(stage: Stage) -> None:
    """Jobs cancelled before they began: no worker ever came, and the run does not wait for ever either."""
    run_id = await stage.start(profile="gpu", until=str(stage.folder / "never"))

    async def waiting() -> list[Job]:
        return await stage.jobs(run_id, "PENDING")

    jobs = await eventually_true(waiting, 60, "the job to wait")
    assert (await stage.verdict(run_id, "waiting")).jobs
    await cancel_jobs(stage.session.runner, [job.id for job in jobs])
    assert "no job of its cluster is left" in await stage.ended(run_id, "FAILED")


async def a_minute_of_walltime(stage: Stage) -> None:
    """The jobs reach their time limit in the middle of the work: new ones take their place, and the run completes."""
    go_on = stage.folder / "after-the-minute"
    run_id = await stage.start(profile="minute", until=str(go_on))
    first = {job.id for job in await stage.working(run_id)}

    async def replaced() -> bool:
        return bool({job.id for job in await stage.jobs(run_id, "RUNNING")} - first)

    await eventually_true(replaced, 200, "another job in the place of the one that reached its limit")
    go_on.touch()
    await stage.ended(run_id, "COMPLETED")
    await stage.verdict(run_id, "done")


async def refused(stage: Stage, profile: str, flow: str, words: str) -> None:
    """Refused before anything is created; and where the flow itself asks for it, the run fails with SLURM's words."""
    with pytest.raises(Refused, match=f"(?i){words}"):
        await stage.start(profile=profile, until="x")
    run_id = await stage.start(flow, profile="none")
    message = await stage.ended(run_id, "FAILED")
    assert message.startswith("sbatch refused: "), message
    assert words in message.lower()
    verdict = (await stage.verdict(run_id, "sbatch-refused")).verdict
    assert words in verdict.text.lower()


async def bad_partition(stage: Stage) -> None:
    await refused(stage, "nowhere", "partition", "partition")


async def no_account(stage: Stage) -> None:
    await refused(stage, "nobody", "account", "account")


async def api_out_of_reach_for_the_job(stage: Stage) -> None:
    """A dead proxy on the node: the run fails and says that the API was not reached."""
    run_id = await stage.start(profile="proxied", until=str(stage.folder / "never"))
    await stage.ended(run_id, "FAILED")
    verdict = (await stage.verdict(run_id, "failed")).verdict
    assert "API" in verdict.text or "Connect" in verdict.text, verdict


async def second_console(stage: Stage) -> None:
    """Two consoles act on one run: one does it, the other is told who does."""
    run_id = await stage.start(until=str(stage.folder / "never"))
    await stage.working(run_id)
    answers = await asyncio.gather(
        cancel_run(stage.session, run_id), retry_run(stage.session, run_id), return_exceptions=True
    )
    assert isinstance(answers[1], Refused), answers
    if isinstance(answers[0], BaseException):  # it came while the other looked, found the run at work and let go of it
        assert isinstance(answers[0], Refused), answers
        assert re.match("Another console is (retrying|acting on) ", str(answers[0]))
        await cancel_run(stage.session, run_id)
    await stage.ended(run_id, "CANCELLED")
    await stage.verdict(run_id, "cancelled")


@contextlib.asynccontextmanager
async def drained(session: Session, nodes: str) -> AsyncIterator[None]:
    """The nodes drained, as an administrator does it."""

    async def set_state(*changes: str) -> None:
        await session.runner.run(["scontrol", "update", f"nodename={nodes}", *changes], timeout=20)

    await set_state("state=drain", "reason=test")
    try:
        yield
    finally:
        await set_state("state=resume")


async def node_down(stage: Stage) -> None:
    """A node fails under the run: its job begins again, there or elsewhere, or another comes; the run completes."""
    go_on = stage.folder / "after-the-node"
    run_id = await stage.start(profile="gpu", until=str(go_on))
    (first,) = await stage.working(run_id)
    down = ["scontrol", "update", f"nodename={first.nodes}", "state=down", "reason=test"]
    await stage.session.runner.run(down, timeout=20)

    async def again() -> bool:
        jobs = await stage.jobs(run_id, "RUNNING")
        return any(job.id != first.id or (job.start or 0) > (first.start or 0) for job in jobs)

    try:
        await eventually_true(again, 150, "a job to begin after the node's end")
    finally:  # a node whose slurmd answers may have come back by itself
        await stage.session.runner.run([*down[:3], "state=resume"], timeout=20, check=False)
    go_on.touch()
    await stage.ended(run_id, "COMPLETED")


async def nodes_drained_and_down(stage: Stage) -> None:
    """On the nodes of the partition gpu alone, so that the others' jobs are not touched."""
    async with drained(stage.session, "gpu[1-2]"):
        await jobs_cancelled_while_they_wait(stage)
    await node_down(stage)


FAULTS = {
    fault.__name__: fault
    for fault in (
        driver_killed,
        driver_terminated,
        jobs_cancelled_behind_the_back,
        bad_partition,
        no_account,
        api_out_of_reach_for_the_job,
        second_console,
        nodes_drained_and_down,
        jobs_of_the_flows_own_cluster_cancelled,
        a_minute_of_walltime,
    )
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def happening(
    sandbox: Sandbox, prefect_server: ServerRecord, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[dict[str, asyncio.Task[None]]]:
    """All of the faults, under way."""
    assert sandbox.slurm_conf
    assert prefect_server.api_url
    session = open_session(load_config())
    stage = Stage(session, tmp_path_factory.mktemp("faults"))
    tasks = {name: asyncio.create_task(fault(stage)) for name, fault in FAULTS.items()}
    yield tasks
    for task in tasks.values():
        task.cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    await stage.close()
    await session.close()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_run_survives_or_says_why_it_ended(happening: dict[str, asyncio.Task[None]], fault: str) -> None:
    await happening[fault]
