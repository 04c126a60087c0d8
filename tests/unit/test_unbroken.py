"""What has begun is finished: a run is never left half made because nobody waits for it any more."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.control import prefect, submit
from slurmtui.control.submit import Prepared, SubmitRequest, submit_flow
from slurmtui.control.unbroken import unbroken
from slurmtui.errors import Refused
from slurmtui.models.flow_info import FlowInfo
from slurmtui.models.flow_run import FlowRun
from slurmtui.sources.run_folder import read_run

if TYPE_CHECKING:
    from pathlib import Path

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"


async def test_what_nobody_waits_for_any_more_is_finished_first() -> None:
    begun, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await may_end.wait()
        ended.set()

    waiting = asyncio.ensure_future(unbroken(work()))
    await begun.wait()
    for _ in range(3):
        waiting.cancel()
        await asyncio.sleep(0)
        assert not waiting.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended.is_set()


async def test_its_result_and_its_error_arrive() -> None:
    async def work(*, well: bool) -> str:
        if not well:
            raise Refused("no")
        return "well"

    assert await unbroken(work(well=True)) == "well"
    with pytest.raises(Refused, match="no"):
        await unbroken(work(well=False))


class Place:
    """Prefect, and a launcher that can be held up."""

    def __init__(self) -> None:
        self.launching, self.may_launch = asyncio.Event(), asyncio.Event()
        self.launched = False
        self.crashed: list[str] = []

    async def launch(self, *_arguments: object, attempt: int) -> None:
        assert attempt == 1
        self.launching.set()
        await self.may_launch.wait()
        self.launched = True

    async def create(self, *_arguments: object, **_more: object) -> FlowRun:
        return FlowRun(id=RUN, name="otter")

    async def label(self, *_arguments: object) -> None:
        return

    async def set_state(self, _client: object, _run: str, state: str, message: str) -> None:
        self.crashed.append(f"{state} {message}")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    made = Place()
    monkeypatch.setattr(submit, "launch", made.launch)
    monkeypatch.setattr(submit, "create_flow_run", made.create)
    monkeypatch.setattr(submit, "add_labels", made.label)
    monkeypatch.setattr(prefect, "set_state", made.set_state)
    return made


def submitting(monkeypatch: pytest.MonkeyPatch) -> asyncio.Task[Any]:
    session: Any = SimpleNamespace(connection=None, user="me", config=None)
    client: Any = object()
    monkeypatch.setattr(submit, "need_prefect", lambda _session: client)
    flow = FlowInfo(name="train", function="train", entrypoint="/flow.py:train")
    prepared = Prepared(flow=flow, parameters={}, profile=None, driver="login", python="python3")
    return asyncio.ensure_future(submit_flow(session, SubmitRequest(target="/flow.py"), prepared))


async def test_a_submission_that_nobody_waits_for_any_more_still_gets_its_driver(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = submitting(monkeypatch)
    await place.launching.wait()
    task.cancel()
    await asyncio.sleep(0)
    place.may_launch.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert place.launched
    assert read_run(RUN) is not None
    assert place.crashed == []


async def test_a_submission_that_is_ended_with_its_program_leaves_no_run_that_waits_for_ever(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = submitting(monkeypatch)
    await place.launching.wait()
    for other in asyncio.all_tasks() - {asyncio.current_task()}:
        other.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not place.launched
    assert place.crashed == ["CRASHED slurmtui could not start the run: it was interrupted"]
