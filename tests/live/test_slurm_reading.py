"""Reading and writing a real SLURM: hostile names, arrays, het and GPU jobs, their ends, logs and cancelling."""

from __future__ import annotations

import getpass
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.control.slurm import cancel_jobs, submit_script
from slurmtui.control.slurm import test_only as ask_test_only
from slurmtui.errors import CommandError
from slurmtui.models.ids import parse_job_id
from slurmtui.models.job_table import QUEUE
from slurmtui.models.records import Field, Layout, Records
from slurmtui.models.values import Special
from slurmtui.sources.exec import Runner
from slurmtui.sources.slurm.ask import ask
from slurmtui.sources.slurm.client import Slurm
from tests.live.waiting import end_jobs, nothing_runs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from slurmtui.models.job import EndedJob

SLEEP = b"#!/bin/sh\nsleep 300\n"
SMALL = ("--mem=20", "-t", "10")

pytestmark = pytest.mark.versions


class Lab:
    """A SLURM to submit to; what was submitted is cancelled at the end."""

    def __init__(self, runner: Runner, folder: Path) -> None:
        self.runner = runner
        self.folder = folder
        self.slurm = Slurm(runner, getpass.getuser(), timeout=30)
        self.ids: list[str] = []

    async def submit(self, *options: str, script: bytes = SLEEP) -> str:
        job_id = await submit_script(self.runner, script, (*SMALL, *options), chdir=self.folder)
        self.ids.append(job_id)
        return job_id

    async def state(self, job_id: str) -> str | None:
        detail = await self.slurm.job_detail(job_id)
        return None if detail is None else detail.state


@pytest.fixture
async def lab(sandbox: Any, tmp_path: Path) -> AsyncIterator[Lab]:
    place = Lab(Runner(environment={"SLURM_CONF": sandbox.slurm_conf}), tmp_path)
    await nothing_runs(place.runner)
    yield place
    await end_jobs(place.runner, place.ids)


async def test_a_queue_of_hostile_jobs(lab: Lab, eventually: Callable[..., Awaitable[Any]]) -> None:
    names = ["h\n|\x1f\x1b[31m名前😀" + "x" * 70, "x[/y] [red]a|b", "f\n   StdOut=/etc/passwd", "None"]
    mark = "slurmtui:0b7cbd0d-6f3a-4a53-9d6a-2f6f0a3f9a10"
    ids = [await lab.submit("-J", name, f"--comment={mark}") for name in names]
    array = await lab.submit("-J", "arr", "--array=0-9%1")
    held = await lab.submit("-J", "held", "-H")
    gpu = await lab.submit("-J", "gpu", "-p", "gpu", "--gres=gpu:a100:2")
    later = await lab.submit("-J", "later", "--begin=now+1hour")

    async def all_running() -> bool:
        found = await lab.slurm.jobs_by_id([*ids, gpu, f"{array}_0"])
        return len(found) == len(ids) + 2 and {job.state for job in found.values()} == {"RUNNING"}

    await eventually(all_running, 60)
    table = await lab.slurm.queue(everyone=False)
    jobs = {job.id: job for job in table.jobs()}
    assert [jobs[job_id].name for job_id in ids] == [name.encode()[:64].decode(errors="ignore") for name in names]
    assert {jobs[job_id].comment for job_id in ids} == {mark}
    assert {table.plain(row, "id") for row in table.marked()} == set(ids)
    assert jobs[f"{array}_[1-9%1]"].state == "PENDING"
    assert jobs[gpu].gres == "a100:2"
    assert jobs[gpu].memory == "20M"
    assert jobs[gpu].time_limit == 600
    assert (jobs[held].reason, jobs[held].elapsed) == ("JobHeldUser", Special.UNKNOWN)
    assert (jobs[later].start or 0) > (jobs[later].submit or 0) + 3000
    assert len(await lab.slurm.queue(everyone=True)) >= len(jobs)


async def test_every_column_is_as_wide_as_was_asked_and_no_wider(
    lab: Lab, eventually: Callable[..., Awaitable[Any]]
) -> None:
    long = ("--comment=a long comment", "--gpus-per-node=a100:1", "-p", "gpu", "-J", "a-long-name")
    running = await lab.submit("-N2", *long)
    await lab.submit("-d", f"afterany:{running}", "--gpus=a100:2", *long)
    await eventually(lambda: _running(lab, running), 60)
    for field in QUEUE.fields:
        for width in (2, 90):
            layout = Layout(Field(field.name, field.ask, width, field.parse, field.right))
            finished = await ask(lab.runner, ("squeue", "-h", "-a", "-O", layout.asked()), 60)
            records = Records(layout, finished.stdout)
            assert len(records) >= 2, field.name
            assert width == 2 or not records.cut(0, field.name), f"{field.name} is padded on neither side"


