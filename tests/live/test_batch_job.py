"""``batch_job``: one SLURM job as a task of a real flow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.control.run_folder import ask_cancel
from slurmtui.control.slurm import cancel_jobs
from slurmtui.sources.run_folder import read_folder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    Drive = Callable[..., Awaitable[Any]]
    Eventually = Callable[..., Awaitable[Any]]

JOBS = """
import json
from pathlib import Path
from prefect import flow
from prefect.task_runners import ThreadPoolTaskRunner
from slurmtui.flows import BatchJobFailed, batch_job

def keep(name, facts):
    Path(name).write_text(json.dumps(facts))

@flow(task_runner=ThreadPoolTaskRunner())
def kinds():
    words = "a 'quoted' \\"word\\" $HOME"
    listed = batch_job.submit(command=["echo", words])
    nodes = batch_job.submit(command=["srun", "bash", "-c", "echo rank $SLURM_PROCID"], nodes=2)
    text = batch_job.submit("#!/bin/sh\\n#SBATCH -p debug -t 1 --mem=100M\\necho from a text >&2\\n")
    Path("job.sh").write_text("#!/bin/sh\\n#SBATCH -p debug -t 1 --mem=100M\\necho from a file\\n")
    file = batch_job.submit("job.sh")
    jobs = [job.result() for job in (listed, nodes, text, file)]
    keep("kinds.json", [{"id": job.job_id, "state": job.state, "out": Path(job.stdout).read_text()} for job in jobs])

@flow(task_runner=ThreadPoolTaskRunner())
def one(command: str, retries: int = 0, direct: bool = False):
    job = batch_job.with_options(retries=retries)
    try:
        job(command=command) if direct else job.submit(command=command).result()
    except BatchJobFailed as error:
        keep("failed.json", {
            "words": str(error), "state": error.state, "code": error.exit_code, "signal": error.signal,
            "tail": error.log_tail,
        })
        raise

@flow
def on_workers(command: str):
    keep("worker.json", {"job": batch_job.submit(command=command).result().job_id})
"""


async def messages(run: Any) -> list[str]:
    """The run's log in Prefect."""
    return [line.message for line in await run.session.prefect.log_tail(run.spec.id)]


async def test_scripts_commands_and_several_nodes(drive: Drive, tmp_path: Path) -> None:
    run = await drive(JOBS, "kinds", profile={"memory": "100M"})
    assert await run.ended() == 0, run.log
    listed, nodes, text, file = json.loads((tmp_path / "kinds.json").read_text())
    assert listed["out"] == "a 'quoted' \"word\" $HOME\n", "an argument reaches the command as it was given"
    assert sorted(nodes["out"].split("\n")) == ["", "rank 0", "rank 1"]
    assert text["out"] == ""
    assert file["out"] == "from a file\n"
    assert {job["id"] for job in (listed, nodes, text, file)} == set(read_folder(run.folder).job_ids)
    said = await messages(run)
    assert "stderr: from a text" in said
    assert any(f"SLURM job {nodes['id']}: COMPLETED" in line for line in said)


async def test_a_failure_names_the_exit_code_and_the_end_of_the_output(drive: Drive, tmp_path: Path) -> None:
    run = await drive(JOBS, "one", profile={"memory": "100M"}, command="echo first\necho the reason >&2\nexit 7")
    assert await run.ended() == 1
    failed = json.loads((tmp_path / "failed.json").read_text())
    assert failed["state"] == "FAILED"
    assert failed["code"] == 7
    assert failed["tail"] == "the reason"
    job_id = read_folder(run.folder).job_ids[0]
    assert failed["words"].startswith(f"SLURM job {job_id} failed with exit code 7")
    assert "failed with exit code 7" in (await run.states())[-1][1]


async def test_retries_submit_another_job(drive: Drive) -> None:
    run = await drive(JOBS, "one", profile={"memory": "100M"}, command="test -e tried || { touch tried; exit 1; }",
                      retries=1)  # fmt: skip
    assert await run.ended() == 0, run.log
    assert len(read_folder(run.folder).job_ids) == 2


async def test_a_time_limit_is_told_as_one(drive: Drive, tmp_path: Path) -> None:
    run = await drive(JOBS, "one", profile={"memory": "100M", "walltime": "00:01:00"}, command="sleep 600")
    assert await run.ended(180) == 1
    failed = json.loads((tmp_path / "failed.json").read_text())
    assert failed["state"] == "TIMEOUT"
    assert "reached its time limit" in failed["words"]


async def test_a_job_cancelled_by_somebody_fails_the_task(drive: Drive, eventually: Eventually, tmp_path: Path) -> None:
    run = await drive(JOBS, "one", profile={"memory": "100M"}, command="sleep 600")
    jobs = await eventually(run.jobs, 90, "the job")
    await cancel_jobs(run.session.runner, [jobs[0].id])
    assert await run.ended(120) == 1
    assert json.loads((tmp_path / "failed.json").read_text())["state"] == "CANCELLED"


@pytest.mark.parametrize("direct", [False, True], ids=["submitted", "called"])
async def test_the_job_is_cancelled_with_its_run(drive: Drive, eventually: Eventually, direct: bool) -> None:  # noqa: FBT001
    run = await drive(JOBS, "one", profile={"memory": "100M"}, command="sleep 600", retries=3, direct=direct)
    await eventually(run.jobs, 90, "the job")
    ask_cancel(run.spec.id)
    assert await run.ended(120) == 1
    assert [state for state, _ in await run.states()][-2:] == ["CANCELLING", "CANCELLED"]
    assert await run.jobs() == []
    assert len(read_folder(run.folder).job_ids) == 1, "being cancelled is no reason to try again"


async def test_a_refused_job_fails_at_once_with_slurms_words(drive: Drive) -> None:
    run = await drive(JOBS, "one", profile={"partition": "nowhere"}, command="true")
    assert await run.ended(120) == 1
    assert "Invalid partition name specified" in (await run.states())[-1][1]


async def test_from_a_dask_worker(drive: Drive, tmp_path: Path) -> None:
    run = await drive(JOBS, "on_workers", profile={"workers": 1}, command="echo from within")
    assert await run.ended() == 0, run.log
    job = json.loads((tmp_path / "worker.json").read_text())["job"]
    record = read_folder(run.folder)
    assert [entry.by for entry in record.submissions if entry.job_id == job] == ["batch_job"]
    assert (run.folder / "jobs" / f"{job}.out").read_text() == "from within\n"
