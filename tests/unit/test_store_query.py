"""The filter language, for the queue and for the runs."""

from __future__ import annotations

import time
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.flow_run import FlowRun, TaskCounts
from slurmtui.models.job import Job
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import RunRecord, RunSpec
from slurmtui.models.run_view import RunView
from slurmtui.models.verdict import Mood, Verdict
from slurmtui.store.query import Filter, QueryError, filter_jobs, filter_runs, matches
from tests.records import record_of


def row(number: int | str, **fields: object) -> bytes:
    usual = {"id": number, "raw_id": number, "user": "alice", "name": f"job-{number}", "state": "RUNNING"}
    return record_of(QUEUE, usual, **fields)


TABLE = JobTable(
    row(1, name="train-3f9a01", partition="gpu", cpus=8, tres="cpu=8,mem=16G,node=1,gres/gpu=1", elapsed="2:00:00",
        nodes="gpu1", time_limit="1-00:00:00", comment="slurmtui:3f9a0154")
    + row(2, name="sweep", partition="batch", state="PENDING", cpus=1, reason="Priority", tres="cpu=1,mem=500M",
          elapsed="0:00", submit=int(time.time() - 7200), time_limit="UNLIMITED")
    + row(3, name="Grüße 名前", partition="debug", user="bob", cpus=64, elapsed="5:00", nodes="n[1-3]", node_count=3)
    + row(12, name="a:b", partition="gpu2", state="COMPLETING", reason="(null)", elapsed="1-02:00:00")
)  # fmt: skip

JOBS: dict[str, set[str]] = {
    "": {"1", "2", "3", "12"},
    "TRAIN": {"1"},
    "gpu": {"1", "12"},
    "gpu train": {"1"},
    "!gpu": {"2", "3"},
    "grüße": {"3"},
    "GRÜSSE": {"3"},
    "名前": {"3"},
    '"Grüße 名前"': {"3"},
    '"e 名"': {"3"},
    "state:pd": {"2"},
    "st=r": {"1", "3"},
    "state:PEND,cg": {"2", "12"},
    "!state:r": {"2", "12"},
    "state!=r": {"2", "12"},
    "user:bob": {"3"},
    "user:alice,bob": {"1", "2", "3", "12"},
    "part:gpu": {"1", "12"},
    "part=gpu": {"1"},
    "name:sweep": {"2"},
    "id:1": {"1", "12"},
    "id=1": {"1"},
    "name:/^SWEEP$/": {"2"},
    "name:/e/ !name:/^sweep/": {"3"},
    "name!=/s.*p/": {"1", "3", "12"},
    "name=/swe/": set(),
    "name=/sw|sweep/": {"2"},
    "name:/^sw": {"2"},
    "name:/ü.*\\w 名/ cpus>8": {"3"},
    "name:/a/b": set(),
    'name:"/sweep/"': set(),
    "state:/^pend/": {"2"},
    "id:/^.2$/": {"12"},
    "nodes:/n2/": {"3"},
    "run:/^3f/": {"1"},
    "part:/^gpu$/": {"1"},
    "dir:/home/": set(),
    "run:3f9a": {"1"},
    "node:gpu1": {"1"},
    "node=n2": {"3"},
    "nodes:n[1": {"3"},
    "limit=unlimited": {"2"},
    "why:prio": {"2"},
    "cpus>8": {"3"},
    "cpus>=8": {"1", "3"},
    "cpus<8": {"2", "12"},
    "cpus=8": {"1"},
    "gpus>0": {"1"},
    "mem>1G": {"1"},
    "mem<=500M": {"2"},
    "nodes>1": {"3"},
    "time>1h": {"1", "12"},
    "time>1d": {"12"},
    "time>60": {"1", "12"},
    "time<10m": {"3"},
    "left<23h": {"1"},
    "limit>2d": {"2"},
    "wait>1h": {"2"},
    "/^train-[0-9a-f]+$/": {"1"},
    "/gpu1|n\\[1/": {"1", "3"},
    "!/job|sweep/": {"1", "3", "12"},
    "a:b": {"12"},
    "null": set(),
    "user:": {"1", "2", "3", "12"},
    "!user:": {"1", "2", "3", "12"},
    "cpus>": {"1", "2", "3", "12"},
    "!mem>= train": {"1"},
    "st=pd gpus>0 !debug": set(),
    '!"': {"1", "2", "3", "12"},
}


@pytest.mark.parametrize("text", JOBS)
def test_filter_of_jobs(text: str) -> None:
    found = filter_jobs(TABLE, text)
    assert {TABLE.text(row_number, "id") for row_number in found} == JOBS[text]
    assert found == sorted(found)


