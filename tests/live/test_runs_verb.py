"""``slurmtui runs`` as a script calls it, on a real SLURM and a real Prefect."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.config import load_config
from slurmtui.control.cancel import cancel_run
from slurmtui.control.submit import SubmitRequest, submit_flow
from slurmtui.session import open_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FLOW = """
import time
from pathlib import Path
from prefect import flow, task


@task
def nap(number, until):
    while not Path(until).exists():
        time.sleep(0.2)
    return number


@flow
def naps(until: str):
    return [future.result() for future in nap.map([1, 2], until=until)]
"""
KEYS = {
    "id", "name", "flow", "state", "verdict", "verdict_text", "evidence", "profile", "driver", "jobs", "tasks",
    "attempts", "started", "ended",
}  # fmt: skip


def runs(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """The exit code, what was printed and what was complained of."""
    done = subprocess.run(
        [sys.executable, "-m", "slurmtui", "runs", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def told(*arguments: str, **environment: str) -> list[dict[str, Any]]:
    code, out, err = runs("--json", *arguments, **environment)
    assert (code, err) == (0, "")
    found: list[dict[str, Any]] = json.loads(out)
    return found


async def submit(file: Path) -> str:
    session = open_session(load_config())
    try:
        parameters = {"until": str(file.with_name("go-on"))}
        request = SubmitRequest(
            target=f"{file}:naps", profile="debug", parameters=parameters, name="sleepy-dormouse", directory="/"
        )
        return (await submit_flow(session, request)).id
    finally:
        await session.close()


async def cancel(run_id: str) -> None:
    session = open_session(load_config())
    try:
        await cancel_run(session, run_id)
    finally:
        await session.close()


@pytest.fixture(scope="module")
def napping(
    sandbox: object, prefect_server: object, tmp_path_factory: pytest.TempPathFactory, wait_until: Callable[..., Any]
) -> Iterator[str]:
    """A run whose two tasks work on two jobs."""
    assert sandbox
    assert prefect_server
    file = tmp_path_factory.mktemp("flow") / "naps.py"
    file.write_text(FLOW)
    run_id = asyncio.run(submit(file))

    def both_run() -> bool:
        code, out, _ = runs("--json", run_id)
        return code == 0 and (json.loads(out)[0]["tasks"] or {}).get("running") == 2

    wait_until(both_run, 180, "both tasks run")
    yield run_id
    asyncio.run(cancel(run_id))


def test_every_promised_fact_of_a_run(napping: str) -> None:
    (found,) = told(napping[:8])
    assert set(found) == KEYS
    assert (found["id"], found["name"], found["flow"]) == (napping, "sleepy-dormouse", "naps")
    assert (found["state"], found["verdict"], found["verdict_text"]) == ("RUNNING", "running", "running, 2 workers")
    assert (found["profile"], found["ended"]) == ("debug", None)
    assert found["driver"]["status"] == "alive"
    os.kill(found["driver"]["pid"], 0)
    assert {job["state"] for job in found["jobs"]} == {"RUNNING"}
    assert all(set(job) == {"id", "name", "state", "reason", "node"} for job in found["jobs"])
    assert all(job["node"] for job in found["jobs"])
    assert set(found["tasks"]) == {
        "completed", "cached", "failed", "crashed", "running", "pending", "cancelled", "total",
    }  # fmt: skip
    assert datetime.fromisoformat(found["started"]).tzinfo is not None


def test_selecting_by_state_name_and_time(napping: str) -> None:
    assert [run["id"] for run in told("sleepy-dormouse")] == [napping]
    assert napping in {run["id"] for run in told("--state", "running")}
    assert napping not in {run["id"] for run in told("--state", "failed,waiting", "--since", "1h")}
    code, _, err = runs("--since", "whenever")
    assert code == 2
    assert "'whenever'" in err
    code, _, err = runs("no-such-run")
    assert code == 1
    assert "no-such-run" in err


def test_the_table_is_aligned_and_shows_jobs(napping: str) -> None:
    code, out, _ = runs("--jobs", PYTHONIOENCODING="utf-8")
    assert code == 0
    lines = out.splitlines()
    line = next(line for line in lines if napping[:8] in line)
    assert line.startswith("▶")
    assert lines[0].index("VERDICT") == line.index("running, 2 workers")
    beneath = lines[lines.index(line) + 1 : lines.index(line) + 3]
    assert all(re.search(r"\d+ +R +n\d", job) for job in beneath)
    code, out, _ = runs(PYTHONIOENCODING="ascii")
    assert code == 0
    assert out.isascii()


def test_with_prefect_down_the_run_folders_are_shown_and_said_to_be_uncertain(napping: str) -> None:
    code, out, err = runs("--json", PREFECT_API_URL="http://127.0.0.1:9/api")
    assert code == 1
    assert "Prefect" in err
    assert "127.0.0.1:9" in err
    assert "Traceback" not in err
    found = next(run for run in json.loads(out) if run["id"] == napping)
    assert (found["verdict"], found["state"]) == ("unknown", None)
    assert found["driver"]["status"] == "alive"
    assert len(found["jobs"]) == 2


def test_with_slurm_down_runs_are_shown_without_any_claim_about_jobs(napping: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("slurm:\n  timeout_seconds: 2\n")
    code, out, err = runs("--json", SLURM_CONF=str(tmp_path / "none.conf"), SLURMTUI_CONFIG=str(config))
    assert code == 1
    assert "SLURM: squeue" in err
    found = next(run for run in json.loads(out) if run["id"] == napping)
    assert found["verdict_text"] == "running (SLURM does not answer)"
    assert any("SLURM has not answered" in sentence for sentence in found["evidence"])
