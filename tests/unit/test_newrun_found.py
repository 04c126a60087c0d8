"""What the form of a new run offers to choose from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from slurmtui.views.newrun.found import candidates, typed_file
from slurmtui.views.newrun.steps import STEPS, step_before, title_pieces
from slurmtui.views.newrun.work import Draft

if TYPE_CHECKING:
    from pathlib import Path

FLOW = "from prefect import flow\n\n@flow(log_prints=True)\ndef train():\n    pass\n"


def write(path: Path, text: str, age: float = 0.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1e9 - age, 1e9 - age))


def offered(folder: Path, recent: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    return [(os.path.relpath(one.path, folder), one.kind) for one in candidates([str(folder)], recent)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (FLOW, "flow"),
        ("import prefect\n\n@prefect.flow\ndef train():\n    pass\n", "flow"),
        ("from prefect import flow\n\ntrain = flow(lambda: 1)\n", "flow"),
        ("def overflow():\n    '''uses no @flow of prefect'''\n    overflow()\n", ""),
        ("from flask import workflow\n", ""),
    ],
)
def test_a_file_is_offered_for_the_flow_in_it(tmp_path: Path, text: str, kind: str) -> None:
    write(tmp_path / "one.py", text)
    assert offered(tmp_path) == ([("one.py", kind)] if kind else [])


def test_scripts_are_told_by_their_directives_and_tests_are_not_offered(tmp_path: Path) -> None:
    write(tmp_path / "job.sh", "#!/bin/sh\n#SBATCH -n 1\n", age=5)
    write(tmp_path / "plain.sh", "#!/bin/sh\n")
    for name in ("test_train.py", "train_test.py", "conftest.py", "tests/train.py", ".hidden/train.py", "a/b/c/d/e.py"):
        write(tmp_path / name, FLOW)
    write(tmp_path / "flows" / "train.py", FLOW, age=1)
    assert offered(tmp_path) == [("flows/train.py", "flow"), ("job.sh", "script")]


def test_what_was_used_last_comes_first_and_what_is_gone_not_at_all(tmp_path: Path) -> None:
    write(tmp_path / "new.py", FLOW)
    write(tmp_path / "old.py", FLOW, age=100)
    recent = (str(tmp_path / "gone.py"), str(tmp_path / "old.py"))
    assert offered(tmp_path, recent) == [("old.py", "flow"), ("new.py", "flow")]


def test_what_is_typed_is_a_file_or_a_flow_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "one.py", FLOW)
    assert typed_file("one.py") == str(tmp_path / "one.py")
    assert typed_file("./one.py:train") == f"{tmp_path}/one.py:train"
    for text in ("", "two.py", "two.py:train", ":", ":train", ".", "a\0b"):
        assert typed_file(text) == "", text


def test_a_script_goes_back_from_the_last_step_to_its_profile_for_it_has_no_parameters() -> None:
    script = Draft(target="/home/alice/job.sh", profile="gpu")
    assert [step_before(script, step) for step in STEPS] == [None, "what", "profile", "profile"]
    told = "".join(text for text, _ in title_pieces(script, "submit"))
    assert told.split() == [
        "new",
        "run",
        "1",
        "what",
        "job.sh",
        "2",
        "profile",
        "gpu",
        "3",
        "parameters",
        "4",
        "submit",
    ]
