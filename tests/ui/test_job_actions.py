"""Acting on jobs as a person does it: what is asked, what is sent, what is told afterwards."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from slurmtui.atomic import write_private
from slurmtui.control.jobs_resubmit import Again
from slurmtui.models.efficiency import StepUsage, Usage
from slurmtui.models.job import Job, JobDetail
from slurmtui.models.job_outcome import Outcome
from slurmtui.models.job_request import JobRequest
from slurmtui.models.job_step import LiveStep
from slurmtui.models.job_values import JobValues
from slurmtui.models.job_why import Factor, Waiting, WhyFacts
from slurmtui.models.node import parse_node_state
from slurmtui.models.partition_rules import NodeKind, PartitionRules
from slurmtui.sources.slurm.steps import Steps
from slurmtui.store.snapshot import Part, Snapshot
from slurmtui.views import dialogs
from slurmtui.widgets.agreement import DEAF_SECONDS
from tests.ui.conftest import job_line, job_table
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from textual.pilot import Pilot

    from slurmtui.control.jobs_many import Command
    from tests.ui.conftest import Make

WIDE = (150, 40)
LINES = [
    job_line(id="11", raw_id="11", name="train", elapsed="2:00:00", time_limit="4:00:00", nodes="gpu1",
             tres_per_node="gres:gpu:a100:4", tres="cpu=8,mem=16G,node=1,gres/gpu=4"),
    job_line(id="12", raw_id="12", name="wait", state="PENDING", reason="Resources", time_limit="4:00:00"),
    job_line(id="13", raw_id="13", name="held", state="PENDING", reason="JobHeldUser", time_limit="4:00:00"),
    job_line(id="14", raw_id="14", name="after", state="PENDING", reason="Dependency",
             dependency="afterok:11(unfulfilled)"),
    job_line(id="15", raw_id="15", name="bobs", user="bob", nodes="n1", elapsed="10:00"),
]  # fmt: skip


class Sent:
    """What was run, instead of SLURM; ids named in ``refuse`` fail with these words."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.refuse: dict[str, Outcome] = {}

    async def act(self, _: Any, command: Command, ids: Sequence[str], progress: Any = None) -> dict[str, Outcome]:
        self.lines.append(" ".join(command.line(list(ids))))
        if progress is not None:
            progress(len(ids))
        return {job_id: self.refuse.get(job_id, Outcome(job_id)) for job_id in ids}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    made = Sent()
    for module in ("jobs_doing", "jobs_undo", "jobs_edit"):
        monkeypatch.setattr(f"slurmtui.actions.{module}.act", made.act)
    return made


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: Any) -> None:
        return None

    monkeypatch.setattr("slurmtui.sources.slurm.client.Slurm.job_detail", nothing)


def picture(lines: Sequence[bytes] = LINES) -> Snapshot:
    return Snapshot(user="alice", everyone=True, queue=Part(job_table(lines), at=time.time()))


async def ready(pilot: Pilot[Any], *keys: str) -> None:
    """On the list of jobs, everybody's, with the cursor on the first."""
    await see(pilot, "train")
    await pilot.press("a")
    await see(pilot, "bobs")
    await pilot.press("g", *keys)


async def agree(pilot: Pilot[Any], *keys: str) -> None:
    """Answer a question, when it listens."""
    await asyncio.sleep(DEAF_SECONDS + 0.05)
    await pilot.press(*keys)


async def test_many_targets_want_the_count_typed(make_console: Make, sent: Sent) -> None:
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "space", "space", "X")
        text = await see(pilot, "Cancel 2 jobs")
        assert "1 running, 1 pending: 11 12" in text
        assert "lost: what 1 running job did in 2.0 hours, 8.0 GPU-hours" in text
        await agree(pilot, "y", "enter")
        assert sent.lines == []
        await pilot.press("2", "enter")
        await see(pilot, "cancelled: 11 12")
        assert sent.lines == ["scancel -v 11 12"]
        assert not pilot.app.screen.table.marks  # type: ignore[attr-defined]


