"""Which jobs an action is about: frozen when its key is pressed, named and counted in its question."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slurmtui.actions.model import Question, names
from slurmtui.control.jobs_many import commands
from slurmtui.errors import Refused
from slurmtui.models.amounts import counted
from slurmtui.models.gres import shown_gpus
from slurmtui.models.ids import parse_job_id
from slurmtui.models.job import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from slurmtui.actions.model import Context
    from slurmtui.control.jobs_many import Command
    from slurmtui.models.history import PastJob
    from slurmtui.models.job_group import JobGroup

_MOST_NAMED = 6
_LONGEST_LINE = 220
_LOST_SECONDS = 60
_LOOKED_AT = 50


@dataclass(frozen=True)
class Target:
    """One row: ``key`` names it in the list, ``id`` is the whole id for SLURM ("" when it is not known)."""

    key: str
    id: str
    job: Job
    group: JobGroup | None = None

    @property
    def parts(self) -> int:
        """How many jobs it stands for: the tasks of an array, the components of a het job."""
        if self.group is not None:
            return self.group.shown + self.group.hidden
        parsed = parse_job_id(self.id)
        return 1 if parsed is None else parsed.count()


@dataclass(frozen=True)
class Targets:
    """The rows that are acted on, and those that were left out because the action does not concern them."""

    rows: tuple[Target, ...]
    me: str
    left_out: int = 0

    @property
    def ids(self) -> list[str]:
        """The whole ids, in the order of the list; an id that is not known stands as it was shown."""
        return [row.id or row.key for row in self.rows]

    @property
    def count(self) -> int:
        """How many jobs in all."""
        return sum(row.parts for row in self.rows)

    @property
    def foreign(self) -> list[str]:
        """Other users whose jobs are among them."""
        return sorted({row.job.user for row in self.rows} - {self.me})

    @property
    def title(self) -> str:
        """What they are called: ``job 12``, ``the whole array 7``, ``12 jobs``."""
        if len(self.rows) == 1:
            one = self.rows[0]
            if one.group is not None:
                return f"the whole {one.group.kind} {one.group.id}"
            return f"{counted(one.parts, 'task')} of {one.id or one.key}" if one.parts > 1 else f"job {one.key}"
        return counted(self.count, "job")


def as_job(past: PastJob, user: str) -> Job:
    """An ended job of one's own, as far as it is known, as the job it was."""
    return Job(
        id=past.id,
        raw_id=int(past.raw_id) if past.raw_id.isdigit() else 0,
        name=past.name,
        user=user,
        account=past.account,
        partition=past.partition,
        qos=past.qos,
        state=past.state,
        nodes=past.nodes,
        node_count=past.node_count,
        cpus=past.cpus,
        elapsed=past.elapsed,
        time_limit=past.time_limit,
        submit=past.submit,
        start=past.start,
        end=past.end,
        comment=past.comment,
    )


def jobs_of(context: Context) -> Sequence[Job]:
    """The marked jobs, else the one under the cursor, in the queue or among those that have ended."""
    if context.past is not None and not context.target_jobs:
        return (as_job(context.past, context.console.session.user),)
    return context.target_jobs


def refusal(context: Context, wanted: Callable[[Job], bool], why_not: Callable[[Job], str]) -> str:
    """Why an action cannot be done now: there is nothing, or nothing that is wanted.

    This is asked with every key; so of very many marked jobs only the first are looked at (``freeze`` looks at all).
    """
    if context.no_job and not context.marked_jobs:
        return context.no_job
    jobs = jobs_of(context)
    if not jobs:
        return "There is no job under the cursor"
    if len(jobs) > _LOOKED_AT or any(wanted(job) for job in jobs):
        return ""
    return why_not(jobs[0])


async def freeze(context: Context, wanted: Callable[[Job], bool], why_not: Callable[[Job], str]) -> Targets:
    """The targets of an action, with whole ids: where squeue cut a list of tasks, SLURM is asked for it.

    Raises:
        Refused: none of the jobs is wanted.
        CommandError: SLURM did not answer.
    """
    jobs, groups = jobs_of(context), dict(context.groups)
    kept = await asyncio.to_thread(lambda: [job for job in jobs if wanted(job)])
    if not kept:
        raise Refused(why_not(jobs[0]))
    rows = []
    for job in kept:
        whole: str | None = job.id
        if parse_job_id(job.id) is None:
            whole = await context.console.session.slurm.whole_id(job)
        rows.append(Target(job.id, whole or "", job, groups.get(job.id)))
    return Targets(tuple(rows), context.console.session.user, len(jobs) - len(kept))


