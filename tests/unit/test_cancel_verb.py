"""What the command makes of the ids it is given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from slurmtui.control import cancel_job
from slurmtui.control.cancel_job import cancel_job_ids, overlap
from slurmtui.errors import CommandError, Refused, UsageError
from slurmtui.models.ids import JobId, parse_job_id
from slurmtui.models.job import Job
from slurmtui.verbs import cancel as verb

RUN = "12345678-3a52-4c6f-9d0e-0123456789ab"


class Slurm:
    """A queue by id, and what scancel says; ``ends`` tells whether a cancelled job goes."""

    def __init__(self, *jobs: Job, words: dict[str, str] | None = None, ends: bool = True) -> None:
        self.jobs = {job.id: job for job in jobs}
        self.words, self.ends = words or {}, ends
        self.cancelled: list[str] = []

    async def jobs_by_id(self, ids: list[str]) -> dict[str, Job]:
        found = {}
        for wanted in ids:
            base = parse_job_id(wanted)
            found.update(
                {
                    job.id: job
                    for job in self.jobs.values()
                    if base and (part := parse_job_id(job.id)) and part.base == base.base
                }
            )
        return found

    async def cancel(self, _runner: object, ids: list[str]) -> dict[str, str]:
        self.cancelled.extend(ids)
        for job_id in ids:
            if self.ends and not self.words.get(job_id):
                self.jobs.pop(job_id, None)
        return {job_id: self.words.get(job_id, "") for job_id in ids}


def session(slurm: Slurm) -> Any:
    return SimpleNamespace(slurm=slurm, runner=None, prefect=None)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancel_job, "_LOOK_EVERY", 0.0)
    monkeypatch.setattr(cancel_job, "GONE_SECONDS", 0.05)


async def test_each_job_has_its_own_result(monkeypatch: pytest.MonkeyPatch) -> None:
    slurm = Slurm(
        Job(id="1", raw_id=1, state="RUNNING"), Job(id="2", raw_id=2, state="RUNNING"),
        words={"2": "Access/permission denied"},
    )  # fmt: skip
    monkeypatch.setattr(cancel_job, "cancel_jobs", slurm.cancel)
    results = await cancel_job_ids(session(slurm), ["1", "2", "3"])
    assert [(one.id, one.ok) for one in results] == [("1", True), ("2", False), ("3", False)]
    assert "Access/permission denied" in results[1].text
    assert "is not in the queue" in results[2].text
    assert slurm.cancelled == ["1", "2"], "a job that is not in the queue was cancelled"


async def test_a_task_is_cancelled_by_the_number_it_calls_itself_by(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Job(id="1234_1", raw_id=1236, array_id=1234, state="RUNNING")
    slurm = Slurm()

    async def jobs_by_id(_ids: list[str]) -> dict[str, Job]:
        return {} if slurm.cancelled else {"1236": task}

    monkeypatch.setattr(slurm, "jobs_by_id", jobs_by_id)
    monkeypatch.setattr(cancel_job, "cancel_jobs", slurm.cancel)
    (result,) = await cancel_job_ids(session(slurm), ["1236"])
    assert (result.ok, slurm.cancelled) == (True, ["1236"])


async def test_a_job_that_does_not_go_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    slurm = Slurm(Job(id="1", raw_id=1, state="COMPLETING"), ends=False)
    monkeypatch.setattr(cancel_job, "cancel_jobs", slurm.cancel)
    (result,) = await cancel_job_ids(session(slurm), ["1"])
    assert not result.ok
    assert "still in the queue (COMPLETING)" in result.text


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("7", "7_[0-9]", True),
        ("7_[1-3]", "7_[3-9]", True),
        ("7_[1-3]", "7_[4-9]", False),
        ("7_[1-3]", "7_2", True),
        ("7_2", "7_[0-9%5]", True),
        ("7_[0-8:2]", "7_[1-9:2]", False),
        ("7_1", "8_1", False),
        ("500+1", "500+0", False),
        ("500+1", "500", True),
    ],
)
def test_ids_that_have_a_job_in_common(one: str, other: str, *, common: bool) -> None:
    left, right = parse_job_id(one) or JobId(0), parse_job_id(other) or JobId(1)
    assert overlap(left, right) is common
    assert overlap(right, left) is common


async def test_numbers_are_jobs_and_the_rest_are_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolved(_session: object, text: str) -> str:
        if RUN.startswith(text):
            return RUN
        raise Refused("There is no such run.")

    monkeypatch.setattr(verb, "resolve_id", resolved)
    empty = session(Slurm())
    for text in ("1234", "123_4", "123_[1-3]", "500+1", "99999999"):
        assert await verb.meant(empty, text) == verb.Wanted(text, "job")
    assert await verb.meant(empty, "12345678-3a") == verb.Wanted(RUN, "run")
    # A long number may be both: the beginning of a run's id, if there is such a run and no such job.
    assert await verb.meant(empty, "12345678") == verb.Wanted(RUN, "run")
    both = session(Slurm(Job(id="12345678", raw_id=12345678)))
    with pytest.raises(UsageError, match="is a job, and the beginning of run"):
        await verb.meant(both, "12345678")

    async def silent(_ids: list[str]) -> dict[str, Job]:
        raise CommandError("squeue: no answer", argv=("squeue",), code=1)

    monkeypatch.setattr(both.slurm, "jobs_by_id", silent)
    with pytest.raises(UsageError, match=r"may be a job, .* SLURM does not tell: squeue: no answer"):
        await verb.meant(both, "12345678")


async def test_a_short_number_is_a_job_and_the_run_that_begins_so_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def resolved(_session: object, text: str) -> str:
        if text == "9999":
            raise UsageError("Several runs begin with 9999")
        if RUN.startswith(text):
            return RUN
        raise Refused("There is no such run.")

    monkeypatch.setattr(verb, "resolve_id", resolved)
    for text, told in (("1234", f"run {RUN} begins so too"), ("9999", "ids of runs begin so too"), ("4321", "")):
        assert await verb.meant(session(Slurm()), text) == verb.Wanted(text, "job")
        said = capsys.readouterr().err
        assert told in said
        assert bool(said) is bool(told)
    with pytest.raises(Refused, match="There is no such run"):
        await verb.meant(session(Slurm()), "0815")  # no job has such a number


async def test_what_fails_for_one_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: object) -> None:
        raise Refused("it is over")

    async def silent(*_: object) -> None:
        raise CommandError("no answer", argv=("squeue",), code=1)

    monkeypatch.setattr(verb, "cancel_run", refused)
    monkeypatch.setattr(verb, "cancel_job_ids", silent)
    wanted = [verb.Wanted("5", "job"), verb.Wanted(RUN, "run")]
    results = await verb._cancel_all(session(Slurm()), wanted, quiet=True)
    assert [(result["id"], result["ok"]) for result in results] == [("5", False), (RUN, False)]
    assert "no answer" in results[0]["text"]
    assert "it is over" in results[1]["text"]


async def test_the_first_component_of_a_het_job_is_said_to_end_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _prompt: "n")
    assert not verb._sure([verb.Wanted("5+0", "job"), verb.Wanted("6+1", "job")])
    assert "Cancel job 5+0 and with it the whole het job 5, job 6+1?" in capsys.readouterr().out
    slurm = Slurm(*(Job(id=name, raw_id=number, state="RUNNING") for number, name in ((5, "5+0"), (7, "6+1"))))
    monkeypatch.setattr(cancel_job, "cancel_jobs", slurm.cancel)
    first, second = await cancel_job_ids(session(slurm), ["5+0", "6+1"])
    gone = "cancelled, and seen gone from the queue"
    assert first.text == f"{gone}; SLURM ends the other components of its het job with it"
    assert second.text == gone
