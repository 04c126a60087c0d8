"""Acting on jobs of a real SLURM: exactly the tasks that are meant, a result an id, and what can be undone."""

from __future__ import annotations

import getpass
import time
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.control.jobs_attach import attach_argv
from slurmtui.control.jobs_many import (
    CANCEL,
    HOLD,
    RELEASE,
    REQUEUE,
    SECONDS_A_CALL,
    act,
    signal_command,
    update_command,
)
from slurmtui.control.jobs_resubmit import again, submit_again
from slurmtui.control.jobs_waiting import STARTED, still_waiting
from slurmtui.control.slurm import submit_script
from slurmtui.errors import CommandError, Refused
from slurmtui.models.efficiency import efficiency
from slurmtui.models.job_again import as_argv
from slurmtui.models.job_values import inverse
from slurmtui.models.job_why_judge import judge
from slurmtui.sources.exec import Runner
from slurmtui.sources.slurm.client import Slurm
from slurmtui.sources.slurm.job_values import throttle_of, values_of
from slurmtui.sources.slurm.scripts import NO_SCRIPTS, live_script, stored_script
from slurmtui.sources.slurm.steps import live_steps
from slurmtui.sources.slurm.usage import job_usage
from slurmtui.sources.slurm.why import why_facts
from tests.live.waiting import end_jobs, nothing_runs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from slurmtui.control.jobs_resubmit import Again
    from slurmtui.models.job import Job
    from slurmtui.models.job_values import JobValues
    from slurmtui.models.job_why import Why, WhyFacts

    Eventually = Callable[..., Awaitable[Any]]

SLEEP = b"#!/bin/sh\nsleep 300\n"
SMALL = ("--mem=20", "-t", "10", "-o", "/dev/null")

pytestmark = pytest.mark.versions


class Lab:
    """A SLURM to submit to; what was submitted is cancelled at the end."""

    def __init__(self, runner: Runner, folder: Path) -> None:
        self.runner, self.folder = runner, folder
        self.slurm = Slurm(runner, getpass.getuser(), timeout=30)
        self.ids: list[str] = []

    async def submit(self, *options: str, script: bytes | Path = SLEEP, arguments: tuple[str, ...] = ()) -> str:
        options = (*SMALL, *options)
        job_id = await submit_script(self.runner, script, options, chdir=self.folder, arguments=arguments)
        self.ids.append(job_id)
        return job_id

    async def jobs(self, base: str) -> dict[str, Job]:
        """What is in the queue of a job or array, by shown id."""
        return {job.id: job for job in (await self.slurm.jobs_by_id([base])).values() if job.state != "COMPLETING"}

    async def job(self, job_id: str) -> Job:
        found = await self.slurm.jobs_by_id([job_id])
        return found[job_id] if job_id in found else next(iter(found.values()))

    async def runs(self, job_id: str) -> bool:
        found = await self.slurm.jobs_by_id([job_id])
        return bool(found) and all(job.state == "RUNNING" for job in found.values())

    async def why(self, job_id: str) -> tuple[WhyFacts, Why]:
        facts = await why_facts(self.slurm, await self.job(job_id))
        return facts, judge(facts)

    async def reason(self, job_id: str, *words: str) -> bool:
        return (await self.job(job_id)).reason in words


@pytest.fixture
async def lab(sandbox: Any, tmp_path: Path) -> AsyncIterator[Lab]:
    place = Lab(Runner(environment={"SLURM_CONF": sandbox.slurm_conf}), tmp_path)
    await nothing_runs(place.runner)
    yield place
    await end_jobs(place.runner, place.ids)


# --- why a job waits


async def test_a_request_that_can_never_be_met_is_told_with_what_would_do(lab: Lab, eventually: Eventually) -> None:
    long = await lab.submit("-p", "debug", "-t", "3:00:00")
    await eventually(lambda: lab.reason(long, "PartitionTimeLimit"), 60)
    facts, why = await lab.why(long)
    assert facts.missing.keys() <= {"factors"}
    assert why.never == ("asks for 3:00:00; debug allows 0:30:00",)
    assert why.stuck
    assert "it would fit in partition batch" in why.remedies
    if (await lab.slurm.version())[:2] == (24, 11):  # does not take it at all
        with pytest.raises(CommandError, match="node configuration is not available"):
            await lab.submit("-p", "debug", "-N", "5")
        return
    wide = await lab.submit("-p", "debug", "-N", "5")
    await eventually(lambda: lab.reason(wide, "PartitionNodeLimit", "PartitionConfig"), 60)
    _, why = await lab.why(wide)
    assert "asks for 5 nodes; debug has 2" in why.never


