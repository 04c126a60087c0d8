"""From what a person types to the run that is meant: a whole id, the beginning of one, or a name."""

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
    """The run whose id is, or begins with, ``text``, or whose name it is.

    Raises:
        UsageError: several runs are called or begin so (they are listed).
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
        UsageError: several runs are called or begin so (they are listed).
        Refused: there is no such run.
        PrefectError: the run is in no folder, and the server did not answer.
    """
    wanted = text.strip()
    prefix = wanted.lower() if _PREFIX.fullmatch(wanted.lower()) else ""
    here = [
        Found(run_id, record.spec.name, record.spec.flow_name)
        for run_id, record in run_folder.read_all().items()
        if (prefix and run_id.startswith(prefix)) or record.spec.name == wanted
    ]
    if run_folder.is_run_id(prefix) and any(one.id == prefix for one in here):
        return prefix
    found = {one.id: one for one in await _in_prefect(session, prefix, wanted, here)} if wanted else {}
    found.update({one.id: one for one in here})
    if not found:
        raise Refused(f"No run is called {visible(wanted)!r} or has an id that begins so. `slurmtui runs` lists them.")
    if len(found) > 1:
        listing = _listing(found.values())
        raise UsageError(f"Several runs are called {visible(wanted)!r} or begin so:\n{listing}\nGive more of the id.")
    return next(iter(found))


async def _in_prefect(session: Session, prefix: str, name: str, here: list[Found]) -> list[Found]:
    client = session.prefect
    if client is None:
        if here:
            return []
        raise Refused(NO_SERVER)
    try:
        runs = await client.find_flow_runs(prefix) if prefix else ()
        if not run_folder.is_run_id(prefix):
            runs = (*runs, *await client.named_flow_runs(name))
    except PrefectError:
        if here:
            return []  # those in the folders can still be acted on
        raise
    return [Found(run.id, run.name, run.flow_name) for run in runs]


def _listing(runs: Iterable[Found]) -> str:
    ordered = sorted(runs, key=lambda one: one.id)
    lines = [f"  {one.id}  {visible(one.name)}  {visible(one.flow)}".rstrip() for one in ordered[:_SHOWN]]
    if len(ordered) > _SHOWN:
        lines.append(f"  … and {len(ordered) - _SHOWN} more")
    return "\n".join(lines)
