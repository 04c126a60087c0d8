"""Acts on many jobs: a result an id, ids in chunks, the tasks of an array in one request.

Every command is a pair of what stands before the ids and how they are written. What is sent is exactly what
:func:`commands` gives, so that a question can show it beforehand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import CommandError
from slurmtui.models.job_outcome import Outcome, outcomes
from slurmtui.models.job_units import chunks, units
from slurmtui.sources.exec import failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from slurmtui.models.job_units import Unit
    from slurmtui.sources.exec import Runner

SECONDS_A_CALL = 60.0
NOT_WHOLE = "not a whole job id: nothing was done"

SIGNALS = ("USR1", "USR2", "INT", "TERM", "HUP", "QUIT", "STOP", "CONT", "KILL")


class Command(msgspec.Struct, frozen=True):
    """One of SLURM's commands on jobs.

    Attributes:
        argv: what stands before the ids.
        ids: how the ids follow: as ``words`` of their own, or ``joined`` with commas in one word after ``prefix``.
        after: what stands after the ids.
    """

    argv: tuple[str, ...]
    joined: bool = False
    prefix: str = ""
    after: tuple[str, ...] = ()

    def line(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The whole command for these ids."""
        if self.joined:
            return (*self.argv, f"{self.prefix}{','.join(texts)}", *self.after)
        return (*self.argv, *texts, *self.after)


CANCEL = Command(("scancel", "-v"))  # only with -v does it tell of jobs that have ended or are not known
HOLD = Command(("scontrol", "uhold"))  # what the user can release again, also where the user is an operator
HOLD_OF_OTHERS = Command(("scontrol", "hold"))
RELEASE = Command(("scontrol", "release"))
REQUEUE = Command(("scontrol", "requeue"), joined=True)


def signal_command(signal: str, whom: str = "") -> Command:
    """Send a signal to the job's steps, or with ``--batch`` to its script alone, with ``--full`` to all of it."""
    return Command(("scancel", "-s", signal, *((whom,) if whom else ())))


def update_command(values: Mapping[str, str]) -> Command:
    """Change values, by scontrol's names (``TimeLimit``)."""
    changes = tuple(f"{name}={value}" for name, value in values.items())
    return Command(("scontrol", "update"), joined=True, prefix="JobId=", after=changes)


def commands(command: Command, ids: Iterable[str]) -> list[tuple[str, ...]]:
    """The commands that would be run for ``ids``, in their order."""
    made, _ = units(ids)
    return [command.line([unit.text for unit in chunk]) for chunk in chunks(made)]


async def act(
    runner: Runner, command: Command, ids: Sequence[str], progress: Callable[[int], None] | None = None
) -> dict[str, Outcome]:
    """Run ``command`` on ``ids`` and tell what became of each of them.

    An id that is not whole (a list of tasks that squeue cut) is never passed on. ``progress`` is told how many ids
    have been dealt with. Nothing is raised: where a command cannot be run, that is the outcome of its ids.
    """
    made, unfit = units(ids)
    answer = {job_id: Outcome(job_id, "failed", NOT_WHOLE) for job_id in unfit}
    for chunk in chunks(made):
        for job_id, outcome in (await _act_on(runner, command, chunk)).items():
            before = answer.get(job_id)  # an id whose list of tasks was too long for one argument comes again
            answer[job_id] = before if before is not None and before.kind == "failed" else outcome
        if progress is not None:
            progress(len(answer))
    return {job_id: answer[job_id] for job_id in dict.fromkeys(ids)}


async def _act_on(runner: Runner, command: Command, chunk: Sequence[Unit]) -> dict[str, Outcome]:
    argv = command.line([unit.text for unit in chunk])
    try:
        finished = await runner.run(argv, timeout=SECONDS_A_CALL, check=False)
    except CommandError as error:
        return {job_id: Outcome(job_id, "failed", str(error)) for unit in chunk for job_id in unit.ids}
    said = str(failure(finished)) if finished.code else ""
    return outcomes(chunk, finished.stderr, argv[0], failed=bool(finished.code), fallback=said)
