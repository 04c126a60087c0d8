"""What a retry costs at most, the ways there are, and when a run is run again by itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.config_values import duration
from slurmtui.control.cost import Cost, cost_of, cost_words, total
from slurmtui.models.cluster import Partition
from slurmtui.models.profile import Adapt, Profile, RetryPolicy
from slurmtui.models.retry import (
    allowed,
    best_way,
    cause_of,
    difference,
    grown,
    memory_text,
    more_memory,
    more_time,
    time_text,
    tried,
    ways,
)
from slurmtui.models.run_record import DriverRecord
from slurmtui.models.values import Special, memory, seconds

SMALL = Partition(name="small", default=True, state="up", max_time=7200, cpus_per_node=8, memory_per_node=12000)
LONG = Partition(name="long", state="up", max_time=Special.UNLIMITED, cpus_per_node=8, memory_per_node=64000)
GPU = Partition(name="gpu", state="up", max_time=86400, cpus_per_node=16, memory_per_node=64000, gres=("gpu:a100:4",))
DOWN = Partition(name="down", state="down", max_time=86400, cpus_per_node=16, memory_per_node=64000)
PARTITIONS = (SMALL, LONG, GPU, DOWN)
BATCH = Profile(name="batch", partition="small", cores=4, memory="8G", walltime="01:00:00", workers=3)


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (BATCH, "in 3 jobs, ≤ 12 core-hours"),
        (Profile(name="one", walltime="00:30:00"), "in 1 job, ≤ 0.5 core-hours"),
        (
            Profile(name="g", gres="gpu:a100:2", walltime="02:00:00", workers=2, cores=8),
            "in 2 jobs, ≤ 32 core-hours, ≤ 8 GPU-hours",
        ),
        (
            Profile(name="a", adapt=Adapt(maximum=8), walltime="1-00:00:00", gres="gpu:1"),
            "in ≤ 8 jobs, ≤ 192 core-hours, ≤ 192 GPU-hours",
        ),
        (Profile(name="n", nodes=2, cores=2, walltime="01:00:00"), "in 1 job, ≤ 4 core-hours"),
        (Profile(name="u", walltime="UNLIMITED", gres="gpu:1"), "in 1 job, without a time limit"),
        (Profile(name="s", walltime="00:00:10"), "in 1 job, ≤ 0.01 core-hours"),
    ],
)
def test_the_most_that_a_run_uses(profile: Profile, words: str) -> None:
    assert cost_words(cost_of(profile)) == words


def test_costs_of_many_runs_add_up_and_no_limit_stays_none() -> None:
    assert total([cost_of(BATCH), cost_of(BATCH)]) == Cost(jobs=6, core_hours=24, gpu_hours=0)
    assert total([cost_of(BATCH), cost_of(Profile(name="u", walltime="UNLIMITED"))]).core_hours is None
    assert total([]) == Cost()


def test_more_memory_stops_at_the_largest_node() -> None:
    assert more_memory(BATCH, 2).profile == Profile(**{**as_fields(BATCH), "memory": "16G"})
    bigger = more_memory(BATCH, 2, PARTITIONS).profile
    assert bigger is not None
    assert bigger.memory == "12000M"
    full = more_memory(bigger, 2, PARTITIONS)
    assert full.profile is None
    assert full.why_not == "no node of partition small has more than 12000M"


def test_more_time_stops_at_the_partitions_limit() -> None:
    longer = more_time(BATCH, 2, PARTITIONS).profile
    assert longer is not None
    assert longer.walltime == "02:00:00"
    assert more_time(longer, 2, PARTITIONS).why_not == "partition small allows no more than 02:00:00"
    nowhere = more_time(Profile(name="x", walltime="12:00:00"), 3).profile
    assert nowhere is not None
    assert nowhere.walltime == "1-12:00:00"


def as_fields(profile: Profile) -> dict[str, Any]:
    return {name: getattr(profile, name) for name in profile.__struct_fields__}


def test_all_ways_of_a_profile_and_none_into_a_partition_that_would_not_take_it() -> None:
    other = Profile(name="gpu", partition="gpu", gres="gpu:1")
    found = ways(BATCH, BATCH, PARTITIONS, (BATCH, other))
    assert [way.key for way in found] == ["same", "memory", "time", "profile:gpu", "partition:long"]
    assert best_way(found, "out_of_memory") == "memory"
    assert best_way(found, "timeout") == "time"
    assert best_way(found, "node_fail") == "same"
    changed = ways(Profile(**{**as_fields(BATCH), "memory": "12000M"}), BATCH, PARTITIONS)
    assert "first" in [way.key for way in changed]
    assert best_way(changed, "out_of_memory") == "same", "more memory that is not to be had is not offered first"
    assert [way.key for way in ways(None)] == ["same"]


@pytest.mark.parametrize(
    ("said", "ended", "cause"),
    [
        ("Flow run encountered an exception: ValueError: x", {"1": "TIMEOUT"}, ("code", "")),
        ("KilledWorker: task", {"1": "OUT_OF_MEMORY", "2": "CANCELLED"}, ("out_of_memory", "1")),
        ("KilledWorker: task", {"1": "TIMEOUT", "2": "NODE_FAIL"}, ("node_fail", "2")),
        ("KilledWorker: task", {"1": "CANCELLED"}, ("", "")),
        ("", {"1": "PREEMPTED"}, ("preempted", "1")),
        ("BatchJobFailed: SLURM job 7 reached its time limit after 60 s (TIMEOUT).", {}, ("timeout", "7")),
        ("BatchJobFailed: SLURM job 7 failed with exit code 1 (FAILED).", {"1": "TIMEOUT"}, ("code", "")),
    ],
)
def test_what_ended_an_attempt(said: str, ended: dict[str, str], cause: tuple[str, str]) -> None:
    assert cause_of(said, ended) == cause


def record(attempt: int, cause: str, *, again: bool) -> DriverRecord:
    return DriverRecord(host="h", pid=1, pid_started=1, attempt=attempt, cause=cause, again="again" if again else "")


def test_attempts_are_counted_from_the_last_start_by_a_person() -> None:
    chain = [
        record(1, "timeout", again=True), record(2, "timeout", again=False),
        record(3, "timeout", again=True), record(4, "node_fail", again=True),
    ]  # fmt: skip
    assert tried(chain, "timeout") == 1
    assert tried(chain, "node_fail") == 1
    assert tried(chain[:2], "timeout") == 0
    assert allowed(RetryPolicy(timeout=2), "timeout") == 2
    assert allowed(RetryPolicy(timeout=2), "code") == 0
    assert allowed(None, "timeout") == 0


def test_a_policy_grows_what_was_lacking_and_tells_it() -> None:
    assert grown(BATCH, "out_of_memory", 2)[1] == "memory 8G → 16G"
    assert grown(BATCH, "timeout", 2, PARTITIONS)[1] == "time 01:00:00 → 02:00:00"
    assert grown(BATCH, "node_fail", 2) == (BATCH, "")
    assert difference(BATCH, BATCH) == ""


@given(st.integers(1, 366 * 86400))
def test_time_limits_are_read_back_as_written(total_seconds: int) -> None:
    assert seconds(time_text(total_seconds)) == total_seconds
    assert duration(time_text(total_seconds)) == total_seconds


@given(st.integers(1, 10**8))
def test_memory_is_read_back_as_written(mebibytes: int) -> None:
    assert memory(memory_text(mebibytes)) == mebibytes
