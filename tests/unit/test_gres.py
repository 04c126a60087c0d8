"""GRES and TRES texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.gres import Gres, gpus, parse_gres, shown, tres, tres_memory


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpu:a100:4(S:0-1)", [("gpu", "a100", 4)]),
        ("gpu:(null):4(IDX:0-3)", [("gpu", "", 4)]),
        ("gpu:8", [("gpu", "", 8)]),
        ("gpu", [("gpu", "", 1)]),
        ("gpu:tesla", [("gpu", "tesla", 1)]),
        ("gres:gpu:a100:2", [("gpu", "a100", 2)]),
        ("gres/gpu:a100:2", [("gpu", "a100", 2)]),
        ("gres/gpu:2", [("gpu", "", 2)]),
        ("gpu:a100:2(IDX:0,3),gpu:v100:1(IDX:4),shard:8", [("gpu", "a100", 2), ("gpu", "v100", 1), ("shard", "", 8)]),
        ("gpu:a100:8,gpu:a100:80", [("gpu", "a100", 88)]),
        ("gpu:nvidia_h200_nvl_4g.71gb:3(S:0-1)", [("gpu", "nvidia_h200_nvl_4g.71gb", 3)]),
        ("cpu=1,mem=8000M,node=1,billing=1,gres/gpu=2", [("gpu", "", 2)]),
        ("cpu=1,gres/gpu=4,gres/gpu:a100=3,gres/gpu:v100=1", [("gpu", "a100", 3), ("gpu", "v100", 1)]),
        ("gres/gpu:a100=2,gres/gpumem=1024M", [("gpu", "a100", 2), ("gpumem", "", 1024 * 1024**2)]),
        ("fs/disk=4,license/x=2", []),
        (":a100=2,=3,gres/=1,:::", []),
        ("(null)", []),
        ("N/A", []),
        ("", []),
    ],
)
def test_things(text: str, expected: list[tuple[str, str, int]]) -> None:
    assert parse_gres(text) == tuple(Gres(*entry) for entry in expected)


def test_gpus_are_counted_once() -> None:
    assert gpus(parse_gres("gpu:4,gpu:a100:3,gpu:v100:1,shard:8")) == 4
    assert gpus(parse_gres("gpu:8")) == 8


def test_shown_for_a_column() -> None:
    assert shown(parse_gres("gpu:a100:4(S:0-1),shard:8")) == "a100:4,shard:8"
    assert shown(parse_gres("gpu:2")) == "gpu:2"


def test_tres() -> None:
    assert tres("cpu=2,mem=4000M,node=1") == {"cpu": "2", "mem": "4000M", "node": "1"}
    assert tres_memory("billing=1,cpu=1,mem=4G,node=1") == 4096
    assert tres_memory("cpu=1") is None


@given(st.text(alphabet="gpu:a100/=,()S-0123456789.Kres null"))
def test_no_text_breaks_the_parser(text: str) -> None:
    assert all(thing.name and thing.count >= 0 for thing in parse_gres(text))
