"""What ended an attempt, what another one should ask for, and whether it is made without asking. Pure.

Causes are the keys of ``RetryPolicy``; ``code`` is what the flow itself raised, nothing is what nobody can tell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.profile import Profile, RetryPolicy
from slurmtui.models.values import Special, memory, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slurmtui.models.cluster import Partition
    from slurmtui.models.run_record import DriverRecord

CODE = "code"
CAUSES = {
    "OUT_OF_MEMORY": "out_of_memory", "NODE_FAIL": "node_fail", "BOOT_FAIL": "node_fail", "TIMEOUT": "timeout",
    "DEADLINE": "timeout", "PREEMPTED": "preempted",
}  # fmt: skip
"""SLURM's states of a job that ended through no fault of the code, the most telling first."""

CAUSE_WORDS = {
    "out_of_memory": "out of memory", "node_fail": "node failed", "timeout": "time limit", "preempted": "preempted",
    CODE: "the code failed",
}  # fmt: skip
OF_VERDICT = {
    "out-of-memory": "out_of_memory", "time-limit": "timeout", "node-failed": "node_fail", "preempted": "preempted",
}  # fmt: skip
"""The cause by the kind of a verdict."""

FROM_OUTSIDE = re.compile(
    r"KilledWorker|CommClosed|ClosedError|WorkerDied|Scheduler|termination signal|SIGTERM|SIGKILL|killed|heartbeat"
    r"|MemoryError|\d+/\d+ states? (?:failed|are not)|OUT_OF_MEMORY|out of memory|TIMEOUT|time limit|NODE_FAIL"
    r"|PREEMPTED|BOOT_FAIL|DEADLINE|BatchJobFailed|JobFailed|CancelledError|TimeoutError",
    re.IGNORECASE,
)
"""What Prefect or Dask say when it was not the code: only then the end of a job is taken for the cause."""

_OWN_WORDS = re.compile(r"SLURM job (\S+) [^\n]*?\((OUT_OF_MEMORY|NODE_FAIL|BOOT_FAIL|TIMEOUT|DEADLINE|PREEMPTED)\)\.")
_BATCH_JOB_FAILED = re.compile(r"SLURM job \S+ [^\n]*?\(FAILED\)\.")


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """One way to retry: ``key`` for the program, ``title`` for a person, the profile its jobs are asked for with."""

    key: str
    title: str
    profile: Profile | None = None
    why_not: str = ""


def cause_of(messages: str, ended: Mapping[str, str]) -> tuple[str, str]:
    """What ended an attempt, and the job that tells so.

    Args:
        messages: what Prefect says of the failure.
        ended: the states in which the attempt's jobs ended, by id, the newest last.
    """
    if messages.strip() and not FROM_OUTSIDE.search(messages):
        return CODE, ""
    # A batch job's own error carries SLURM's word for exactly the job that made the flow fail.
    if found := _OWN_WORDS.search(messages):
        return CAUSES[found[2]], found[1]
    if _BATCH_JOB_FAILED.search(messages):
        return CODE, ""
    for state, cause in CAUSES.items():
        for job_id, its_state in reversed(list(ended.items())):
            if its_state == state:
                return cause, job_id
    return "", ""


def tried(attempts: Sequence[DriverRecord], cause: str) -> int:
    """How often this cause was answered by another attempt without asking, since a person last started the run."""
    count = 0
    for record in reversed(attempts):
        if not record.again:
            break
        count += record.cause == cause
    return count


def allowed(policy: RetryPolicy | None, cause: str) -> int:
    """How often the policy retries by itself after that cause."""
    return 0 if policy is None or cause not in CAUSES.values() else int(getattr(policy, cause))


def grown(profile: Profile, cause: str, factor: int, partitions: Iterable[Partition] = ()) -> tuple[Profile, str]:
    """The profile with more of what was lacking, as far as its partition goes, and the change in words."""
    if cause == "out_of_memory":
        bigger = more_memory(profile, factor, partitions)
    elif cause == "timeout":
        bigger = more_time(profile, factor, partitions)
    else:
        return profile, ""
    return (profile, "") if bigger.profile is None else (bigger.profile, difference(profile, bigger.profile))


def more_memory(profile: Profile, factor: int, partitions: Iterable[Partition] = ()) -> Way:
    """More memory a job, at most what a node of the partition has."""
    title, now, partition = "bigger memory", memory(profile.memory), partition_of(profile, partitions)
    if now is None:
        return Way(key="memory", title=title, why_not=f"{profile.memory} is no memory that can be multiplied")
    most = partition.memory_per_node if partition is not None else None
    wanted = now * factor
    if most is not None and wanted > most:
        wanted = float(int(most))
    if wanted <= now:
        return Way(key="memory", title=title, why_not=f"no node of {_named(partition)} has more than {profile.memory}")
    return Way(key="memory", title=title, profile=replaced(profile, memory=memory_text(wanted)))