async def test_each_id_has_its_result_and_failures_stay_marked(make_console: Make, sent: Sent) -> None:
    sent.refuse = {
        "12": Outcome("12", "gone", "Invalid job id specified"),
        "15": Outcome("15", "failed", "Access/permission denied"),
    }
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "asterisk", "X")
        text = await see(pilot, "Cancel 5 jobs")
        assert "jobs of other users: bob (1)" in text
        await agree(pilot, "5", "enter")
        text = await see(pilot, "1 of 5 not cancelled")
        assert "Access/permission denied" in text
        assert "had ended meanwhile" in text
        assert text.index("Access/permission denied") < text.rindex("had ended meanwhile")  # it is told above as well
        await pilot.press("escape")
        assert pilot.app.screen.table.marks == {"15"}  # type: ignore[attr-defined]


async def test_somebody_elses_job_wants_the_count_typed_even_when_it_is_one(make_console: Make, sent: Sent) -> None:
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "G", "X")
        await see(pilot, "jobs of other users: bob (1)")
        await agree(pilot, "y")
        assert sent.lines == []
        await pilot.press("backspace", "1", "enter")
        await see(pilot, "cancelled: 15")


async def test_hold_is_undone_by_release(make_console: Make, sent: Sent) -> None:
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("U")
        await see(pilot, "Nothing was done")
        await pilot.press("j", "H")
        await see(pilot, "scontrol uhold 12")
        await agree(pilot, "y")
        await see(pilot, "held: 12")
        await pilot.press("U")
        await see(pilot, "scontrol release 12")
        await agree(pilot, "y")
        await see(pilot, "Undone: hold job 12")
        assert sent.lines == ["scontrol uhold 12", "scontrol release 12"]
        await pilot.press("U")
        await see(pilot, "Nothing was done")


async def test_a_release_is_undone_for_what_waits_still_alone(
    make_console: Make, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = {"13": "RUNNING"}

    async def jobs_by_id(_: Any, ids: Sequence[str]) -> dict[str, Job]:
        return {job_id: Job(id=job_id, raw_id=int(job_id), state=states[job_id]) for job_id in ids}

    monkeypatch.setattr("slurmtui.sources.slurm.client.Slurm.jobs_by_id", jobs_by_id)
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "j", "j")
        for state, words in (("RUNNING", "Not undone: release job 13: it has started meanwhile"),
                             ("PENDING", "Undone: release job 13")):  # fmt: skip
            states["13"] = state
            await pilot.press("H")
            await see(pilot, "Release job 13")
            done_before = pilot.app.journal.last  # type: ignore[attr-defined]
            await agree(pilot, "y")
            await see(pilot, "released: 13")
            await until(pilot, lambda before=done_before: pilot.app.journal.last not in (None, before))  # type: ignore[misc,attr-defined]
            await pilot.press("U")
            await see(pilot, "scontrol uhold 13")
            await agree(pilot, "y")
            await see(pilot, words)
        assert sent.lines == ["scontrol release 13", "scontrol release 13", "scontrol uhold 13"]


async def test_a_cancel_says_that_it_has_no_way_back(make_console: Make, sent: Sent) -> None:
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "j", "X")
        await see(pilot, "Cancel job 12")
        await agree(pilot, "y")
        await see(pilot, "cancelled: 12")
        await pilot.press("U")
        await see(pilot, "(cancel job 12) cannot be undone: a")
        assert len(sent.lines) == 1


async def test_held_and_free_jobs_together_are_asked_about(make_console: Make, sent: Sent) -> None:
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "j", "space", "space", "H")
        await see(pilot, "Some of 2 jobs are held")
        await pilot.press("enter")
        await see(pilot, "Release job 13")
        await agree(pilot, "y")
        await see(pilot, "released: 13")
        assert sent.lines == ["scontrol release 13"]


