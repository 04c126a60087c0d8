"""What a person types to submit something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.control.target import choose_flow, is_script, read_values, split_target
from slurmtui.errors import FlowError, UsageError
from slurmtui.models.flow_info import FlowInfo, ParameterInfo

if TYPE_CHECKING:
    from pathlib import Path


def flow(function: str, name: str = "", *parameters: ParameterInfo) -> FlowInfo:
    return FlowInfo(
        name=name or function, function=function, entrypoint=f"/a.py:{function}", parameters=tuple(parameters)
    )


def test_a_file_alone_with_a_flow_and_with_a_colon_in_its_name(tmp_path: Path) -> None:
    plain, odd = tmp_path / "a.py", tmp_path / "b:c.py"
    plain.touch()
    odd.touch()
    assert (split_target(str(plain)).file, split_target(str(plain)).flow) == (plain, "")
    assert (split_target(f"{plain}:train").file, split_target(f"{plain}:train").flow) == (plain, "train")
    assert (split_target(str(odd)).file, split_target(str(odd)).flow) == (odd, "")
    assert (split_target(f"{odd}:train").file, split_target(f"{odd}:train").flow) == (odd, "train")


def test_what_is_no_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text in ("nowhere.py", "nowhere.py:train", ":train", "no\x1b[31m.py"):
        with pytest.raises(UsageError, match="does not exist") as caught:
            split_target(text)
        assert "\x1b" not in str(caught.value)
    with pytest.raises(UsageError, match="is a folder"):
        split_target(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "content", "script"),
    [
        ("job.sh", "", True),
        ("job.sbatch", "echo", True),
        ("job", "#!/bin/bash\n", True),
        ("job", "import os", False),
        ("flow.py", "#!/usr/bin/env python3\n", False),
    ],
)
def test_scripts_for_sbatch(tmp_path: Path, name: str, content: str, *, script: bool) -> None:
    (tmp_path / name).write_text(content)
    assert is_script(tmp_path / name) is script


def test_the_only_flow_is_meant_and_of_several_the_named_one(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.touch()
    flows = [flow("train", "Train it"), flow("evaluate")]
    target = split_target(str(file))
    assert choose_flow(flows[:1], target) is flows[0]
    assert choose_flow(flows, split_target(f"{file}:evaluate")) is flows[1]
    assert choose_flow(flows, split_target(f"{file}:Train it")) is flows[0]
    with pytest.raises(FlowError, match="2 flows: train, evaluate"):
        choose_flow(flows, target)
    with pytest.raises(FlowError, match=r"no flow 'tune'\. It has: train, evaluate"):
        choose_flow(flows, split_target(f"{file}:tune"))
    with pytest.raises(FlowError, match="has no flow"):
        choose_flow([], target)


def test_values_are_json_where_they_are_and_text_where_the_flow_wants_text() -> None:
    wanted = flow(
        "f", "",
        ParameterInfo(name="rate", type="number"), ParameterInfo(name="names", type="array"),
        ParameterInfo(name="version", type="string"), ParameterInfo(name="label", type="string", required=True),
    )  # fmt: skip
    texts = {"rate": "0.1", "names": '["a"]', "version": "1.10", "label": "null", "other": "x=y", "deep": '{"a": 1}'}
    assert read_values(wanted, texts) == {
        "rate": 0.1, "names": ["a"], "version": "1.10", "label": "null", "other": "x=y", "deep": {"a": 1},
    }  # fmt: skip
    assert read_values(wanted, {"version": '"quoted"'}) == {"version": "quoted"}
    assert read_values(wanted, {"version": "null"}) == {"version": None}


@given(st.text(max_size=60))
def test_any_text_is_a_value(text: str) -> None:
    wanted = flow("f", "", ParameterInfo(name="n", type="string", required=True))
    assert isinstance(read_values(wanted, {"n": text})["n"], str)
    read_values(wanted, {"other": text})
