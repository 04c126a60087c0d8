"""Fair-share (sshare) and limits (sacctmgr) of one user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.models.records import Field, Layout
from slurmtui.models.share import Limits, Share, Shares, ratio
from slurmtui.models.values import known
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm.ask import ask, records_of
from slurmtui.sources.slurm.history import AccountingOff, understood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.records import Records
    from slurmtui.sources.exec import Finished, Runner

SHARES = Layout(
    Field("account", "Account", 64),
    Field("user", "User", 32, known),
    Field("partition", "Partition", 48, known),
    Field("shares", "RawShares", 16),
    Field("norm_shares", "NormShares", 16, ratio),
    Field("raw_usage", "RawUsage", 24, ratio),
    Field("usage", "EffectvUsage", 16, ratio),
    Field("fair_share", "FairShare", 16, ratio),
    Field("level", "LevelFS", 16, ratio),
    Field("running", "TRESRunMins", 160),
    gap=1,
)
_JOB, _EACH, _ALL = "a job", "each user", "all together"
_ASSOCIATION_LIMITS = (
    ("time limit", "maxwall", 16), (_JOB, "maxtres", 120), ("running jobs", "maxjobs", 12),
    ("submitted jobs", "maxsubmit", 12), ("a job's budget", "maxtresmins", 120),
    (_ALL, "grptres", 120), ("running jobs of all", "grpjobs", 12), ("submitted jobs of all", "grpsubmit", 12),
    ("budget", "grptresmins", 120), ("running budget", "grptresrunmins", 120), ("time of all", "grpwall", 16),
)  # fmt: skip
_QOS_LIMITS = (
    ("time limit", "maxwall", 16), (_JOB, "maxtres", 120), ("at least", "mintres", 120), (_EACH, "maxtrespu", 120),
    ("each account", "maxtrespa", 120), ("running jobs of a user", "maxjobspu", 12),
    ("submitted jobs of a user", "maxsubmitpu", 12), ("running jobs of an account", "maxjobspa", 12),
    ("submitted jobs of an account", "maxsubmitpa", 12), ("a job's budget", "maxtresmins", 120),
    (_ALL, "grptres", 120), ("running jobs of all", "grpjobs", 12), ("submitted jobs of all", "grpsubmit", 12),
    ("budget", "grptresmins", 120), ("running budget", "grptresrunmins", 120), ("time of all", "grpwall", 16),
)  # fmt: skip
ASSOCIATIONS = Layout(
    Field("account", "account", 64),
    Field("partition", "partition", 48),
    Field("qos", "qos", 400),
    Field("default_qos", "defaultqos", 48),
    Field("priority", "priority", 12),
    *(Field(label, ask_for, width, known) for label, ask_for, width in _ASSOCIATION_LIMITS),
    gap=1,
)
QUALITIES = Layout(
    Field("name", "name", 48),
    Field("priority", "priority", 12),
    *(Field(label, ask_for, width, known) for label, ask_for, width in _QOS_LIMITS),
    Field("counts", "usagefactor", 16),
    Field("flags", "flags", 120, known),
    gap=1,
)
NO_FAIR_SHARE = "This cluster does not share by use: no fair-share goes into the priority of a job."


async def read_shares(runner: Runner, user: str, cluster: str, timeout: float) -> Shares:
    """Shares and limits; limits that cannot be had leave their error beside the shares.

    Raises:
        AccountingOff: the cluster keeps no accounts, or does not show them.
        CommandError: sshare does not answer.
    """
    wanted = ("-u", user, "-o", SHARES.asked_left())
    finished = await ask(runner, ("sshare", "-h", "-U", *wanted), timeout, check=False)
    if finished.code:
        raise understood(finished)
    mine = collect_shares(records_of(SHARES, finished))
    accounts = sorted({share.account for share in mine})
    above: tuple[Share, ...] = ()
    if accounts:
        finished = await ask(runner, ("sshare", "-h", "-A", ",".join(accounts), *wanted), timeout)
        above = tuple(share for share in collect_shares(records_of(SHARES, finished)) if not share.user)
    limits, error = await _limits(runner, user, cluster, timeout)
    shares = tuple(share for name in accounts for share in (*above, *mine) if share.account == name)
    return Shares(shares=shares, limits=limits, why_none=why_none(mine), limits_error=error)


def why_none(mine: Sequence[Share]) -> str:
    """Why there is no fair-share, "" when there is one."""
    if not mine:
        return "Accounting knows no account of yours, so there is no share."
    return "" if any(share.fair_share for share in mine) or any(share.usage for share in mine) else NO_FAIR_SHARE


def collect_shares(records: Records) -> tuple[Share, ...]:
    """The lines of sshare; it indents accounts by their depth."""
    return tuple(
        Share(
            account=records.plain(row, "account").strip(),
            user=records.value(row, "user"),
            partition=records.value(row, "partition"),
            shares=records.plain(row, "shares"),
            norm_shares=records.value(row, "norm_shares"),
            raw_usage=records.value(row, "raw_usage"),
            usage=records.value(row, "usage"),
            fair_share=records.value(row, "fair_share"),
            level=records.value(row, "level"),
            running=_whole(records, row, "running"),
        )
        for row in range(len(records))
    )


async def _limits(runner: Runner, user: str, cluster: str, timeout: float) -> tuple[tuple[Limits, ...], str]:
    where = ("where", f"user={user}", *((f"cluster={cluster}",) if cluster else ()))
    try:
        records = await _sacctmgr(runner, ("show", "assoc", *where), ASSOCIATIONS, timeout)
        accounts = collect_associations(records)
        names = ",".join(dict.fromkeys(name for limits in accounts for name in limits.qos))
        if not names:
            return accounts, ""
        records = await _sacctmgr(runner, ("show", "qos", "where", f"name={names}"), QUALITIES, timeout)
    except CommandError as error:
        return (), str(error)
    return (*accounts, *collect_qualities(records)), ""


async def _sacctmgr(runner: Runner, words: Sequence[str], layout: Layout, timeout: float) -> Records:
    argv = ("sacctmgr", "-n", *words, f"format={layout.asked_left()}")
    finished: Finished = await ask(runner, argv, timeout, check=False)
    if finished.code:
        error = understood(finished)
        raise error if isinstance(error, AccountingOff) else failure(finished)
    return records_of(layout, finished)


def collect_associations(records: Records) -> tuple[Limits, ...]:
    """The limits of each of the user's associations, by account."""
    found = []
    for row in range(len(records)):
        default = records.plain(row, "default_qos")
        names = [name for name in _whole(records, row, "qos").split(",") if name]
        found.append(
            Limits(
                kind="account",
                name=records.plain(row, "account"),
                partition=known(records.plain(row, "partition")),
                qos=tuple(dict.fromkeys((*([default] if default else []), *names))),
                priority=records.plain(row, "priority"),
                values=_values(records, row, [label for label, _, _ in _ASSOCIATION_LIMITS]),
            )
        )
    return tuple(sorted(found, key=lambda limits: (limits.name, limits.partition)))


def collect_qualities(records: Records) -> tuple[Limits, ...]:
    """The limits of each QOS."""
    found = []
    for row in range(len(records)):
        factor = ratio(records.plain(row, "counts"))
        counts = () if factor in {None, 1.0} else (("use counts", f"{factor:g} times"),)
        flags = records.value(row, "flags")
        found.append(
            Limits(
                kind="qos",
                name=records.plain(row, "name"),
                priority=records.plain(row, "priority"),
                values=(
                    *_values(records, row, [label for label, _, _ in _QOS_LIMITS]),
                    *counts,
                    *((("flags", flags),) if flags else ()),
                ),
            )
        )
    return tuple(sorted(found, key=lambda limits: limits.name))


def _values(records: Records, row: int, labels: Sequence[str]) -> tuple[tuple[str, str], ...]:
    found = ((label, _whole(records, row, label)) for label in labels)
    return tuple((label, value) for label, value in found if known(value))


def _whole(records: Records, row: int, name: str) -> str:
    """A list without the last entry where the column was cut."""
    text = records.plain(row, name)
    return text.rpartition(",")[0] + ",…" if records.cut(row, name) else text