async def test_keys_say_why_they_do_not_fit_the_state(make_console: Make) -> None:
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "H")
        await see(pilot, "only waiting jobs are held")
        await pilot.press("j", "S")
        await see(pilot, "only running jobs get signals")
        await pilot.press("Q")
        await see(pilot, "Job 12 waits already")
        await pilot.press("A")
        await see(pilot, "only a running job is attached to")
        await pilot.press("G", "A")
        await see(pilot, "SLURM lets nobody else into it")
        await pilot.press("b")
        await see(pilot, "Job 15 does not wait: it is running")


async def test_a_signal_is_picked_and_so_is_who_gets_it(make_console: Make, sent: Sent) -> None:
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "S")
        await see(pilot, "Signal for job 11")
        await pilot.press("enter")
        await see(pilot, "USR1: who gets it")
        await pilot.press("j", "enter")
        await see(pilot, "scancel -s USR1 --batch 11")
        await agree(pilot, "y")
        await see(pilot, "sent USR1: 11")
        assert sent.lines == ["scancel -s USR1 --batch 11"]


async def test_an_edit_shows_what_is_and_sends_what_changed(
    make_console: Make, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def values(_: Any, ids: Sequence[str]) -> dict[str, JobValues]:
        return dict.fromkeys(ids, JobValues(time_limit=14400, partition="gpu", qos="normal", nice=0, priority=100))

    monkeypatch.setattr("slurmtui.actions.jobs_edit.values_of", values)
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "j", "E")
        text = await see(pilot, "Edit job 12")
        assert "4:00:00" in text
        assert "tasks at once" not in text
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("ctrl+u", *"soon", "enter")
        await see(pilot, "'soon' is no duration")
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("ctrl+u", *"2:00:00", "enter")
        await see(pilot, "scontrol update JobId=12 TimeLimit=2:00:00")
        await see(pilot, "can often not be raised again")
        await agree(pilot, "y")
        await see(pilot, "changed (TimeLimit=2:00:00): 12")
        await pilot.press("U")
        await see(pilot, "scontrol update JobId=12 TimeLimit=4:00:00")
        await agree(pilot, "y")
        await see(pilot, "Undone")
        assert sent.lines[-1] == "scontrol update JobId=12 TimeLimit=4:00:00"