async def test_details_name_the_file_that_slurm_writes(lab: Lab, eventually: Callable[..., Awaitable[Any]]) -> None:
    script = b"#!/bin/sh\necho written by $SLURM_JOB_ID\nsleep 300\n"
    plain = await lab.submit("-J", "a b", "-o", f"{lab.folder}/my logs-%x-%j-%u.out", script=script)
    array = await lab.submit("-J", "arr", "--array=7", "-o", f"{lab.folder}/%x-%A_%4a-100%%.out", script=script)
    default = await lab.submit(script=script)
    for job_id in (plain, f"{array}_7", default):
        detail = await eventually(lambda job_id=job_id: _running(lab, job_id), 60)
        assert detail.stdout == detail.stderr

        def text(path: str = detail.stdout) -> bool:
            return Path(path).exists() and "written by" in Path(path).read_text()

        await eventually(text, 60, f"no {detail.stdout}")
        assert dict(detail.fields)["JobState"] == "RUNNING"
    assert await lab.slurm.job_detail("99999999") is None


async def _running(lab: Lab, job_id: str) -> object:
    detail = await lab.slurm.job_detail(job_id)
    return detail if detail is not None and detail.state == "RUNNING" else None


async def test_how_jobs_ended(lab: Lab, eventually: Callable[..., Awaitable[Any]]) -> None:
    done = await lab.submit("-J", "done|\nwell", script=b"#!/bin/sh\nexit 0\n")
    failed = await lab.submit(script=b"#!/bin/sh\nexit 3\n")
    killed = await lab.submit(script=b"#!/bin/sh\nkill -9 $$\n")
    array = await lab.submit("--array=1-2", script=b"#!/bin/sh\nexit $((SLURM_ARRAY_TASK_ID - 1))\n")
    waiting = await lab.submit("-H")
    running = await lab.submit()
    await eventually(lambda: _running(lab, running), 60)
    await cancel_jobs(lab.runner, [waiting, running])
    wanted = [done, failed, killed, f"{array}_1", f"{array}_2", waiting, running, "99999999"]

    async def known() -> dict[str, EndedJob] | None:
        found = await lab.slurm.ended_jobs(wanted)
        # slurmdbd learns of an end before it learns of the name, sometimes.
        return found if len(found) == len(wanted) - 1 and found[done].name != "allocation" else None

    ended = await eventually(known, 60)
    assert (ended[done].state, ended[done].exit_code) == ("COMPLETED", 0)
    assert ended[done].name == "done|\nwell"
    assert (ended[failed].state, ended[failed].exit_code) == ("FAILED", 3)
    assert (ended[killed].state, ended[killed].signal) == ("FAILED", 9)
    assert [ended[f"{array}_{task}"].state for task in (1, 2)] == ["COMPLETED", "FAILED"]
    assert {ended[waiting].state, ended[running].state} == {"CANCELLED"}
    assert ended[running].requested_memory == 20
    await eventually(_is(lambda: lab.slurm.jobs_by_id(wanted), {}), 60)  # accounting may know before it is all over


async def test_cancelling_a_range_leaves_the_other_tasks(lab: Lab, eventually: Callable[..., Awaitable[Any]]) -> None:
    array = await lab.submit("-H", "--array=0-9")
    answer = await cancel_jobs(lab.runner, [f"{array}_[2-4,6]", f"{array}_[7-"])
    assert answer[f"{array}_[2-4,6]"] == ""
    assert "nothing was cancelled" in answer[f"{array}_[7-"]

    async def left() -> list[str]:
        return sorted(await lab.slurm.jobs_by_id([f"{array}_{task}" for task in range(10)]))

    await eventually(_is(left, [f"{array}_{task}" for task in (0, 1, 5, 7, 8, 9)]), 60)
    await cancel_jobs(lab.runner, [array])
    await eventually(_is(left, []), 60)


def _is(ask: Callable[[], Awaitable[object]], expected: object) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        return await ask() == expected

    return holds


