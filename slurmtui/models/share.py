"""A user's share of the cluster and the limits that bind the user's jobs."""

from __future__ import annotations

import math

import msgspec


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """One line of sshare: an account, or the user in an account (and, maybe, in one partition of it).

    ``norm_shares`` is what was promised of the account above, ``usage`` what was used of it, both of 1; ``fair_share``
    goes into a job's priority: 1 is best. ``level`` above 1 means that less was used than promised.
    """

    account: str
    user: str = ""
    partition: str = ""
    shares: str = ""
    norm_shares: float | None = None
    raw_usage: float | None = None
    usage: float | None = None
    fair_share: float | None = None
    level: float | None = None
    running: str = ""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What binds jobs of an association (account, maybe of one partition) or of a QOS.

    ``values`` are SLURM's words by what they limit, in the order in which they are shown; those without a limit are
    left out. ``qos`` are the QOS that may be asked for, the default one first.
    """

    kind: str  # "account" or "qos"
    name: str
    partition: str = ""
    qos: tuple[str, ...] = ()
    priority: str = ""
    values: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """What names it for good."""
        return f"{self.kind}:{self.name}:{self.partition}"


class Shares(msgspec.Struct, frozen=True, kw_only=True):
    """Everything together. ``why_none`` says why there is no fair-share, "" when there is one."""

    shares: tuple[Share, ...] = ()
    limits: tuple[Limits, ...] = ()
    why_none: str = ""
    limits_error: str = ""


def ratio(text: str) -> float | None:
    """A number as sshare writes it; ``inf`` for somebody who has used nothing; None where there is none."""
    try:
        found = float(text)
    except ValueError:
        return None
    return None if math.isnan(found) else found