async def test_jobs_that_another_nice_lets_go_are_held_again_as_they_were(
    make_console: Make, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def values(_: Any, ids: Sequence[str]) -> dict[str, JobValues]:
        return {job_id: JobValues(nice=0, priority=7 if job_id == "30" else 0) for job_id in ids}

    async def another_nice(*_: Any, **__: Any) -> dict[str, str]:
        return {"Nice": "5"}

    async def jobs_by_id(_: Any, ids: Sequence[str]) -> dict[str, Job]:
        return {job_id: Job(id=job_id, raw_id=int(job_id), state="PENDING") for job_id in ids}

    monkeypatch.setattr("slurmtui.sources.slurm.client.Slurm.jobs_by_id", jobs_by_id)
    monkeypatch.setattr("slurmtui.actions.jobs_edit.values_of", values)
    monkeypatch.setattr("slurmtui.actions.jobs_edit._ask_values", another_nice)
    told = [("30", "alice", "Priority"), ("31", "alice", "JobHeldUser"), ("32", "alice", "JobHeldAdmin"),
            ("33", "bob", "JobHeldUser"), ("34", "bob", "JobHeldAdmin")]  # fmt: skip
    lines = [job_line(id=one, raw_id=one, user=user, state="PENDING", reason=why) for one, user, why in told]
    async with make_console(picture(lines), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "32")
        await pilot.press("a")
        await see(pilot, "34")
        await pilot.press("asterisk", "E")
        await see(pilot, "scontrol uhold 31 33", "scontrol hold 32 34", "held again at once")
        await agree(pilot, "5", "enter")
        await see(pilot, "changed (Nice=5)")
        holds = ["scontrol uhold 31 33", "scontrol hold 32 34"]
        assert sent.lines == ["scontrol update JobId=30,31,32,33,34 Nice=5", *holds]
        await pilot.press("U")
        await see(pilot, "scontrol uhold 31 33", "scontrol hold 32 34")
        await agree(pilot, "5", "enter")
        await see(pilot, "Undone")
        assert sent.lines[3:] == ["scontrol update JobId=30,31,32,33,34 Nice=0", *holds]


async def test_nothing_is_sent_when_nothing_was_changed(
    make_console: Make, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def values(_: Any, ids: Sequence[str]) -> dict[str, JobValues]:
        return dict.fromkeys(ids, JobValues(time_limit=14400, nice=0))

    monkeypatch.setattr("slurmtui.actions.jobs_edit.values_of", values)
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "j", "E")
        await see(pilot, "Edit job 12")
        await agree(pilot, "enter")
        await see(pilot, "Nothing was changed")
        assert sent.lines == []


async def test_a_copy_goes_to_the_terminal_and_into_a_file(make_console: Make, tmp_path: Path) -> None:
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "y")
        text = await see(pilot, "Copy of job 11")
        assert "ssh gpu1" in text
        await pilot.press("enter")
        await see(pilot, "id sent to the terminal: 11")
        assert (tmp_path / "state" / "copied.txt").read_text() == "11"
        assert pilot.app.clipboard == "11"
        await pilot.press("y")
        await see(pilot, "Copy of job 11")
        await pilot.press("G", "enter")
        await see(pilot, "JSON sent to the terminal")
        assert json.loads((tmp_path / "state" / "copied.txt").read_text())["name"] == "train"


async def test_copies_are_written_in_order_beside_the_keys_and_also_when_the_console_is_left(
    make_console: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_write = threading.Event(), threading.Event()

    def write(path: Path, content: bytes) -> None:
        assert threading.current_thread() is not threading.main_thread()
        begun.set()
        may_write.wait(60)
        write_private(path, content)

    monkeypatch.setattr(dialogs, "write_private", write)
    console = make_console(picture(), view="jobs")
    async with console.run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train")
        console.dialogs.copy("first", "id")
        console.dialogs.copy("second", "id")
        assert console.clipboard == "second"
        await until(pilot, begun.is_set)
        may_write.set()
        await see(pilot, "id sent to the terminal: second")
        assert (tmp_path / "state" / "copied.txt").read_text() == "second"
        begun.clear()
        may_write.clear()
        console.dialogs.copy("third", "id")
        await until(pilot, begun.is_set)
        console.dialogs.copy("fourth", "id")
    may_write.set()
    await asyncio.get_running_loop().shutdown_default_executor()  # as asyncio does at the end of the console
    assert (tmp_path / "state" / "copied.txt").read_text() == "fourth"


async def test_attach_shows_the_lines_where_no_terminal_can_be_lent(make_console: Make) -> None:
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "A")
        await see(pilot, "srun --jobid=11 --overlap -N1 -n1 --pty bash")
        await agree(pilot, "y")
        text = await see(pilot, "no terminal to lend")
        assert "ssh gpu1" in text


async def test_a_range_is_marked_from_one_end_to_the_other(make_console: Make) -> None:
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "j", "v", "j", "j", "v")
        await see(pilot, "3 marked")
        assert pilot.app.screen.table.marks == {"12", "13", "14"}  # type: ignore[attr-defined]
        await pilot.press("asterisk")
        await see(pilot, "5 marked")
        await pilot.press("asterisk")
        assert not pilot.app.screen.table.marks  # type: ignore[attr-defined]


