"""How the views were left: kept a cluster, privately, and never a reason not to start."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slurmtui.atomic import write_private
from slurmtui.store import view_state
from slurmtui.store.view_state import ViewMemory, ViewState, cluster_name

if TYPE_CHECKING:
    from pathlib import Path

STATE = ViewState(
    filter="gpu !debug", sort=("time", True), columns=("job", "name"), widths={"name": 30}, wide=True, everyone=True
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "views" / "here.json"


def test_what_was_left_comes_back(path: Path) -> None:
    memory = ViewMemory(path)
    assert memory.view("jobs") == ViewState()
    memory.keep("jobs", STATE)
    memory.keep_last("jobs")
    memory.keep_filter("jobs", "mine", "user:me")
    assert memory.dirty
    memory.save()
    assert not memory.dirty
    again = ViewMemory(path)
    assert again.view("jobs") == STATE
    assert again.last_view == "jobs"
    assert again.filters("jobs") == {"mine": "user:me"}
    assert again.filters("runs") == {}


def test_the_file_is_the_users_alone(path: Path) -> None:
    memory = ViewMemory(path)
    memory.keep_last("jobs")
    memory.save()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_same_again_is_no_change(path: Path) -> None:
    memory = ViewMemory(path)
    memory.keep("jobs", ViewState())
    memory.keep_last("")
    assert not memory.dirty


def test_two_consoles_keep_each_others_changes(path: Path) -> None:
    one, other = ViewMemory(path), ViewMemory(path)
    one.keep("jobs", STATE)
    one.keep_filter("jobs", "big", "cpus>64")
    other.keep("runs", ViewState(filter="lost"))
    other.keep_filter("jobs", "small", "cpus<2")
    one.save()
    other.save()
    both = ViewMemory(path)
    assert both.view("jobs") == STATE
    assert both.view("runs").filter == "lost"
    assert both.filters("jobs") == {"big": "cpus>64", "small": "cpus<2"}
    other.keep_filter("jobs", "small", "")
    other.save()
    assert ViewMemory(path).filters("jobs") == {"big": "cpus>64"}


def test_a_name_that_is_not_there_cannot_be_forgotten(path: Path) -> None:
    assert not ViewMemory(path).keep_filter("jobs", "nothing", "")


def test_what_cannot_be_written_is_kept_for_the_next_time(tmp_path: Path) -> None:
    (tmp_path / "views").write_text("a file where the folder should be")
    memory = ViewMemory(tmp_path / "views" / "x.json")
    memory.keep_last("jobs")
    with pytest.raises(OSError, match="views"):
        memory.save()
    assert memory.dirty


DAMAGED: list[tuple[bytes, Any]] = [
    (b"", ""),
    (b"{", ""),
    (b"[]", ""),
    (b"\x00\xff", ""),
    (b'{"views": 3, "filters": [], "last_view": {}}', ""),
    (b'{"views": {"jobs": []}}', ""),
    (b'{"views": {"jobs": {"filter": "gpu", "sort": 3, "columns": "x", "new": 1}}}', "gpu"),
    (b'{"views": {"jobs": {"filter": "gpu", "sort": ["time"], "widths": {"a": "b"}}}}', "gpu"),
    (b'{"views": {"jobs": {"filter": "gpu"}}, "filters": {"jobs": {"a": 3}, "x": 4}}', "gpu"),
    (b'{"views":' + b"[" * 50_000, ""),
]


@pytest.mark.parametrize(("content", "text"), DAMAGED)
def test_a_damaged_file_costs_what_is_damaged_only(path: Path, content: bytes, text: str) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    memory = ViewMemory(path)
    assert memory.view("jobs") == ViewState(filter=text)
    memory.keep("jobs", STATE)
    memory.save()
    assert ViewMemory(path).view("jobs") == STATE


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["jobs", "filter", "sort", "columns", "widths", "x"]), inner)
        ),
    )
)
def test_any_content_is_borne(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(msgspec.json.encode({"views": value, "filters": value, "last_view": value}))
    memory = ViewMemory(path)
    assert isinstance(memory.view("jobs"), ViewState)
    assert all(isinstance(text, str) for text in memory.filters("jobs").values())


@pytest.mark.parametrize("name", ["a", "../../etc/x", "", "..", "a/b", "c\nd", "e" * 400, "名前"])
def test_whatever_a_cluster_is_called_its_file_stays_in_its_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path))
    memory = ViewMemory.of(name)
    assert memory.path.parent == tmp_path / "views"
    memory.keep_last("jobs")
    memory.save()


def test_a_cluster_is_named_by_its_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_CONF", raising=False)
    conf = tmp_path / "slurm.conf"
    conf.write_text("# ClusterName=no\n  clustername = deep\nSlurmctldHost=x\n")
    assert cluster_name({"SLURM_CONF": str(conf)}, "sandbox") == "deep"
    assert cluster_name({"SLURM_CONF": str(tmp_path / "missing")}, "sandbox") == "sandbox"
    conf.write_bytes(b"\xff" * 10)
    assert cluster_name({"SLURM_CONF": str(conf)}) == "slurm"


def test_what_changes_while_it_is_written_is_written_the_next_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = ViewMemory(path)

    def write(file: Path, content: bytes) -> None:
        write_private(file, content)
        memory.keep("jobs", ViewState(filter="second"))

    memory.keep("jobs", ViewState(filter="first"))
    monkeypatch.setattr(view_state, "write_private", write)
    memory.save()
    assert ViewMemory(path).view("jobs").filter == "first"
    assert memory.dirty
    memory.save()
    assert ViewMemory(path).view("jobs").filter == "second"
