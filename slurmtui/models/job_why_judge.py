"""What follows from the facts about a waiting job: the one pure function that judges, and its sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.amounts import counted
from slurmtui.models.job_limits import PER_JOB, PER_NODE
from slurmtui.models.job_never import judge_partition, over_limits, wanted_in_all
from slurmtui.models.job_why import Place, Why
from slurmtui.models.job_why_todo import todo_of
from slurmtui.models.reasons import bare, explain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.models.job_limits import Limit
    from slurmtui.models.job_request import JobRequest
    from slurmtui.models.job_why import Never, Waiting, WhyFacts

_LET_THROUGH = frozenset({"Priority", "Resources"})
"""Reasons that a job has only when the rules of its partition did not stop it."""


def judge(facts: WhyFacts) -> Why:
    """What a person is told about a job that waits."""
    word = bare(facts.job.reason)
    known = explain(word)
    here = [_judged(facts, name, word) for name in facts.request.partitions if name in facts.rules]
    never = _never(here)
    if word.startswith(("QOS", "Assoc")):  # else it is not known that limits are enforced here
        never += tuple(over_limits(facts.request, facts.limits))
    place = place_of(facts)
    own = next((one for one in facts.line if one.raw_id == facts.job.raw_id), None)
    return Why(
        reason=known.words,
        word=word,
        stuck=known.stuck or bool(never),
        todo=todo_of(word, facts, place),
        never=never,
        blocked=() if never else _blocked(here),
        remedies=_remedies(facts, never, here),
        start=None if own is None or (own.start or 0) <= facts.now else own.start,
        nodes_planned="" if own is None else own.nodes_planned,
        place=place,
        limits=ranked(facts.limits, word, facts.request),
        known=bool(here) and bool(facts.kinds),
    )


def _judged(facts: WhyFacts, name: str, word: str) -> Never:
    kinds = [kind for kind in facts.kinds if kind.partition == name]
    return judge_partition(facts.request, facts.rules[name], kinds, passed=word in _LET_THROUGH)


def _never(here: Sequence[Never]) -> tuple[str, ...]:
    """Why none of the partitions asked for can take it; one that can is enough."""
    if not here or not all(one.never for one in here):
        return ()
    return tuple(text for one in here for text in one.never)


def _blocked(here: Sequence[Never]) -> tuple[str, ...]:
    possible = [one for one in here if not one.never]
    if not possible or not all(one.blocked for one in possible):
        return ()
    return tuple(text for one in possible for text in one.blocked)


def _remedies(facts: WhyFacts, never: Sequence[str], here: Sequence[Never]) -> tuple[str, ...]:
    """Other partitions in which it would fit, and the key that changes it."""
    found = []
    if _never(here) or _blocked(here):
        fit = _other_partitions(facts)
        if fit:
            found.append(f"it would fit in partition {', '.join(fit[:6])}")
    if never:
        found.append("E changes what it asks for; R submits it again with other values; X cancels it")
    return tuple(found)


def _other_partitions(facts: WhyFacts) -> list[str]:
    """Where else the request could be met; among GPUs only if they are asked for, or nothing else would do."""
    fit = []
    for name, rules in facts.rules.items():
        other = _judged(facts, name, "")
        asked_for = name in facts.request.partitions or rules.root_only or not rules.open
        if not asked_for and not other.never and not other.blocked and other.fitting:
            fit.append(name)
    with_gpus = {kind.partition for kind in facts.kinds if any(thing.name == "gpu" for thing in kind.gres)}
    plain = [name for name in fit if name not in with_gpus]
    return plain if plain and not facts.request.gres_per_node and not facts.request.gres_per_job else fit


def place_of(facts: WhyFacts) -> Place | None:
    """The job's place among those that could start, by SLURM's own priority."""
    if not facts.line:
        return None
    ready = [one for one in facts.line if one.could_start]
    places = [number for number, one in enumerate(ready, 1) if one.raw_id == facts.job.raw_id]
    before = ready[: places[0] - 1] if places else _above(ready, facts)
    return Place(
        place=places[0] if places else 0,
        total=len(ready),
        before=_by_user(before),
        others=sum(1 for one in facts.line if not one.could_start),
    )


def _above(ready: Iterable[Waiting], facts: WhyFacts) -> list[Waiting]:
    """Those that would stand before a job that cannot start yet."""
    own = facts.job.priority or 0
    return [one for one in ready if own and one.priority > own]


def _by_user(waiting: Iterable[Waiting]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for one in waiting:
        counts[one.user] = counts.get(one.user, 0) + 1
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def ranked(limits: Iterable[Limit], word: str, request: JobRequest) -> tuple[tuple[Limit, bool], ...]:
    """The limits, first the ones that hold the job now, by SLURM's word or by what is used of them."""
    judged = [(limit, _is_the_one(limit, word, request)) for limit in limits]
    judged.sort(key=lambda pair: (not pair[1], -(pair[0].used or 0) / (pair[0].limit or 1)))
    return tuple(judged)


def _is_the_one(limit: Limit, word: str, request: JobRequest) -> bool:
    if limit.per in {PER_JOB, PER_NODE} or limit.used is None or not word.startswith(("QOS", "Assoc")):
        return False
    if word.startswith("QOS") != limit.whose.startswith("QOS"):
        return False
    wanted = 1.0 if limit.what == "running jobs" else (wanted_in_all(request, limit.tres) or 0.0)
    return limit.used + wanted > limit.limit


def line_words(place: Place | None, partitions: Sequence[str]) -> tuple[str, ...]:
    """The place in the order as sentences."""
    if place is None:
        return ()
    where = ", ".join(partitions)
    users = ", ".join(f"{user} {number:,}" for user, number in place.before[:4])
    more = f" and {counted(len(place.before) - 4, 'other user')}" if len(place.before) > 4 else ""
    first = f"number {place.place:,} of {place.total:,} that could start in {where}"
    if not place.place and place.total:
        first = f"not yet among the {place.total:,} that could start in {where}"
    elif not place.place:
        first = f"no job waits in {where} for its turn alone"
    lines = [first]
    if users:
        lines.append(f"before it: {users}{more}")
    if place.others:
        verb = "waits" if place.others == 1 else "wait"
        lines.append(f"{counted(place.others, 'other job')} there {verb} for something else")
    return tuple(lines)