async def test_marking_all_takes_only_the_tasks_that_a_filter_shows(make_console: Make) -> None:
    lines = [
        job_line(id="50_[2-4%2]", raw_id="50", name="sweep", state="PENDING", reason="JobArrayTaskLimit"),
        job_line(id="50_0", raw_id="51", name="sweep", nodes="n1"),
        job_line(id="50_1", raw_id="52", name="sweep", nodes="n1"),
    ]
    async with make_console(picture(lines), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "sweep")
        await pilot.press("slash", *"state:pd", "enter", "asterisk", "X")
        text = await see(pilot, "Cancel 3 jobs")
        assert "scancel -v 50_[2-4]" in text
        assert "of an array these tasks only" in text


def why_facts_of(job: Any) -> WhyFacts:
    return WhyFacts(
        job=job,
        now=1000.0,
        request=JobRequest(partitions=("gpu",), nodes=1, cpus=8, cpus_per_node=8, time_limit=14400),
        rules={"gpu": PartitionRules(name="gpu", state="UP", max_time=86400, total_nodes=2, total_cpus=8)},
        kinds=(NodeKind(partition="gpu", state=parse_node_state("mixed"), count=2, cpus=4, names="gpu[1-2]"),),
        line=(Waiting(id="12", raw_id=12, user="alice", priority=10),),
        factors=(Factor("fair-share", 7.0, 10.0),),
        missing={"limits": "scontrol: [red]no\x1b permission"},
    )