async def test_nodes_that_are_out_of_service_are_told_of(lab: Lab, eventually: Eventually) -> None:
    gpus = await lab.submit("-p", "gpu", "-N", "2", "--gres=gpu:a100:4", "-H")
    # Not down: 24.11 has such a node register again, which brings it back at once.
    drain = ("scontrol", "update", "nodename=gpu2", "state=drain", "reason=test")
    await lab.runner.run(drain)
    try:
        _, why = await lab.why(gpus)
        assert not why.never
        assert "out of service (gpu2 drain" in why.blocked[0]
    finally:
        await lab.runner.run(("scontrol", "update", "nodename=gpu2", "state=resume"))

    async def well() -> bool:
        _, why = await lab.why(gpus)
        return not why.blocked

    await eventually(well, 40, "gpu2 is back, and that is not seen")


async def test_holds_dependencies_begin_times_and_throttles(lab: Lab, eventually: Eventually) -> None:
    held = await lab.submit("-H")
    first = await lab.submit("-J", "first one")
    after = await lab.submit(f"--dependency=afterok:{first}:{held}")
    later = await lab.submit("--begin=now+2hours")
    array = await lab.submit("--array=0-9%2")
    await eventually(lambda: lab.runs(first), 60)
    assert (await lab.why(held))[1].todo == ("somebody has to release it: H does",)
    facts, why = await lab.why(after)
    assert [one.id for one in facts.preconditions] == [first, held]
    assert why.todo[0].startswith(f"job {first} (first one) has to end well: it is running, at the latest ")
    assert why.todo[1].endswith("it is pending")
    assert (await lab.why(later))[1].todo[0].endswith("has to come")
    rest = await eventually(lambda: _rest(lab, array, "JobArrayTaskLimit"), 60)
    _, why = await lab.why(rest)
    assert why.word == "JobArrayTaskLimit"
    assert "(E)" in why.todo[0]
    assert "2 tasks of it may run at once" in why.todo[0]


async def _rest(lab: Lab, array: str, reason: str) -> str:
    found = [job.id for job in (await lab.jobs(array)).values() if job.reason == reason]
    return found[0] if found else ""


async def test_the_place_in_line_and_the_estimated_start(lab: Lab, eventually: Eventually) -> None:
    hog = await lab.submit("-p", "gpu", "-N", "2", "--gres=gpu:a100:4")
    await eventually(lambda: lab.runs(hog), 60)
    line = [await lab.submit("-p", "gpu", "--gres=gpu:a100:4", "-t", str(5 + number)) for number in range(3)]
    await eventually(lambda: lab.reason(line[0], "Resources"), 60)
    await eventually(lambda: lab.reason(line[2], "Priority"), 60)

    async def third() -> Any:
        _, why = await lab.why(line[2])
        return why if why.place is not None and why.place.place == 3 and why.start else None

    why = await eventually(third, 40, "no start was planned")
    assert why.place.total == 3
    assert why.place.before == ((getpass.getuser(), 2),)
    assert why.start > time.time()
    assert why.todo[0].startswith("2 jobs of higher priority in gpu have to start first")
    assert not why.never


# --- cancel


async def test_a_range_of_an_array_is_cancelled_and_nothing_else(lab: Lab, eventually: Eventually) -> None:
    array = await lab.submit("-H", "--array=0-40:2%3")
    rest = next(iter(await lab.jobs(array)))
    assert "%3" in rest or "[" in rest
    results = await act(lab.runner, CANCEL, [f"{array}_4", f"{array}_6", f"{array}_[10-20:2%3]"])
    assert {outcome.kind for outcome in results.values()} == {"done"}

    async def left() -> bool:
        tasks = {job.id for job in (await lab.jobs(array)).values()}
        return tasks == {f"{array}_[0,2,8,22,24,26,28,30,32,34,36,38,40%3]"}

    await eventually(left, 60)
    results = await act(lab.runner, CANCEL, [rest])  # what squeue shows, with its throttle: no command takes that
    assert results[rest].kind != "failed"


