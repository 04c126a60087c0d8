"""From what a person types to the run that is meant: a whole id, or the beginning of one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import PrefectError, Refused, UsageError
from slurmtui.models.text import visible
from slurmtui.sources import run_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slurmtui.models.flow_run import FlowRun
    from slurmtui.session import Session
    from slurmtui.sources.prefect.client import PrefectClient

NO_SERVER = "No Prefect server is configured: start one with `slurmtui server start`, or set PREFECT_API_URL."
_PREFIX = re.compile(r"[0-9a-f][0-9a-f-]{0,35}")
_SHOWN = 10


class Found(msgspec.Struct, frozen=True):
    """A run by its id and name, as far as it is known without asking further."""

    id: str
    name: str
    flow: str = ""


def need_prefect(session: Session) -> PrefectClient:
    """The client of the Prefect server.

    Raises:
        Refused: none is configured.
    """
    client = session.prefect
    if client is None:
        raise Refused(NO_SERVER)
    return client


async def resolve_run(session: Session, text: str) -> FlowRun:
    """The run whose id is, or begins with, ``text``.

    Raises:
        UsageError: it is no id, or several runs begin so (they are listed).
        Refused: there is no such run, or no Prefect server is configured.
        PrefectError: the server did not answer.
    """
    client = need_prefect(session)
    run_id = await resolve_id(session, text)
    try:
        return await client.flow_run(run_id)
    except PrefectError as error:
        if error.status == 404:
            raise Refused(
                f"Run {run_id} is not known to the Prefect server {client.connection.where}. Is it the right server?"
            ) from error
        raise


async def resolve_id(session: Session, text: str) -> str:
    """The id of the run that is meant; Prefect need not answer when one of the run folders is.

    Raises:
        UsageError: it is no id, or several runs begin so (they are listed).
        Refused: there is no such run.
        PrefectError: the run is in no folder, and the server did not answer.
    """
    prefix = text.strip().lower()
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(f"{visible(text)!r} is no run id: one is made of 0-9, a-f and -, and may be cut short.")
    here = [
        Found(run_id, record.spec.name, record.spec.flow_name)
        for run_id, record in run_folder.read_all().items()
        if run_id.startswith(prefix)
    ]
    if run_folder.is_run_id(prefix) and here:
        return prefix
    found = {one.id: one for one in await _in_prefect(session, prefix, here)}
    found.update({one.id: one for one in here})
    if not found:
        raise Refused(f"There is no run whose id begins with {prefix}. `slurmtui runs` lists them.")
    if len(found) > 1:
        raise UsageError(f"Several runs begin with {prefix}:\n{_listing(found.values())}\nGive more of the id.")
    return next(iter(found))


async def _in_prefect(session: Session, prefix: str, here: list[Found]) -> list[Found]:
    client = session.prefect
    if client is None:
        if here:
            return []
        raise Refused(NO_SERVER)
    try:
        return [Found(run.id, run.name, run.flow_name) for run in await client.find_flow_runs(prefix)]
    except PrefectError:
        if here:
            return []  # those in the folders can still be acted on
        raise


def _listing(runs: Iterable[Found]) -> str:
    ordered = sorted(runs, key=lambda one: one.id)
    lines = [f"  {one.id}  {visible(one.name)}  {visible(one.flow)}".rstrip() for one in ordered[:_SHOWN]]
    if len(ordered) > _SHOWN:
        lines.append(f"  … and {len(ordered) - _SHOWN} more")
    return "\n".join(lines)
