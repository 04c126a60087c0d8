"""SLURM's words about many ids, shared out: what 20.11, 22.05 and 26.05 really said."""

from __future__ import annotations

import time

import pytest

from slurmtui.models.job_outcome import Kind, outcomes
from slurmtui.models.job_units import units

HOLD_OLD = """2_4-5: No error
2_77: Invalid job id specified
Invalid job id specified for job 999999
slurm_suspend error: Invalid job id specified
"""
HOLD_NEW = """1_[4-5]: No error
1_[77]: Invalid job id specified
Invalid job id specified for job 999999
slurm_suspend error
"""
UPDATE_NEW = """1_[77]: Invalid job id specified
Invalid job id specified for job 999999
"""
CANCEL = """scancel: Terminating job 2_[0-2]
scancel: Terminating job 2_77
scancel: Terminating job 999999
scancel: Terminating job 4
scancel: error: Kill job error on job id 2_77: Invalid job id specified
scancel: error: Kill job error on job id 4: Job/step already completing or completed
scancel: error: Kill job error on job id 999999: Invalid job id specified
"""
FOREIGN = """scancel: Terminating job 233_[4,6]
scancel: Terminating job 234
scancel: error: Kill job error on job id 234: Access/permission denied
scancel: error: Kill job error on job id 233_[4,6]: Access/permission denied
"""
SIGNAL = """scancel: select/cons_tres: common_init: select/cons_tres loaded
scancel: Signal 10 to job 234
scancel: Job is in transitional state, retrying
scancel: error: Kill job error on job id 234: Job/step already completing or completed
"""


@pytest.mark.parametrize(
    ("command", "ids", "said", "kinds"),
    [
        ("scontrol", ["2_4", "2_5", "2_77", "999999", "5"], HOLD_OLD, "done done gone gone done"),
        ("scontrol", ["1_4", "1_5", "1_77", "999999", "4"], HOLD_NEW, "done done gone gone done"),
        ("scontrol", ["1_[4-5%2]", "1_77", "999999"], UPDATE_NEW, "done gone gone"),
        ("scontrol", ["208", "7"], "Job is no longer pending execution for job 208\n", "failed done"),
        ("scontrol", ["7_4", "7_5"], "7_[4]: Job is pending execution\n", "failed done"),
        ("scontrol", ["233_4", "233_6"], "233_4,6: Invalid user id\n", "failed failed"),
        ("scontrol", ["20", "2"], "Invalid job id specified for job 20\n", "gone done"),
        ("scancel", ["2_[0-2]", "9", "4", "999999"], CANCEL.replace("2_77", "9"), "done gone gone gone"),
        ("scancel", ["233_4", "233_6", "234"], FOREIGN, "failed failed failed"),
        ("scancel", ["234"], SIGNAL, "gone"),
        ("scancel", ["1", "2"], "", "done done"),
    ],
)
def test_each_id_has_its_own_result(command: str, ids: list[str], said: str, kinds: str) -> None:
    made, _ = units(ids)
    answer = outcomes(made, said, command, failed=command == "scontrol", fallback="it failed")
    expected: list[Kind | str] = kinds.split()
    assert [answer[job_id].kind for job_id in ids] == expected


def test_words_of_a_part_of_the_tasks_name_the_part() -> None:
    made, _ = units(["7_[0-9%2]"])
    answer = outcomes(made, "7_[4]: Job is pending execution\n", "scontrol", failed=True, fallback="x")
    assert answer["7_[0-9%2]"].words == "task 4: Job is pending execution"
    answer = outcomes(made, "7_0-9: Invalid user id\n", "scontrol", failed=True, fallback="x")
    assert answer["7_[0-9%2]"].words == "Invalid user id"


def test_a_controller_that_does_not_answer_is_told_of_every_id() -> None:
    said = "slurm_suspend error: Unable to contact slurm controller (connect failure)\n"
    made, _ = units(["7", "8_1"])
    answer = outcomes(made, said, "scontrol", failed=True, fallback="x")
    assert {one.kind for one in answer.values()} == {"failed"}
    assert {one.words for one in answer.values()} == {"Unable to contact slurm controller (connect failure)"}
    silent = outcomes(made, "", "scontrol", failed=True, fallback="scontrol: exit code 1, without a word")
    assert silent["7"].words == "scontrol: exit code 1, without a word"


def test_five_thousand_refusals_are_shared_out_quickly() -> None:
    ids = [str(number) for number in range(100_000, 105_000)]
    made, _ = units(ids)
    said = "".join(f"scancel: error: Kill job error on job id {job_id}: Access/permission denied\n" for job_id in ids)
    started = time.process_time()
    for first in range(0, len(made), 200):
        outcomes(made[first : first + 200], said[: 200 * 73], "scancel", failed=True, fallback="x")
    assert time.process_time() - started < 2