async def test_five_thousand_tasks_are_one_request_and_the_controller_lives(lab: Lab, eventually: Eventually) -> None:
    array = await lab.submit("-H", "--array=0-5999")
    await lab.runner.run(("sdiag", "-r"), check=False)
    ids = [f"{array}_{number}" for number in range(1, 6000) if number % 6]
    before, started = lab.runner.log.count, time.monotonic()
    seen: list[int] = []
    results = await act(lab.runner, CANCEL, ids, seen.append)
    assert len(results) == len(ids) == 5000
    assert {outcome.kind for outcome in results.values()} == {"done"}
    assert lab.runner.log.count - before <= 2
    assert seen[-1] == 5000
    assert time.monotonic() - started < SECONDS_A_CALL
    left = await eventually(lambda: lab.jobs(array), 60)
    numbers = {number for job in left.values() for number in _tasks(job)}
    assert numbers == {0, *(number for number in range(1, 6000) if not number % 6)}


def _tasks(job: Job) -> list[int]:
    from slurmtui.models.ids import parse_job_id  # noqa: PLC0415 - only here

    parsed = parse_job_id(job.id)
    assert parsed is not None
    return [parsed.task] if parsed.task is not None else list(parsed.each_task())


async def test_hundreds_of_jobs_go_in_chunks(lab: Lab) -> None:
    ids = [await lab.submit("-H") for _ in range(3)]
    gone = [str(900_000 + number) for number in range(400)]
    results = await act(lab.runner, CANCEL, [*ids, *gone])
    assert [results[job_id].kind for job_id in ids] == ["done"] * 3
    assert {results[job_id].kind for job_id in gone} == {"gone"}


async def test_a_job_that_ended_while_the_question_was_open_has_its_own_result(
    lab: Lab, eventually: Eventually
) -> None:
    ended, runs = await lab.submit(script=b"#!/bin/sh\nexit 0\n"), await lab.submit()
    await eventually(lambda: lab.runs(runs), 60)

    async def is_over() -> bool:
        detail = await lab.slurm.job_detail(ended)
        return detail is not None and detail.state == "COMPLETED"

    await eventually(is_over, 60)
    results = await act(lab.runner, CANCEL, [ended, runs, "99999999", "12_[3-"])
    assert {job_id: outcome.kind for job_id, outcome in results.items()} == {
        ended: "gone", runs: "done", "99999999": "gone", "12_[3-": "failed",
    }  # fmt: skip


# --- hold, release, requeue, signal, edit


async def test_hold_release_and_back(lab: Lab) -> None:
    array = await lab.submit("-H", "--array=0-9")
    plain = await lab.submit("--begin=now+1hour")
    wanted = [f"{array}_3", f"{array}_[7-8]", plain, "99999999"]
    released = await act(lab.runner, RELEASE, wanted[:2])
    assert {outcome.kind for outcome in released.values()} == {"done"}
    results = await act(lab.runner, HOLD, wanted)
    assert [outcome.kind for outcome in results.values()] == ["done", "done", "done", "gone"]
    assert (await lab.job(plain)).reason == "JobHeldUser"
    await act(lab.runner, RELEASE, [plain])
    assert (await lab.job(plain)).reason != "JobHeldUser"


async def test_what_has_started_is_not_held_back(lab: Lab, eventually: Eventually) -> None:
    array = await lab.submit("-H", "--array=0-5%2")
    plain = await lab.submit("--begin=now+1hour")
    await act(lab.runner, RELEASE, [array])
    await eventually(lambda: lab.runs(f"{array}_1"), 60)
    waiting, others = await still_waiting(lab.slurm, [array, plain, "99999999"])
    assert waiting == [f"{array}_[2-5%2]", plain]
    assert {job_id: outcome.words for job_id, outcome in others.items() if outcome.kind == "failed"} == {
        f"{array}_0": STARTED, f"{array}_1": STARTED,
    }  # fmt: skip
    assert others["99999999"].kind == "gone"
    assert (await still_waiting(lab.slurm, [f"{array}_[1-3]"]))[0] == [f"{array}_[2,3]"]
    assert (await still_waiting(lab.slurm, [f"{array}_4", f"{array}_0"]))[0] == [f"{array}_4"]
    results = await act(lab.runner, HOLD, waiting)
    assert {outcome.kind for outcome in results.values()} == {"done"}
    assert (await lab.job(f"{array}_0")).reason != "JobHeldUser"
    assert (await lab.job(f"{array}_4")).reason == "JobHeldUser"


