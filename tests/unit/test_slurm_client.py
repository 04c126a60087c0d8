"""Reading and writing SLURM through its commands, played by small programs that say what was recorded."""

from __future__ import annotations

import asyncio
import os
import shlex
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from slurmtui.control.slurm import cancel_jobs, submit_script
from slurmtui.control.slurm import test_only as ask_test_only
from slurmtui.errors import CommandError, CommandMissing
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.records import PIECE_ROWS
from slurmtui.sources.exec import Runner
from slurmtui.sources.slurm.accounting import ENDED
from slurmtui.sources.slurm.client import Slurm
from slurmtui.sources.slurm.cluster import PARTITIONS
from tests.records import record_of
from tests.unit.programs import put_program

if TYPE_CHECKING:
    from pathlib import Path

PURGED = "slurm_load_jobs error: Invalid job id specified\n"
DOWN = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"


class Commands:
    """A folder of commands that answer as they are told and note how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def answer(self, name: str, stdout: bytes = b"", stderr: str = "", code: int = 0, when: str = "") -> None:
        """Make ``name`` answer so; with ``when``, only calls that hold that word, and other calls as told before."""
        command = self.folder / name
        number = len(list(self.folder.glob(f"{name}.out.*")))
        (self.folder / f"{name}.out.{number}").write_bytes(stdout)
        (self.folder / f"{name}.err.{number}").write_text(stderr)
        here = shlex.quote(str(self.folder))
        play = f"cat {here}/{name}.out.{number}; cat {here}/{name}.err.{number} >&2; exit {code}"
        before = command.read_text() if command.exists() and when else f'#!/bin/sh\necho "$*" >>{here}/{name}.calls\n'
        body = f'case "$*" in *{shlex.quote(when)}*) {play};; esac\n' if when else f"{play}\n"
        head, _, rest = before.partition("\n")
        note, _, rest = rest.partition("\n")
        put_program(command, f"{head}\n{note}\n{body}{rest}")

    def calls(self, name: str) -> list[str]:
        """The arguments of each call."""
        return (self.folder / f"{name}.calls").read_text().splitlines()


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return Commands(tmp_path)


@pytest.fixture
def slurm() -> Slurm:
    return Slurm(Runner(), "alice", timeout=60)


def job(job_id: str, raw_id: str = "", state: str = "RUNNING") -> bytes:
    return record_of(QUEUE, id=job_id, raw_id=raw_id or job_id, state=state, name="x", user="alice")


async def test_own_queue_is_one_call_for_this_user(commands: Commands, slurm: Slurm) -> None:
    commands.answer("squeue", job("1") + job("2_[1-9]", "2", "PENDING"))
    table = await slurm.queue(everyone=False)
    assert [found.id for found in table.jobs()] == ["1", "2_[1-9]"]
    (call,) = commands.calls("squeue")
    assert "-u alice" in call
    assert " -r " not in call
    await slurm.queue(everyone=True)
    assert "-u" not in commands.calls("squeue")[1].split()


async def test_the_first_question_may_be_on_its_way_before_there_is_an_event_loop(
    commands: Commands, slurm: Slurm
) -> None:
    commands.answer("squeue", b"".join(job(str(number)) for number in range(1, 3001)))
    slurm.ask_early(everyone=False)
    assert slurm.begun is not None
    first: list[JobTable] = []
    slurm.begun.tell_first_jobs(asyncio.get_running_loop(), first.append)
    table = await slurm.queue(everyone=False)
    assert len(table) == 3000
    await asyncio.sleep(0)
    assert [len(jobs) for jobs in first] == [PIECE_ROWS]
    assert first[0].job(0).id == "1"
    assert len(commands.calls("squeue")) == 1
    assert await slurm.queue(everyone=False) == table
    assert len(commands.calls("squeue")) == 2


class HangingSqueue:
    """A squeue that answers when it is asked for everybody's jobs, and never when it is asked for one's own."""

    def __init__(self, folder: Path) -> None:
        self._pid, answer = folder / "pid", folder / "answer"
        answer.write_bytes(job("1"))
        mine = f'case "$*" in *-u*) echo $$ >{self._pid}; exec sleep 300;; esac'
        put_program(folder / "squeue", f"#!/bin/sh\n{mine}\ncat {answer}\n")

    async def process(self) -> psutil.Process:
        """The one that hangs, as soon as it is there."""
        while not self._pid.exists() or not self._pid.read_text():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return psutil.Process(int(self._pid.read_text()))


async def test_an_early_question_about_others_is_dropped_and_its_squeue_ended(commands: Commands, slurm: Slurm) -> None:
    squeue = HangingSqueue(commands.folder)
    slurm.ask_early(everyone=False)
    hangs = await squeue.process()
    assert len(await slurm.queue(everyone=True)) == 1
    await asyncio.to_thread(hangs.wait, 50)


async def test_a_question_dropped_at_once_leaves_no_squeue(commands: Commands, slurm: Slurm) -> None:
    HangingSqueue(commands.folder)
    early = slurm.ask_early(everyone=False)
    early.end()
    begun = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await early.table()
    assert time.monotonic() - begun < 50


async def test_an_early_question_that_fails_fails_the_first_poll(commands: Commands, slurm: Slurm) -> None:
    commands.answer("squeue", stderr=DOWN, code=1)
    slurm.ask_early(everyone=False)
    with pytest.raises(CommandError, match="Unable to contact slurm controller"):
        await slurm.queue(everyone=False)
    commands.answer("squeue", job("1"))
    assert len(await slurm.queue(everyone=False)) == 1


async def test_leaving_before_the_early_answer_ends_squeue(commands: Commands, slurm: Slurm) -> None:
    squeue = HangingSqueue(commands.folder)
    early = slurm.ask_early(everyone=False)
    asked = asyncio.create_task(slurm.queue(everyone=False))
    hangs = await squeue.process()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await asyncio.to_thread(early.leave)
    await asyncio.to_thread(hangs.wait, 50)


async def test_times_are_asked_for_as_epoch_seconds(commands: Commands, slurm: Slurm) -> None:
    for name in ("squeue", "sacct"):
        commands.answer(name)
        script = commands.folder / name
        script.write_text(script.read_text().replace("$*", "$SLURM_TIME_FORMAT", 1))
    await slurm.queue(everyone=True)
    await slurm.ended_jobs(["1"])
    assert commands.calls("squeue") == commands.calls("sacct") == ["%s"]


async def test_warnings_beside_the_queue_do_not_harm_it(commands: Commands, slurm: Slurm) -> None:
    commands.answer("squeue", job("1"), stderr="squeue: warning: something is old\n")
    assert len(await slurm.queue(everyone=True)) == 1


async def test_an_answer_that_is_not_whole_is_a_failed_poll(commands: Commands, slurm: Slurm) -> None:
    commands.answer("squeue", job("1")[:-5], stderr="squeue: error: Invalid job format specification: X\n")
    with pytest.raises(CommandError, match=r"cannot be read.*Invalid job format specification: X"):
        await slurm.queue(everyone=True)


async def test_a_controller_that_is_down_is_an_error_in_its_words(commands: Commands, slurm: Slurm) -> None:
    commands.answer("squeue", stderr=DOWN, code=1)
    with pytest.raises(CommandError, match=r"squeue: .*Unable to contact slurm controller"):
        await slurm.queue(everyone=True)
    with pytest.raises(CommandError, match="Unable to contact slurm controller"):
        await slurm.jobs_by_id(["1"])
    with pytest.raises(CommandError, match="Unable to contact slurm controller"):
        await slurm.job_detail("1")


async def test_without_slurm_the_missing_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandMissing, match="squeue: command not found"):
        await Slurm(Runner(), "alice").queue(everyone=True)


async def test_jobs_by_id_survives_purged_ids(commands: Commands, slurm: Slurm) -> None:
    commands.answer("squeue", job("1") + job("5"))
    commands.answer("squeue", stderr=PURGED, code=1, when="-j ")
    found = await slurm.jobs_by_id(["1", "99"])
    assert list(found) == ["1"]
    assert len(commands.calls("squeue")) == 2
    assert await slurm.jobs_by_id(["99"]) == {}
    assert len(commands.calls("squeue")) == 3
    assert await slurm.jobs_by_id([]) == {}
    assert await slurm.jobs_by_id(["nonsense"]) == {}
    assert len(commands.calls("squeue")) == 3


async def test_jobs_by_id_finds_tasks_in_the_rest_and_the_parts_of_a_whole(commands: Commands, slurm: Slurm) -> None:
    commands.answer("squeue", job("7_[2-9]", "7", "PENDING") + job("7_1", "8") + job("9+0", "9") + job("9+1", "10"))
    found = await slurm.jobs_by_id(["7_4", "7_1", "9"])
    assert {asked: part.id for asked, part in found.items()} == {
        "7_4": "7_[2-9]", "7_1": "7_1", "9+0": "9+0", "9+1": "9+1",
    }  # fmt: skip
    assert set(await slurm.jobs_by_id(["7"])) == {"7_[2-9]", "7_1"}
    assert set(await slurm.jobs_by_id(["7_[2,3,4"])) == {"7_[2-9]", "7_1"}


async def test_job_detail_of_a_job_that_slurm_forgot(commands: Commands, slurm: Slurm) -> None:
    commands.answer("squeue", stderr=PURGED, code=1)
    assert await slurm.job_detail("1") is None
    assert await slurm.job_detail("no id") is None


def ended(job_id: str, **fields: str) -> bytes:
    usual = {"raw_id": job_id, "exit": "0:0", "submit": "100", "start": "110", "end": "200", "name": "x"}
    return record_of(ENDED, usual, id=job_id, **fields)


async def test_ended_jobs(commands: Commands, slurm: Slurm) -> None:
    commands.answer(
        "sacct",
        ended("1", state="FAILED", exit="1:0", tres="billing=1,cpu=1,mem=16G,node=1", elapsed="1-00:00:01")
        + ended("1.batch", state="OUT_OF_ME+", max_rss="16600000K", name="batch")
        + ended("1.0", state="COMPLETED", max_rss="100K", name="step|\n")
        + ended("2", state="CANCELLED by 1000", name="a\n|b")
        + ended("3", state="RUNNING")
        + ended("4_1", raw_id="5", state="TIMEOUT", exit="0:15", requested="2Gn")
        + ended("7_[3-9%2]", raw_id="7", state="CANCELLED by 1000")
        + ended("6", state="NODE_FAIL", submit="100")
        + ended("6", state="COMPLETED", submit="300"),
    )
    found = await slurm.ended_jobs(["1", "2", "3", "5", "4_[1-3]", "6", "7_4", "7_10", "99", "bad id"])
    assert {job_id: job.state for job_id, job in found.items()} == {
        "1": "OUT_OF_MEMORY", "2": "CANCELLED", "4_1": "TIMEOUT", "5": "TIMEOUT", "6": "COMPLETED",
        "7_[3-9%2]": "CANCELLED", "7_4": "CANCELLED",
    }  # fmt: skip
    first = found["1"]
    assert (first.requested_memory, first.max_rss, first.elapsed) == (16384, 16600000 / 1024, 86401)
    assert first.reason == "step batch ran out of memory"
    assert found["2"].name == "a\n|b"
    assert (found["5"].signal, found["5"].requested_memory) == (15, 2048)
    assert "-j 1,2,3,5,4,6,7_4,7_10,99 " in commands.calls("sacct")[0]


async def test_many_ids_are_asked_in_chunks(commands: Commands, slurm: Slurm) -> None:
    commands.answer("sacct")
    await slurm.ended_jobs([str(number) for number in range(900)])
    assert len(commands.calls("sacct")) == 3


async def test_accounting_that_is_off_is_an_error_and_not_an_empty_answer(commands: Commands, slurm: Slurm) -> None:
    commands.answer("sacct", stderr="Slurm accounting storage is disabled\n", code=1)
    with pytest.raises(CommandError, match="sacct: Slurm accounting storage is disabled"):
        await slurm.ended_jobs(["1"])
    assert await slurm.ended_jobs([]) == {}


async def test_accounts_are_empty_with_a_reason_where_accounting_is_off(commands: Commands, slurm: Slurm) -> None:
    commands.answer("sacctmgr", stderr="You are not running a supported accounting_storage plugin\n", code=1)
    assert await slurm.accounts() == ()
    assert "not running a supported accounting" in (await slurm.accounts_or_reason())[1]
    commands.answer("sacctmgr", b"teaching|research\nteaching|teaching\nteaching|research\nteaching|\n")
    assert await slurm.accounts() == ("teaching", "research")


async def test_partitions_of_several_kinds_of_node_are_one(commands: Commands, slurm: Slurm) -> None:
    commands.answer(
        "sinfo",
        record_of(PARTITIONS, name="mix*", state="up", max_time="2-00:00:00", nodes="3", cpus="8", memory="4000")
        + record_of(
            PARTITIONS,
            name="mix*",
            state="up",
            max_time="2-00:00:00",
            nodes="2",
            cpus="16+",
            memory="8000+",
            gres="gpu:a100:4(S:0-1)",
        )
        + record_of(PARTITIONS, name="free", state="drain", max_time="infinite", nodes="1"),
    )
    mix, free = await slurm.partitions()
    assert (mix.name, mix.default, mix.nodes, mix.cpus_per_node, mix.memory_per_node) == ("mix", True, 5, 16, 8000)
    assert (mix.max_time, mix.gres) == (172800, ("gpu:a100:4",))
    assert (free.default, free.state, free.max_time) == (False, "drain", "unlimited")


async def test_name_and_version_are_asked_once(commands: Commands, slurm: Slurm) -> None:
    commands.answer(
        "scontrol", b"Configuration data as of x\nClusterName             = c1\nSLURM_VERSION = 22.05.8-1\n"
    )
    assert (await slurm.cluster_name(), await slurm.version()) == ("c1", (22, 5, 8))
    assert len(commands.calls("scontrol")) == 1


@pytest.mark.parametrize(
    "said",
    [b"123\n", b"123;victini\n", b"Welcome!\nPlease use /scratch, quota 5\n123;victini\n", b"42 jobs wait\n42\n123\n"],
)
async def test_job_id_of_a_submission(commands: Commands, said: bytes) -> None:
    commands.answer("sbatch", said)
    assert await submit_script(Runner(), b"#!/bin/sh\n", ("-p", "debug")) == "123"
    assert commands.calls("sbatch") == ["--parsable -p debug"]


async def test_a_refused_submission_is_told_in_sbatchs_words(commands: Commands) -> None:
    said = "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified\n"
    commands.answer("sbatch", stderr=said, code=1)
    with pytest.raises(CommandError, match=r"^sbatch: Batch job submission failed: Invalid account"):
        await submit_script(Runner(), b"#!/bin/sh\n")


async def test_a_submission_without_an_id_is_an_error(commands: Commands) -> None:
    commands.answer("sbatch", b"Submitted, thank you\n")
    with pytest.raises(CommandError, match="named no job id; it said: Submitted, thank you"):
        await submit_script(Runner(), b"#!/bin/sh\n")


async def test_what_a_job_inherits_is_the_users_locale(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    commands.answer("sbatch", b"1\n")
    script = commands.folder / "sbatch"
    script.write_text(script.read_text().replace("$*", "$LC_ALL $MARK", 1))
    await submit_script(Runner(), b"#!/bin/sh\n", env={"MARK": "here"})
    assert commands.calls("sbatch") == ["C here"]


async def test_cancelling_gives_a_result_for_each_id(commands: Commands) -> None:
    words = "scancel: error: Kill job error on job id 7: Access/permission denied\n"
    commands.answer("scancel", stderr=words, code=1)
    answer = await cancel_jobs(Runner(), ["7", "70", "7_[1-", "8_3", "7"])
    assert answer == {
        "7": "Kill job error on job id 7: Access/permission denied",
        "70": "",
        "7_[1-": "not a whole job id: nothing was cancelled",
        "8_3": "",
    }
    assert commands.calls("scancel") == ["7 70 8_3"]


async def test_a_cancel_that_failed_as_a_whole_says_so_for_every_id(commands: Commands) -> None:
    commands.answer("scancel", stderr="scancel: error: slurm_kill_jobs: Unable to contact slurm controller\n", code=1)
    answer = await cancel_jobs(Runner(), ["7", "8"])
    assert set(answer.values()) == {"slurm_kill_jobs: Unable to contact slurm controller"}


async def test_many_jobs_are_cancelled_in_chunks(commands: Commands) -> None:
    commands.answer("scancel")
    assert len(await cancel_jobs(Runner(), [str(number) for number in range(450)])) == 450
    assert len(commands.calls("scancel")) == 3


async def test_estimate_of_a_job_that_would_be_taken(commands: Commands) -> None:
    said = "sbatch: Job 38 to start at 2026-11-30T07:32:33 using 2 processors on nodes n[1,3] in partition batch\n"
    commands.answer("sbatch", stderr=said)
    answer = await ask_test_only(Runner(), b"#!/bin/sh\n", ("-N", "2"))
    assert (answer.ok, answer.nodes) == (True, "n[1,3]")
    assert answer.start is not None
    assert "to start at 2026-11-30" in answer.text


async def test_estimate_of_a_job_that_would_be_refused(commands: Commands) -> None:
    commands.answer("sbatch", stderr="allocation failure: Requested node configuration is not available\n", code=1)
    answer = await ask_test_only(Runner(), b"#!/bin/sh\n")
    assert (answer.ok, answer.start) == (False, None)
    assert answer.text == "allocation failure: Requested node configuration is not available"