def test_only_the_users_own_jobs_when_a_user_is_given() -> None:
    assert [TABLE.text(number, "id") for number in filter_jobs(TABLE, "", "bob")] == ["3"]
    assert filter_jobs(TABLE, "gpu", "bob") == []


def test_a_task_that_waits_in_the_rest_of_its_array_is_found_by_its_id() -> None:
    table = JobTable(row(7) + row("40_[10-299%5]", state="PENDING"))
    assert filter_jobs(table, "id=40_200") == [1]
    assert filter_jobs(table, "id=40_5") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("44_12", {"44_[0-199%3]"}),
        ("id:44_12", {"44_[0-199%3]"}),
        ("id:44_1", {"44_[0-199%3]", "44_1000"}),
        ("id:44_199", {"44_[0-199%3]"}),
        ("44_200", set()),
        ("44_012", set()),
        ("44_0", {"44_[0-199%3]"}),
        ("4_12", {"44_[0-199%3]"}),
        ("id:4_12", set()),
        ("144_", {"144_[20-29:3,300]"}),
        ("144_3", {"144_[20-29:3,300]"}),
        ("144_21", set()),
        ("144_23", {"144_[20-29:3,300]"}),
        ("/^44_1[0-9]$/", {"44_[0-199%3]"}),
        ("/^44_2[0-9][0-9]$/", set()),
        ("id:/^44_1[0-9]$/", {"44_[0-199%3]"}),
        ("id:44 !44_12", {"44_[0-199%3]", "44_1000"}),
    ],
)
def test_a_task_is_found_in_the_rest_of_its_array_by_a_part_of_its_id(text: str, found: set[str]) -> None:
    ids = ("44_[0-199%3]", "44_1000", "144_[20-29:3,300]", "7")
    table = JobTable(b"".join(row(job_id, raw_id=7, name="x", state="PENDING") for job_id in ids))
    assert {table.text(number, "id") for number in filter_jobs(table, text)} == found


def test_the_tasks_of_huge_arrays_are_found_by_number_in_a_moment_and_by_no_regular_expression() -> None:
    table = JobTable(row("8_[0-99999]", state="PENDING") + row("9_[0-99999:2]", state="PENDING"))
    started = time.thread_time()
    assert filter_jobs(table, "id:9_77778") == [1]
    assert filter_jobs(table, "/_7777$/") == []
    assert time.thread_time() - started < 0.5


def test_jobs_are_found_by_the_name_of_their_run() -> None:
    names = {"2": "brave-otter 1111"}
    assert [TABLE.text(number, "id") for number in filter_jobs(TABLE, "run:otter", None, names)] == ["2"]
    assert [TABLE.text(number, "id") for number in filter_jobs(TABLE, "OTTER", None, names)] == ["2"]