def facts_of(context: Context, targets: Targets, *, lost: bool = False) -> tuple[str, ...]:
    """What a question tells of its targets; ``lost``: whether the work of running jobs would be lost."""
    rows = targets.rows
    whole = [whole_words(row.group) for row in rows if row.group is not None]
    facts = whole[:_MOST_NAMED]
    if len(rows) == 1:
        job = rows[0].job
        facts.append(f"{job.name} · {job.partition} · {job.state.lower()}")
        run_id = context.job_run_id or context.console.store.snapshot.run_of_job.get(job.id)
        if run_id and lost:
            facts.append("belongs to a flow run: cancel the run instead to end it cleanly (o shows it)")
    else:
        facts.append(f"{state_words(rows)}: {names([row.key for row in rows], _MOST_NAMED)}")
        if any(_is_task(row) for row in rows):
            facts.append("of an array these tasks only; its others are left alone")
    if targets.foreign:
        facts.append(f"jobs of other users: {_by_user(rows, targets.me)}")
    if targets.left_out:
        facts.append(f"{counted(targets.left_out, 'other')} marked: this does not concern them, they are left alone")
    work = lost_work(rows) if lost else ""
    return (*facts, work) if work else tuple(facts)


def followers(context: Context, targets: Targets) -> dict[str, int]:
    """By the first component of a het job among the targets: how many others end with it that are not targets."""
    found: dict[str, int] = {}
    keys = {row.key for row in targets.rows}
    for row in targets.rows:
        parsed = parse_job_id(row.id)
        if row.group is None and parsed is not None and parsed.leads:
            table = context.console.store.snapshot.queue.data
            others = {table.plain(place, "id") for place in table.rows_of(str(parsed.base))} - keys
            if others:
                found[row.key] = len(others)
    return found


def _is_task(row: Target) -> bool:
    parsed = parse_job_id(row.id)
    return row.group is None and parsed is not None and parsed.task is not None


def state_words(rows: Iterable[Target]) -> str:
    """``3 running, 9,535 pending``."""
    counts: Counter[str] = Counter()
    for row in rows:
        if row.group is not None:
            counts.update(row.group.states)
            counts["HIDDEN"] += row.group.hidden
        else:
            counts[row.job.state] += row.parts
    return ", ".join(f"{count:,} {state.lower()}" for state, count in counts.most_common() if count)


def _by_user(rows: Iterable[Target], me: str) -> str:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row.job.user] += row.parts
    return names([f"{user} ({count:,})" for user, count in counts.most_common() if user != me])


def whole_words(group: JobGroup) -> str:
    """What acting on an array or het job as a whole means."""
    least = "" if group.whole else "at least "
    words = f"{group.kind} {group.id} as a whole: {least}{group.shown + group.hidden:,} {group.part}s"
    if group.hidden:
        return f"{words}, also {group.hidden:,} that the filter hides"
    return f"{words}, {group.running:,} running, {group.waiting:,} waiting"


def lost_work(rows: Iterable[Target]) -> str:
    """What running jobs have done so far, in hours; "" when it is not worth a word."""
    running = [row.job for row in rows if row.job.state == "RUNNING" and isinstance(row.job.elapsed, int)]
    seconds = sum(job.elapsed for job in running if isinstance(job.elapsed, int))
    if seconds < _LOST_SECONDS:
        return ""
    cards = sum(job.elapsed * shown_gpus(job.gres) for job in running if isinstance(job.elapsed, int))
    with_gpus = f", {cards / 3600:.1f} GPU-hours" if cards else ""
    return f"lost: what {counted(len(running), 'running job')} did in {seconds / 3600:.1f} hours{with_gpus}"


def plan_of(command: Command, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The commands that will be run, as lines of a plan: the first of them, and how many there are."""
    lines = [" ".join(argv) for argv in commands(command, ids)]
    plan = [("SLURM", _cut(line)) for line in lines[:2]]
    if len(lines) > 2:
        plan.append(("", f"… and {len(lines) - 2:,} more commands like these"))
    return tuple(plan)


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 40]} … {line[-38:]}"


def question(  # noqa: PLR0913 - a question has these parts
    context: Context,
    targets: Targets,
    verb: str,
    plan: Sequence[tuple[str, str]],
    *,
    facts: Sequence[str] = (),
    lost: bool = False,
    harmless: bool = False,
    more: int = 0,
) -> Question:
    """What is asked before something is done to ``targets``.

    The count must be typed when there are several, or when they are somebody else's; ``harmless`` asks for a plain yes
    where all are one's own. ``more`` are those that it is done to as well.
    """
    count = targets.count + more
    many = count > 1 and not harmless
    return Question(
        f"{verb.capitalize()} {targets.title}",
        (*facts_of(context, targets, lost=lost), *facts),
        tuple(plan),
        yes=verb,
        no="No, leave it" if targets.count == 1 else "No, leave them",
        typed=str(count) if many or targets.foreign else "",
    )
