"""Another profile for another attempt: what is typed, what is refused, and what the run's folder keeps of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.control import run_folder
from slurmtui.control.retry_change import Change, changed_profile, fixed_by_flow, ways_for
from slurmtui.errors import CommandError, Refused, UsageError
from slurmtui.models.config import Config
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import AttemptProfile, DriverRecord, RunRecord, RunSpec
from slurmtui.sources.run_folder import read_attempts, read_folder, read_run, read_task_places

if TYPE_CHECKING:
    from pathlib import Path

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
BATCH = Profile(name="batch", partition="batch", memory="4G", walltime="01:00:00")
BIG = Profile(name="big", partition="gpu", memory="64G", walltime="02:00:00")


def spec(profile: Profile | None = BATCH) -> RunSpec:
    return RunSpec(id=RUN, name="r", flow_name="f", entrypoint="/f.py:f", profile=profile, python="python3")


def record(profile: Profile | None = BATCH, *, uses: bool | None = None) -> RunRecord:
    driver = DriverRecord(host="h", pid=1, pid_started=1, uses_profile=uses)
    return RunRecord(spec=spec(profile), folder="/r", driver=driver)


def session() -> Any:
    async def partitions() -> tuple[()]:
        raise CommandError("sinfo is away", argv=("sinfo",), code=1)

    config = Config(profiles={"batch": BATCH, "big": BIG})
    return SimpleNamespace(config=config, slurm=SimpleNamespace(partitions=partitions))


def test_typed_values_replace_those_of_the_profile() -> None:
    changed = changed_profile(session(), record(), Change(memory="9G", time="1d 2h", partition="gpu"))
    assert changed == msgspec.structs.replace(BATCH, memory="9G", walltime="1-02:00:00", partition="gpu")
    assert changed_profile(session(), record(), Change(profile="big", memory="128G")) == msgspec.structs.replace(
        BIG, memory="128G"
    )
    assert changed_profile(session(), record(), Change()) is None


@pytest.mark.parametrize("change", [Change(memory="lots"), Change(time="90"), Change(time=""), Change(profile="bog")])
def test_what_is_not_understood_is_refused_with_what_to_write(change: Change) -> None:
    with pytest.raises(UsageError, match=r"such as|write|did you mean"):
        changed_profile(session(), record(), change)


async def test_a_flow_with_a_task_runner_of_its_own_is_not_pretended_to_be_changed() -> None:
    assert "task runner of its own" in fixed_by_flow(record(None))
    assert "task runner of its own" in fixed_by_flow(record(uses=False))
    assert fixed_by_flow(record(uses=True)) == fixed_by_flow(record()) == ""
    with pytest.raises(Refused, match="stands in its file"):
        changed_profile(session(), record(uses=False), Change(memory="9G"))
    assert [way.key for way in await ways_for(session(), record(uses=False))] == ["same"]


async def test_without_slurms_word_the_ways_are_there_all_the_same() -> None:
    assert [way.key for way in await ways_for(session(), record())] == ["same", "memory", "time", "profile:big"]


def test_the_folder_keeps_each_change_and_the_newest_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    folder = run_folder.create(spec())
    assert read_folder(folder).profile == BATCH
    for attempt, memory in ((2, "8G"), (3, "16G")):
        grown = msgspec.structs.replace(BATCH, memory=memory)
        run_folder.add_override(folder, AttemptProfile(attempt=attempt, profile=grown, why=f"memory {memory}"))
    found = read_run(RUN)
    assert found is not None
    assert [change.attempt for change in found.overrides] == [2, 3]
    assert found.profile is not None
    assert found.profile.memory == "16G"
    assert found.spec.profile == BATCH
    assert (folder / "overrides.json").stat().st_mode & 0o077 == 0


def test_lines_that_a_crash_cut_off_do_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "attempts.jsonl").write_bytes(
        b'{"host":"h","pid":1,"pid_started":1,"attempt":1,"cause":"timeout"}\n{"host":"h","pi'
    )
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "7.jsonl").write_bytes(b'{"task_run_id":"a","job_id":"7","time":2}\n\xff\xfe\n')
    (tmp_path / "tasks" / "6.jsonl").write_bytes(b'{"task_run_id":"a","job_id":"6","time":1}\n')
    assert [attempt.cause for attempt in read_attempts(tmp_path)] == ["timeout"]
    assert read_task_places(tmp_path)["a"].job_id == "7"
