"""The jobs of a run: cancelled by id, and the queue believed empty only when SLURM has said so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from slurmtui.control import end_jobs
from slurmtui.control.end_jobs import EndJobs, tied_jobs
from slurmtui.control.steps import Steps
from slurmtui.errors import CommandError, CommandMissing
from slurmtui.models.job import Job
from slurmtui.models.marks import Marks, comment

if TYPE_CHECKING:
    import pytest

    from slurmtui.models.steps import Step

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
SILENCE = CommandError("squeue: no answer", argv=("squeue",), code=1)


def job(number: int, state: str = "RUNNING", **more: Any) -> Job:
    facts = {"id": str(number), "user": "me", "comment": comment(RUN), "state": state, **more}
    return Job(raw_id=number, **facts)


class Queue:
    """A SLURM whose answers were written down beforehand; the last one is repeated."""

    def __init__(self, *answers: list[Job] | CommandError) -> None:
        self.answers = list(answers)
        self.cancelled: list[list[str]] = []
        self.words: dict[str, str] = {}

    async def queue(self, *, everyone: bool) -> Any:
        assert everyone is False, "only one's own jobs may be looked for"
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, CommandError):
            raise answer
        return SimpleNamespace(jobs=lambda: iter(answer))

    async def cancel(self, _runner: object, ids: list[str]) -> dict[str, str]:
        self.cancelled.append(list(ids))
        return {job_id: self.words.get(job_id, "") for job_id in ids}


async def end(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, *, twice: bool = False, seconds: float = 30.0, expected: bool = True
) -> tuple[EndJobs, Steps]:
    monkeypatch.setattr(end_jobs, "cancel_jobs", queue.cancel)
    monkeypatch.setattr(end_jobs, "_LOOK_EVERY", 0.0)
    monkeypatch.setattr(end_jobs, "EMPTY_SECONDS", seconds)
    steps = Steps({"jobs": "jobs", "empty": "empty"})
    session: Any = SimpleNamespace(slurm=queue, user="me", runner=None)
    ending = EndJobs(session, Marks(RUN, ()), steps)
    await ending.end(twice=twice, expected=expected)
    return ending, steps


def states(steps: Steps) -> list[str]:
    return [step.state for step in steps.all]


async def test_the_runs_jobs_are_cancelled_and_seen_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(
        [job(1), job(2, "PENDING"), job(3, comment="", name="mine"), job(4, user="other")],
        [job(1, "COMPLETING"), job(3, comment="")],
        [job(3, comment="")],
    )
    ending, steps = await end(queue, monkeypatch)
    assert queue.cancelled == [["1", "2"]]
    assert states(steps) == ["done", "done"]
    assert (ending.left, ending.unknown) == ((), "")


async def test_an_array_is_cancelled_by_the_number_of_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [job(7, id="7_[3-9]", array_id=7), job(8, id="7_1", array_id=7), job(20, id="20+1", het_id=19)]
    queue = Queue(parts, [])
    await end(queue, monkeypatch)
    assert queue.cancelled == [["7", "19"]]


async def test_silence_is_not_emptiness(monkeypatch: pytest.MonkeyPatch) -> None:
    ending, steps = await end(Queue(SILENCE), monkeypatch, seconds=0.05)
    assert ending.unknown == "squeue: no answer"
    assert steps["empty"].state == "failed"
    assert "not known whether jobs are left" in steps["empty"].detail


async def test_a_slurm_that_comes_back_is_asked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(SILENCE, SILENCE, [job(1)], [])
    ending, steps = await end(queue, monkeypatch)
    assert queue.cancelled == [["1"]]
    assert states(steps) == ["done", "done"]
    assert ending.unknown == ""


async def test_a_job_that_arrives_late_is_cancelled_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue([], [], [job(9)], [], [])
    _, steps = await end(queue, monkeypatch, twice=True)
    assert queue.cancelled == [["9"]]
    assert states(steps) == ["done", "done"]


async def test_what_remains_is_named_with_slurms_words(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue([job(1)])
    queue.words = {"1": "Access/permission denied"}
    ending, steps = await end(queue, monkeypatch, seconds=0.05)
    assert ending.left == ("1",)
    assert steps["empty"].state == "failed"
    assert "1" in steps["empty"].detail
    assert "Access/permission denied" in steps["empty"].detail


async def test_without_slurm_it_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = CommandMissing("squeue: command not found.", argv=("squeue",), code=127)
    ending, steps = await end(Queue(missing), monkeypatch)
    assert states(steps) == ["failed", "failed"]
    assert ending.unknown
    ending, steps = await end(Queue(missing), monkeypatch, expected=False)
    assert states(steps) == ["skipped", "skipped"]
    assert not ending.unknown


async def test_ended_jobs_that_squeue_still_shows_are_no_jobs() -> None:
    session: Any = SimpleNamespace(
        slurm=Queue([job(1, "COMPLETED"), job(2, "CANCELLED"), job(3, "COMPLETING")]), user="me"
    )
    assert [one.id for one in await tied_jobs(session, Marks(RUN, ()))] == ["3"]


def test_every_change_of_a_step_is_told_with_its_time() -> None:
    told: list[Step] = []
    steps = Steps({"a": "first", "b": "second"}, told.append)
    steps.begin("a")
    steps.say("a", "half")
    steps.say("a", "half")
    steps.done("a")
    steps.failed_with("b", "no")
    assert [(step.key, step.state, step.detail) for step in told] == [
        ("a", "waiting", ""), ("b", "waiting", ""), ("a", "doing", ""), ("a", "doing", "half"), ("a", "done", ""),
        ("b", "failed", "no"),
    ]  # fmt: skip
    assert steps.failed
    assert steps["a"].seconds > 0
