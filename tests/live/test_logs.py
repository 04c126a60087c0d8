"""Logs of real jobs and real runs: followed to their end, each line once, and a sentence where there is none."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.control.slurm import submit_script
from slurmtui.control.submit import SubmitRequest, submit_flow
from slurmtui.errors import CommandError
from slurmtui.sources.files.elsewhere import read_elsewhere
from slurmtui.sources.slurm.past_output import past_outputs
from slurmtui.store import log_jobs
from slurmtui.store.ended_log import EndedJobLog
from slurmtui.store.log_follow import follow_job
from slurmtui.store.log_stream import JobLog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from slurmtui.session import Session
    from slurmtui.store.log_entry import LogEntry

    Eventually = Callable[..., Awaitable[Any]]

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]

FLOW = r"""
import time
from prefect import flow, get_run_logger, task

@task(task_run_name="fit-{n}", log_prints=True)
def fit(n: int) -> int:
    for step in range(5):
        get_run_logger().info("step %d of fit %d [/red]", step, n)
        print(f"printed {step} by {n}", flush=True)
        time.sleep(0.2)
    get_run_logger().warning("two lines of %d\nthe second of %d", n, n)
    return n

@flow
def train() -> list[int]:
    get_run_logger().info("training \x1b[31mstarts\x1b[0m")
    return [one.result() for one in fit.map(list(range(3)))]
