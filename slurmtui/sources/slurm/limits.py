"""The limits that hold for a job: from the controller's memory with what is used, else from accounting without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.models.job_limits import Limit, parse_assoc_mgr, parse_sacctmgr
from slurmtui.sources.slurm.ask import ask

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.sources.slurm.client import Slurm

_HIGHEST = 5  # accounts above each other that are looked at


async def limits_of(slurm: Slurm, user: str, account: str, qos: Iterable[str]) -> tuple[Limit, ...]:
    """The limits of a user's association, of the accounts above it, and of some QOS.

    Raises:
        CommandError: neither the controller nor accounting tells.
    """
    names = [name for name in dict.fromkeys(qos) if name]
    try:
        return await _from_controller(slurm, user, account, names)
    except CommandError:
        return await _from_accounting(slurm, user, account, names)


async def _from_controller(slurm: Slurm, user: str, account: str, qos: Sequence[str]) -> tuple[Limit, ...]:
    # Without names SLURM tells of every account and QOS there is.
    parts = ["assoc"] if account else []
    argv = ["scontrol", "show", "assoc_mgr", f"users={user}"]
    if account:
        argv.append(f"accounts={account}")
    if qos:
        parts.append("qos")
        argv.append(f"qos={','.join(qos)}")
    if not parts:
        return ()
    found, parents = await _told(slurm, [*argv, f"flags={','.join(parts)}"], user, account)
    above = parents.get(account, "")
    for _ in range(_HIGHEST):
        if not above or above == "root":
            break
        argv = ["scontrol", "show", "assoc_mgr", f"users={user}", f"accounts={above}", "flags=assoc"]
        more, parents = await _told(slurm, argv, user, above)
        found += [limit for limit in more if limit.whose == f"account {above}"]
        above = parents.get(above, "")
    return tuple(found)


async def _told(slurm: Slurm, argv: Sequence[str], user: str, account: str) -> tuple[list[Limit], dict[str, str]]:
    finished = await ask(slurm.runner, argv, slurm.timeout)
    return parse_assoc_mgr(finished.stdout.decode("utf-8", "replace"), user=user, account=account)


async def _from_accounting(slurm: Slurm, user: str, account: str, qos: Sequence[str]) -> tuple[Limit, ...]:
    found: list[Limit] = []
    questions: list[tuple[str, ...]] = []
    if account:
        questions.append(("assoc", "where", f"user={user}", f"account={account}"))
    if qos:
        questions.append(("qos", ",".join(qos)))
    for question in questions:
        finished = await ask(slurm.runner, ("sacctmgr", "-P", "show", *question), slurm.timeout)
        found += parse_sacctmgr(finished.stdout.decode("utf-8", "replace"))
    return tuple(found)
