"""Nodes, partitions, ended jobs and shares of a real SLURM, and the console that shows them."""

from __future__ import annotations

import getpass
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.app import SlurmtuiApp
from slurmtui.config import load_config
from slurmtui.control.slurm import cancel_jobs, submit_script
from slurmtui.control.slurm import test_only as ask_test_only
from slurmtui.models.config import SlurmConfig
from slurmtui.models.fits import answers
from slurmtui.models.gres import gpus
from slurmtui.models.history import Lives, PastJob
from slurmtui.models.partition_use import PartitionUse, partition_uses
from slurmtui.models.wish import parse_wish
from slurmtui.session import Session, open_session
from slurmtui.sources.slurm.history import ended_between
from slurmtui.sources.slurm.nodes_reader import NodesReader
from slurmtui.sources.slurm.past_output import past_output
from slurmtui.sources.slurm.shares import read_shares
from slurmtui.store.history_book import HistoryBook
from slurmtui.views.fits import options
from tests.live.waiting import end_jobs, nothing_runs
from tests.ui.seeing import see

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

REASON = "fan [x] | 名"
SMALL = ("--mem=20", "-t", "10")

pytestmark = pytest.mark.versions


class Place:
    """A session on the sandbox; what it submits and drains is undone at the end."""

    def __init__(self, session: Session, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.user = getpass.getuser()
        self.ids: list[str] = []
        self.nodes = NodesReader(session.runner, 30)

    async def submit(self, work: str, *wanted: str) -> str:
        script = f"#!/bin/sh\n{work}\n".encode()
        job_id = await submit_script(self.session.runner, script, (*SMALL, *wanted), chdir=self.folder)
        self.ids.append(job_id)
        return job_id

    async def scontrol(self, *words: str) -> None:
        await self.session.runner.run(("scontrol", *words), timeout=30)

    async def past(self, since: float) -> list[PastJob]:
        return await ended_between(self.session.runner, self.user, since, time.time() + 5, 30)

    async def use(self, partition: str) -> PartitionUse:
        uses = partition_uses(await self.nodes.read(), await self.nodes.counts())
        return next(use for use in uses if use.facts.name == partition)


@pytest.fixture
async def place(sandbox: Any, tmp_path: Path) -> AsyncIterator[Place]:
    del sandbox  # its SLURM is the one that is found
    config = msgspec.structs.replace(load_config(), slurm=SlurmConfig(poll_seconds=1, floor_seconds=0.5))
    session = open_session(config)
    found = Place(session, tmp_path)
    await nothing_runs(session.runner)
    yield found
    for name in ("n6", "gpu2"):
        await session.runner.run(("scontrol", "update", f"nodename={name}", "state=resume"), timeout=30, check=False)
    try:
        await end_jobs(session.runner, found.ids)
    finally:
        await session.close()


async def test_a_drained_node_tells_why_and_has_nothing_free_until_it_is_resumed(
    place: Place, eventually: Callable[..., Awaitable[Any]]
) -> None:
    await place.scontrol("update", "nodename=n6", "state=drain", f"reason={REASON}")
    nodes = {node.name: node for node in (await place.nodes.read()).nodes}
    node = nodes["n6"]
    assert (node.state.words, node.reason, node.free_cpus, node.free_memory) == ("drained", REASON, 0, 0)
    assert node.since is not None
    assert abs(time.time() - node.since) < 60
    assert node.by in {place.user, "slurm"}
    assert nodes["n5"].free_cpus > 0
    await place.scontrol("update", "nodename=n6", "state=resume")

    async def is_free() -> bool:
        node = {node.name: node for node in (await place.nodes.read()).nodes}["n6"]
        return (node.state.words, node.reason, node.free_cpus) == ("idle", "", 8)

    await eventually(is_free, 60)


async def test_gpus_in_use_by_type_and_the_jobs_on_their_node(
    place: Place, eventually: Callable[..., Awaitable[Any]]
) -> None:
    before = await place.use("gpu")
    job_id = await place.submit("sleep 300", "-p", "gpu", "--gres=gpu:a100:3", "-c", "2", "-w", "gpu1")
    waiting = await place.submit("sleep 300", "-p", "gpu", "--gres=gpu:a100:4", "--array=0-6", "-w", "gpu1", "-H")

    async def running() -> bool:
        return (await place.use("gpu")).gpus[0].used == before.gpus[0].used + 3

    await eventually(running, 30)
    use = await place.use("gpu")
    assert (use.gpus[0].type, use.gpus[0].free) == ("a100", before.gpus[0].free - 3)
    assert use.cpus_free == before.cpus_free - 2
    assert use.jobs is not None
    assert before.jobs is not None
    assert use.jobs.pending == before.jobs.pending + 7
    table = await place.nodes.jobs_on(["gpu1"])
    assert job_id in {job.id for job in table.jobs()}
    assert waiting not in {job.id for job in table.jobs()}


async def test_what_is_said_to_fit_is_what_slurm_would_start(place: Place) -> None:
    uses = partition_uses(await place.nodes.read())
    wish = parse_wish("2 a100 2 cores 100M", ["a100"])
    found = {fit.partition: fit for fit in answers(wish, uses)}
    assert found["gpu"].starts
    assert not found["batch"].ever
    told = await ask_test_only(place.session.runner, b"#!/bin/sh\ntrue\n", options(wish, "gpu"))
    assert told.ok
    assert told.nodes in found["gpu"].now
    assert (told.start or 0) < time.time() + 60
    told = await ask_test_only(place.session.runner, b"#!/bin/sh\ntrue\n", options(wish, "batch"))
    assert not told.ok


async def test_ended_jobs_with_their_states_lives_and_marks_are_read_once(
    place: Place, eventually: Callable[..., Awaitable[Any]]
) -> None:
    began = time.time() - 2
    mark = "slurmtui:0b7cbd0d-6f3a-4a53-9d6a-2f6f0a3f9a10"
    done = await place.submit("exit 0", "-J", "x|y\n[b", f"--comment={mark}")
    failed = await place.submit("exit 3")
    held = await place.submit("exit 0", "-H")
    array = await place.submit("exit 0", "--array=1-3")
    twice = await place.submit("sleep 300", "--requeue")
    slurm = place.session.slurm

    async def state(job_id: str) -> str:
        jobs = await slurm.jobs_by_id([job_id])
        return next((job.state for job in jobs.values()), "")

    async def runs() -> bool:
        return await state(twice) == "RUNNING"

    await eventually(runs, 30)
    await place.scontrol("requeue", twice)
    await cancel_jobs(place.session.runner, [held])

    async def waits() -> bool:
        return await state(twice) == "PENDING"

    await eventually(waits, 60)
    await cancel_jobs(place.session.runner, [twice])

    async def told() -> bool:
        past = await place.past(began)
        if any(job.id == done and job.name == "allocation" for job in past):
            return False  # slurmdbd learns of an end before it learns of the name, sometimes
        return {(done, "COMPLETED"), (failed, "FAILED"), (held, "CANCELLED"), (twice, "REQUEUED"),
                (twice, "CANCELLED"), *((f"{array}_{task}", "COMPLETED") for task in (1, 2, 3))
                } <= {(job.id, job.state) for job in past}  # fmt: skip

    await eventually(told, 60)
    jobs = {(job.id, job.state): job for job in await place.past(began)}
    assert jobs[done, "COMPLETED"].name == "x|y\n[b"
    assert jobs[done, "COMPLETED"].run_mark == mark.partition(":")[2]
    assert jobs[failed, "FAILED"].exit_code == 3
    assert not jobs[held, "CANCELLED"].ran
    assert {f"{array}_{task}" for task in (1, 2, 3)} <= {job_id for job_id, _ in jobs}
    lives = Lives(jobs.values())
    assert lives.of(jobs[twice, "REQUEUED"]) == (1, 2)
    assert lives.of(jobs[twice, "CANCELLED"]) == (2, 2)
    await _is_read_once(place, {job_id for job_id, _ in jobs})


async def _is_read_once(place: Place, known: set[str]) -> None:
    spans: list[tuple[float, float]] = []

    async def ask(start: float, end: float) -> list[PastJob]:
        spans.append((start, end))
        return await ended_between(place.session.runner, place.user, start, end, 30)

    book = HistoryBook(ask, None)
    history = await book.update(lambda _history: None)
    assert known <= {job.id for job in history.jobs}
    again = await book.update(lambda _history: None)
    mine = [job for job in history.jobs if job.id in known]  # others may end meanwhile
    assert [job for job in again.jobs if job.id in known] == mine
    assert len(spans) == 2
    assert spans[1][1] - spans[1][0] < 700


async def test_where_the_output_of_an_ended_job_went_is_told_by_accounting(
    place: Place, eventually: Callable[..., Awaitable[Any]]
) -> None:
    named = await place.submit("echo named", "-o", "out-%x-%j.txt", "-J", "it")
    usual = await place.submit("echo usual")
    slurm = place.session.slurm

    async def path_of(job_id: str) -> Path | None:
        found = await past_output(slurm, job_id)
        return Path(found.paths[0][0]) if found.paths else None

    async def known() -> bool:
        path = await path_of(usual)
        return path is not None and path.exists() and await path_of(named) is not None

    await eventually(known, 60)
    assert await path_of(usual) == place.folder / f"slurm-{usual}.out"
    assert await path_of("999999") is None
    if await slurm.version() >= (21, 8):
        assert await path_of(named) == place.folder / f"out-it-{named}.txt"
    else:
        assert "is not kept: sacct of this SLURM knows no SubmitLine" in (await past_output(slurm, named)).how


async def test_shares_and_limits_are_told_or_why_not(place: Place) -> None:
    shares = await read_shares(place.session.runner, place.user, await place.session.slurm.cluster_name(), 30)
    assert shares.limits_error == ""
    assert any(share.user == place.user for share in shares.shares) or shares.why_none
    assert {limits.kind for limits in shares.limits} == {"account", "qos"}


async def test_the_console_shows_all_of_it(place: Place) -> None:
    await place.scontrol("update", "nodename=gpu2", "state=drain", f"reason={REASON}")
    await place.submit("sleep 300", "-p", "gpu", "--gres=gpu:a100:1", "-J", "on-gpu1", "-w", "gpu1")
    app = SlurmtuiApp(place.session)
    async with app.run_test(size=(160, 48), notifications=True) as pilot:
        await pilot.press("3")
        await see(pilot, "drained", REASON)
        app.screen.seek("node:gpu1")  # type: ignore[attr-defined]
        await pilot.press("enter")
        await see(pilot, "on-gpu1", "a100:1")
        await pilot.press("4")
        await see(pilot, "a100 3/8", "debug *")
        await pilot.press("f")
        await pilot.pause()
        await pilot.press(*"3 a100", "enter")
        await see(pilot, "one such job has room now  gpu1", "SLURM would start it at once on gpu1")
        await pilot.press("escape", "5")
        await see(pilot, "ended · mine · 7 days")
        await pilot.press("6")
        await see(pilot, "qos normal")
        await pilot.press("7")
        await see(pilot, "GPUs in use", "┤")
    commands = [call.text.partition(" ")[0] for call in place.session.log]
    assert "sinfo" in commands
    cluster = await place.nodes.read()
    assert gpus(cluster.nodes[0].gpus) == 4
