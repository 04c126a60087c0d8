"""Which run is meant by the beginning of an id."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.control import run_folder
from slurmtui.control.resolve import resolve_id, resolve_run
from slurmtui.errors import PrefectError, PrefectUnreachable, Refused, UsageError
from slurmtui.models.flow_run import FlowRun
from slurmtui.models.run_record import RunSpec

if TYPE_CHECKING:
    from pathlib import Path

HERE = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
THERE = "0f8b7777-3a52-4c6f-9d0e-0123456789ab"


class Server:
    """A Prefect with a few runs, or one that is away."""

    connection = SimpleNamespace(where="http://server/api")

    def __init__(self, *ids: str, away: bool = False) -> None:
        self.runs = {run_id: FlowRun(id=run_id, name=f"run-{run_id[4:8]}", flow_name="train") for run_id in ids}
        self.away = away

    async def find_flow_runs(self, prefix: str) -> tuple[FlowRun, ...]:
        if self.away:
            raise PrefectUnreachable("away")
        return tuple(run for run in self.runs.values() if run.id.startswith(prefix))

    async def named_flow_runs(self, name: str) -> tuple[FlowRun, ...]:
        if self.away:
            raise PrefectUnreachable("away")
        return tuple(run for run in self.runs.values() if run.name == name)

    async def flow_run(self, run_id: str) -> FlowRun:
        if run_id not in self.runs:
            raise PrefectError("Flow run not found", status=404)
        return self.runs[run_id]


def session(server: Server | None) -> Any:
    return SimpleNamespace(prefect=server)


@pytest.fixture(autouse=True)
def _one_run_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    run_folder.create(RunSpec(id=HERE, name="brave-otter", flow_name="train", entrypoint="/a.py:f", python="python3"))


async def test_a_whole_id_and_a_part_that_only_one_begins_with() -> None:
    both = session(Server(HERE, THERE))
    assert await resolve_id(both, HERE.upper()) == HERE
    assert await resolve_id(both, "0f8b6") == HERE
    assert await resolve_id(both, " 0f8b77 ") == THERE
    assert (await resolve_run(both, "0f8b77")).name == "run-7777"


async def test_several_are_listed_with_their_names() -> None:
    with pytest.raises(UsageError, match="Several runs are called '0f8b' or begin so") as caught:
        await resolve_id(session(Server(HERE, THERE)), "0f8b")
    assert f"{HERE}  brave-otter  train" in str(caught.value)
    assert f"{THERE}  run-7777  train" in str(caught.value)


async def test_a_run_is_meant_by_its_name_as_well() -> None:
    both = session(Server(HERE, THERE))
    assert await resolve_id(both, "run-7777") == THERE
    assert await resolve_id(session(Server(away=True)), "brave-otter") == HERE
    assert await resolve_id(session(None), "brave-otter") == HERE
    namesake = Server(HERE, THERE)
    namesake.runs[THERE] = FlowRun(id=THERE, name="brave-otter", flow_name="train")
    with pytest.raises(UsageError, match="Several runs are called 'brave-otter'") as caught:
        await resolve_id(session(namesake), "brave-otter")
    assert HERE in str(caught.value)
    assert THERE in str(caught.value)


async def test_a_name_that_is_the_beginning_of_anothers_id_is_not_guessed_about() -> None:
    server = Server(THERE)
    server.runs["e" + THERE[1:]] = FlowRun(id="e" + THERE[1:], name="0f8b", flow_name="train")
    with pytest.raises(UsageError, match="Several runs"):
        await resolve_id(session(server), "0f8b")


async def test_no_run_no_id_and_no_server() -> None:
    for text in ("abc", "", "0f8b*", "brave-", "\x1b[2J"):
        with pytest.raises(Refused, match=r"No run is called .* or has an id that begins so") as caught:
            await resolve_id(session(Server()), text)
        assert str(caught.value).isprintable()
    with pytest.raises(Refused, match="slurmtui server start"):
        await resolve_id(session(None), "abc")
    with pytest.raises(Refused, match="not known to the Prefect server http://server/api"):
        await resolve_run(session(Server()), HERE)


async def test_a_run_with_a_folder_is_found_while_prefect_is_away() -> None:
    assert await resolve_id(session(Server(away=True)), "0f8b6") == HERE
    assert await resolve_id(session(None), "0f8b6") == HERE
    with pytest.raises(PrefectUnreachable):
        await resolve_id(session(Server(away=True)), "abc")
