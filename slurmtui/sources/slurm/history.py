"""A user's ended jobs from accounting (sacct), by the time they ended."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.models.gres import parse_gres, tres_memory
from slurmtui.models.history import PastJob
from slurmtui.models.records import Field, Layout
from slurmtui.models.states import normal_state
from slurmtui.models.values import count, known, memory, moment, seconds
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm.accounting import shown_name
from slurmtui.sources.slurm.ask import ask, records_of

if TYPE_CHECKING:
    from slurmtui.models.records import Records
    from slurmtui.sources.exec import Finished, Runner

HISTORY = Layout(
    Field("id", "JobID", 48),
    Field("raw_id", "JobIDRaw", 16),
    Field("account", "Account", 32),
    Field("partition", "Partition", 48),
    Field("qos", "QOS", 32),
    Field("state", "State", 32, normal_state),
    Field("exit", "ExitCode", 12),
    Field("nodes", "NodeList", 64, known),
    Field("node_count", "NNodes", 8, count),
    Field("cpus", "AllocCPUS", 12, count),
    Field("tres", "AllocTRES", 160),
    Field("requested_tres", "ReqTRES", 160),
    Field("requested", "ReqMem", 16, memory),
    Field("submit", "Submit", 20, moment),
    Field("eligible", "Eligible", 20, moment),
    Field("start", "Start", 20, moment),
    Field("end", "End", 20, moment),
    Field("elapsed", "Elapsed", 20, seconds),
    Field("time_limit", "Timelimit", 20, seconds),
    Field("comment", "Comment", 64, known),
    Field("name", "JobName", 80),
    gap=1,
)
STATES = "BF,CA,CD,DL,F,NF,OOM,PR,RQ,RV,TO"
"""With states named, ``-S`` and ``-E`` choose the jobs that came to one of them (ended, were requeued) in between."""

_OFF = ("accounting storage is disabled", "not running a supported accounting_storage plugin")
_REFUSED = "access/permission denied"
_WIDE = "too wide of a date range"


class AccountingOff(CommandError):
    """The cluster keeps no accounts, or does not show them to this user: waiting does not help."""


class TooWide(CommandError):
    """The site allows questions about shorter spans of time only."""


async def ended_between(runner: Runner, user: str, start: float, end: float, timeout: float) -> list[PastJob]:
    """The lives of the user's jobs that ended in a span of time (seconds since the epoch), also earlier lives (-D).

    Raises:
        AccountingOff: there is nothing to ask.
        TooWide: the span is longer than the site allows.
        CommandError: accounting does not answer.
    """
    argv = (
        "sacct", "-n", "-X", "-D", "-u", user, "-S", f"uts{start:.0f}", "-E", f"uts{end:.0f}", "-s", STATES,
        "-o", HISTORY.asked_left(),
    )  # fmt: skip
    finished = await ask(runner, argv, timeout, check=False)
    if finished.code:
        raise understood(finished)
    return await asyncio.to_thread(collect_past, records_of(HISTORY, finished))


def understood(finished: Finished) -> CommandError:
    """The error for what an accounting command said."""
    said = finished.stderr.lower()
    error = failure(finished)
    kind: type[CommandError] = CommandError
    text = str(error)
    if any(words in said for words in _OFF):
        kind, text = AccountingOff, "Accounting is off on this cluster: SLURM keeps no record of jobs that have ended."
    elif _REFUSED in said:
        kind, text = AccountingOff, f"Accounting does not show you your ended jobs: {error}"
    elif _WIDE in said:
        kind = TooWide
    return kind(text, argv=finished.argv, code=finished.code, stderr=finished.stderr)


def collect_past(records: Records) -> list[PastJob]:
    """The lives in an answer; what has no end is none."""
    found = (_past_job(records, row) for row in range(len(records)))
    return [job for job in found if job is not None]


def _past_job(records: Records, row: int) -> PastJob | None:
    end = records.value(row, "end")
    job_id = records.plain(row, "id")
    if end is None or not job_id or "." in job_id:
        return None
    code, _, signal = records.plain(row, "exit").partition(":")
    things = [thing for thing in parse_gres(_whole(records, row, "tres")) if thing.name == "gpu"]
    held = tres_memory(_whole(records, row, "tres"))
    if held is None:
        held = tres_memory(_whole(records, row, "requested_tres"))
    intern = sys.intern
    return PastJob(
        id=job_id,
        raw_id=records.plain(row, "raw_id"),
        end=end,
        name=intern(shown_name(records, row)),
        account=intern(records.plain(row, "account")),
        partition=intern(records.plain(row, "partition")),
        qos=intern(records.plain(row, "qos")),
        state=intern(records.value(row, "state")),
        exit_code=count(code) or 0,
        signal=count(signal) or 0,
        nodes=intern(records.value(row, "nodes")),
        node_count=records.value(row, "node_count") or 0,
        cpus=records.value(row, "cpus") or 0,
        gpus=sum(thing.count for thing in things),
        gpu_type=intern(",".join(dict.fromkeys(thing.type for thing in things if thing.type))),
        memory=held if held is not None else records.value(row, "requested"),
        submit=records.value(row, "submit"),
        eligible=records.value(row, "eligible"),
        start=records.value(row, "start"),
        elapsed=records.value(row, "elapsed"),
        time_limit=records.value(row, "time_limit"),
        comment=records.value(row, "comment"),
    )


def _whole(records: Records, row: int, name: str) -> str:
    """A list without the last entry where the column was cut."""
    text = records.plain(row, name)
    return text.rpartition(",")[0] if records.cut(row, name) else text
