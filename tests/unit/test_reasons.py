"""Why a job waits, in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.reasons import explain, waiting_words
from slurmtui.models.text import visible

WORDS = {
    "Resources": "Resources",
    "Priority": "Priority",
    "(Priority)": "Priority",
    "None": "not looked at by the scheduler yet",
    "": "not looked at by the scheduler yet",
    "(null)": "not looked at by the scheduler yet",
    "QOSMaxCpuPerUserLimit": "the QOS's CPU limit per user (QOSMaxCpuPerUserLimit)",
    "QOSMaxGRESPerUser": "the QOS's GPU limit per user (QOSMaxGRESPerUser)",
    "AssocGrpCpuLimit": "the account's CPU limit for all its jobs (AssocGrpCpuLimit)",
    "AssocGrpCPUMinutesLimit": "the account's CPU-minutes limit for all its jobs (AssocGrpCPUMinutesLimit)",
    "AssocMaxWallDurationPerJobLimit": "the account's time limit per job (AssocMaxWallDurationPerJobLimit)",
    "QOSMinCpuNotSatisfied": "asks for less (CPU) than the QOS's least (QOSMinCpuNotSatisfied)",
    "PartitionTimeLimit": "asks for more time than the partition allows (PartitionTimeLimit)",
    "Dependency": "a job it depends on has not ended (Dependency)",
    "JobHeldUser": "held by its user (JobHeldUser)",
    "BeginTime": "its begin time is not yet reached (BeginTime)",
    "Licenses": "no licence is free (Licenses)",
    "ReqNodeNotAvail, UnavailableNodes:n[1-3]": "a node it needs is not available: n[1-3]",
    "ReqNodeNotAvail, Reserved": "a node it needs is not available (Reserved)",
    "SomethingNew": "SomethingNew",
}


@pytest.mark.parametrize("reason", WORDS)
def test_words(reason: str) -> None:
    assert waiting_words(reason) == WORDS[reason]


@pytest.mark.parametrize(
    "reason",
    ["PartitionTimeLimit", "JobHeldUser", "DependencyNeverSatisfied", "AssocMaxWallDurationPerJobLimit",
     "QOSMaxNodePerJobLimit", "BadConstraints", "launch failed requeued held"],
)  # fmt: skip
def test_what_will_never_start_by_itself(reason: str) -> None:
    assert explain(reason).stuck


@pytest.mark.parametrize(
    "reason", ["Resources", "Priority", "None", "QOSMaxCpuPerUserLimit", "AssocGrpCpuLimit", "Dependency", "Unheard"]
)
def test_what_time_may_cure(reason: str) -> None:
    assert not explain(reason).stuck


@given(st.text(max_size=80))
def test_any_reason_is_words_fit_for_a_screen(reason: str) -> None:
    words = waiting_words(reason)
    assert words
    assert visible(words) == words
