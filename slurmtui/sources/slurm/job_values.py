"""What jobs have now of what can be changed: asked just before a change, so that it can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui.errors import CommandError
from slurmtui.models.ids import base_id, parse_job_id
from slurmtui.models.job_values import JobValues
from slurmtui.models.records import Field, Layout
from slurmtui.models.values import count, known, seconds
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm.ask import ask, knows_no_such_job, records_of
from slurmtui.sources.slurm.detail import LONG_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.ids import JobId
    from slurmtui.models.records import Records
    from slurmtui.sources.slurm.client import Slurm


def _signed(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


VALUES = Layout(
    Field("id", "JobArrayID", 32),
    Field("raw_id", "JobID", 12),
    Field("time_limit", "TimeLimit", 16, seconds),
    Field("partition", "Partition", 96),
    Field("qos", "QOS", 32, known),
    Field("nice", "Nice", 12, _signed),
    Field("priority", "PriorityLong", 12, count),
)
_ASKED_BY_ID = 200  # arrays and jobs; for more the whole queue is read instead


async def values_of(slurm: Slurm, ids: Sequence[str]) -> dict[str, JobValues]:
    """The values of those of ``ids`` that are in the queue; of a range or an array those that all its tasks have.

    Raises:
        CommandError: SLURM did not answer.
    """
    bases = list(dict.fromkeys(base_id(job_id) for job_id in ids))
    which = ("-j", ",".join(bases)) if len(bases) <= _ASKED_BY_ID else ()
    records = await _ask(slurm, which)
    if records is None and len(bases) > 1:  # one id that SLURM has forgotten fails the call on some versions
        records = await _ask(slurm, ())
    return {} if records is None else _collect(records, ids)


async def _ask(slurm: Slurm, which: Sequence[str]) -> Records | None:
    # -r: else squeue writes the waiting tasks of an array as one, with the values of the first of them.
    argv = ("squeue", "-h", "-a", "-r", *which, "-O", VALUES.asked())
    finished = await ask(slurm.runner, argv, slurm.timeout, check=False)
    if finished.code:
        if knows_no_such_job(finished.stderr):
            return None
        raise failure(finished)
    return records_of(VALUES, finished)


def _collect(records: Records, ids: Sequence[str]) -> dict[str, JobValues]:
    exact: dict[str, int] = {}
    parts: dict[str, list[tuple[int, JobId]]] = {}
    for row in range(len(records)):
        shown = records.plain(row, "id")
        parsed = parse_job_id(shown)
        exact[shown] = row
        if parsed is not None:
            parts.setdefault(str(parsed.base), []).append((row, parsed))
    found = {}
    for job_id in ids:
        wanted = parse_job_id(job_id)
        if job_id in exact:
            found[job_id] = _values(records, exact[job_id])
        elif wanted is not None:
            rows = [row for row, part in parts.get(str(wanted.base), ()) if wanted.holds(part)]
            if rows:
                found[job_id] = _common({_values(records, row) for row in rows})
    return found


def _values(records: Records, row: int) -> JobValues:
    return JobValues(
        time_limit=records.value(row, "time_limit"),
        partition="" if records.cut(row, "partition") else records.plain(row, "partition"),
        qos=records.value(row, "qos"),
        nice=records.value(row, "nice"),
        priority=records.value(row, "priority"),
    )


def _common(values: set[JobValues]) -> JobValues:
    """The values that all have; what differs is not known."""
    told: dict[str, Any] = {}
    for name in JobValues.__struct_fields__:
        different = {getattr(value, name) for value in values}
        if len(different) == 1:
            told[name] = different.pop()
    return JobValues(**told)


async def throttle_of(slurm: Slurm, base: str) -> int | None:
    """How many tasks of an array may run at once, 0 for any number; None when it is not known.

    What still waits tells it on every version (``7_[3-9%2]``); scontrol does so from 24.11 on, and while tasks run.
    """
    argv = ("squeue", "-h", "-a", "-t", "PD", "-j", base, "-O", LONG_ID.asked())
    try:
        finished = await ask(slurm.runner, argv, slurm.timeout, check=False)
        records = records_of(LONG_ID, finished)
        rests = [text for row in range(len(records)) if (text := records.plain(row, "id")).startswith(f"{base}_[")]
        if rests and not finished.code:
            return count(rests[0].rstrip("]").partition("%")[2]) or 0
        finished = await ask(slurm.runner, ("scontrol", "-o", "show", "job", base), slurm.timeout)
    except CommandError:
        return None
    return _told_throttle(finished.stdout.decode("utf-8", "replace"))


def _told_throttle(shown: str) -> int | None:
    for line in shown.splitlines():
        words = line.split(" ", 5)[:5]  # the numbers stand before the name, which may hold anything
        told = dict(word.split("=", 1) for word in words if "=" in word)
        if "ArrayTaskThrottle" in told:
            return count(told["ArrayTaskThrottle"])
    return 0