async def test_a_list_of_tasks_too_long_for_its_column_is_fetched_whole_before_it_is_cancelled(lab: Lab) -> None:
    tasks = ",".join(str(number * number) for number in range(300))
    array = await lab.submit("-H", f"--array={tasks}")
    table = await lab.slurm.queue(everyone=False)
    (row,) = table.rows_of(array)
    job = table.job(row)
    assert not table.id_is_whole(row)
    assert "nothing was cancelled" in (await cancel_jobs(lab.runner, [job.id]))[job.id]
    whole = await lab.slurm.whole_id(job)
    assert whole is not None
    found = await lab.slurm.jobs_by_id([array])
    assert len(found) == 1
    parsed = parse_job_id(whole)
    assert parsed is not None
    assert parsed.count() == 300
    assert await cancel_jobs(lab.runner, [whole]) == {whole: ""}
    assert await lab.slurm.jobs_by_id([array]) == {}
    assert await lab.slurm.whole_id(job) is None


async def test_components_of_a_het_job(lab: Lab, eventually: Callable[..., Awaitable[Any]]) -> None:
    script = lab.folder / "het.sh"
    script.write_text("#!/bin/sh\n#SBATCH --mem=20\n#SBATCH hetjob\n#SBATCH --mem=30 -c 2 -p batch\nsleep 300\n")
    het = await submit_script(lab.runner, script, ("-t", "10"), chdir=lab.folder)
    lab.ids.append(het)

    async def running() -> bool:
        parts = await lab.slurm.jobs_by_id([het])
        return [job.state for job in parts.values()] == ["RUNNING"] * 2

    await eventually(running, 60)
    parts = await lab.slurm.jobs_by_id([het])
    assert set(parts) == {f"{het}+0", f"{het}+1"}
    assert (parts[f"{het}+1"].cpus, parts[f"{het}+1"].het_id) == (2, int(het))
    assert (await lab.slurm.jobs_by_id([f"{het}+1"]))[f"{het}+1"].het_offset == 1
    assert await cancel_jobs(lab.runner, [f"{het}+0"]) == {f"{het}+0": ""}

    async def all_gone() -> bool:
        return not any(job.active for job in (await lab.slurm.jobs_by_id([het])).values())

    await eventually(all_gone, 60, "SLURM ends the others with the first")


async def test_submitting_what_slurm_refuses(lab: Lab) -> None:
    with pytest.raises(CommandError, match=r"^sbatch: .*[Ii]nvalid partition"):
        await lab.submit("-p", "nowhere")
    good = await ask_test_only(lab.runner, SLEEP, SMALL)
    assert (good.ok, good.start is not None, bool(good.nodes)) == (True, True, True)
    bad = await ask_test_only(lab.runner, SLEEP, ("--mem=1T",))
    assert not bad.ok
    assert "not available" in bad.text or "not be satisfied" in bad.text


async def test_the_cluster(lab: Lab) -> None:
    assert await lab.slurm.cluster_name() == "sandbox"
    version = await lab.slurm.version()
    assert len(version) >= 2
    assert version >= (20, 11)
    partitions = {partition.name: partition for partition in await lab.slurm.partitions()}
    assert set(partitions) == {"debug", "batch", "gpu"}
    assert partitions["debug"].default
    assert partitions["gpu"].gres == ("gpu:a100:4",)
    assert partitions["gpu"].cpus_per_node == 16
    assert len(await lab.slurm.accounts()) >= 1


def bend(configuration: Path, copy: Path, key: str) -> None:
    """Copy a configuration with a port where nobody listens."""
    text, changed = re.subn(rf"^{key}=\d+", f"{key}=1", configuration.read_text(), flags=re.MULTILINE)
    assert changed
    copy.write_text(text)


@pytest.mark.parametrize(
    ("key", "ask", "words"),
    [
        ("SlurmctldPort", "queue", "squeue: .*Unable to contact slurm controller"),
        ("AccountingStoragePort", "ended", "sacct: .*(Connection refused|Unable|Problem talking)"),
    ],
)
async def test_a_daemon_that_is_not_there(sandbox: Any, tmp_path: Path, key: str, ask: str, words: str) -> None:
    bend(Path(sandbox.slurm_conf), tmp_path / "slurm.conf", key)
    slurm = Slurm(Runner(environment={"SLURM_CONF": str(tmp_path / "slurm.conf")}), "anyone", timeout=60)
    with pytest.raises(CommandError, match=words):
        await (slurm.queue(everyone=True) if ask == "queue" else slurm.ended_jobs(["1"]))