WRONG = {
    "/[/": "is no regular expression",
    "cpus:/8/": "'/8/' is no number",
    "stat:pd": "did you mean 'state'?",
    "cpsu>3": "did you mean 'cpu'?",
    "user>3": "user is no number",
    "cpus>many": "'many' is no number (such as 8)",
    "mem>lots": "no memory (such as 4G)",
    "time>soon": "no time (such as 2h)",
    "cpus>nan": "no number",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_filter_is_named(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        filter_jobs(TABLE, text)
    assert WRONG[text] in str(caught.value)
    assert text.strip("/") in str(caught.value)


def test_a_wrong_regular_expression_of_a_field_is_named() -> None:
    with pytest.raises(QueryError, match=r"/\[/ is no regular expression"):
        filter_jobs(TABLE, "name:/[/")


def test_the_last_good_filter_stays_in_force_while_a_wrong_one_is_typed() -> None:
    typed = Filter("jobs")
    assert typed.set("sweep")
    assert not typed.set("/sw[/")
    assert "no regular expression" in typed.error
    assert typed.text == "sweep"
    assert [TABLE.text(number, "id") for number in typed.jobs(TABLE)] == ["2"]
    assert typed.set("/sw[e]/")
    assert typed.error == ""


def test_a_filter_takes_the_fields_of_its_list() -> None:
    assert Filter("jobs").set("cpus>3")
    assert not Filter("runs").set("cpus>3")
    assert Filter("runs").set("tasks>3")
    assert Filter().set("cpus>3")
    assert Filter().set("tasks>3")


def view(
    name: str, flow: str = "train", state: str = "RUNNING", kind: str = "running", text: str = "running, 3 workers"
) -> RunView:
    run = FlowRun(id=f"{len(name):08x}-1", name=name, flow_name=flow, state_type=state, start=time.time() - 3600)
    spec = RunSpec(
        id=run.id, name=name, flow_name=flow, entrypoint="x", user="me", profile=Profile(name="big", partition="gpu")
    )
    return RunView(
        run=run,
        verdict=Verdict(kind=kind, text=text, mood=Mood.RUNNING),
        record=RunRecord(spec=spec, folder="/x"),
        jobs=(Job(id="4711", raw_id=4711, name="train-1", partition="gpu"),),
        tasks=TaskCounts(completed=5, failed=2),
    )


VIEWS = (view("brave-otter"), view("odd-lynx", "sweep", "FAILED", "lost", "lost: no jobs left"))
RUNS = {
    "": {"brave-otter", "odd-lynx"},
    "otter": {"brave-otter"},
    "LOST": {"odd-lynx"},
    "!lost": {"brave-otter"},
    "4711": {"brave-otter", "odd-lynx"},
    "state:failed": {"odd-lynx"},
    "state=lost": {"odd-lynx"},
    "flow:sweep": {"odd-lynx"},
    "run:otter": {"brave-otter"},
    "profile:big part:gpu user:me": {"brave-otter", "odd-lynx"},
    "id:0000000b": {"brave-otter"},
    "job:47": {"brave-otter", "odd-lynx"},
    "failed>1": {"brave-otter", "odd-lynx"},
    "done>=6": set(),
    "time>30m": {"brave-otter", "odd-lynx"},
    "/^odd/": {"odd-lynx"},
    "name:/^odd/": {"odd-lynx"},
    "flow:/^odd/": set(),
    "state:/^fail/": {"odd-lynx"},
    "id:/^0+b/": {"brave-otter"},
}


@pytest.mark.parametrize("text", RUNS)
def test_filter_of_runs(text: str) -> None:
    assert {found.run.name for found in filter_runs(VIEWS, text)} == RUNS[text]
    assert matches(VIEWS[0], text) == ("brave-otter" in RUNS[text])


@given(
    st.text(max_size=40) | st.text(alphabet='ab !/":=<>[]()*\\,1G', max_size=30),
    st.sampled_from(["jobs", "runs", None]),
)
def test_whatever_is_typed_is_answered_or_refused_with_a_sentence(
    text: str, kind: Literal["jobs", "runs"] | None
) -> None:
    typed = Filter(kind)
    understood = typed.set(text)
    assert understood is not bool(typed.error.strip())
    assert len(typed.jobs(TABLE)) <= len(TABLE)
    assert len(typed.runs(VIEWS)) <= len(VIEWS)


@given(st.text(alphabet=st.characters(blacklist_characters='"/!:=<>', blacklist_categories=("Z", "C")), min_size=1))
def test_a_word_and_its_negation_part_the_queue(word: str) -> None:
    with_it, without = filter_jobs(TABLE, word), filter_jobs(TABLE, f"!{word}")
    assert sorted(with_it + without) == list(range(len(TABLE)))


@given(st.sampled_from(["train", "PENDING", "gpu", "alice", "名前", "Priority"]), st.integers(0, 5), st.integers(1, 6))
def test_every_part_of_a_shown_text_finds_its_row(text: str, start: int, length: int) -> None:
    part = text[start : start + length]
    rows = {number for number in range(len(TABLE)) if any(
        text in TABLE.text(number, name) for name in ("name", "state", "partition", "user", "reason")
    )}  # fmt: skip
    if part:
        assert rows <= set(filter_jobs(TABLE, f'"{part}"'))


def test_a_hundred_thousand_jobs_are_filtered_in_moments() -> None:
    table = JobTable(row(7, user="bob", partition="debug") * 100_000 + row(8, name="needle"))
    for text in ("needle", "state:r name:needle", "/needle/"):
        started = time.thread_time()
        assert filter_jobs(table, text) == [100_000]
        assert time.thread_time() - started < 1.5


def test_an_expression_finds_what_is_beyond_ascii_by_its_other_cases() -> None:
    table = JobTable(row(7, name="300\N{KELVIN SIGN}-fit") + row(8, name="300k-fit") + row(9, name="300x-fit"))
    assert filter_jobs(table, "/300k-f.t/") == [0, 1]
    assert filter_jobs(table, "name:/^300K-/") == [0, 1]
    assert filter_jobs(table, "name=/300k-fit|nothing/") == [0, 1]
