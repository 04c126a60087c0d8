"""The limits of a QOS and of an association (account and user), with what of them is used.

``scontrol show assoc_mgr`` tells both from the controller's memory: ``GrpTRES=cpu=64(12),mem=N(500)`` means that 64
CPUs are allowed and 12 used, and that memory is not limited. ``sacctmgr`` tells the limits only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.amounts import limit_words, size_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TOKEN = re.compile(r"(\S+?)=(\S*)")
_LIMITED = re.compile(r"(N|\d+(?:\.\d+)?)(?:\((\d+(?:\.\d+)?)\))?", re.ASCII)
_NAME = re.compile(r"^\s+(\S+)$")

PER_JOB, PER_NODE, PER_USER, PER_ACCOUNT, TOGETHER = (
    "for one job", "for one node of a job", "for each user", "for each account", "for all its jobs together",
)  # fmt: skip

_KEYS: dict[str, tuple[str, str]] = {
    "GrpTRES": ("", TOGETHER), "GrpTRESMins": ("minutes", TOGETHER), "GrpTRESRunMins": ("minutes of running jobs",
    TOGETHER), "GrpJobs": ("running jobs", TOGETHER), "GrpSubmitJobs": ("jobs in the queue", TOGETHER),
    "GrpSubmit": ("jobs in the queue", TOGETHER), "GrpWall": ("wall time", TOGETHER),
    "MaxJobs": ("running jobs", PER_USER), "MaxSubmitJobs": ("jobs in the queue", PER_USER),
    "MaxSubmit": ("jobs in the queue", PER_USER), "MaxWallPJ": ("wall time", PER_JOB),
    "MaxWall": ("wall time", PER_JOB), "MaxTRESPJ": ("", PER_JOB), "MaxTRES": ("", PER_JOB),
    "MaxTRESPN": ("", PER_NODE), "MaxTRESPerNode": ("", PER_NODE), "MaxTRESMinsPJ": ("minutes", PER_JOB),
    "MaxTRESMins": ("minutes", PER_JOB), "MaxJobsPA": ("running jobs", PER_ACCOUNT),
    "MaxSubmitJobsPA": ("jobs in the queue", PER_ACCOUNT), "MaxSubmitPA": ("jobs in the queue", PER_ACCOUNT),
    "MaxTRESPA": ("", PER_ACCOUNT), "MaxJobsPU": ("running jobs", PER_USER),
    "MaxSubmitJobsPU": ("jobs in the queue", PER_USER), "MaxSubmitPU": ("jobs in the queue", PER_USER),
    "MaxTRESPU": ("", PER_USER), "MinTRESPJ": ("at least", PER_JOB), "MinTRES": ("at least", PER_JOB),
}  # fmt: skip
"""By SLURM's name: what is counted (nothing for a TRES itself), and whom it is for."""

_TRES_WORDS = {"cpu": "CPUs", "mem": "memory", "node": "nodes", "billing": "billing", "gres/gpu": "GPUs"}


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """One limit that is set.

    Attributes:
        whose: ``QOS normal``, ``account research``, ``alice in research``.
        tres: ``cpu``, ``mem``, ``gres/gpu:a100`` …; empty for limits of jobs and of wall time.
        what: what is counted of it (``minutes``, ``running jobs``).
        per: whom it is for.
        limit: how much; mebibytes for memory, minutes for wall time.
        used: how much of it is used now, None where it is not known or means nothing (for one job).
    """

    whose: str
    tres: str = ""
    what: str = ""
    per: str = ""
    limit: float
    used: float | None = None

    @property
    def thing(self) -> str:
        """What is limited."""
        kind = self.tres.partition(":")[2]
        name = _TRES_WORDS.get(self.tres.partition(":")[0], self.tres)
        return " ".join(filter(None, ("at least" if self.what == "at least" else "", f"{kind} {name}".strip(),
                                      "" if self.what == "at least" else self.what)))  # fmt: skip

    def amount(self, value: float) -> str:
        """A value of it in words."""
        if self.what == "wall time":
            return limit_words(int(value * 60))
        if self.tres == "mem" and not self.what.startswith("minutes"):
            return size_words(value)
        return f"{value:,.0f}"

    @property
    def full(self) -> bool:
        """Whether nothing of it is left."""
        return self.used is not None and self.used >= self.limit


