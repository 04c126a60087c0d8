"""What would have to happen before a waiting job starts, by SLURM's reason. Pure."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from slurmtui.models.amounts import counted
from slurmtui.models.gres import gres_words
from slurmtui.models.reasons import explain

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.models.job_why import Place, Precondition, WhyFacts

_FIXED = {
    "None": "the scheduler has to look at it first: it does so within a minute or so",
    "Cleaning": "its last run has to be cleaned up on its nodes",
    "JobHeldUser": "somebody has to release it: H does",
    "JobHeldAdmin": "an administrator has to release it, or H if you are one",
    "JobHoldMaxRequeue": "it has to be released after it was requeued too often: see its log first, then H",
    "MaxRequeue": "it has to be released after it was requeued too often: see its log first, then H",
    "job requeued in special exit state": "it has to be released: H does",
    "launch failed requeued held": "its launch has to succeed: see its log and node, then release it with H",
    "user env retrieval failed requeued held": "release it with H; if it fails again, ask the administrators",
    "DependencyNeverSatisfied": "it can never start: a job it depends on did not end as it had to; cancel it with X",
    "PartitionTimeLimit": "its time limit has to be lowered to what the partition allows (E), or its partition changed",
    "PartitionNodeLimit": "it has to ask for fewer nodes, or its partition has to be changed (E)",
    "PartitionConfig": "it has to ask for what the partition allows: see below",
    "PartitionDown": "an administrator has to bring the partition up",
    "PartitionInactive": "an administrator has to make the partition active",
    "NodeDown": "an administrator has to bring back a node that it needs",
    "ReqNodeNotAvail": "a node that it needs has to come back, or the reservation or maintenance on it has to end",
    "Reservation": "its reservation has to begin",
    "ReservationDeleted": "its reservation is gone: submit it again without it (R)",
    "InvalidReservation": "its reservation is not valid: submit it again with another (R)",
    "Licenses": "another job has to give back the licences that it asks for",
    "JobArrayTaskLimit": "a running task of the array has to end, or its throttle has to be raised (E)",
    "BadConstraints": "it has to ask for something that a node has: see below",
    "InvalidAccount": "it needs an account that may be used: submit it again with another (R)",
    "InvalidQOS": "it needs a QOS that may be used (E)",
    "AccountNotAllowed": "it needs an account that may use the partition, or another partition (E)",
    "QOSNotAllowed": "it needs a QOS that may be used here (E)",
    "Prolog": "the prolog has to end on its nodes",
    "DeadLine": "it cannot end before its deadline: cancel it with X",
}
_GROUP = re.compile(r"(Assoc|QOS)Grp(?!.*(?:Minutes|Wall|Billing))")
_MINUTES = re.compile(r"(Assoc|QOS)\w*(?:Minutes|Mins|GrpWall)")
_PER_USER = re.compile(r"(?:Assoc|QOS)Max\w+PerUser|QOSMaxJobs|AssocMaxJobs|AssociationJobLimit|QOSJobLimit")


def todo_of(word: str, facts: WhyFacts, place: Place | None) -> tuple[str, ...]:
    """What would have to happen, most important first."""
    words = [part.strip() for part in word.split(",")] if word not in _FIXED else [word]
    found: list[str] = []
    for one in words or ["None"]:
        if one.startswith("UnavailableNodes"):  # which nodes: the reason names them
            continue
        found.extend(_todo(one.partition(":")[0] or "None", facts, place))
    return tuple(dict.fromkeys(found))


def _todo(word: str, facts: WhyFacts, place: Place | None) -> list[str]:
    told: dict[str, Callable[[], list[str]]] = {
        "Priority": lambda: [_priority(facts, place)],
        "Resources": lambda: [_resources(facts)],
        "Dependency": lambda: _dependencies(facts),
        "BeginTime": lambda: [_begin(facts)],
    }
    if word in told:
        return told[word]()
    if word in _FIXED:
        text = _FIXED[word]
        if word == "JobArrayTaskLimit" and facts.throttle:
            text += f": {counted(facts.throttle, 'task')} of it may run at once"
        return [text]
    return [_limit(word)]


def _limit(word: str) -> str:
    if _MINUTES.search(word):
        return "time used so far has to decay or be granted anew, or running jobs have to end: see the limits below"
    if _PER_USER.search(word):
        return "one of this user's running jobs has to end, or the limit has to be raised: see the limits below"
    if _GROUP.search(word):
        return "running jobs that count towards the limit have to end: see the limits below"
    if explain(word).stuck:
        return "it has to ask for something else (E), or be submitted again (R)"
    return "SLURM says no more than this word"


def _priority(facts: WhyFacts, place: Place | None) -> str:
    where = ", ".join(facts.request.partitions) or facts.job.partition
    before = place.place - 1 if place is not None and place.place else 0
    many = f"{counted(before, 'job')} of higher priority" if before else "the jobs of higher priority"
    verb = "has" if before == 1 else "have"
    return f"{many} in {where} {verb} to start first, or it has to fit beside them without delaying them (backfill)"


def _resources(facts: WhyFacts) -> str:
    request = facts.request
    each = counted(request.cpus_per_node, "CPU")
    things = "".join(f", {gres_words(thing)}" for thing in request.gres_per_node)
    where = ", ".join(request.partitions) or facts.job.partition
    room = f"{counted(request.nodes, 'node')} with {each}{things} free"
    return f"running jobs in {where} have to end until there is room: {room}; it is among the first in line"


def _dependencies(facts: WhyFacts) -> list[str]:
    if not facts.preconditions:
        return ["a job that it depends on has to end"]
    return [_precondition(one, facts.now) for one in facts.preconditions]


_CONDITIONS = {
    "after": "has to start", "afterany": "has to end", "afterok": "has to end well", "afternotok": "has to fail",
    "aftercorr": "the same task of it has to end well", "afterburstbuffer": "has to move its data out",
    "singleton": "every other job of this name has to end",
}  # fmt: skip


def _precondition(one: Precondition, now: float) -> str:
    wanted = _CONDITIONS.get(one.condition, f"has to satisfy {one.condition}")
    if one.condition == "singleton":
        return wanted
    state = one.state.lower() if one.state else "in the queue no more"
    end = f", at the latest {clock_words(one.end, now)}" if one.end and one.state == "RUNNING" else ""
    name = f" ({one.name})" if one.name else ""
    return f"job {one.id}{name} {wanted}: it is {state}{end}"


def _begin(facts: WhyFacts) -> str:
    when = clock_words(facts.begin, facts.now) if facts.begin else "its begin time"
    return f"{when} has to come"


def clock_words(moment: float, now: float) -> str:
    """A moment: ``14:20`` today, ``Tue 14:20`` within a week, else ``28 Nov 14:20``, far away ``28 Nov 2027``."""
    here, today = time.localtime(moment), time.localtime(now)
    if here[:3] == today[:3]:
        return time.strftime("%H:%M", here)
    if abs(moment - now) > 300 * 86400:
        return time.strftime("%d %b %Y", here)
    return time.strftime("%a %H:%M" if abs(moment - now) < 6 * 86400 else "%d %b %H:%M", here)
