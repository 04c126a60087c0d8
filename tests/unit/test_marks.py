"""Which jobs are a run's: by its own marks, never by a name that any flow may use."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.job import Job
from slurmtui.models.marks import Marks, comment, job_name, run_id_of
from slurmtui.models.run_record import LaunchRecord, RunRecord, RunSpec, Submission

RUN = "0f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
OTHER = "1f8b6f0e-3a52-4c6f-9d0e-0123456789ab"
NOW = 1_800_000_000.0


def marks() -> Marks:
    spec = RunSpec(id=RUN, name="x", flow_name="train it", entrypoint="/a.py:f", job_name=job_name("train it", RUN))
    submissions = (Submission(time=NOW, code=0, job_id="100"), Submission(time=NOW, code=1, said="no"))
    launch = LaunchRecord(host="h", time=NOW, job_id="90")
    return Marks.of(spec, RunRecord(spec=spec, folder="", submissions=submissions, launch=launch))


@pytest.mark.parametrize(
    ("job", "tied"),
    [
        (Job(id="1", raw_id=1, comment=comment(RUN)), True),
        (Job(id="1", raw_id=1, name="train-it-0f8b6f0e"), True),
        (Job(id="100", raw_id=100, name="dask-worker", submit=NOW + 2), True),
        (Job(id="100", raw_id=100, name="dask-worker"), True),
        (Job(id="100_3", raw_id=107, array_id=100, name="mine", submit=NOW), True),
        (Job(id="90", raw_id=90, submit=NOW), True),
        # the same number, a month later: SLURM counts from the start again, and a new sandbox does
        (Job(id="100", raw_id=100, name="dask-worker", submit=NOW + 30 * 86400), False),
        (Job(id="100", raw_id=100, comment=comment(OTHER), submit=NOW), False),
        (Job(id="1", raw_id=1, name="train-it-0f8b6f0e", comment=comment(OTHER)), False),
        (Job(id="1", raw_id=1, name="dask-worker"), False),
        (Job(id="1", raw_id=1, name="train it"), False),
        (Job(id="1", raw_id=1, comment=f"see slurmtui:{RUN}"), False),
    ],
)
def test_a_job_is_tied_by_any_own_mark_and_never_against_another_runs(job: Job, *, tied: bool) -> None:
    assert marks().tied(job) is tied


def test_a_run_without_a_folder_is_tied_by_name_and_comment() -> None:
    alone = Marks(RUN, {job_name("train", RUN)})
    assert alone.tied(Job(id="1", raw_id=1, name="train-0f8b6f0e"))
    assert not alone.tied(Job(id="100", raw_id=100, submit=NOW))
    assert not Marks(RUN, [""]).tied(Job(id="1", raw_id=1, name=""))


@given(st.text(max_size=120))
def test_a_name_is_safe_short_and_ends_in_the_runs_id(flow: str) -> None:
    name = job_name(flow, RUN)
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*-0f8b6f0e", name)
    assert len(name) < 64, "squeue would cut it, and a cut mark ties nothing"


def test_the_comment_names_the_run() -> None:
    assert run_id_of(comment(RUN)) == RUN
    assert run_id_of("something else") is None
