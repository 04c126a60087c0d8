"""The evidence tells how a run came to its newest attempt."""

from __future__ import annotations

from slurmtui.models.flow_run import FlowRun
from slurmtui.models.run_record import DriverRecord, RunRecord, RunSpec
from slurmtui.store.evidence import gather
from slurmtui.store.facts import Facts


def attempt(number: int, cause: str = "", again: str = "", message: str = "") -> DriverRecord:
    return DriverRecord(
        host="h", pid=1, pid_started=1, attempt=number, ended=2, outcome="FAILED", cause=cause, again=again,
        message=message,
    )  # fmt: skip


def told(*attempts: DriverRecord, newest: int) -> list[str]:
    spec = RunSpec(id="r", name="r", flow_name="f", entrypoint="/f.py:f")
    driver = DriverRecord(host="elsewhere", pid=1, pid_started=1, attempt=newest, started=3)
    facts = Facts(
        now=9, run=FlowRun(id="r", name="r"), record=RunRecord(spec=spec, folder="/r", driver=driver, attempts=attempts)
    )
    return [sentence for sentence in gather(facts) if sentence.startswith("Attempt")]


def test_each_earlier_attempt_with_its_cause_and_what_was_done_about_it() -> None:
    first = attempt(1, "timeout", "run again by itself, 1 of 1, time 01:00:00 → 02:00:00")
    second = attempt(2, "", "", "Traceback\nValueError: \x1b[31mno")
    assert told(first, second, newest=3) == [
        "Attempt 1 ended FAILED: time limit; it was run again by itself, 1 of 1, time 01:00:00 → 02:00:00.",
        "Attempt 2 ended FAILED: ValueError: ␛[31mno.",
    ]


def test_the_newest_attempt_is_told_elsewhere() -> None:
    assert told(attempt(1, "code"), newest=1) == []
