"""What is said of the sandbox, from what was seen of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui import paths
from slurmtui.sandbox import daemons, processes, record, status
from slurmtui.sandbox.layout import NODES
from slurmtui.verbs.sandbox import _print_status

if TYPE_CHECKING:
    from pathlib import Path

SERVING = dict.fromkeys(NODES, "idle")


def cluster(nodes: dict[str, str] | None) -> Any:
    """A cluster with these nodes; None for one whose slurmctld does not answer."""

    async def controller_answers() -> bool:
        return nodes is not None

    async def node_states() -> dict[str, str]:
        return nodes or {}

    async def job_count() -> int:
        return 3

    return lambda _layout: SimpleNamespace(
        controller_answers=controller_answers, node_states=node_states, job_count=job_count
    )


@pytest.mark.parametrize(
    ("missing", "nodes", "problems"),
    [
        ((), SERVING, []),
        (("munged",), SERVING, ["munged does not run"]),
        ((), {**SERVING, "n3": "down*"}, ["node n3 is down*"]),
        ((), {name: "idle" for name in NODES if name != "n3"}, ["node n3 is unknown"]),
        ((), None, ["slurmctld runs but does not answer"]),
        (("slurmctld",), None, ["slurmctld does not run"]),
    ],
)
async def test_what_is_wrong_with_a_sandbox(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    missing: tuple[str, ...],
    nodes: dict[str, str] | None,
    problems: list[str],
) -> None:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    paths.sandbox_folder().mkdir()
    settings = record.Settings(first_port=20000, database_password="geheim")
    (paths.sandbox_folder() / "settings.json").write_bytes(msgspec.json.encode(settings))
    running = {name: SimpleNamespace(pid=7) for name in daemons.NAMES if name not in missing}
    monkeypatch.setattr(processes, "find_own", lambda _folder: SimpleNamespace(daemons=running))
    monkeypatch.setattr(status, "Cluster", cluster(nodes))
    found = await status.status()
    assert found.state == ("broken" if problems else "up")
    assert [problem.partition(";")[0] for problem in found.problems] == problems
    assert found.jobs == (None if nodes is None else 3)


@pytest.mark.parametrize(
    ("jobs", "words"), [(None, "is not known"), (0, "  0 jobs in"), (1, "  1 job in the"), (1200, "  1,200 jobs in")]
)
def test_the_queue_is_counted_only_when_somebody_can_say(
    jobs: int | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _print_status(status.SandboxStatus(state="broken", folder="/s", jobs=jobs))
    assert words in capsys.readouterr().out


async def test_a_sandbox_that_was_never_made_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    assert (await status.status()).state == "down"
