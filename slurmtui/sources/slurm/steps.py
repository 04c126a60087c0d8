"""The steps of a running job: their names from squeue, what they use from sstat."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import CommandError
from slurmtui.models.job_step import ASKED, LiveStep, StepUse, parse_sstat
from slurmtui.models.records import Field, Layout
from slurmtui.models.values import count, known, seconds
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm.ask import ask, records_of

if TYPE_CHECKING:
    from slurmtui.models.records import Records
    from slurmtui.sources.slurm.client import Slurm

STEPS = Layout(
    Field("id", "StepID", 40),
    Field("name", "StepName", 64),
    Field("state", "StepState", 16),
    Field("elapsed", "TimeUsed", 16, seconds),
    Field("nodes", "Nodes", 64, known),
    Field("tasks", "NumTasks", 8, count),
)

NO_USE = "sstat"
"""Under this name it is remembered that this SLURM does not tell what running steps use."""
_NEVER = ("not running a supported jobacct_gather", "jobacct_gather/none", "accounting is disabled")


class Steps(msgspec.Struct, frozen=True):
    """The steps, and why nothing is known of what they use, "" when it is."""

    steps: tuple[LiveStep, ...]
    why_no_use: str = ""


async def live_steps(slurm: Slurm, raw_id: int) -> Steps:
    """Ask for the steps of one running job by SLURM's own number.

    Raises:
        CommandError: squeue did not answer.
    """
    argv = ("squeue", "-h", "-a", "-s", "-j", str(raw_id), "-O", STEPS.asked())
    finished, (uses, why) = await asyncio.gather(ask(slurm.runner, argv, slurm.timeout), _uses(slurm, raw_id))
    records = records_of(STEPS, finished)
    by_id = {use.id: use for use in uses}
    steps = [_step(records, row, by_id) for row in range(len(records))]
    return Steps(tuple(steps), why)


async def _uses(slurm: Slurm, raw_id: int) -> tuple[tuple[StepUse, ...], str]:
    if NO_USE in slurm.lacks:
        return (), slurm.lacks[NO_USE]
    argv = ("sstat", "-a", "-n", "-P", "-j", str(raw_id), "-o", ",".join(ASKED))
    try:
        finished = await ask(slurm.runner, argv, slurm.timeout, check=False)
    except CommandError as error:
        return (), str(error)
    said = finished.stderr.lower()
    if any(words in said for words in _NEVER):
        slurm.lacks[NO_USE] = "this SLURM gathers no use of running jobs (JobAcctGatherType is none)"
        return (), slurm.lacks[NO_USE]
    uses = parse_sstat(finished.stdout.decode("utf-8", "replace"))
    return uses, "" if uses or not (finished.code or said) else str(failure(finished))


def _step(records: Records, row: int, uses: dict[str, StepUse]) -> LiveStep:
    step_id = records.plain(row, "id")
    use = uses.get(step_id)
    elapsed = records.value(row, "elapsed")
    step = LiveStep(
        id=step_id,
        name=records.plain(row, "name"),
        state=records.plain(row, "state"),
        nodes=records.value(row, "nodes"),
        tasks=records.value(row, "tasks") or 0,
        elapsed=elapsed if isinstance(elapsed, int) else None,
    )
    if use is None:
        return step
    told = {name: getattr(use, name) for name in StepUse.__struct_fields__ if name not in {"id", "tasks"}}
    return msgspec.structs.replace(step, **told)
