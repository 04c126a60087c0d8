"""The queue as fixed-width records: whatever stands in a field, every other column stays right."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmtui.models.job import Job
from slurmtui.models.job_table import EMPTY, QUEUE, JobTable
from slurmtui.models.records import RecordError
from slurmtui.models.values import Special
from tests.records import record_of

DEFAULTS = {
    "id": "7", "raw_id": "7", "name": "train", "user": "alice", "account": "research", "partition": "gpu",
    "qos": "normal", "state": "RUNNING", "reason": "None", "nodes": "gpu1", "node_count": "1", "cpus": "8",
    "tres_per_node": "gres:gpu:a100:2", "tres_per_job": "N/A", "tres": "cpu=8,mem=16G,node=1,billing=8,gres/gpu=2",
    "elapsed": "18:02", "time_limit": "2:00:00", "submit": "1796023000", "start": "1796023039", "end": "1796030239",
    "priority": "4294901759", "comment": "(null)", "dependency": "(null)", "work_dir": "/home/alice",
}  # fmt: skip


def record(**fields: str | bytes) -> bytes:
    return record_of(QUEUE, DEFAULTS, **fields)


def table(*records: bytes) -> JobTable:
    return JobTable(b"".join(records))


def test_a_running_job_is_typed() -> None:
    job = table(record()).job(0)
    assert job == Job(
        id="7", raw_id=7, name="train", user="alice", account="research", partition="gpu", qos="normal",
        state="RUNNING", reason="", nodes="gpu1", node_count=1, cpus=8, memory="16G", gres="a100:2", elapsed=1082,
        time_limit=7200, submit=1796023000, start=1796023039, end=1796030239, priority=4294901759,
        work_dir="/home/alice",
    )  # fmt: skip


def test_a_waiting_job_has_an_estimate_and_no_elapsed_time() -> None:
    job = table(record(state="PENDING", elapsed="0:00", start="1999999999", nodes="")).job(0)
    assert job.elapsed is Special.UNKNOWN
    assert job.start == 1999999999
    assert job.nodes == ""


def test_parts_of_arrays_and_het_jobs() -> None:
    rest, task, component = (
        table(record(id=job_id, raw_id=raw)).job(0)
        for job_id, raw in (("7_[2-9,12%3]", "7"), ("7_1", "8"), ("9+1", "10"))
    )
    assert (rest.array_id, rest.array_tasks) == (7, "2-9,12%3")
    assert (task.array_id, task.array_tasks, task.raw_id) == (7, "1", 8)
    assert (component.het_id, component.het_offset, component.array_id) == (9, 1, None)


def test_a_name_with_newlines_and_separators_shifts_nothing() -> None:
    jobs = list(table(record(id="1", name="a\n|\x1f\x1b[31m,b\tc"), record(id="2")).jobs())
    assert [job.id for job in jobs] == ["1", "2"]
    assert jobs[0].name == "a\n|\x1f\x1b[31m,b\tc"
    assert jobs[0].user == jobs[1].user == "alice"


def test_text_is_fit_for_a_screen() -> None:
    shown = table(record(name="a\n\x1b[31m", reason="(null)", partition="None"))
    assert shown.text(0, "name") == "a␊␛[31m"
    assert shown.text(0, "reason") == ""
    assert shown.text(0, "partition") == "None"
    assert shown.text(0, "memory") == "16G"
    assert shown.text(0, "gres") == "a100:2"


def test_a_character_cut_in_the_middle_is_dropped_and_the_cut_is_known() -> None:
    long = table(record(name="名" * 40))
    assert long.cut(0, "name")
    assert long.text(0, "name") == "名" * 21
    assert not table(record(name="名")).cut(0, "name")


def test_a_cut_id_is_known_not_to_be_whole() -> None:
    tasks = ",".join(str(number) for number in range(1, 100, 3))
    cut = table(record(id=f"7_[{tasks}]"), record(id="8_[1,2,...]"), record(id="9_[1-5]"))
    assert [cut.id_is_whole(row) for row in range(3)] == [False, False, True]
    assert cut.job(0).array_id == 7


@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: b"warning\n" + data, lambda data: data + b"\n"])
def test_what_is_not_whole_records_is_refused(spoil: object) -> None:
    assert callable(spoil)
    with pytest.raises(RecordError):
        JobTable(spoil(record() + record()))


def test_as_many_bytes_as_records_have_but_shifted_is_refused() -> None:
    with pytest.raises(RecordError):
        JobTable((b"x" + record() + record())[: 2 * QUEUE.stride])


def test_equal_when_nothing_changed() -> None:
    assert table(record()) == table(record())
    assert table(record()) != table(record(state="PENDING"))
    assert len(EMPTY) == 0
    assert list(EMPTY.jobs()) == []


def test_a_column_may_be_padded_on_either_side() -> None:
    width = next(field.width for field in QUEUE.fields if field.name == "comment")
    both = table(record(comment=b"said".ljust(width)), record(comment=b"said".rjust(width)))
    assert [both.plain(row, "comment") for row in range(2)] == ["said", "said"]
    assert not both.cut(0, "comment")
    assert table(record(comment="x" * width)).cut(0, "comment")


def test_what_has_not_changed_is_kept_once() -> None:
    before = table(record(id="1"), record(id="2", name="other"))
    after = JobTable([record(id="2", name="other"), record(id="3", state="PENDING")], like=before)
    assert [job.id for job in after.jobs()] == ["2", "3"]
    shared = [part[0] is old[1] for part, old in zip(after.parts, before.parts, strict=True)]
    assert all(shared)
    assert before.part_of("user")[0] is before.part_of("user")[1]


def test_a_count_that_was_cut_is_left_out() -> None:
    width = next(field.width for field in QUEUE.fields if field.name == "tres")
    start = "cpu=8,mem=16G,node=1,billing=8,gres/gpu=2,gres/gpu:"
    cut = table(record(tres_per_node="N/A", tres=start + "a" * (width - len(start) - 2) + "=12"))
    assert cut.text(0, "gres") == "gpu:2"
    assert cut.text(0, "memory") == "16G"


def test_rows_are_found_by_id() -> None:
    queue = table(
        record(id="7_[2-9%3]", raw_id="7"),
        record(id="7_1", raw_id="8"),
        record(id="9+0", raw_id="9"),
        record(id="9+1", raw_id="10"),
        record(id="70", raw_id="70"),
    )
    assert queue.index("7_1") == 1
    assert queue.index("8") == 1
    assert queue.index("70") == 4
    assert queue.index("7_[2-9%3]") == 0
    assert queue.index("71") is None
    assert queue.index("") is None
    assert queue.rows_of("7") == [0, 1]
    assert queue.rows_of("7_5") == [0]
    assert queue.rows_of("7_1") == [1]
    assert queue.rows_of("7_10") == []
    assert queue.rows_of("9") == [2, 3]
    assert queue.rows_of("9+1") == [3]
    assert queue.rows_of("nonsense") == []


def test_a_part_is_found_by_the_number_it_calls_itself_by() -> None:
    found = table(record(id="7_1", raw_id="8"), record(id="7_[2-9]", raw_id="7"), record(id="9+1", raw_id="10"))
    assert found.rows_of("8") == [0]
    assert found.rows_of("10") == [2]
    assert found.rows_of("7") == [0, 1], "the array's number means all of it"


def test_marked_rows_are_found_by_their_comment_only() -> None:
    queue = table(
        record(comment="slurmtui:1234"), record(name="slurmtui:5678"), record(comment="my slurmtui:9"), record()
    )
    assert queue.marked() == [0]


FIELD_NAMES = [field.name for field in QUEUE.fields]
ANY_FIELDS = st.dictionaries(st.sampled_from(FIELD_NAMES), st.binary(max_size=80), max_size=len(FIELD_NAMES))


@given(st.lists(ANY_FIELDS, min_size=1, max_size=4))
@settings(deadline=None)
def test_any_bytes_in_any_field_leave_the_others_intact(rows: list[dict[str, bytes]]) -> None:
    queue = table(*(record(**row) for row in rows))
    assert len(queue) == len(rows)
    for number, row in enumerate(rows):
        for name in FIELD_NAMES:
            if name not in row:
                assert queue.plain(number, name) == DEFAULTS[name]
            shown = queue.text(number, name)
            assert not any(unicodedata.category(character) in {"Cc", "Cs"} for character in shown)
        assert queue.job(number).priority == (4294901759 if "priority" not in row else queue.value(number, "priority"))
    assert all(len(queue.values(name)) == len(rows) for name in FIELD_NAMES)
    queue.marked()
    queue.rows_of("7")


@given(st.text(max_size=70).filter(lambda text: not text.endswith(" ")))
@settings(deadline=None)
def test_a_name_that_fits_comes_back_as_it_was(name: str) -> None:
    raw = name.encode("utf-8", "replace")
    if len(raw) < 64:
        assert table(record(name=raw)).job(0).name == raw.decode()


def test_the_names_are_those_of_the_table_before_while_the_same_jobs_stand_in_the_same_rows() -> None:
    def table(ids: list[int], like: JobTable | None = None, state: str = "PENDING") -> JobTable:
        return JobTable([record(id=str(number), state=state) for number in ids], like=like)

    before = table([*range(1, 9)])
    assert table([*range(1, 9)], before, "RUNNING").names is before.names
    for ids in ([*range(1, 8)], [*range(1, 10)], [8, *range(2, 8), 1], [1, 2, 9, *range(4, 9)], []):
        after = table(ids, before)
        assert after.names is not before.names
        assert after.names.by_id == {str(number).encode(): row for row, number in enumerate(ids)}
        assert len(after.names.base_numbers) == len(after) == len(ids)
    assert [before.index(str(number)) for number in range(1, 10)] == [*range(8), None]


def test_what_squeue_does_not_cut_when_it_pads_on_the_left_is_padded_on_the_right() -> None:
    """Its ``_print_str`` is told not to cut these; a long list of tasks or nodes would make a record too long."""
    assert {"id", "nodes", "elapsed", "time_limit", "name"}.isdisjoint(QUEUE.padded_left)