async def test_requeue_begins_again_and_refuses_what_waits(lab: Lab, eventually: Eventually) -> None:
    runs, waits = await lab.submit("--requeue"), await lab.submit("-H")
    await eventually(lambda: lab.runs(runs), 60)
    results = await act(lab.runner, REQUEUE, [runs, waits])
    assert (results[runs].kind, results[waits].kind) == ("done", "failed")
    assert "pending" in results[waits].words.lower()
    detail = await lab.slurm.job_detail(runs)
    assert detail is not None
    assert dict(detail.fields)["Restarts"] == "1"


async def test_a_signal_reaches_the_batch_script(lab: Lab, eventually: Eventually) -> None:
    script = b"#!/bin/bash\ntrap 'echo got it > caught' USR1\necho > ready\nwhile :; do sleep 0.2; done\n"
    job_id = await lab.submit(script=script)
    await eventually((lab.folder / "ready").exists, 60)
    results = await act(lab.runner, signal_command("USR1", "--batch"), [job_id])
    assert results[job_id].kind == "done"
    await eventually((lab.folder / "caught").exists, 60)
    assert await lab.runs(job_id)


def _asked(values: dict[str, JobValues]) -> dict[str, tuple[object, ...]]:
    return {job_id: (value.time_limit, value.partition, value.nice) for job_id, value in values.items()}


async def test_another_nice_lets_a_held_job_go_so_that_it_is_held_again(lab: Lab) -> None:
    job_id = await lab.submit("-H")
    before = await values_of(lab.slurm, [job_id])
    assert before[job_id].held
    await act(lab.runner, update_command({"Nice": "5"}), [job_id])
    await act(lab.runner, HOLD, [job_id])
    assert (await values_of(lab.slurm, [job_id]))[job_id].held


async def test_values_are_changed_and_brought_back(lab: Lab) -> None:
    array = await lab.submit("-H", "-p", "batch", "-t", "20", "--array=0-9%4")
    other = await lab.submit("-H", "-p", "batch", "-t", "10")
    ids = [f"{array}_[2-3]", f"{array}_7", other]
    before = await values_of(lab.slurm, ids)
    assert [before[job_id].time_limit for job_id in ids] == [1200, 1200, 600]
    assert await throttle_of(lab.slurm, array) == 4
    changed = update_command({"TimeLimit": "0:05:00", "Nice": "50"})
    results = await act(lab.runner, changed, ids)
    assert {outcome.kind for outcome in results.values()} == {"done"}
    now = await values_of(lab.slurm, ids)
    assert {(value.time_limit, value.nice) for value in now.values()} == {(300, 50)}
    back = inverse(before, ["TimeLimit", "Nice"], ids)
    assert len(back) == 2
    for old, members in back:
        await act(lab.runner, update_command(old), members)
    assert _asked(await values_of(lab.slurm, ids)) == _asked(before)
    untouched = await values_of(lab.slurm, [f"{array}_9"])
    assert untouched[f"{array}_9"].time_limit == 1200
    refused = await act(lab.runner, update_command({"Partition": "nowhere"}), [other])
    assert refused[other].kind == "failed"


# --- again, attach