"""


def slurmtui(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "slurmtui", *arguments]


async def run_command(*arguments: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *slurmtui(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    out, err = await asyncio.wait_for(process.communicate(), 120)
    return process.returncode or 0, out.decode(), err.decode()


async def submit(session: Session, folder: Path, script: str, *options: str) -> str:
    return await submit_script(session.runner, f"#!/bin/bash\n{script}\n".encode(), options, chdir=folder)


async def whole(log: JobLog) -> list[LogEntry]:
    entries: list[LogEntry] = []
    await asyncio.wait_for(follow_job(log, entries.extend), 90)
    log.close()
    return entries


def texts(entries: list[LogEntry], source: str) -> list[str]:
    return [entry.text for entry in entries if entry.source == source and not entry.partial]


async def test_job_that_waits_then_runs_is_followed_to_its_end(session: Session, tmp_path: Path) -> None:
    script = "for i in $(seq 200); do echo out $i; echo err $i >&2; sleep 0.01; done; printf 'no newline'"
    job_id = await submit(session, tmp_path, script, "-H", "-o", "%x-%j.out", "-e", "%x-%j.err", "-J", "two outputs")
    log = JobLog(session, job_id)
    assert await log.read_new() == []
    assert log.why_empty.startswith("Not started: waiting for SLURM: ")
    following = asyncio.ensure_future(whole(log))
    await session.runner.run(["scontrol", "release", job_id])
    entries = await following
    assert texts(entries, "out") == [*(f"out {number}" for number in range(1, 201)), "no newline"]
    assert texts(entries, "err") == [f"err {number}" for number in range(1, 201)]
    assert (tmp_path / f"two outputs-{job_id}.out").exists()
    code, out, err = await run_command("logs", job_id)
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == sorted(entry.text for entry in entries if not entry.partial)
    code, out, _ = await run_command("logs", "-n", "1", "--json", job_id)
    assert code == 0
    assert json.loads(out)["job"] == job_id


async def test_array_task_one_file_for_both_and_controls(session: Session, tmp_path: Path) -> None:
    script = r"""echo task $SLURM_ARRAY_TASK_ID; printf '\033[31mred\033[0m \033]52;c;eA==\007 [/b] 日本\n' >&2"""
    array = await submit(session, tmp_path, script, "-a", "3-4", "-o", "a-%A_%a.log")
    entries = await whole(JobLog(session, f"{array}_4"))
    assert texts(entries, "out") == ["task 4", "\x1b[31mred\x1b[0m \x1b]52;c;eA==\x07 [/b] 日本"]
    code, out, _ = await run_command("logs", f"{array}_4")
    assert (code, out) == (0, "task 4\nred ␛]52;c;eA==␇ [/b] 日本\n")


async def test_job_whose_output_has_no_folder(
    session: Session, tmp_path: Path, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await submit(session, tmp_path, "sleep 300", "-o", "no-folder/x.out")
    log = EndedJobLog(session, job_id)

    async def has_said_why() -> bool:
        log.ask_every(0)
        await log.read_new()
        return "because its folder was not there" in log.why_empty

    await eventually(has_said_why, 60, "the log tells of the folder")
    log.close()

    async def nothing(*_: object) -> None:
        return None

    monkeypatch.setattr("slurmtui.sources.slurm.client.Slurm.job_detail", nothing)  # as when SLURM has forgotten it
    log = EndedJobLog(session, job_id)
    await eventually(has_said_why, 60, "accounting tells of it too")
    assert log.why_empty.startswith(f"SLURM has forgotten job {job_id}.")
    log.close()


async def test_array_that_was_told_no_file(
    session: Session, tmp_path: Path, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = await submit(session, tmp_path, "echo task $SLURM_ARRAY_TASK_ID", "-a", "3-5")
    assert texts(await whole(JobLog(session, f"{array}_4")), "out") == ["task 4"]
    expected = {f"{array}_{number}": f"task {number}" for number in (3, 4, 5)}
    code, out, err = await run_command("logs", "-f", "--json", array)
    assert (code, err) == (0, "")
    told = [json.loads(line) for line in out.splitlines()]
    assert sorted((line["job"], line["text"]) for line in told) == sorted(expected.items())
    code, out, err = await run_command("logs", "--json", f"{array}_[4-5]")
    assert (code, err) == (0, "")
    some = [(line["job"], line["text"]) for line in map(json.loads, out.splitlines())]
    assert sorted(some) == sorted(expected.items())[1:]

    async def nothing(*_: object) -> dict[str, Any]:
        return {}

    async def is_accounted() -> bool:
        past = await past_outputs(session.slurm, array)
        return set(past) == set(expected)

    await eventually(is_accounted, 60, "accounting knows the tasks")
    monkeypatch.setattr(log_jobs, "outputs_of", nothing)  # as when SLURM has forgotten the array
    log = log_jobs.JobsLog(session, [array], None)
    entries = await log.read_new()
    log.close()
    assert {entry.job_id: entry.text for entry in entries} == expected


LIVES = """
for i in $(seq 100); do echo "life ${SLURM_RESTART_COUNT:-0} line $i"; [ $((i % 10)) = 0 ] && sleep 0.1; done
[ "$SLURM_RESTART_COUNT" ] || sleep 300
"""


async def test_every_life_of_a_requeued_job_is_seen_line_by_line(
    session: Session, tmp_path: Path, eventually: Eventually
) -> None:
    lives = [[f"life {life} line {number}" for number in range(1, 101)] for life in (0, 1)]
    jobs = {
        mode: await submit(session, tmp_path, LIVES, "--requeue", f"--open-mode={mode}", "-o", f"{mode}.log")
        for mode in ("truncate", "append")
    }
    logs = {mode: JobLog(session, job_id) for mode, job_id in jobs.items()}
    entries: dict[str, list[LogEntry]] = {mode: [] for mode in jobs}

    async def have_written(life: int) -> bool:
        for mode, log in logs.items():
            entries[mode] += await log.read_new()
        return all(lives[life][-1] in texts(found, "out") for found in entries.values())

    async def are_held() -> bool:
        found = await session.slurm.jobs_by_id(list(jobs.values()))
        return [job.state for job in found.values()] == ["PENDING"] * 2

    await eventually(lambda: have_written(0), 60, "the first lives write")
    for job_id in jobs.values():
        await session.runner.run(["scontrol", "requeuehold", job_id])
    requeued = time.time()
    await eventually(are_held, 60, "the jobs are back in the queue")
    # What slurmd is told by the second: a life that begins in the second in which the last one was ended fails at once.
    await eventually(lambda: time.time() > requeued + 2, 60, "the clock to go on")
    for job_id in jobs.values():
        await session.runner.run(["scontrol", "release", job_id])
    hastened = 0.0

    async def have_written_again() -> bool:
        nonlocal hastened
        if time.monotonic() - hastened > 5:  # SLURM puts a requeued job off by two minutes, and may do so late
            hastened = time.monotonic()
            for job_id in jobs.values():
                await session.runner.run(["scontrol", "update", f"JobId={job_id}", "StartTime=now"], check=False)
        return await have_written(1)

    await eventually(have_written_again, 180, "the second lives write")
    for mode, log in logs.items():
        entries[mode] += await log.read_rest()
        log.close()
        shown = [text for text in texts(entries[mode], "out") if text.startswith("life ")]
        assert shown == lives[0] + lives[1], mode
    assert any("begins anew" in one.text or "new file" in one.text for one in entries["truncate"])


async def test_job_without_output_says_why(session: Session, tmp_path: Path) -> None:
    job_id = await submit(session, tmp_path, "echo lost", "-o", "/dev/null")
    log = JobLog(session, job_id)
    assert await whole(log) == []
    assert "goes to /dev/null: nothing of it is kept" in log.why_empty
    code, out, err = await run_command("logs", job_id)
    assert (code, out) == (1, "")
    assert "nothing of it is kept" in err
    code, _, err = await run_command("logs", "987654321")
    assert code == 1
    assert "Neither slurmctld nor accounting tells where the output of job 987654321 went" in err


async def test_file_that_only_the_jobs_own_node_sees_is_read_there(
    session: Session, tmp_path: Path, eventually: Eventually
) -> None:
    path = tmp_path / "own disk.out"
    job_id = await submit(session, tmp_path, "seq 1000; sleep 300", "-o", str(path))
    await eventually(lambda: path.exists() and path.read_text().endswith("\n1000\n"), 60, "the job writes")
    detail = await session.slurm.job_detail(job_id)
    assert detail is not None
    copy = await read_elsewhere(session.runner, job_id, detail.nodes, str(path))
    assert copy.read_text() == path.read_text()
    assert copy.stat().st_mode & 0o077 == 0
    path.rename(tmp_path / "hidden")
    log = JobLog(session, job_id)
    assert await log.read_new() == []
    assert log.elsewhere == (job_id, detail.nodes, str(path))
    assert f"disk of {detail.nodes} itself" in log.why_empty
    with pytest.raises(CommandError, match=r"own disk\.out"):
        await read_elsewhere(session.runner, job_id, detail.nodes, str(path))
    log.close()
    await session.runner.run(["scancel", job_id])


async def test_reader_that_has_seen_enough_is_no_error(session: Session, tmp_path: Path) -> None:
    job_id = await submit(session, tmp_path, "seq 100000", "-o", "many.out")
    await whole(JobLog(session, job_id))
    process = await asyncio.create_subprocess_exec(
        *slurmtui("logs", "-n", "all", job_id), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert await process.stdout.readline() == b"1\n"
    process.stdout._transport.close()  # type: ignore[attr-defined] # the reader goes
    assert await process.stderr.read() == b""
    assert await asyncio.wait_for(process.wait(), 30) == 0


async def test_log_of_a_real_run_shows_every_line_once(session: Session, tmp_path: Path) -> None:
    flow_file = tmp_path / "flow.py"
    flow_file.write_text(FLOW)
    spec = await submit_flow(
        session, SubmitRequest(target=f"{flow_file}:train", profile="debug", directory=str(tmp_path))
    )
    code, out, err = await run_command("logs", "-f", "--json", spec.id[:13])
    assert code == 0, err
    entries = [json.loads(line) for line in out.splitlines()]
    lines = [entry["text"] for entry in entries]
    for number in range(3):
        for step in range(5):
            for words in (f"step {step} of fit {number} [/red]", f"printed {step} by {number}"):
                assert len(lines_with(lines, words)) == 1, words
        for words in (f"two lines of {number}", f"the second of {number}"):
            assert len(lines_with(lines, words)) == 1, words
    assert len([line for line in lines if "training" in line]) == 1
    assert len(lines_with(lines, "Finished in state Completed()")) == 4
    steps = [entry for entry in entries if entry["text"].endswith("of fit 1 [/red]")]
    assert {entry["source"] for entry in steps} <= {"err", "prefect"}
    # A line of Prefect's that comes before Prefect knows its task's own name is nobody's.
    assert {entry["task"] for entry in steps} - {""} == {"fit-1"}
    assert {entry["job"] for entry in entries if entry["source"] == "err"}, "jobs' own output is there"

    code, out, _ = await run_command("logs", "--json", spec.id)
    assert code == 0
    times = [entry["time"] for entry in map(json.loads, out.splitlines()) if entry["source"] == "prefect"]
    assert times == sorted(times)

    code, out, _ = await run_command("logs", spec.id)
    assert code == 0
    assert sorted(re.sub(r"^.{37}", "", line) for line in out.splitlines() if "fit-" in line) != []
    assert "\x1b" not in out
    assert len([line for line in out.splitlines() if "the second of 2" in line]) == 1


def lines_with(lines: list[str], words: str) -> list[str]:
    return [line for line in lines if line.endswith(words)]
