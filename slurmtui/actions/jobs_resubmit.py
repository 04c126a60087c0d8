"""Submit jobs again from their own scripts, as they were or with more memory and time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions.dialogs import Entry
from slurmtui.actions.jobs_doing import result_lines
from slurmtui.actions.jobs_targets import freeze, jobs_of, refusal
from slurmtui.actions.model import Action, Context, Question, names
from slurmtui.control.jobs_resubmit import again, submit_again
from slurmtui.errors import SlurmtuiError
from slurmtui.models.amounts import counted
from slurmtui.models.job_again import CHANGED, as_argv, as_text, from_text
from slurmtui.models.job_again_files import files_words
from slurmtui.models.job_outcome import Outcome
from slurmtui.models.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.actions.jobs_targets import Targets
    from slurmtui.control.jobs_resubmit import Again
    from slurmtui.models.job import Job
    from slurmtui.sources.exec import Runner

_MOST = 50
_HELP = {
    "partition": "where", "time": "2:00:00, 1-12:00:00, 90 (minutes)", "mem": "on each node: 64G, 500M",
}  # fmt: skip
OTHERS = "other options"


def _any(_: Job) -> bool:
    return True


def _none(_: Job) -> str:
    return "There is no job to submit again"


def _cannot_resubmit(context: Context) -> str:
    refused = refusal(context, _any, _none)
    if refused:
        return refused
    jobs = jobs_of(context)
    if len(jobs) > _MOST:
        return f"Resubmit takes {_MOST} jobs at a time; {len(jobs):,} are marked"
    run_of_job = context.console.store.snapshot.run_of_job
    tied = next((job.id for job in jobs if run_of_job.get(job.id)), "") or (context.job_run_id and jobs[0].id)
    if tied:
        return f"Job {tied} belongs to a flow run: retry the run instead (o goes there)"
    return ""


async def _resubmit(context: Context) -> None:
    console = context.console
    targets = await freeze(context, _any, _none)
    found: list[Again] = []
    refused: dict[str, Outcome] = {}
    for row in targets.rows:
        tasks = row.job.array_tasks if row.group is not None and row.group.kind == "array" else ""
        try:
            found.append(await again(console.session.slurm, row.id or row.key, tasks=tasks))
        except SlurmtuiError as error:
            refused[row.key] = Outcome(row.key, "failed", str(error))
    if not found:
        _tell(context, {}, refused)
        return
    edited = await _ask_changes(context, targets, found)
    if edited is None:
        return
    plans = [(job, options) for job, options in zip(found, edited, strict=True)]
    if await console.ask(_question(targets, plans, refused)):
        await _submit(context, targets, plans, refused)


async def _ask_changes(context: Context, targets: Targets, found: Sequence[Again]) -> list[list[str]] | None:
    """The options of each job as a person wants them; None when the form was left."""
    facts = [f"script: {found[0].origin}" if len(found) == 1 else f"scripts of {counted(len(found), 'job')}"]
    facts += [job.lost for job in found[:3] if job.lost]
    first = {name: _common(found, name) for name in CHANGED}
    entries = [Entry(name, first[name], _HELP[name]) for name in CHANGED]
    kept = _unwritable(found[0].options) if len(found) == 1 else ()
    facts += [f"{name}: as it was (it holds characters that cannot be typed here)" for name in kept]
    others = as_text(_others(found[0].options, kept)) if len(found) == 1 else ""
    entries.append(Entry(OTHERS, others, "of sbatch" if len(found) == 1 else "of sbatch, added to those of each job"))
    while True:
        filled = await context.console.dialogs.fill(f"Submit again {targets.title}", facts, entries)
        if filled is None:
            return None
        texts = {name: text.strip() for name, text in filled.items()}
        changed = {name: texts[name] for name in CHANGED if texts[name] != first[name]}
        try:
            typed = from_text(texts[OTHERS])
        except ValueError as error:
            facts = [f"{OTHERS}: {error}"]
            entries = [Entry(entry.name, texts[entry.name], entry.help) for entry in entries]
            continue
        if len(found) == 1:
            return [[*as_argv(_merged(found[0].options, changed, only=(*CHANGED, *kept))), *typed]]
        return [[*as_argv(_merged(job.options, changed)), *typed] for job in found]


def _unwritable(options: Mapping[str, str]) -> tuple[str, ...]:
    """The options whose values a form would change: with a newline or another control character in them."""
    return tuple(name for name, value in options.items() if visible(value) != value)


def _others(options: Mapping[str, str], kept: Sequence[str]) -> dict[str, str]:
    return {name: value for name, value in options.items() if name not in {*CHANGED, *kept}}


def _common(found: Sequence[Again], name: str) -> str:
    values = {job.options.get(name, "") for job in found}
    return values.pop() if len(values) == 1 else ""


def _merged(options: Mapping[str, str], changed: Mapping[str, str], only: Sequence[str] = ()) -> dict[str, str]:
    """The options with what was changed; a value that was emptied goes. Memory on each node replaces that by CPU."""
    kept = {name: value for name, value in options.items() if not only or name in only}
    kept |= changed
    if changed.get("mem"):
        kept.pop("mem-per-cpu", None)
    return {name: value for name, value in kept.items() if value or name not in changed}


def _question(
    targets: Targets, plans: Sequence[tuple[Again, Sequence[str]]], refused: Mapping[str, Outcome]
) -> Question:
    new = "a new job" if len(plans) == 1 else "a new job for each"
    facts = [f"{new}, with a number of its own; {targets.title} stays as it is"]
    facts += [f"not {outcome.id}: {outcome.words}" for outcome in list(refused.values())[:4]]
    held = [job.id for job, argv in plans if "--hold" in argv]
    facts += [f"held, as before: {names(held)}; H lets what is held go"] if held else []
    warned = [words for job, argv in plans for words in files_words(job.id, job.shared, argv, job.script)]
    facts += [visible(words) for words in warned[:4]]
    facts += [f"… and {counted(len(warned) - 4, 'more file')}"] if len(warned) > 4 else []
    plan = []
    for job, argv in plans[:4]:
        after = " ".join((job.name or "script", *job.arguments))
        plan.append((f"job {job.id}", visible(f"sbatch {' '.join(argv)} {after}")))
    if len(plans) > 4:
        plan.append(("", f"… and {len(plans) - 4} more"))
    count = len(plans)
    title = f"Submit {targets.title} again" if count == 1 else f"Submit {count} jobs again"
    return Question(title, tuple(facts), tuple(plan), yes="submit", no="No", typed=str(count) if count > 1 else "")


async def _submit(
    context: Context,
    targets: Targets,
    plans: Sequence[tuple[Again, Sequence[str]]],
    refused: Mapping[str, Outcome],
) -> None:
    console = context.console
    made: dict[str, str] = {}
    failed = dict(refused)
    for job, argv in plans:
        new, refusal_words = await _submit_one(console.session.runner, job, argv)
        if new:
            made[job.id] = new
        else:
            failed[job.id] = Outcome(job.id, "failed", refusal_words)
    console.store.kick("queue")
    keys = {row.id or row.key: row.key for row in targets.rows}
    console.dialogs.unmark([keys.get(job_id, job_id) for job_id in made])
    if made:
        console.journal.note(f"submit {targets.title} again", why_not="X cancels the new jobs")
    _tell(context, made, failed)


async def _submit_one(runner: Runner, job: Again, argv: Sequence[str]) -> tuple[str, str]:
    """The number of the new job, or sbatch's words why there is none."""
    try:
        return await submit_again(runner, job, argv), ""
    except (SlurmtuiError, OSError) as error:
        return "", str(error)


def _tell(context: Context, made: Mapping[str, str], failed: Mapping[str, Outcome]) -> None:
    console = context.console
    parts = [f"submitted: {names([f'{old} as {new}' for old, new in made.items()])}"] if made else []
    if len(failed) == 1 and not made:
        console.tell(next(iter(failed.values())).words, severity="error")
        return
    if failed:
        outcomes = [*failed.values(), *(Outcome(old, "done", f"submitted as {new}") for old, new in made.items())]
        console.dialogs.page(f"{len(failed)} not submitted", result_lines(outcomes, "submitted"))
        parts.append(f"{counted(len(failed), 'job')} not submitted")
    console.tell("; ".join(parts), severity="error" if failed else "information")


ACTIONS = (
    Action("job.resubmit", "R", "Submit again",
           "Submit a job's own script as a new job: as it was, or with more memory, time, another partition.",
           _resubmit, ("jobs", "history"), touches=True, footer=15, why_not=_cannot_resubmit),
)  # fmt: skip
