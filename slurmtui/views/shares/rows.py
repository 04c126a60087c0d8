"""The rows and the detail of the Shares view. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from slurmtui.models.amounts import counted
from slurmtui.models.gres import tres
from slurmtui.models.text import visible
from slurmtui.models.values import seconds
from slurmtui.views import format as words
from slurmtui.views.amounts import short_type
from slurmtui.views.lines import pairs
from slurmtui.views.side import Rows
from slurmtui.widgets.columns import Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.share import Limits, Share
    from slurmtui.store.my_use import MyUse
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.lines import Cell

_JOBS = frozenset({"cpu", "mem", "node", "gres/gpu"})
_TRES = frozenset({"a job", "at least", "each user", "each account", "all together"})
_BUDGETS = frozenset({"a job's budget", "budget", "running budget"})


def columns(width: int) -> tuple[Column, ...]:
    """The columns for a terminal of this width."""
    narrow = width < 60
    return (
        Column(
            "what",
            "ACCOUNT, QOS",
            0,
            weight=2,
            min_width=14 if narrow else 18,
            max_width=30,
            cut="middle",
            priority=100,
        ),
        Column("share", "SHARE", 10, align="right", priority=70),
        Column("used", "USED", 7, align="right", priority=80),
        Column("fair", "FAIR-SHARE", 10, align="right", priority=90),
        Column("now", "NOW", 0, weight=2, min_width=10 if narrow else 14, max_width=36, priority=60),
        Column("limits", "LIMITS", 0, weight=4, min_width=10 if narrow else 20, priority=95),
    )


def share_key(share: Share) -> str:
    """What names a line of sshare."""
    return f"share:{share.account}:{share.user}:{share.partition}"


def share_rows(shares: Sequence[Share], limits: Sequence[Limits], use: Mapping[tuple[str, str], MyUse]) -> Rows:
    """Shares first, each with the limits of its account; then the QOS."""
    of_account = {(one.name, one.partition): one for one in limits if one.kind == "account"}
    rows: list[tuple[str, Sequence[Cell], str | None]] = []
    above = ""
    for share in shares:
        mine = of_account.pop((share.account, share.partition), None) if share.user else None
        now = use.get(("account", share.account)) if share.user else None
        rows.append((share_key(share), _share_cells(share, mine, now, beneath=above == share.account), None))
        above = above if share.user else share.account
    rest = [one for one in limits if one.kind != "account" or (one.name, one.partition) in of_account]
    rows += [(one.key, _limit_cells(one, use.get((one.kind, one.name))), None) for one in rest]
    return Rows(rows)


def _share_cells(share: Share, limits: Limits | None, now: MyUse | None, *, beneath: bool) -> Sequence[Cell]:
    name = visible(share.account)
    if share.user:
        name = f"└ {visible(share.user)}" if beneath else f"{visible(share.user)} in {name}"
    if share.partition:
        name += f", {visible(share.partition)}"
    rated = share.user and (share.fair_share or share.usage)
    promised = f" ({share.norm_shares:.0%})" if share.norm_shares is not None else ""
    style = "" if share.fair_share is None else "state-done" if share.fair_share >= 0.5 else "state-waiting"
    return (
        (name, "bold" if share.user else ""),
        f"{visible(share.shares)}{promised}",
        words.DASH if share.usage is None else f"{share.usage:.1%}",
        (words.DASH, "dim") if not rated else (f"{share.fair_share or 0:.3f}", style),
        now_words(now) if share.user else "",
        limit_words(limits) if limits is not None else "",
    )


def _limit_cells(limits: Limits, now: MyUse | None) -> Sequence[Cell]:
    name = f"{limits.kind} {visible(limits.name)}" + (f" in {visible(limits.partition)}" if limits.partition else "")
    text = limit_words(limits)
    return ((name, "bold"), "", "", "", now_words(now), text or ("no limit", "dim"))


def now_words(now: MyUse | None) -> str:
    """What my jobs hold: ``3 running, 12 CPUs, 2 GPUs; 40 wait``."""
    if now is None:
        return ""
    held = f"{now.running:,} run, {counted(now.cpus, 'CPU')}" + (f", {counted(now.gpus, 'GPU')}" if now.gpus else "")
    waiting = f"{now.waiting:,} wait" if now.waiting else ""
    return "; ".join(part for part in (held if now.running else "", waiting) if part)


def limit_words(limits: Limits) -> str:
    """The limits on one line."""
    return " · ".join(_one(label, value) for label, value in limits.values)


def _one(label: str, value: str) -> str:
    if label in _TRES:
        return f"{label} {things(value)}"
    if label in _BUDGETS:
        return f"{label} {things(value)} minutes"
    if label.endswith(("jobs", "jobs of a user", "jobs of an account", "jobs of all")):
        return f"{visible(value)} {label}"
    if label in {"time limit", "time of all"}:
        return f"{label} {words.span(seconds(value))}"
    return f"{label} {visible(value)}"


def things(text: str) -> str:
    """``cpu=8,gres/gpu:a100=2,mem=64G`` as ``8 CPUs, 2 a100, 64G``."""
    found = []
    for name, amount in tres(text).items():
        if name == "cpu":
            found.append(f"{amount} CPUs")
        elif name == "mem":
            found.append(amount)
        elif name == "node":
            found.append(f"{amount} nodes")
        elif name.startswith("gres/gpu"):
            kind = name.partition(":")[2]
            found.append(f"{amount} {short_type(kind) if kind else 'GPUs'}")
        else:
            found.append(f"{amount} {name}")
    return visible(", ".join(found)) or visible(text)


def share_lines(share: Share, limits: Limits | None) -> list[list[Piece]]:
    """Everything about one line of sshare."""
    who = f"{visible(share.user)} in {visible(share.account)}" if share.user else f"account {visible(share.account)}"
    lines: list[list[Piece]] = [
        [(who, "bold"), (f" · partition {visible(share.partition)}" if share.partition else "", "")]
    ]
    promised = f", {share.norm_shares:.1%} of the account above" if share.norm_shares is not None else ""
    used = "" if share.usage is None else f"{share.usage:.1%} of the account above"
    raw = "" if share.raw_usage is None else f" ({share.raw_usage:,.0f} of SLURM's units, older use counting less)"
    lines += pairs(
        [
            ("promised", f"{visible(share.shares)} shares{promised}"),
            ("used", f"{used}{raw}"),
            (
                "fair-share",
                "" if share.fair_share is None else f"{share.fair_share:.6f} of 1: it goes into the priority",
            ),
            ("level", _level(share.level)),
            ("running", things(share.running) + " minutes still to come" if _some(share.running) else ""),
        ]
    )
    return lines + (limits_lines(limits)[1:] if limits is not None else [])


def _level(level: float | None) -> str:
    if level is None or level == 0:
        return ""
    if math.isinf(level):
        return "nothing used yet: first in line among the others of the account"
    more = "less used than promised" if level > 1 else "more used than promised"
    return f"{level:.3f}: {more}"


def _some(running: str) -> bool:
    return any(value.strip("0") for name, value in tres(running).items() if name in _JOBS)


def limits_lines(limits: Limits) -> list[list[Piece]]:
    """Every limit of an association or a QOS."""
    place = f" in partition {visible(limits.partition)}" if limits.partition else ""
    lines: list[list[Piece]] = [[(f"{limits.kind} {visible(limits.name)}{place}", "bold")]]
    lines += pairs([("QOS", visible(", ".join(limits.qos))), ("priority", visible(limits.priority))])
    lines += pairs([(label, _value(label, value)) for label, value in limits.values], 28)
    if not limits.values:
        lines.append([("no limit of its own", "$text-muted")])
    return lines


def _value(label: str, value: str) -> str:
    if label in _TRES or label in _BUDGETS:
        return things(value) + (" minutes" if label in _BUDGETS else "")
    return visible(value)
