"""The output of several jobs: an end is what SLURM and accounting said, not what they failed to say."""

from __future__ import annotations

import errno
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.errors import CommandError
from slurmtui.models.job import JobDetail
from slurmtui.store import log_jobs
from slurmtui.store.log_folder import FolderLines
from slurmtui.store.log_jobs import JobsLog
from slurmtui.store.log_place import FilePlace

if TYPE_CHECKING:
    from pathlib import Path


async def test_accountings_silence_is_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[dict[str, Any] | CommandError] = [CommandError("sacct: no answer", argv=("sacct",), code=1), {}]

    async def outputs_of(*_arguments: object) -> dict[str, Any]:
        return {}

    async def past_outputs(*_arguments: object) -> dict[str, Any]:
        answer = answers.pop(0)
        if isinstance(answer, CommandError):
            raise answer
        return answer

    monkeypatch.setattr(log_jobs, "outputs_of", outputs_of)
    monkeypatch.setattr(log_jobs, "past_outputs", past_outputs)
    session: Any = SimpleNamespace(slurm=None)
    log = JobsLog(session, ["7"])
    await log.ask()
    assert not log.ended
    await log._reading.run(log._read)
    assert "sacct: no answer" in log.why_empty
    await log.ask()
    assert log.ended, "it is asked again"
    await log._reading.run(log._read)
    assert "does not know these jobs any more" in log.why_empty
    log.close()


async def test_of_a_range_of_tasks_all_are_shown_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    async def outputs_of(_: Any, ids: list[str], *__: Any) -> dict[str, JobDetail]:
        asked.append(ids)
        made = {f"7_{task}": JobDetail(id=f"7_{task}", stdout=f"{tmp_path}/{task}") for task in range(6)}
        return {**made, "8": JobDetail(id="8", stdout=f"{tmp_path}/8")}

    monkeypatch.setattr(log_jobs, "outputs_of", outputs_of)
    session: Any = SimpleNamespace(slurm=None)

    async def shown(*ids: str) -> str:
        log = JobsLog(session, ids)
        await log.ask()
        log.close()
        return "".join(sorted(lines.place.rpartition("/")[2] for lines in log.files))

    assert await shown("7_[0-2]", "8") == "0128"
    assert await shown("7_[0-1,4%1]", "7_5") == "0145" + "8"
    assert await shown("7", "7_[0-1]") == await shown("7_[0-1]", "7") == "0123458"
    assert asked[0] == ["7", "8"]


async def test_slurm_is_asked_as_often_as_whoever_follows_wishes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def outputs_of(_session: object, _ids: object, states: str) -> dict[str, Any]:
        asked.append(states)
        return {"7_1": SimpleNamespace(state="PENDING")}

    async def jobs_by_id(*_arguments: object) -> dict[str, Any]:
        return {"7_1": SimpleNamespace(id="7_1", state="PENDING")}

    monkeypatch.setattr(log_jobs, "outputs_of", outputs_of)
    session: Any = SimpleNamespace(slurm=SimpleNamespace(jobs_by_id=jobs_by_id))
    log = JobsLog(session, ["7"])
    assert [await log.read_new() for _ in range(3)] == [[], [], []]
    assert len(asked) == 1, "by itself it is asked seldom"
    log.ask_every(0)
    assert [await log.read_new() for _ in range(3)] == [[], [], []]
    assert len(asked) == 4
    log.close()


def test_a_file_that_fails_while_it_is_read_says_so_itself(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("x")
    place: Any = SimpleNamespace(lines=SimpleNamespace(tail=SimpleNamespace(path=path, identity=None)))
    with pytest.raises(OSError, match="Stale file handle"), FilePlace._reading(place):
        raise OSError(errno.ESTALE, "Stale file handle")
    path.unlink()
    with FilePlace._reading(place) as handle:
        assert handle is None


class Growing:
    """A file at the look at which another thread finds one more."""

    def __init__(self, files: dict[str, Any]) -> None:
        self._files = files

    @property
    def tail(self) -> SimpleNamespace:
        self._files[f"found {len(self._files)}"] = SimpleNamespace(tail=SimpleNamespace(problem="", open=False))
        return SimpleNamespace(problem="cannot be read", open=False)

    def new(self, _count: int) -> list[Any]:
        return []

    last = new

    def problem_note(self) -> list[Any]:
        return []


def test_files_that_a_thread_finds_meanwhile_do_not_disturb_the_words_on_them(tmp_path: Path) -> None:
    folder = FolderLines(tmp_path, None, keep_up=False)
    folder._files["a"] = Growing(folder._files)  # type: ignore[assignment]
    assert folder.problems == ["cannot be read"]
    log = JobsLog(SimpleNamespace(), ["7"])  # type: ignore[arg-type]
    log._files["a"] = Growing(log._files)  # type: ignore[assignment]
    assert log._read() == []
    assert log.why_empty == "cannot be read"