async def test_a_job_is_submitted_again_asking_for_the_same(lab: Lab, eventually: Eventually) -> None:
    script = lab.folder / "my job.sh"
    script.write_text("#!/bin/sh\n#SBATCH -t 7\necho $SLURM_ARRAY_TASK_ID $1 > said-$SLURM_JOB_ID\nsleep 300\n")
    options = ("-p", "batch", "-n", "2", "--mem=30", "-t", "9", "-J", "a b", "-o", f"{lab.folder}/%j.out", "--nice=3")
    first = await lab.submit(*options, "--array=5,6", script=script, arguments=("one",))
    await eventually(lambda: lab.runs(f"{first}_6"), 60)
    job = await again(lab.slurm, f"{first}_6")
    assert job.script == script.read_bytes()
    assert job.arguments == ("one",)
    second = await submit_again(lab.runner, job, as_argv(job.options | {"mem": "40M"}))
    lab.ids.append(second)
    detail = await eventually(lambda: lab.slurm.job_detail(f"{second}_6"), 60)
    told = dict(reversed(detail.fields))
    assert (detail.name, told["TimeLimit"], told["NumTasks"], told["MinMemoryNode"]) == ("a b", "00:09:00", "2", "40M")
    assert (told["Nice"], told["Partition"]) == ("3", "batch")
    assert detail.stdout != f"{lab.folder}/{first}.out"
    await eventually(lambda: lab.runs(f"{second}_6"), 60)
    await eventually(lambda: "6 one\n" in [file.read_text() for file in lab.folder.glob("said-*")], 60)


async def _submit_with_default_output(lab: Lab, *options: str, script: bytes) -> str:
    job_id = await submit_script(lab.runner, script, ("--mem=20", "-t", "10", *options), chdir=lab.folder)
    lab.ids.append(job_id)
    return job_id


async def _submit_again(lab: Lab, job_id: str, **words: str) -> tuple[str, Again]:
    job = await again(lab.slurm, job_id, **words)
    lab.ids.append(await submit_again(lab.runner, job, as_argv(job.options)))
    return lab.ids[-1], job


SAYS = b"#!/bin/sh\necho said by $SLURM_JOB_ID\nsleep 300\n"


async def test_a_job_submitted_again_leaves_the_log_of_the_one_that_runs(lab: Lab, eventually: Eventually) -> None:
    def says(name: str, *ids: str) -> bool:
        file = lab.folder / name
        return file.exists() and file.read_text().split("\n")[:-1] == [f"said by {job_id}" for job_id in ids]

    by_itself = await _submit_with_default_output(lab, script=SAYS)
    fixed = await _submit_with_default_output(lab, "-o", "fixed.out", script=SAYS)
    in_script = SAYS.replace(b"sh\n", b"sh\n#SBATCH -e in-script.err\n", 1)
    pattern = await _submit_with_default_output(lab, "-o", "p-%x-%j.out", "-J", "x", script=in_script)
    await eventually(lambda: says(f"slurm-{by_itself}.out", by_itself), 60)
    await eventually(lambda: says("fixed.out", fixed), 60)
    await eventually(lambda: says(f"p-x-{pattern}.out", pattern), 60)

    second, _ = await _submit_again(lab, by_itself)
    fixed_again, job = await _submit_again(lab, fixed)
    pattern_again, _ = await _submit_again(lab, pattern)
    assert job.shared == [f"{lab.folder}/fixed.out"]
    await eventually(lambda: says(f"slurm-{second}.out", second), 60)
    await eventually(lambda: says("fixed.out", fixed, fixed_again), 60)
    await eventually(lambda: says(f"p-x-{pattern_again}.out", pattern_again), 60)
    assert says(f"slurm-{by_itself}.out", by_itself)
    assert says(f"p-x-{pattern}.out", pattern)


async def test_an_array_submitted_again_keeps_a_file_for_each_task_and_its_throttle(
    lab: Lab, eventually: Eventually
) -> None:
    def files(array: str) -> int:
        """How many tasks of it have said their line."""
        return sum(bool(file.read_bytes()) for file in lab.folder.glob(f"slurm-{array}_[0-9].out"))

    first = await _submit_with_default_output(lab, "--array=0-5%2", script=SAYS)
    await eventually(lambda: files(first) == 2, 60)
    before = {file: file.read_bytes() for file in lab.folder.iterdir()}
    second, job = await _submit_again(lab, first, tasks="0-5")
    assert job.arguments == ()
    one, _ = await _submit_again(lab, f"{first}_1")
    await eventually(lambda: files(second) == 2, 60)
    await eventually((lab.folder / f"slurm-{one}_1.out").exists, 60)
    assert await throttle_of(lab.slurm, second) == 2
    assert (await lab.jobs(second)).keys() >= {f"{second}_{task}" for task in range(2)}
    assert {file: file.read_bytes() for file in before} == before
    assert len(list(lab.folder.iterdir())) == 5


