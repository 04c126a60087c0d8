"""A preflight on the real thing: what is well, what is not, and that it leaves nothing behind in Prefect or SLURM."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui import paths
from slurmtui.control.preflight import ALWAYS, NEVER, preflight
from slurmtui.control.probe import JOB_NAME, probe, remembered
from slurmtui.control.submit import SubmitRequest
from slurmtui.sources.prefect.connection import Connection

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from slurmtui.control.preflight import Preflight
    from slurmtui.session import Session

CODE = """
from prefect import flow, task

@task
def one():
    return 1

@flow
def ones(count: int = 1):
    return [future.result() for future in one.map([1] * count)]
"""


def states(found: Preflight, name: str) -> list[str]:
    return [check.state for check in found.checks if check.name == name]


async def runs_known(session: Session) -> int:
    assert session.prefect is not None
    found: int = await session.prefect.request("POST", "/flow_runs/count", {})
    return found


async def test_all_is_looked_at_and_nothing_is_created(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "flow.py"
    file.write_text(CODE)
    before = await runs_known(session)
    request = SubmitRequest(target=str(file), profile="debug", texts={"count": "2"})
    found = await preflight(session, request, probing=ALWAYS)
    assert found.well, found.checks
    wanted = ["prefect", "flow", "parameters", "script", "sbatch", "limits", "encryption", "compute node", "versions"]
    for name in wanted:
        assert states(found, name) == ["ok"], (name, found.checks)
    assert states(found, "folders") == ["ok"] * 3
    assert "#SBATCH -p debug" in found.script
    assert await runs_known(session) == before
    jobs = (await session.slurm.queue(everyone=False)).jobs()
    assert not [job for job in jobs if job.name == JOB_NAME and job.state != "COMPLETING"]
    assert not (paths.runs_folder().exists() and any("flow.py" in str(path) for path in paths.runs_folder().iterdir()))
    profile = session.config.profiles["debug"]
    known = remembered(session, profile, sys.executable)
    assert known is not None
    assert known.proven
    kept = list((paths.state_folder() / "probes").iterdir())
    assert kept
    assert all(path.suffix == ".json" and stat.S_IMODE(path.stat().st_mode) == 0o600 for path in kept), kept
    again = await preflight(session, request, probing=NEVER)
    assert states(again, "compute node") == ["ok"], "the proof was not remembered"


async def test_what_would_fail_is_told_all_at_once(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "flow.py"
    file.write_text(CODE)
    debug = session.config.profiles["debug"]
    bad = msgspec.structs.replace(debug, name="bad", partition="debugg", tls=False)
    session.config = msgspec.structs.replace(session.config, profiles={"bad": bad})
    request = SubmitRequest(target=str(file), profile="bad", texts={"count": "many"})
    found = await preflight(session, request, probing=NEVER)
    assert not found.well
    assert (states(found, "parameters"), states(found, "sbatch")) == (["fail"], ["fail"])
    assert (states(found, "limits"), states(found, "encryption")) == (["fail"], ["warn"])
    assert any("debug" in check.what for check in found.checks if check.name == "limits")
    broken = SubmitRequest(target=str(tmp_path / "absent.py"), profile="bad")
    assert states(await preflight(session, broken), "flow") == ["fail"]


async def test_a_server_that_nodes_do_not_reach_and_a_wrong_password_are_told_apart(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = session.connection
    assert real is not None
    profile = session.config.profiles["batch"]
    # What is found out may not be found in the job: not in its script, its name, its argv, its environment.
    said: list[bytes] = []
    runner_run = session.runner.run

    async def spy(argv: Any, **options: Any) -> Any:
        said.append(repr((argv, options)).encode())
        return await runner_run(argv, **options)

    monkeypatch.setattr(session.runner, "run", spy)
    monkeypatch.setattr(session, "_connection", Connection(api_url=real.api_url, auth="slurmtui:wrong-password"))
    wrong = await probe(session, profile, sys.executable)
    monkeypatch.setattr(session, "_connection", Connection(api_url="http://127.0.0.1:9/api", auth=real.auth))
    far = await probe(session, profile, sys.executable)
    assert wrong.answer is not None
    assert wrong.answer.status == 401
    assert far.answer is not None
    assert far.answer.status is None
    assert "refused" in far.answer.said
    assert not any(b"wrong-password" in text for text in said)


async def test_the_verb_exits_with_one_when_it_would_fail(session: Session, tmp_path: Path) -> None:
    assert session.prefect is not None
    file = tmp_path / "flow.py"
    file.write_text(CODE)

    async def check(*words: str) -> tuple[int, Any]:
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "slurmtui", "submit", str(file), "--check", "--probe", "never", "--json", *words],
            env=dict(os.environ), capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        return done.returncode, json.loads(done.stdout)

    code, facts = await check("--profile", "debug")
    assert (code, facts["well"]) == (0, True)
    code, facts = await check("--profile", "debug", "-p", "no_such=1")
    assert (code, facts["well"]) == (1, False)