def more_time(profile: Profile, factor: int, partitions: Iterable[Partition] = ()) -> Way:
    """A longer time limit, at most the partition's."""
    title, now, partition = "more time", seconds(profile.walltime), partition_of(profile, partitions)
    if isinstance(now, Special):
        return Way(key="time", title=title, why_not=f"the time limit is {profile.walltime} already")
    wanted, most = now * factor, partition.max_time if partition is not None else Special.UNKNOWN
    if not isinstance(most, Special):
        wanted = min(wanted, most)
    if wanted <= now:
        return Way(key="time", title=title, why_not=f"{_named(partition)} allows no more than {profile.walltime}")
    return Way(key="time", title=title, profile=replaced(profile, walltime=time_text(wanted)))


def ways(
    profile: Profile | None,
    submitted: Profile | None = None,
    partitions: Sequence[Partition] = (),
    others: Iterable[Profile] = (),
) -> tuple[Way, ...]:
    """All ways to retry with that profile; ``submitted`` is how it was at first. Without one only as it was."""
    same = Way(key="same", title="as it was", profile=profile)
    if profile is None:
        return (same,)
    found = [same, more_memory(profile, 2, partitions), more_time(profile, 2, partitions)]
    if submitted is not None and submitted != profile:
        found.append(Way(key="first", title="as first submitted", profile=submitted))
    found += [
        Way(key=f"profile:{other.name}", title=f"profile {other.name}", profile=other)
        for other in others
        if other not in (profile, submitted)
    ]
    named = {way.profile.partition for way in found if way.profile is not None}
    for partition in partitions:
        if partition.name not in named and not (partition.default and None in named) and fits(profile, partition):
            moved = replaced(profile, partition=partition.name)
            found.append(Way(key=f"partition:{partition.name}", title=f"partition {partition.name}", profile=moved))
    return tuple(found)


def best_way(found: Sequence[Way], cause: str) -> str:
    """The key of the way that answers what ended the run."""
    wanted = {"out_of_memory": "memory", "timeout": "time"}.get(cause, "same")
    return wanted if any(way.key == wanted and way.profile is not None for way in found) else "same"


def fits(profile: Profile, partition: Partition) -> bool:
    """Whether a job of the profile could run in the partition."""
    limit, asked, amount = seconds(profile.walltime), partition.max_time, memory(profile.memory)
    if not isinstance(limit, Special) and not isinstance(asked, Special) and limit > asked:
        return False
    if amount is not None and partition.memory_per_node is not None and amount > partition.memory_per_node:
        return False
    if profile.gres and not any(thing.partition(":")[0] == profile.gres.partition(":")[0] for thing in partition.gres):
        return False
    return profile.cores <= partition.cpus_per_node and partition.state.lower().startswith("up")


def partition_of(profile: Profile, partitions: Iterable[Partition]) -> Partition | None:
    """The partition that jobs of the profile go to."""
    return next(
        (one for one in partitions if one.name == profile.partition or (profile.partition is None and one.default)),
        None,
    )


def replaced(profile: Profile, **changes: str) -> Profile:
    """The profile with some keys changed."""
    return msgspec.structs.replace(profile, **changes)


def difference(before: Profile | None, after: Profile | None) -> str:
    """What a person would notice: ``memory 4G → 8G``; empty when nothing differs."""
    if before is None or after is None or before == after:
        return ""
    keys = ("name", "partition", "cores", "memory", "walltime", "gres", "workers", "nodes")
    changed = [key for key in keys if getattr(before, key) != getattr(after, key)]
    names = {"name": "profile", "walltime": "time"}
    told = [f"{names.get(key, key)} {getattr(before, key) or '-'} → {getattr(after, key) or '-'}" for key in changed]
    return ", ".join(told) or "other settings of the profile"


def memory_text(mebibytes: float) -> str:
    """Memory as SLURM takes it, in whole gibibytes where it is some."""
    whole = int(mebibytes)
    return f"{whole // 1024}G" if whole >= 1024 and whole % 1024 == 0 else f"{whole}M"


def time_text(total: int) -> str:
    """A time limit as a profile holds it: ``[D-]HH:MM:SS``."""
    days, rest = divmod(total, 86400)
    return f"{f'{days}-' if days else ''}{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"


def _named(partition: Partition | None) -> str:
    return f"partition {partition.name}" if partition is not None else "its partition"