async def test_the_page_says_that_a_job_can_never_start(make_console: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    async def facts(_: Any, job: Any) -> WhyFacts:
        return why_facts_of(job)

    monkeypatch.setattr("slurmtui.views.why_page.why_facts", facts)
    async with make_console(picture(), view="jobs").run_test(size=(80, 24), notifications=True) as pilot:
        await ready(pilot, "j", "b")
        await see(pilot, "why 12 waits")
        text = await see(pilot, "no, not as it is")
        flat = " ".join(text.replace("│", " ").split())
        assert "asks for 8 CPUs on a node; the largest node of gpu has 4" in flat
        await pilot.press("G", *["j"] * 20)
        await see(pilot, "[red]no␛ permission")
        assert all(len(line) <= 80 for line in text.splitlines())
        await pilot.press("X")
        await see(pilot, "Cancel job 12")


def detail_of(job_id: str) -> JobDetail:
    fields = (("JobId", job_id), ("NumNodes", "1"), ("NumCPUs", "8"), ("TimeLimit", "04:00:00"), ("BatchFlag", "1"),
              ("Partition", "gpu"), ("MinMemoryNode", "16G"), ("Dependency", "(null)"))  # fmt: skip
    return JobDetail(
        id=job_id, name="train", user="alice", state="RUNNING", command="/home/alice/job.sh", work_dir="/home/alice",
        stdout="/home/alice/out", stderr="/home/alice/out", fields=fields,
    )  # fmt: skip


async def test_the_detail_tells_of_steps_and_of_who_waits_for_it(
    make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    async def detail(_: Any, job_id: str) -> JobDetail:
        return detail_of(job_id)

    async def steps(_: Any, raw_id: int) -> Steps:
        asked.append(raw_id)
        step = LiveStep(
            id="11.0", name="x[/y]", tasks=4, elapsed=100, cpu=250, memory=9216, memory_task=3000, node="gpu1"
        )
        return Steps((step,))

    monkeypatch.setattr("slurmtui.sources.slurm.client.Slurm.job_detail", detail)
    monkeypatch.setattr("slurmtui.views.job_feed.live_steps", steps)
    monkeypatch.setattr("slurmtui.views.job_feed.AGAIN_SECONDS", 3600.0)
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "d")
        text = await see(pilot, "9 GB of 16 GB (56%) memory, 2.5 of 8 CPUs busy")
        assert "x[/y]" in text
        assert "waited for by" in text
        assert "afterok 14 after pending" in text
        store = pilot.app.store  # type: ignore[attr-defined]
        for _ in range(5):
            store.paint(msgspec.structs.replace(store.snapshot, since=1.0))
            await pilot.pause(0.05)
        monkeypatch.setattr("slurmtui.views.job_feed.AGAIN_SECONDS", 0.0)
        store.paint(msgspec.structs.replace(store.snapshot, since=1.0))
        await until(pilot, lambda: len(asked) > 1)
        assert asked == [11, 11], "sstat is asked again when its time has come, not with every picture"


async def test_a_cursor_that_passes_by_asks_nothing(make_console: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def detail(_: Any, job_id: str) -> JobDetail:
        asked.append(job_id)
        return detail_of(job_id)

    monkeypatch.setattr("slurmtui.sources.slurm.client.Slurm.job_detail", detail)
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        monkeypatch.setattr("slurmtui.views.job_feed.PAUSE_SECONDS", 3600.0)  # however long the keys take
        await ready(pilot, "d", "j", "j")
        monkeypatch.setattr("slurmtui.views.job_feed.PAUSE_SECONDS", 0.0)
        await pilot.press("j")
        await see(pilot, "/home/alice/job.sh")
        assert asked == ["14"]


async def test_the_detail_of_an_ended_job_gives_advice(make_console: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    async def usage(*_: Any) -> Usage:
        step = StepUsage(step="batch", memory=9216.0, cpu=3600)
        return Usage(id="11", state="COMPLETED", exit_code="0:0", elapsed=3600, time_limit=360000, cpus=8, cpu=3600,
                     memory=65536.0, gpus=4, steps=(step,))  # fmt: skip

    monkeypatch.setattr("slurmtui.views.job_feed.job_usage", usage)
    lines = [job_line(id="11", raw_id="11", name="train", state="COMPLETED")]
    async with make_console(picture(lines), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await see(pilot, "train")
        await pilot.press("d")
        text = await see(pilot, "asked for 64 GB, used 9 GB: 12 GB would do")
        assert "4.0 GPU-hours" in text
        assert "asked for 8 CPUs, kept 1.0 busy" in text


async def test_read_only_really_removes_every_touch(make_console: Make, sent: Sent) -> None:
    app = make_console(picture(), view="jobs", read_only=True)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot)
        for key in ("X", "S", "H", "Q", "E", "R", "A", "U"):
            await pilot.press(key)
            await see(pilot, "read-only")
        assert sent.lines == []


async def test_submitting_again_says_which_file_is_shared_and_submits_the_real_name(
    make_console: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"job-name": "esc\x1b[31mred", "time": "1:00", "output": "/x.out", "hold": "", "open-mode": "append"}
    submitted: list[list[str]] = []

    async def again(_: Any, job_id: str, *, tasks: str = "") -> Again:
        return Again(id=job_id, script=b"#!/bin/sh\n" if not tasks else b"", origin="kept", options=options)

    async def submit_again(_: Any, job: Again, argv: Sequence[str]) -> str:
        submitted.append([job.id, *argv])
        return "77"

    monkeypatch.setattr("slurmtui.actions.jobs_resubmit.again", again)
    monkeypatch.setattr("slurmtui.actions.jobs_resubmit.submit_again", submit_again)
    async with make_console(picture(), view="jobs").run_test(size=WIDE, notifications=True) as pilot:
        await ready(pilot, "R")
        assert "job-name: as it was" in await see(pilot, "Submit again")
        await asyncio.sleep(DEAF_SECONDS)
        await pilot.press("enter")
        text = await see(pilot, "Submit job 11 again")
        assert "/x.out is job 11's file too: what the new job writes is added" in text
        assert "held, as before: 11" in text
        assert "--job-name=esc␛[31mred" in text
        await agree(pilot, "y")
        await see(pilot, "submitted: 11 as 77")
    (argv,) = submitted
    assert sorted(argv[1:]) == sorted(
        ["--job-name=esc\x1b[31mred", "--time=1:00", "--output=/x.out", "--hold", "--open-mode=append"]
    )
