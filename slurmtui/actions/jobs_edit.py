"""Change what jobs in the queue ask for: time limit, partition, QOS, nice, priority, how many tasks run at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from slurmtui.actions.dialogs import Entry
from slurmtui.actions.jobs_doing import do, done_ids, tell
from slurmtui.actions.jobs_hold import holds_as_before
from slurmtui.actions.jobs_targets import freeze, plan_of, question, refusal
from slurmtui.actions.model import Action, Context
from slurmtui.control.jobs_many import act, update_command
from slurmtui.models.amounts import counted
from slurmtui.models.ids import base_id, parse_job_id
from slurmtui.models.job_values import FIELDS, THROTTLE, common, complaint, inverse
from slurmtui.sources.slurm.job_values import throttle_of, values_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.actions.jobs_targets import Target, Targets
    from slurmtui.control.jobs_many import Command
    from slurmtui.models.job import Job
    from slurmtui.models.job_outcome import Outcome
    from slurmtui.models.job_values import JobValues

_MOST_ARRAYS = 20  # whose throttle is asked for


def _can_edit(job: Job) -> bool:
    return job.active and job.state != "COMPLETING"


def _is_over(job: Job) -> str:
    return f"Job {job.id} is {job.state.lower()}: nothing of it can be changed"


def _cannot_edit(context: Context) -> str:
    return refusal(context, _can_edit, _is_over)


def arrays_of(targets: Targets) -> list[str]:
    """The numbers of the arrays of which something is a target."""
    bases = []
    for row in targets.rows:
        parsed = parse_job_id(row.id)
        in_array = row.group is not None and row.group.kind == "array"
        if in_array or (parsed is not None and (parsed.task is not None or parsed.tasks)):
            bases.append(base_id(row.id))
    return list(dict.fromkeys(bases))


@dataclass(frozen=True)
class Before:
    """What is to be changed, and how it was."""

    targets: Targets
    arrays: tuple[str, ...]
    values: Mapping[str, JobValues]
    throttles: Mapping[str, int | None]

    def texts(self) -> dict[str, str]:
        """What stands in the form at first: the values that all have."""
        texts = {field.name: common(self.values.values(), field.name) for field in FIELDS}
        known = set(self.throttles.values())
        texts[THROTTLE.name] = str(known.pop()) if len(known) == 1 and None not in known else ""
        return texts

    def held(self) -> list[Target]:
        """The rows that are held."""
        return [row for row in self.targets.rows if (now := self.values.get(row.id)) is not None and now.held]


async def _edit(context: Context) -> None:
    slurm = context.console.session.slurm
    targets = await freeze(context, _can_edit, _is_over)
    arrays = tuple(arrays_of(targets))
    before = Before(
        targets, arrays, await values_of(slurm, targets.ids),
        {base: await throttle_of(slurm, base) for base in arrays[:_MOST_ARRAYS]},
    )  # fmt: skip
    changed = await _ask_values(context, targets, before.texts(), with_throttle=bool(arrays))
    if changed:
        await _change(context, before, changed)


async def _ask_values(
    context: Context, targets: Targets, texts: Mapping[str, str], *, with_throttle: bool
) -> dict[str, str]:
    """What a person wants changed, by SLURM's names; asked again as long as something in it is wrong."""
    fields = (*FIELDS, THROTTLE) if with_throttle else FIELDS
    shown, facts = dict(texts), [f"for {targets.title}; what is left as it is, is not touched"]
    if len(targets.rows) > 1:
        facts.append("a field is empty where they differ")
    while True:
        entries = [Entry(field.title, shown[field.name], field.help) for field in fields]
        filled = await context.console.dialogs.fill(f"Edit {targets.title}", facts, entries)
        if filled is None:
            return {}
        written = {field.name: filled.get(field.title, "").strip() for field in fields}
        changed = {name: text for name, text in written.items() if text and text != texts[name]}
        wrong = [words for words in (complaint(name, text) for name, text in changed.items()) if words]
        if not changed:
            context.console.tell("Nothing was changed")
            return {}
        if not wrong:
            return changed
        shown, facts = shown | written, wrong


async def _change(context: Context, before: Before, changed: Mapping[str, str]) -> None:
    console, targets, arrays = context.console, before.targets, before.arrays
    own = {name: text for name, text in changed.items() if name != THROTTLE.name}
    command, of_arrays = update_command(own), update_command({THROTTLE.name: changed.get(THROTTLE.name, "")})
    plan = [*(plan_of(command, targets.ids) if own else ())]
    facts = list(warnings(changed))
    holds = holds_as_before(before.held(), targets.me) if "Nice" in changed else []
    if holds:  # SLURM reckons their priority anew, and with a priority they start
        plan += [line for hold, ids in holds for line in plan_of(hold, ids)]
        facts.append("another nice lets held jobs go: they are held again at once")
    if THROTTLE.name in changed:
        plan += plan_of(of_arrays, arrays)
        facts.append(f"how many tasks run at once is changed for the whole of {counted(len(arrays), 'array')}")
    if not await console.ask(question(context, targets, "change", plan, facts=facts)):
        return
    results: dict[str, Outcome] = {}
    undo: list[tuple[Command, Sequence[str]]] = []
    if own:
        results = await do(context, targets, command, overlay="changing…", title=f"Edit {targets.title}")
        undo += [(update_command(old), ids) for old, ids in inverse(before.values, list(own), done_ids(results))]
        for hold, ids in holds:
            results |= _failures(await act(console.session.runner, hold, ids))
        undo += holds
    if THROTTLE.name in changed:
        told = await act(console.session.runner, of_arrays, arrays)
        undo += _old_throttles(before, done_ids(told))
        results |= _as_targets(targets, told, only_failed=bool(own))
        console.store.kick("queue")
    words = ", ".join(f"{name}={text}" for name, text in changed.items())
    why = "setting a priority fixes it" if set(changed) == {"Priority"} else "what was before is not known"
    console.journal.note(f"set {words} of {targets.title}", undo, "" if undo else why)
    tell(context, targets, results, f"changed ({words})")


def _failures(results: Mapping[str, Outcome]) -> dict[str, Outcome]:
    return {job_id: outcome for job_id, outcome in results.items() if outcome.kind == "failed"}


def _old_throttles(before: Before, arrays: Sequence[str]) -> list[tuple[Command, Sequence[str]]]:
    known = [(base, before.throttles.get(base)) for base in arrays]
    return [(update_command({THROTTLE.name: str(old)}), [base]) for base, old in known if old is not None]


def _as_targets(targets: Targets, told: Mapping[str, Outcome], *, only_failed: bool) -> dict[str, Outcome]:
    """What became of the arrays, as the outcome of the rows that were chosen."""
    return {
        job_id: replace(told[base_id(job_id)], id=job_id)
        for job_id in targets.ids
        if base_id(job_id) in told and not (only_failed and told[base_id(job_id)].kind != "failed")
    }


def warnings(changed: Mapping[str, str]) -> list[str]:
    """What a person should know before a change."""
    found = []
    if "TimeLimit" in changed:
        found.append("a time limit that is lowered can often not be raised again without an administrator")
    if "Priority" in changed:
        found.append("a priority that is set stays: SLURM reckons it no more, and U cannot bring that back")
    return found


ACTIONS = (
    Action("job.edit", "E", "Edit",
           "Change time limit, partition, QOS, nice, priority, or how many tasks of an array run at once.",
           _edit, ("jobs",), touches=True, footer=14, why_not=_cannot_edit),
)  # fmt: skip
