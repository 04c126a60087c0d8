"""Which cases are meant by what is typed: never more than what was named."""

from __future__ import annotations

import pytest

from slurmtui.errors import UsageError
from slurmtui.models.rescue import Case
from slurmtui.verbs.rescue import lines, meant

CASES = (
    Case(id="run:7c0c48c6", kind="driver-gone", title="brave-otter", text="", run_id="7c0c48c6"),
    Case(id="run:7f", kind="driver-gone", title="amber-wolf", text="", run_id="7f"),
    Case(id="job:7", kind="orphan", title="job 7", text=""),
)


@pytest.mark.parametrize(
    ("texts", "ids"),
    [
        ((), ["run:7c0c48c6", "run:7f", "job:7"]),
        (("run:7f",), ["run:7f"]),
        (("7c",), ["run:7c0c48c6"]),
        (("brave-otter", "7c0c", "job"), ["run:7c0c48c6", "job:7"]),
    ],
)
def test_a_name_means_one_case(texts: tuple[str, ...], ids: list[str]) -> None:
    assert [case.id for case in meant(CASES, texts)] == ids


@pytest.mark.parametrize(("text", "said"), [("", "no case"), ("run:7", "may mean any of"), ("9", "no case")])
def test_what_means_none_or_several_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        meant(CASES, [text])


def test_what_others_named_is_shown_harmless() -> None:
    evil = Case(id="run:7", kind="driver-gone", title="evil\x1b[31m", text="\x1b]52;c;Zm9v\x07", evidence=("a\rb",))
    assert not {"\x1b", "\x07", "\r"} & set("".join(lines(evil)))
