"""Why a job waits, in plain words.

SLURM's reason is one word of some hundred and fifty; those of limits are built from parts (whose limit, of what, per
what), and so are their words here. A reason this program has never heard of is shown as SLURM wrote it.
"""

from __future__ import annotations

import re

import msgspec

from slurmtui.models.text import visible


class Reason(msgspec.Struct, frozen=True):
    """``words`` fit a table's cell; ``stuck`` says that the job will not start until a person does something."""

    words: str
    stuck: bool = False


_KNOWN = {
    "Resources": Reason("Resources"),
    "Priority": Reason("Priority"),
    "None": Reason("not looked at by the scheduler yet"),
    "BeginTime": Reason("its begin time is not yet reached"),
    "Cleaning": Reason("its last run is being cleaned up"),
    "Prolog": Reason("the node's prolog is running"),
    "NodeDown": Reason("a node it needs is down"),
    "ReqNodeNotAvail": Reason("a node it needs is not available"),
    "FrontEndDown": Reason("the front end is down"),
    "Reservation": Reason("its reservation has not begun"),
    "ReservationDeleted": Reason("its reservation was deleted", stuck=True),
    "InvalidReservation": Reason("its reservation is not valid", stuck=True),
    "Dependency": Reason("a job it depends on has not ended"),
    "DependencyNeverSatisfied": Reason("a job it depends on failed", stuck=True),
    "JobHeldUser": Reason("held by its user", stuck=True),
    "JobHeldAdmin": Reason("held by an administrator", stuck=True),
    "JobHoldMaxRequeue": Reason("held after too many requeues", stuck=True),
    "JobLaunchFailure": Reason("its launch failed", stuck=True),
    "RaisedSignal": Reason("a signal ended it"),
    "PartitionDown": Reason("the partition is down"),
    "PartitionInactive": Reason("the partition is not active"),
    "PartitionConfig": Reason("the partition does not allow what it asks for", stuck=True),
    "PartitionTimeLimit": Reason("asks for more time than the partition allows", stuck=True),
    "PartitionNodeLimit": Reason("asks for more nodes than the partition allows", stuck=True),
    "BadConstraints": Reason("no node can satisfy what it asks for", stuck=True),
    "InvalidAccount": Reason("its account is not valid", stuck=True),
    "InvalidQOS": Reason("its QOS is not valid", stuck=True),
    "AccountNotAllowed": Reason("its account may not use this partition", stuck=True),
    "QOSNotAllowed": Reason("its QOS may not use this partition", stuck=True),
    "QOSTimeLimit": Reason("the QOS's time limit is reached", stuck=True),
    "QOSUsageThreshold": Reason("the QOS's usage threshold is passed"),
    "QOSJobLimit": Reason("the QOS's number of jobs is reached"),
    "QOSResourceLimit": Reason("a limit of the QOS is reached"),
    "AssociationJobLimit": Reason("your account's number of jobs is reached"),
    "AssociationResourceLimit": Reason("a limit of your account is reached"),
    "AssociationTimeLimit": Reason("your account's time limit is reached", stuck=True),
    "AssocMaxJobsLimit": Reason("your account's number of running jobs is reached"),
    "Licenses": Reason("no licence is free"),
    "JobArrayTaskLimit": Reason("as many tasks of the array run as it allows"),
    "MaxMemPerLimit": Reason("asks for more memory per CPU or node than is allowed", stuck=True),
    "MaxRequeue": Reason("held after too many requeues", stuck=True),
    "NonZeroExitCode": Reason("its last run failed"),
    "SystemFailure": Reason("a failure of the system"),
    "InactiveLimit": Reason("the inactive limit was reached"),
    "TimeLimit": Reason("the time limit was reached"),
    "DeadLine": Reason("cannot end before its deadline", stuck=True),
    "FedJobLock": Reason("waits for another cluster of the federation"),
    "OutOfMemory": Reason("it used more memory than it had"),
    "BurstBufferResources": Reason("the burst buffer has no room"),
    "BurstBufferOperation": Reason("the burst buffer failed", stuck=True),
    "BurstBufferStageIn": Reason("its data is being staged in"),
    "ReqNodeNotAvail, UnavailableNodes": Reason("a node it needs is not available"),
    "launch failed requeued held": Reason("its launch failed; it is held", stuck=True),
    "job requeued in special exit state": Reason("it asked to be held when it ended", stuck=True),
    "user env retrieval failed requeued held": Reason(
        "the user's environment could not be read; it is held", stuck=True
    ),
}

