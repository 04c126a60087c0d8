"""Node states in all their spellings, and what of a node is free."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.gres import Gres, parse_gres
from slurmtui.models.node import BASES, Node, left_over, natural, parse_node_state

STATES = [
    # as SLURM writes it, base, flags, wrong, takes jobs, in words
    ("idle", "IDLE", (), False, True, "idle"),
    ("MIXED", "MIXED", (), False, True, "mixed"),
    ("alloc", "ALLOCATED", (), False, True, "allocated"),
    ("IDLE+DRAIN*", "IDLE", ("DRAIN", "NOT_RESPONDING"), True, False, "drained, not responding"),
    ("idle+drain", "IDLE", ("DRAIN",), True, False, "drained"),
    ("drained*", "IDLE", ("DRAIN", "NOT_RESPONDING"), True, False, "drained, not responding"),
    ("drain", "IDLE", ("DRAIN",), True, False, "drained"),
    ("MIXED+DRAIN", "MIXED", ("DRAIN",), True, False, "draining"),
    ("allocated+drain", "ALLOCATED", ("DRAIN",), True, False, "draining"),
    ("drng", "MIXED", ("DRAIN",), True, False, "draining"),
    ("idle+completing+drain", "IDLE", ("COMPLETING", "DRAIN"), True, False, "draining, completing"),
    ("MIXED+PLANNED", "MIXED", ("PLANNED",), False, True, "mixed, planned"),
    ("mixed-", "MIXED", ("PLANNED",), False, True, "mixed, planned"),
    ("planned", "IDLE", ("PLANNED",), False, True, "idle, planned"),
    ("DOWN~", "DOWN", ("POWERED_DOWN",), True, False, "down, asleep"),
    ("down", "DOWN", (), True, False, "down"),
    ("DOWN+DRAIN+NOT_RESPONDING", "DOWN", ("DRAIN", "NOT_RESPONDING"), True, False, "down, drained, not responding"),
    ("ALLOCATED#", "ALLOCATED", ("POWERING_UP",), False, True, "allocated, waking up"),
    ("idle~", "IDLE", ("POWERED_DOWN",), False, True, "asleep"),
    ("IDLE+CLOUD+POWERED_DOWN", "IDLE", ("CLOUD", "POWERED_DOWN"), False, True, "asleep"),
    ("idle!", "IDLE", ("POWER_DOWN",), False, False, "to be put to sleep"),
    ("idle%", "IDLE", ("POWERING_DOWN",), False, False, "falling asleep"),
    ("maint", "IDLE", ("MAINTENANCE",), False, False, "maintenance"),
    ("idle$", "IDLE", ("MAINTENANCE",), False, False, "maintenance"),
    ("idle+maintenance+reserved", "IDLE", ("MAINTENANCE", "RESERVED"), False, False, "maintenance, reserved"),
    ("RESERVED", "IDLE", ("RESERVED",), False, False, "reserved"),
    ("mixed@", "MIXED", ("REBOOT_REQUESTED",), False, False, "mixed, to be rebooted"),
    ("down^", "DOWN", ("REBOOT_ISSUED",), True, False, "down, rebooting"),
    ("unk*", "UNKNOWN", ("NOT_RESPONDING",), True, False, "unknown, not responding"),
    ("failg", "MIXED", ("FAIL",), True, False, "mixed, failing"),
    ("inval", "IDLE", ("INVALID_REG",), True, False, "wrong hardware"),
    ("idle+NEWFANGLED", "IDLE", ("NEWFANGLED",), False, True, "newfangled"),
    ("sublimated", "SUBLIMATED", (), False, False, "sublimated"),
]


@pytest.mark.parametrize(("text", "base", "flags", "wrong", "takes", "words"), STATES)
def test_states(  # noqa: PLR0917 - a table
    text: str,
    base: str,
    flags: tuple[str, ...],
    wrong: bool,  # noqa: FBT001 - the same
    takes: bool,  # noqa: FBT001 - the same
    words: str,
) -> None:
    state = parse_node_state(text)
    assert (state.raw, state.base, state.flags) == (text, base, flags)
    assert (state.wrong, state.takes_jobs) == (wrong, takes)
    assert state.words == words


@given(st.text(alphabet="IDLEidledrainDOWNmix+*~#!%$@^-_ "))
def test_no_state_breaks_the_parser(text: str) -> None:
    state = parse_node_state(text)
    assert state.raw == text.strip()
    assert state.base in BASES or not state.takes_jobs


def node(state: str = "idle", **facts: object) -> Node:
    return Node(name="n1", state=parse_node_state(state), **facts)  # type: ignore[arg-type]


def test_what_is_left_on_a_node_that_takes_no_jobs_is_not_free() -> None:
    facts = {
        "cpus": 16, "cpus_used": 4, "cpus_idle": 12, "memory": 8000.0, "memory_used": 1000.0,
        "gres": parse_gres("gpu:a100:4(S:0-1)"), "gres_used": parse_gres("gpu:a100:1(IDX:0)"),
    }  # fmt: skip
    good, draining = node("mixed", **facts), node("mixed+drain", **facts)
    assert (good.free_cpus, good.free_memory, good.free_gpus) == (12, 7000, (Gres("gpu", "a100", 3),))
    assert (draining.free_cpus, draining.free_memory, draining.free_gpus) == (0, 0, (Gres("gpu", "a100", 0),))
    assert draining.gpus_left == (Gres("gpu", "a100", 3),)


@pytest.mark.parametrize(
    ("total", "used", "left"),
    [
        ("gpu:a100:4", "gpu:a100:1(IDX:0)", {"a100": 3}),
        ("gpu:a100:2,gpu:v100:1", "gpu:a100:2(IDX:0-1),gpu:v100:0(IDX:N/A)", {"a100": 0, "v100": 1}),
        ("gpu:8", "gpu:8(IDX:0-7)", {"": 0}),
        ("gpu:a100:4", "gpu:(null):3(IDX:0-2)", {"a100": 1}),  # one type only: it is of that
        ("gpu:8", "gpu:a100:3", {"": 5}),  # the total has no types
        ("gpu:a100:2,gpu:v100:2", "gpu:(null):3(IDX:0-2)", {"": 1}),  # of which type is not known
        ("gpu:4,gpu:a100:4", "gpu:a100:1", {"a100": 3}),  # the generic count is the same GPUs
        ("gpu:nvidia_h200_nvl_4g.71gb:7", "gpu:nvidia_h200_nvl_4g.71gb:2(IDX:0-1)", {"nvidia_h200_nvl_4g.71gb": 5}),
        ("gpu:a100:1", "gpu:a100:3", {"a100": 0}),
        ("", "", {}),
    ],
)
def test_what_is_left_by_type(total: str, used: str, left: dict[str, int]) -> None:
    found = left_over(parse_gres(total), parse_gres(used))
    assert {thing.type: thing.count for thing in found if thing.name} == left


def test_natural_order() -> None:
    names = ["n10", "n2", "gpu1", "n2-ib", "n", "cn_02", "cn_1"]
    assert sorted(names, key=natural) == ["cn_1", "cn_02", "gpu1", "n", "n2", "n2-ib", "n10"]