async def test_a_held_job_is_submitted_again_held_and_with_its_real_name(lab: Lab) -> None:
    name, comment = "esc\x1b[31mred", "two\nlines\tand a tab"
    first = await lab.submit("-H", f"--job-name={name}", f"--comment={comment}")
    second, job = await _submit_again(lab, first)
    assert (job.options["job-name"], job.options["comment"]) == (name, comment)
    found = await lab.runner.run(("squeue", "-h", "-j", second, "-O", "Name:40"))
    assert found.stdout.decode().rstrip() == name
    assert (await lab.job(second)).reason == "JobHeldUser"


async def test_there_is_nothing_to_submit_again_of_an_interactive_job(lab: Lab) -> None:
    await lab.runner.run(("srun", "-p", "batch", "--mem=20", "-t", "1", "-J", "interactive", "true"), timeout=60)
    found = await lab.runner.run(("squeue", "-h", "-t", "all", "-n", "interactive", "-O", "JobID:12"))
    job_id = found.stdout.decode().split()[-1]
    with pytest.raises(Refused, match="no batch script: it was started by srun"):
        await again(lab.slurm, job_id)
    with pytest.raises(Refused, match="has forgotten job 99999999"):
        await again(lab.slurm, "99999999")


async def test_the_script_is_there_while_it_runs_and_in_accounting(lab: Lab, eventually: Eventually) -> None:
    text = b"#!/bin/sh\n# Batch Script for nobody\nexit 0\n"
    job_id = await lab.submit(script=text)
    assert await live_script(lab.slurm, job_id) == text

    async def stored() -> bool:
        return await stored_script(lab.slurm, job_id) == text

    if await lab.slurm.version() >= (21, 8):
        await eventually(stored, 30, "accounting keeps no script")
    else:
        assert await stored_script(lab.slurm, job_id) is None
        assert "21.08 or newer does" in lab.slurm.lacks[NO_SCRIPTS]
    assert await live_script(lab.slurm, "99999999") is None
    assert await stored_script(lab.slurm, "99999999") is None


async def test_attaching_gets_into_the_job(lab: Lab, eventually: Eventually) -> None:
    array = await lab.submit("--array=4")
    await eventually(lambda: lab.runs(f"{array}_4"), 60)
    argv = attach_argv(await lab.job(f"{array}_4"))
    assert argv[-2:] == ("--pty", "bash")
    finished = await lab.runner.run((*argv[:-2], "printenv", "SLURM_JOB_ID"), timeout=60)
    assert finished.stdout.decode().strip() == str((await lab.job(f"{array}_4")).raw_id)


# --- steps and efficiency


async def test_steps_with_live_use_and_what_was_used_in_the_end(lab: Lab, eventually: Eventually) -> None:
    script = (
        b"#!/bin/bash\n"
        b"srun -n2 -J 'st|ep one' --mem=0 --overlap sleep 300 &\n"
        b"x=$(head -c 60000000 /dev/zero | tr '\\0' a)\nwhile [ ! -e stop ]; do sleep 0.2; done\n"
        b"scancel $SLURM_JOB_ID.0\nsleep 2\nexit 0\n"
    )
    job_id = await lab.submit("-p", "batch", "-n", "2", "--mem=2000", "-t", "30", script=script)
    await eventually(lambda: lab.runs(job_id), 60)

    async def used() -> Any:
        found = await live_steps(lab.slurm, int(job_id))
        batch = [step for step in found.steps if step.step == "batch" and (step.memory or 0) > 55]
        return found if batch and len(found.steps) == 2 else None

    found = await eventually(used, 60, "no use of the steps was told")
    one = next(step for step in found.steps if step.step == "0")
    assert (one.name, one.tasks) == ("st|ep one", 2)
    (lab.folder / "stop").touch()

    async def ended() -> Any:
        usage = await job_usage(lab.slurm, job_id)
        return usage if usage is not None and usage.end and usage.time_limit == 1800 else None

    usage = await eventually(ended, 60, "accounting does not tell of its end")
    told = efficiency(usage)
    assert usage.memory == 2000
    assert 55 < (told.memory_used or 0) < 200, usage
    assert any("used" in text for text in told.advice)
    assert any(text.startswith("asked for 0:30:00, took") for text in told.advice), (usage, told)
    assert await job_usage(lab.slurm, "99999999") is None