_LIMIT = re.compile(
    r"(?P<whose>Assoc|QOS)(?P<scope>Grp|Max|Min)"
    r"(?P<what>Cpu|CPU|Cpus|Mem|Memory|GRES|Gres|Node|Nodes|Job|Jobs|SubmitJob|SubmitJobs|Wall|WallDuration|Billing|BB"
    r"|Energy|License|Unknown|CpuPrio|Prio|Prios|GRESPrio)?"
    r"(?P<minutes>RunMinutes|Minutes)?"
    r"(?P<per>PerJob|PerNode|PerUser|PerAccount|PerTask)?(?P<end>Limit|NotSatisfied)?"
)
_WHAT = {
    "cpu": "CPU", "cpus": "CPU", "mem": "memory", "memory": "memory", "gres": "GPU", "node": "node", "nodes": "node",
    "job": "running-job", "jobs": "running-job", "submitjob": "submitted-job", "submitjobs": "submitted-job",
    "wall": "time", "wallduration": "time", "billing": "billing", "bb": "burst-buffer", "energy": "energy",
    "license": "licence", "unknown": "", "prio": "priority", "prios": "priority",
}  # fmt: skip
_PER = {
    "PerJob": "per job",
    "PerNode": "per node",
    "PerTask": "per task",
    "PerUser": "per user",
    "PerAccount": "per account",
}


def explain(reason: str) -> Reason:
    """What SLURM's reason means; an unknown one in SLURM's own word.

    ``ReqNodeNotAvail, UnavailableNodes:n[1-3]`` keeps the list of nodes.
    """
    word = bare(reason)
    if not word or word.upper() == "NULL":
        return _KNOWN["None"]
    if word in _KNOWN:
        return _KNOWN[word]
    name, colon, rest = word.partition(":")
    if name in _KNOWN:
        return Reason(f"{_KNOWN[name].words}{colon and ': '}{rest.strip()}", _KNOWN[name].stuck)
    name, comma, rest = word.partition(",")
    if comma and name in _KNOWN:
        return Reason(f"{_KNOWN[name].words} ({rest.strip()})", _KNOWN[name].stuck)
    match = _LIMIT.fullmatch(word)
    return _limit(match) if match is not None else Reason(word)


def bare(reason: str) -> str:
    """The reason without the parentheses that squeue puts around it."""
    word = reason.strip()
    return word[1:-1] if word.startswith("(") and word.endswith(")") else word


def _limit(match: re.Match[str]) -> Reason:
    """The words for a limit: ``QOSMaxCpuPerUserLimit`` becomes ``the QOS's CPU limit per user``."""
    whose = "the QOS's" if match["whose"] == "QOS" else "the account's"
    what = _WHAT.get((match["what"] or "").lower(), match["what"] or "")
    if match["end"] == "NotSatisfied":
        return Reason(f"asks for less ({what}) than {whose} least", stuck=True)
    unit = {"RunMinutes": "-minutes limit of running jobs", "Minutes": "-minutes limit", None: " limit"}
    per = _PER.get(match["per"] or "", "for all its jobs" if match["scope"] == "Grp" else "")
    words = f"{whose} {what}{unit[match['minutes']]} {per}".replace("  ", " ").strip()
    # What one job may have does not change while it waits; what users and groups have does.
    asks_too_much = match["per"] in {"PerJob", "PerNode", "PerTask"} or match["what"] == "WallDuration"
    return Reason(words, stuck=asks_too_much)


def waiting_words(reason: str) -> str:
    """What the list shows: SLURM's own word where it says enough, else the plain words with it; fit for a screen."""
    known = explain(reason)
    word = bare(reason)
    told = known is _KNOWN["None"] or known.words == word or ":" in word or "," in word or len(word) > 40
    return visible(known.words if told else f"{known.words} ({word})")
