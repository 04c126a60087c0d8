"""The probe job: whoever stops waiting for it, it is cancelled, and its folder with the password is removed."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui import paths
from slurmtui.control import probe as probe_module
from slurmtui.control.probe import probe
from slurmtui.errors import CommandError, Refused
from slurmtui.models.profile import Profile
from slurmtui.sources.prefect.connection import Connection

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = Profile(name="p")


class Slurm:
    """SLURM, whose answers can be held up."""

    def __init__(self) -> None:
        self.submitting, self.may_submit = asyncio.Event(), asyncio.Event()
        self.cancelling, self.may_cancel = asyncio.Event(), asyncio.Event()
        self.refuses = False
        self.cancelled: list[str] = []
        self.folder: Path | None = None

    async def submit(self, _runner: object, script: bytes, _options: object, **_more: object) -> str:
        self.folder = paths.state_folder() / "probes" / script.decode().split("/probes/")[1].split("/")[0]
        self.submitting.set()
        await self.may_submit.wait()
        if self.refuses:
            raise CommandError("sbatch: Invalid account", argv=["sbatch"], code=1)
        return "7"

    async def cancel(self, _runner: object, ids: list[str]) -> None:
        self.cancelling.set()
        await self.may_cancel.wait()
        self.cancelled += ids

    @property
    def left(self) -> bool:
        """Whether the folder with the password is there."""
        assert self.folder is not None
        return self.folder.exists()


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    made = Slurm()
    monkeypatch.setattr(probe_module, "submit_script", made.submit)
    monkeypatch.setattr(probe_module, "cancel_jobs", made.cancel)
    return made


def probing() -> asyncio.Task[Any]:
    session: Any = SimpleNamespace(connection=Connection(api_url="http://h/api", auth="a:b"), runner=None)
    return asyncio.ensure_future(probe(session, PROFILE, "python3"))


async def test_a_job_that_was_submitted_for_somebody_who_waits_no_more_is_cancelled(slurm: Slurm) -> None:
    task = probing()
    await slurm.submitting.wait()
    assert slurm.left
    task.cancel()
    slurm.may_submit.set()
    slurm.may_cancel.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert slurm.cancelled == ["7"]
    assert not slurm.left


async def test_the_end_of_the_job_is_waited_for_whatever_happens(slurm: Slurm) -> None:
    slurm.may_submit.set()
    task = probing()
    await slurm.submitting.wait()
    task.cancel()
    await slurm.cancelling.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
    slurm.may_cancel.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert slurm.cancelled == ["7"]
    assert not slurm.left


async def test_an_answer_ends_the_job_and_is_remembered(slurm: Slurm) -> None:
    slurm.may_submit.set()
    slurm.may_cancel.set()
    task = probing()
    await slurm.submitting.wait()
    assert slurm.folder is not None
    answer = {"place": {"node": "n1"}, "status": 200}
    (slurm.folder / "answer.json").write_text(json.dumps(answer))
    result = await task
    assert (result.answer.place.node, result.job_id, slurm.cancelled) == ("n1", "7", ["7"])
    session: Any = SimpleNamespace(connection=Connection(api_url="http://h/api"))
    assert probe_module.remembered(session, PROFILE, "python3") == result
    assert not slurm.left


async def test_a_refused_job_leaves_nothing(slurm: Slurm) -> None:
    slurm.refuses = True
    slurm.may_submit.set()
    with pytest.raises(Refused, match="does not take the probe job: sbatch: Invalid account"):
        await probing()
    assert not slurm.cancelling.is_set()
    assert not slurm.left
