"""What differs from one version of SLURM to the next: found out once, and said."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.app import SlurmtuiApp
from slurmtui.config import load_config
from slurmtui.control.jobs_many import CANCEL, HOLD, RELEASE, act
from slurmtui.control.slurm import cancel_jobs, submit_script
from slurmtui.errors import CommandError
from slurmtui.models.records import Field, Layout
from slurmtui.session import open_session
from slurmtui.sources.slurm.ask import ask, records_of
from slurmtui.sources.slurm.limits import limits_of
from slurmtui.sources.slurm.nodes_reader import NodesReader
from slurmtui.sources.slurm.past_output import past_output
from slurmtui.sources.slurm.priority import FIRST_COME, factors_of
from slurmtui.sources.slurm.scripts import NO_SCRIPTS, stored_script
from slurmtui.verbs import doctor_services
from tests.ui.seeing import see

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from slurmtui.session import Session
    from slurmtui.sources.slurm.client import Slurm

    Eventually = Callable[..., Awaitable[Any]]

pytestmark = pytest.mark.versions

SLEEP = b"#!/bin/sh\nsleep 300\n"
SMALL = ("--mem=20", "-t", "10", "-o", "/dev/null")


@pytest.fixture
async def lab(sandbox: Any) -> AsyncIterator[Session]:
    assert sandbox.slurm_conf
    opened = open_session(load_config())
    yield opened
    await opened.runner.run(("scancel", "-u", getpass.getuser()), timeout=30, check=False)
    await opened.close()


def lacking(version: tuple[int, ...]) -> set[str]:
    """What each version is known to lack of what is asked."""
    oldest = {"sinfo StateComplete", "sacct SubmitLine", NO_SCRIPTS} if version < (21, 8) else set()
    return oldest | ({"sacct StdOut", "sacct StdErr"} if version < (24, 5) else set())


async def test_what_a_version_lacks_is_asked_for_once_and_said(lab: Session) -> None:
    slurm = lab.slurm
    version = await slurm.version()
    job_id = await submit_script(lab.runner, SLEEP, SMALL)
    nodes = NodesReader(lab.runner, 30)
    for _ in range(2):
        assert {node.state.base for node in (await nodes.read()).nodes} <= {"IDLE", "MIXED"}
        await past_output(slurm, job_id)
        await stored_script(slurm, job_id)
    assert set(slurm.lacks) == lacking(version)
    failures = [call for call in lab.log if call.code and call.text.startswith("sacct")]
    assert len(failures) == len([name for name in slurm.lacks if name.startswith("sacct")])
    check = await doctor_services.offers(lab)
    assert all(sentence in check.why for sentence in slurm.lacks.values())
    app = SlurmtuiApp(lab)
    async with app.run_test(size=(200, 48)) as pilot:
        await pilot.press("3")
        await see(pilot, "gpu1", "idle")
        await pilot.press("d")
        await see(pilot, "node gpu1", *(sentence for name, sentence in slurm.lacks.items() if name.startswith("sinfo")))
        await pilot.press("at")
        await see(pilot, "every command and request", *slurm.lacks.values())


COLUMNS = (
    (("squeue", "-h", "-a", "-t", "all", "-j", "{job}", "-O"), "JobID:12,NoSuchThing:7,UserName:24"),
    (("sinfo", "-h", "-N", "-O"), "NoSuchThing:7,NodeList:24,Partition:12"),
    (("sacct", "-n", "-X", "-j", "{job}", "-o"), "JobID%-12,User%-24,NoSuchThing%-7"),
    (("sshare", "-h", "-U", "-o"), "Account%-24,NoSuchThing%-7,User%-12"),
    (("sacctmgr", "-n", "show", "assoc"), "format=account%-24,NoSuchThing%-7,user%-12"),
)


@pytest.mark.parametrize(("argv", "columns"), COLUMNS, ids=[argv[0] for argv, _ in COLUMNS])
async def test_a_column_that_no_version_knows_is_empty_and_the_others_are_as_they_were(
    lab: Session, eventually: Eventually, argv: tuple[str, ...], columns: str
) -> None:
    job_id = await submit_script(lab.runner, SLEEP, SMALL)
    # Of this job alone: what accounting hears of others meanwhile is another answer.
    argv = tuple(word.format(job=job_id) for word in argv)
    mark = "%-" if "%-" in columns else ":"
    pairs = [part.split(mark) for part in columns.removeprefix("format=").split(",")]
    layout = Layout(*(Field(name, name, int(width)) for name, width in pairs), gap=1 if mark == "%-" else 0)

    def row(finished: Any) -> list[set[str]]:
        records = records_of(layout, finished)
        assert len(records)
        return [{records.plain(number, name) for number in range(len(records))} for name, _ in pairs]

    async def told_of() -> Any:
        return (await ask(lab.runner, (*argv, columns), 30)).stdout

    await eventually(told_of, 30, "accounting does not know the job")
    told = row(await ask(lab.runner, (*argv, columns), 30))
    assert list(lab.runner.lacks) == [f"{argv[0]} NoSuchThing"]
    before = lab.log.count
    assert row(await ask(lab.runner, (*argv, columns), 30)) == told
    assert lab.log.count - before == 1
    for (name, _), values in zip(pairs, told, strict=True):
        assert (values == {""}) == (name == "NoSuchThing"), (name, values)


async def test_the_factors_of_a_priority_are_told_or_why_there_are_none(lab: Session, eventually: Eventually) -> None:
    config = (await lab.runner.run(("scontrol", "show", "config"))).stdout.decode()
    # Waits for room: a job that begins later has no priority yet.
    await submit_script(lab.runner, SLEEP, (*SMALL, "-p", "gpu", "-N", "2", "--gres=gpu:a100:4"))
    job_id = await submit_script(lab.runner, SLEEP, (*SMALL, "-p", "gpu", "--gres=gpu:a100:4"))
    if "priority/multifactor" not in config:
        with pytest.raises(CommandError, match="no priority factors") as caught:
            await factors_of(lab.slurm, int(job_id))
        assert str(caught.value) == FIRST_COME
        return
    weighted = "PriorityWeightPartition = 500" in " ".join(config.split())

    async def told() -> Any:
        return await factors_of(lab.slurm, int(job_id)) or not weighted

    found = await eventually(told, 30, "sprio tells no factors")
    if weighted:
        values = {factor.name: (factor.value, factor.most) for factor in found}
        assert values["partition"] == (500, 500)


async def test_the_limits_of_an_account_and_a_qos(lab: Session) -> None:
    manager = ("sacctmgr", "-i", "-Q", "modify")
    await lab.runner.run((*manager, "account", "research", "set", "grpjobs=77"), timeout=30)
    await lab.runner.run((*manager, "qos", "normal", "set", "GrpSubmitJobs=4321"), timeout=30)
    try:
        limits = await limits_of(lab.slurm, getpass.getuser(), "research", ["normal"])
    finally:
        await lab.runner.run((*manager, "account", "research", "set", "grpjobs=-1"), timeout=30)
        await lab.runner.run((*manager, "qos", "normal", "set", "GrpSubmitJobs=-1"), timeout=30)
    told = {(limit.whose, limit.what): limit.limit for limit in limits}
    assert told["account research", "running jobs"] == 77
    assert told["QOS normal", "jobs in the queue"] == 4321


async def test_a_het_job_is_held_released_and_cancelled_as_one(
    lab: Session, tmp_path: Path, eventually: Eventually
) -> None:
    script = tmp_path / "het.sh"
    script.write_text("#!/bin/sh\n#SBATCH --mem=20\n#SBATCH hetjob\n#SBATCH --mem=30 -c 2 -p batch\nsleep 300\n")
    het = await submit_script(lab.runner, script, ("-t", "10", "-H"), chdir=tmp_path)
    assert await _states(lab.slurm, het) == {f"{het}+0": "PENDING", f"{het}+1": "PENDING"}
    assert (await act(lab.runner, RELEASE, [het]))[het].kind == "done"

    async def runs() -> bool:
        return set((await _states(lab.slurm, het)).values()) == {"RUNNING"}

    await eventually(runs, 60, "it was released")
    assert (await act(lab.runner, HOLD, [het]))[het].kind in {"done", "failed"}  # it runs: versions differ
    assert (await act(lab.runner, CANCEL, [het]))[het].kind == "done"

    async def gone() -> bool:
        return not await _states(lab.slurm, het)

    await eventually(gone, 60, "it was cancelled")
    assert await cancel_jobs(lab.runner, [het]) is not None


async def _states(slurm: Slurm, het: str) -> dict[str, str]:
    return {job.id: job.state for job in (await slurm.jobs_by_id([het])).values() if job.state != "COMPLETING"}
