"""One job in full: typed fields from a wide squeue record, and all that ``scontrol show job`` says for a person.

The typed fields come from the record, whose columns no job name can shift; the text of
scontrol, in which a name or comment may stand for whole lines, is only shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.ids import base_id, parse_job_id
from slurmtui.models.job import JobDetail
from slurmtui.models.log_path import default_pattern, expand_log_path
from slurmtui.models.records import Field, Layout
from slurmtui.models.scontrol import parse_show_job
from slurmtui.models.states import normal_state
from slurmtui.models.values import known
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm.ask import ask, knows_no_such_job, records_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from slurmtui.models.records import Records
    from slurmtui.sources.exec import Finished, Runner

WIDE = Layout(
    Field("id", "JobArrayID", 1024),
    Field("raw_id", "JobID", 12),
    Field("name", "Name", 1024),
    Field("user", "UserName", 64),
    Field("state", "State", 20, normal_state),
    Field("reason", "Reason", 256, known),
    Field("comment", "Comment", 1024),
    Field("command", "Command", 1024),
    Field("work_dir", "WorkDir", 1024),
    Field("stdout", "STDOUT", 1024, known),
    Field("stderr", "STDERR", 1024, known),
    Field("nodes", "NodeList", 1024, known),
    Field("exit_code", "exit_code", 16, known),
)

LONG_ID = Layout(Field("raw_id", "JobID", 12), Field("id", "JobArrayID", 200_000))
"""Room for every task of an array of 30,000 without any order."""


async def job_detail(runner: Runner, job_id: str, timeout: float) -> JobDetail | None:
    """Ask for one job, one array task or one component; None when SLURM does not know it.

    Raises:
        CommandError: SLURM did not answer.
    """
    if parse_job_id(job_id) is None:
        return None
    argv = ("squeue", "-h", "-a", "-t", "all", "-j", _askable(job_id), "-O", WIDE.asked())
    wide = await _known(ask(runner, argv, timeout, check=False))
    records = None if wide is None else records_of(WIDE, wide)
    row = None if records is None else row_of(records, job_id)
    if records is None or row is None:
        return None
    show_argv = ("scontrol", "show", "job", _askable(records.plain(row, "id")))
    show = await _known(runner.run(show_argv, timeout=timeout, check=False))
    return make_detail(records, row, "" if show is None else show.stdout.decode("utf-8", "replace"))


async def waiting_id(runner: Runner, raw_id: int, timeout: float) -> str | None:
    """The whole id of what still waits of an array; None when nothing waits (any more) or it is too long to be read."""
    argv = ("squeue", "-h", "-a", "-t", "PD", "-j", str(raw_id), "-O", LONG_ID.asked())
    answer = await _known(ask(runner, argv, timeout, check=False))
    records = None if answer is None else records_of(LONG_ID, answer)
    if records is None:
        return None
    for row in range(len(records)):
        shown = records.plain(row, "id")
        if records.plain(row, "raw_id") == str(raw_id) and not records.cut(row, "id") and parse_job_id(shown):
            return shown
    return None


async def _known(answer: Awaitable[Finished]) -> Finished | None:
    """The answer, or None when it was that SLURM knows no such job."""
    finished = await answer
    if not finished.code:
        return finished
    if knows_no_such_job(finished.stderr):
        return None
    raise failure(finished)


def _askable(job_id: str) -> str:
    """The id in a form that commands take: the waiting rest of an array by one of its tasks."""
    parsed = parse_job_id(job_id)
    return base_id(job_id) if parsed is None else f"{parsed.base}_{parsed.tasks[0][0]}" if parsed.tasks else job_id


def row_of(records: Records, job_id: str) -> int | None:
    """The record that is meant."""
    wanted = parse_job_id(job_id)
    for row in range(len(records)):
        if records.plain(row, "id") == job_id or records.plain(row, "raw_id") == job_id:
            return row
    for row in range(len(records)):
        shown = parse_job_id(records.plain(row, "id"))
        if wanted is not None and shown is not None and (wanted.holds(shown) or shown.holds(wanted)):
            return row
    return None


def make_detail(records: Records, row: int, shown: str) -> JobDetail:
    """The detail from a wide record and from what scontrol showed of the same job ("" when it forgot it meanwhile)."""
    texts = {name: records.plain(row, name) for name in ("comment", "command", "work_dir")}
    texts = {name: "" if text == "(null)" else text for name, text in texts.items()}
    name = records.plain(row, "name")  # without the spaces at its end, which only scontrol shows
    free = {"JobName": name, "Comment": texts["comment"], "Command": texts["command"], "WorkDir": texts["work_dir"]}
    fields = parse_show_job(shown, free)
    detail = JobDetail(
        id=records.plain(row, "id"),
        name=dict(fields).get("JobName", name),
        user=records.plain(row, "user"),
        state=records.value(row, "state"),
        reason=records.value(row, "reason"),
        nodes=records.value(row, "nodes"),
        exit_code=dict(fields).get("ExitCode", records.value(row, "exit_code")),
        fields=fields,
        **texts,
    )
    stdout = _path(records, row, "stdout", detail)
    stderr = _path(records, row, "stderr", detail) if records.value(row, "stderr") else stdout
    return msgspec.structs.replace(detail, stdout=stdout, stderr=stderr)


def _path(records: Records, row: int, name: str, detail: JobDetail) -> str | None:
    """The path that the job's pattern means; where SLURM cut it, the path as scontrol resolved it.

    squeue gives the pattern on every version; scontrol resolves it, but leaves ``%4a``, ``%N`` and ``%%`` as they are.
    A job of srun or salloc has no file, though old versions name one in squeue's column. For a task of an array that
    was told nothing, squeue of 22.05 names a file that nobody writes: by the task's own number.
    """
    if dict(detail.fields).get("BatchFlag") == "0":
        return None
    if records.cut(row, name):
        return known(dict(detail.fields).get("StdOut" if name == "stdout" else "StdErr", "")) or None
    pattern, raw_id = records.value(row, name), records.plain(row, "raw_id")
    if pattern == f"{detail.work_dir.rstrip('/')}/slurm-{raw_id}.out":
        pattern = default_pattern(detail.id)
    return expand_log_path(pattern, detail, raw_id) if pattern else None
