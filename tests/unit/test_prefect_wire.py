"""Rows of a real server, and rows that no server should send, become facts."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.sources.prefect import times, wire

RECORDED = Path(__file__).parents[1] / "data" / "prefect" / "3.9.1"


def recorded(name: str) -> bytes:
    return (RECORDED / name).read_bytes()


def test_a_recorded_flow_run_is_read_whole() -> None:
    rows, odd, count = wire.decode_rows(recorded("flow_runs_filter.json"), wire.WireFlowRun)
    assert (len(rows), odd, count) == (2, (), 2)
    as_sent = json.loads(recorded("flow_runs_filter.json"))[0]
    run = rows[0].fact({as_sent["flow_id"]: "demo"})
    assert run.id == as_sent["id"]
    assert run.flow_name == "demo"
    assert run.state_type == as_sent["state_type"]
    assert run.parameters == as_sent["parameters"]
    assert run.tags == tuple(as_sent["tags"])
    assert run.run_count == as_sent["run_count"]
    assert run.start == dt.datetime.fromisoformat(as_sent["start_time"].replace("Z", "+00:00")).timestamp()
    assert run.run_time == as_sent["total_run_time"]
    assert run.final


def test_a_recorded_task_run_tells_its_attempt_and_its_result_file() -> None:
    rows, _, _ = wire.decode_rows(recorded("task_runs_filter.json"), wire.WireTaskRun)
    as_sent = json.loads(recorded("task_runs_filter.json"))[0]
    task = rows[0].fact()
    assert task.attempt == as_sent["flow_run_run_count"]
    assert task.result_file == as_sent["state"]["data"]["storage_key"]
    assert task.result_file is not None
    assert task.result_file.startswith("/home/alice/.prefect/storage/")


def test_recorded_log_lines_have_text_level_and_time() -> None:
    rows, _, _ = wire.decode_rows(recorded("logs_filter.json"), wire.WireLog)
    lines = [row.fact() for row in rows]
    assert all(line.message and line.level and line.timestamp > 1.7e9 and line.id for line in lines)


@pytest.mark.parametrize(
    ("data", "file"),
    [
        (None, None),
        ({"storage_key": "/s/1"}, "/s/1"),
        ({"type": "unpersisted"}, None),
        ({"storage_key": None}, None),
        ("some text", None),
        ([1, 2], None),
        (3, None),
    ],
)
def test_only_a_result_record_names_a_file(data: object, file: str | None) -> None:
    row = {"id": "t", "state": {"type": "COMPLETED", "data": data}}
    assert msgspec.json.decode(json.dumps(row), type=wire.WireTaskRun).fact().result_file == file


def test_a_newer_server_with_more_fields_and_an_older_one_with_fewer_are_both_read() -> None:
    newer = {
        "id": "r",
        "name": "n",
        "state_type": "HIBERNATING",
        "wings": {"left": 1},
        "state": {"type": "HIBERNATING"},
    }
    older = {"id": "r"}
    run = msgspec.json.decode(json.dumps(newer), type=wire.WireFlowRun).fact({})
    assert run.state_type == "HIBERNATING"
    assert not run.final
    bare = msgspec.json.decode(json.dumps(older), type=wire.WireFlowRun).fact({})
    assert (bare.name, bare.start, bare.tags, bare.parameters) == ("", None, (), {})


def test_an_odd_row_does_not_take_the_others_with_it() -> None:
    content = json.dumps([{"id": "a"}, {"id": 7}, {"name": "without an id"}, {"id": "d"}]).encode()
    rows, odd, count = wire.decode_rows(content, wire.WireFlowRun)
    assert [row.id for row in rows] == ["a", "d"]
    assert (odd, count) == ((1, 2), 4)


def test_an_answer_cut_in_the_middle_is_no_list() -> None:
    with pytest.raises(msgspec.MsgspecError):
        wire.decode_rows(recorded("flow_runs_filter.json")[:700], wire.WireFlowRun)


@pytest.mark.parametrize(
    ("text", "epoch"),
    [
        ("2026-01-02T03:04:05Z", 1767323045.0),
        ("2026-01-02T03:04:05.5Z", 1767323045.5),
        ("2026-01-02T03:04:05.123456789Z", pytest.approx(1767323045.123457)),
        ("2026-01-02T05:04:05+02:00", 1767323045.0),
        ("2026-01-02T03:04:05", 1767323045.0),
        ("yesterday", None),
        ("2026-13-02T03:04:05Z", None),
        ("", None),
        (None, None),
    ],
)
def test_times(text: str | None, epoch: float | None) -> None:
    assert times.to_epoch(text) == epoch


@given(st.floats(min_value=0, max_value=4e9))
def test_a_time_survives_the_way_there_and_back(epoch: float) -> None:
    assert times.to_epoch(times.to_text(epoch)) == pytest.approx(epoch, abs=2e-6)


@given(st.text())
def test_any_text_is_a_time_or_none(text: str) -> None:
    answer = times.to_epoch(text)
    assert answer is None or isinstance(answer, float)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_FIELDS = [*wire.WireFlowRun.__struct_fields__, "unknown"]


@given(st.lists(st.dictionaries(st.sampled_from(_FIELDS), _json, max_size=6), max_size=4))
def test_whatever_the_rows_hold_each_is_read_or_counted(rows: list[dict[str, Any]]) -> None:
    read, odd, count = wire.decode_rows(json.dumps(rows).encode(), wire.WireFlowRun)
    assert count == len(rows) == len(read) + len(odd)
    for row in read:
        row.fact({})
