"""The retry of many runs by one plan."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from slurmtui.actions.model import Choosing, Option, names
from slurmtui.models.retry import CAUSE_WORDS, OF_VERDICT, grown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.actions.model import Console
    from slurmtui.models.profile import Profile
    from slurmtui.models.run_view import RunView

_AT_ONCE = 4


def cause_of_view(view: RunView) -> str:
    """What ended the run, as far as the verdict tells."""
    return OF_VERDICT.get(view.verdict.kind, "")


def reason_of(view: RunView) -> str:
    """What a change answers, for the run's folder."""
    return CAUSE_WORDS.get(cause_of_view(view), view.verdict.kind)


def again_words(tasks: int) -> str:
    """What runs again, for a dialog."""
    return f"runs again     {tasks} task{'s' * (tasks != 1)}, and those that had not begun"


async def retry_many(console: Console, views: Sequence[RunView], left_out: int) -> None:
    """Ask for all of them at once, and start them; ``left_out`` were marked and cannot be retried."""
    changes = await _changes(console, views)
    choosing = await _choosing_many(console, views, left_out, changes)
    chosen = await console.choose(choosing)
    if chosen:
        await _start_all(console, views, changes[chosen])


async def _changes(console: Console, views: Sequence[RunView]) -> dict[str, dict[str, Profile]]:
    """For each way the profiles that differ, by run: none, those that lacked something, twice the memory, the time."""
    from slurmtui.control.retry_change import fixed_by_flow  # noqa: PLC0415 - as above
    from slurmtui.errors import CommandError  # noqa: PLC0415 - as above

    try:
        partitions = await console.session.slurm.partitions()
    except CommandError:
        partitions = ()
    found: dict[str, dict[str, Profile]] = {"same": {}, "fitted": {}, "memory": {}, "time": {}}
    for view in views:
        profile = view.record.profile if view.record is not None and not fixed_by_flow(view.record) else None
        if profile is None:
            continue
        for key, cause in (("fitted", cause_of_view(view)), ("memory", "out_of_memory"), ("time", "timeout")):
            bigger, told = grown(profile, cause, 2, partitions)
            if told:
                found[key][view.run.id] = bigger
    return found


async def _choosing_many(
    console: Console, views: Sequence[RunView], left_out: int, changes: Mapping[str, Mapping[str, Profile]]
) -> Choosing:
    from slurmtui.control.retry import reuse_of  # noqa: PLC0415 - as above

    gate = asyncio.Semaphore(_AT_ONCE)

    async def reuse(view: RunView) -> tuple[int, int]:
        async with gate:
            return await reuse_of(console.session, view.run.id)

    counts = await asyncio.gather(*(reuse(view) for view in views))
    reused, known = (sum(pair[side] for pair in counts) for side in (0, 1))
    facts = [
        names([view.run.name for view in views]),
        f"why they ended {_why_words(views)}",
        f"reused         {reused} of {known} tasks have their results",
        again_words(known - reused),
    ]
    if left_out:
        facts.append(f"left out       {left_out} that cannot be retried now")
    return Choosing(
        title=f"Retry {len(views)} runs",
        facts=tuple(facts),
        options=_options_of_many(changes, len(views)),
        chosen="fitted" if changes["fitted"] else "same",
        ask=lambda key: _answer(console, views, changes[key]),
        yes="retry them",
        typed=str(len(views)),
    )


async def _answer(console: Console, views: Sequence[RunView], changes: Mapping[str, Profile]) -> tuple[str, ...]:
    """What all of them cost at most, and what SLURM says to the first few kinds of jobs among them."""
    from slurmtui.control.cost import cost_of, cost_words, total  # noqa: PLC0415 - as above
    from slurmtui.control.retry_change import slurm_says  # noqa: PLC0415 - as above

    asked = {view.run.id: profile for view in views if (profile := _profile_of(view)) is not None} | dict(changes)
    listed = list(asked.values())
    kinds = [profile for at, profile in enumerate(listed) if profile not in listed[:at]]
    answers = [await slurm_says(console.session, profile) for profile in kinds[:3]]
    refused = [said for well, said in answers if not well]
    said = refused[0] if refused else answers[0][1] if answers else "nothing to ask"
    unknown = len(views) - len(asked)
    more = f"; {unknown} more ask for what stands in their flows" if unknown else ""
    cost = cost_words(total(map(cost_of, listed)))
    return (cost + more, f"SLURM {'would refuse one' if refused else 'says'}: {said}")


def _options_of_many(changes: Mapping[str, Mapping[str, Profile]], runs: int) -> tuple[Option, ...]:
    found = [Option("same", "each as it was")]
    if lacking := len(changes["fitted"]):
        text = f"{lacking} lacked memory or time and get{'s' * (lacking == 1)} twice as much"
        found.append(Option("fitted", "each with what it lacked", (text,)))
    for key, title in (("memory", "twice the memory"), ("time", "twice the time")):
        if count := len(changes[key]):
            found.append(Option(key, title, ("as far as their partitions go" if count == runs else f"for {count}",)))
    return tuple(found)


def _why_words(views: Sequence[RunView]) -> str:
    """``2 out of memory, 1 failed``."""
    tally: dict[str, int] = {}
    for view in views:
        reason = reason_of(view)
        tally[reason] = tally.get(reason, 0) + 1
    return ", ".join(f"{count} {reason}" for reason, count in sorted(tally.items(), key=lambda pair: -pair[1]))


def _profile_of(view: RunView) -> Profile | None:
    return view.record.profile if view.record is not None else None


async def _start_all(console: Console, views: Sequence[RunView], profiles: Mapping[str, Profile]) -> None:
    """One after the other: each start takes seconds of a core of this machine."""
    from slurmtui.control.retry import retry_run  # noqa: PLC0415 - as above
    from slurmtui.errors import SlurmtuiError  # noqa: PLC0415 - as above
    from slurmtui.models.steps import Step  # noqa: PLC0415 - as above

    board = console.board(f"Retry {len(views)} runs")
    for view in views:
        board.show(Step(key=view.run.id, title=view.run.name))
    failed = 0
    for view in views:
        run, began = view.run, time.monotonic()
        board.show(Step(key=run.id, title=run.name, state="doing"))
        try:
            await retry_run(console.session, run.id, profiles.get(run.id), reason_of(view))
            state, detail = "done", "runs again"
        except (SlurmtuiError, OSError) as error:
            state, detail, failed = "failed", str(error), failed + 1
        board.show(Step(key=run.id, title=run.name, state=state, detail=detail, seconds=time.monotonic() - began))
        console.store.kick("queue", "prefect", "records")
    well = f"{len(views) - failed} of {len(views)} run again"
    board.finish(well + (f"; {failed} could not be started" if failed else ""), well=not failed)