def parse_assoc_mgr(text: str, *, user: str, account: str) -> tuple[list[Limit], dict[str, str]]:
    """The limits that concern a job of ``user`` in ``account``, and the parent of each account that is told of."""
    found: list[Limit] = []
    parents: dict[str, str] = {}
    whose, group, mine = "", "", True
    for line in text.splitlines():
        name = _NAME.match(line)
        if line.startswith(("ClusterName=", "QOS=")):
            whose, group, mine = _heading(line, user), "", True
        elif line.strip() in {"Account Limits", "User Limits"}:
            group, mine = line.split()[0], False
        elif group and name is not None and "=" not in line:
            mine = _bare(name[1]) in ({user, _uid(text, user)} if group == "User" else {account})
        elif whose and mine:
            told = dict(_TOKEN.findall(line))
            if "ParentAccount" in told:
                parents[whose.removeprefix("account ")] = _bare(told["ParentAccount"])
            found.extend(_limits(whose, told))
    return found, parents


def _heading(line: str, user: str) -> str:
    told = dict(_TOKEN.findall(line))
    if "QOS" in told:
        return f"QOS {_bare(told['QOS'])}"
    owner, account = _bare(told.get("UserName", "")), told.get("Account", "")
    if owner and owner != user:
        return ""
    partition = f" ({told['Partition']})" if told.get("Partition") else ""
    return f"{owner} in {account}{partition}" if owner else f"account {account}"


def _bare(name: str) -> str:
    """``root(0)`` without its number."""
    return name.partition("(")[0]


def _uid(text: str, user: str) -> str:
    """The user's number, which stands for the name where SLURM does not look names up."""
    found = re.search(rf"UserName={re.escape(user)}\((\d+)\)", text)
    return found[1] if found else user


def _limits(whose: str, told: Mapping[str, str]) -> Iterator[Limit]:
    for key, value in told.items():
        if key not in _KEYS or not value:
            continue
        if key.startswith("Max") and whose.startswith("account "):
            continue  # it is told again, as it holds, with each user's own
        what, per = _KEYS[key]
        if "TRES" in key:
            for part in value.split(","):
                name, _, amount = part.partition("=")
                limit, used = _limited(amount)
                if limit is not None:
                    used = None if per in {PER_JOB, PER_NODE} else used
                    yield Limit(whose=whose, tres=name, what=what, per=per, limit=limit, used=used)
        else:
            limit, used = _limited(value)
            if limit is not None:
                used = None if per == PER_JOB else used
                yield Limit(whose=whose, what=what, per=per, limit=limit, used=used)


def _limited(text: str) -> tuple[float | None, float | None]:
    """``64(12)`` is 64 of which 12 are used; ``N(12)`` is no limit."""
    found = _LIMITED.fullmatch(text)
    if found is None:
        return None, None
    return None if found[1] == "N" else float(found[1]), float(found[2]) if found[2] else None


def parse_sacctmgr(text: str) -> list[Limit]:
    """The limits in what ``sacctmgr -P show …`` answered: a line of names, then a line for each record."""
    lines = [line.split("|") for line in text.splitlines() if "|" in line]
    found: list[Limit] = []
    for record in lines[1:]:
        told = dict(zip(lines[0], record, strict=False))
        whole = {key: _minutes(value) if "Wall" in key else _plain(value) for key, value in told.items()}
        found.extend(_limits(_owner(told), whole))
    return found


def _owner(told: Mapping[str, str]) -> str:
    if told.get("Name"):
        return f"QOS {told['Name']}"
    account = told.get("Account", "")
    return f"{told['User']} in {account}" if told.get("User") else f"account {account}"


def _plain(value: str) -> str:
    """Memory as a number of mebibytes: sacctmgr writes ``mem=64G``."""
    scale = {"M": 1, "G": 1024, "T": 1024**2}
    return re.sub(r"(\d+)([MGT])\b", lambda hit: str(int(hit[1]) * scale[hit[2]]), value)


def _minutes(value: str) -> str:
    """Wall time as minutes: sacctmgr writes ``1-00:00:00``."""
    from slurmtui.models.values import seconds  # noqa: PLC0415 - the only use

    amount = seconds(value)
    return str(amount // 60) if value and isinstance(amount, int) else ""
