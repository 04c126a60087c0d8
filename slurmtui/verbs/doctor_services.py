"""Doctor's checks of what answers from elsewhere: the configuration's cluster, SLURM, accounting, Prefect."""

from __future__ import annotations

import ipaddress
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from slurmtui.config import Loaded, config_path, read_config
from slurmtui.control.plan import sbatch_options
from slurmtui.control.slurm import test_only
from slurmtui.errors import (
    CommandError,
    ConfigError,
    PrefectError,
    PrefectUnauthorized,
    PrefectUnreachable,
    UsageError,
)
from slurmtui.models.check import Check, fail, ok, warn
from slurmtui.models.config import Config
from slurmtui.models.text import visible
from slurmtui.profiles import pick_profile
from slurmtui.sources.slurm.lacks import find_lacks
from slurmtui.verbs.config_check import check as check_config
from slurmtui.verbs.config_show import masked
from slurmtui.verbs.doctor_machine import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.session import Session

_COMMANDS = ("squeue", "sbatch", "scancel", "scontrol", "sinfo")
_MORE_COMMANDS = ("sacct", "sacctmgr")
_SLOW = 2.0  # seconds; an idle controller answers in a few hundredths
_OLDEST = (20, 11)


def configuration(path: str | None) -> tuple[Loaded, Check | None]:
    """The configuration; a broken one does not end the other checks, they then use the built-in one."""
    try:
        return read_config(path), None
    except ConfigError as error:
        check = fail(
            "configuration",
            _count(len(error.problems), "mistake"),
            why=visible_lines(error.problems),
            step="correct them; `slurmtui config reference` explains every key",
        )
        return Loaded(Config()), check


async def held_against_cluster(loaded: Loaded, session: Session) -> Check:
    """The configuration, and whether the cluster has what it names."""
    problems, more = await check_config(loaded, session)
    notes = (*loaded.notes, *more)
    source = loaded.config.source or ""
    if problems:
        what = _count(len(problems), "mistake")
        step = "correct them; `slurmtui config check` looks again"
        return fail("configuration", what, where=source, why=visible_lines(problems), step=step)
    what = _count(len(loaded.config.profiles), "profile")
    if notes:
        what = f"{what}, {_count(len(notes), 'note')}"
        return warn("configuration", what, where=source, why=visible_lines(notes))
    if not source and not session.config.profiles:
        step = "slurmtui config init"
        return warn(
            "configuration", "There is no configuration, and so no profile", where=str(config_path()), step=step
        )
    if not source and os.environ.get("SLURMTUI_CONFIG"):
        return warn("configuration", "SLURMTUI_CONFIG names a file that is not there", where=str(config_path()))
    return ok("configuration", what if source else "No file: the profiles of the sandbox", where=source)


def visible_lines(sentences: Sequence[str]) -> str:
    """Sentences, one a line."""
    return "\n".join(map(visible, sentences))


def place(session: Session) -> Check:
    """Which SLURM is spoken to."""
    where = session.place.environment.get("SLURM_CONF", "")
    if where and not os.path.lexists(where):
        step = "unset SLURM_CONF, or set it to the cluster's file"
        return fail("place", "SLURM_CONF names a file that is not there", where=where, step=step)
    if session.place.sandbox:
        return ok("place", "The sandbox of this machine", where=where)
    return ok("place", "The SLURM of this machine", where=where)


def commands() -> Check:
    """SLURM's commands on PATH."""
    found = {name: shutil.which(name) for name in (*_COMMANDS, *_MORE_COMMANDS)}
    missing = [name for name in _COMMANDS if not found[name]]
    folder = str(Path(found["squeue"]).parent) if found["squeue"] else ""
    if missing:
        return fail(
            "slurm commands",
            f"Not on PATH: {', '.join(missing)}",
            where=folder,
            why="SLURM is not installed here, or its module is not loaded",
            step="module load slurm, or on one's own machine: slurmtui sandbox up",
        )
    absent = [name for name in _MORE_COMMANDS if not found[name]]
    if absent:
        return warn(
            "slurm commands",
            f"Not on PATH: {', '.join(absent)}",
            where=folder,
            why="without them ended jobs cannot be looked up",
        )
    return ok("slurm commands", f"All {len(found)} are here", where=folder)


async def controller(session: Session) -> Check:
    """Whether slurmctld answers, which version it is, and how fast."""
    started = time.perf_counter()
    try:
        version, cluster = await session.slurm.version(), await session.slurm.cluster_name()
    except CommandError as error:
        return fail(
            "slurmctld",
            "SLURM's controller does not answer",
            why=visible(str(error)),
            step="ask the cluster's staff; in the sandbox: slurmtui sandbox up",
        )
    seconds = time.perf_counter() - started
    shown = slurm_version(version) or "of unknown version"
    what = f"SLURM {shown} answers in {seconds:.2f} s"
    if version and version < _OLDEST:
        return warn("slurmctld", what, where=visible(cluster), why="slurmtui was tested with 20.11 and newer")
    if seconds > _SLOW:
        return warn(
            "slurmctld",
            what,
            where=visible(cluster),
            why="that is slow",
            step="raise slurm.poll_seconds in the configuration",
        )
    return ok("slurmctld", what, where=visible(cluster))


async def offers(session: Session) -> Check:
    """What this version of SLURM does not tell, and what is off therefore."""
    try:
        lacks = await find_lacks(session.slurm)
    except CommandError as error:
        return warn("slurm offers", "What this SLURM offers is not known", why=visible(str(error)))
    if not lacks:
        return ok("slurm offers", "Everything that slurmtui asks for")
    return ok("slurm offers", f"Off with this SLURM: {_count(len(lacks), 'thing')}", why=visible_lines(lacks))


def slurm_version(version: tuple[int, ...]) -> str:
    """A version as SLURM writes it: 22.05.8."""
    return ".".join(f"{part:02}" if place == 1 else str(part) for place, part in enumerate(version))


async def accounting(session: Session) -> Check:
    """Whether ended jobs can be looked up."""
    try:
        accounts, why = await session.slurm.accounts_or_reason()
    except CommandError as error:
        accounts, why = (), str(error)
    if accounts:
        return ok("accounting", f"Your accounts: {visible(', '.join(accounts))}")
    return warn(
        "accounting",
        "Accounting tells nothing of you",
        why=visible(why),
        step="why a job ended will often not be known",
    )


async def prefect(session: Session) -> Check:
    """Whether the Prefect server answers, and takes the password."""
    connection = session.connection
    client = session.prefect
    if connection is None or client is None:
        return warn(
            "prefect server",
            "No Prefect server is named or running",
            step="slurmtui server start, or set PREFECT_API_URL",
        )
    where = masked(visible(connection.where))
    started = time.perf_counter()
    try:
        version = await client.version()
    except PrefectError as error:
        return _prefect_failure(error, where)
    proven = "the password is right" if connection.auth or connection.key else "no password is wanted"
    seconds = time.perf_counter() - started
    what = f"Prefect {visible(version)} answers in {seconds:.2f} s, {proven}"
    return _prefect_notes(session, what, where, version, secret=bool(connection.auth or connection.key))


def _prefect_failure(error: PrefectError, where: str) -> Check:
    if isinstance(error, PrefectUnauthorized):
        what = "The Prefect server wants other credentials"
        step = "PREFECT_API_AUTH_STRING=user:password, or prefect.auth_file in the configuration"
    elif isinstance(error, PrefectUnreachable):
        what, step = "The Prefect server does not answer", "slurmtui server status"
    else:
        what, step = "No usable Prefect server there", "look at the address; slurmtui server status"
    return fail("prefect server", what, where=where, why=visible(str(error)), step=step)


def _prefect_notes(session: Session, what: str, where: str, version: str, *, secret: bool) -> Check:
    host = urlsplit(session.connection.api_url).hostname or "" if session.connection else ""
    if is_loopback(host) and not session.place.sandbox:
        return warn(
            "prefect server",
            what,
            where=where,
            why="its address is this machine's alone: jobs on compute nodes cannot reach it",
            step="server.host or server.interface in the configuration, then slurmtui server start",
        )
    if numbers(version)[:1] != (3,):
        return fail("prefect server", what, where=where, why="slurmtui speaks to Prefect 3")
    if not secret:
        return warn(
            "prefect server",
            what,
            where=where,
            why="whoever reaches it can read your runs and run code as you",
            step="use a server with a password: slurmtui server start",
        )
    return ok("prefect server", what, where=where)


def is_loopback(host: str) -> bool:
    """Whether a host's name or address means the machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def submission(session: Session) -> Check:
    """Whether SLURM would take a job of the default profile; nothing is submitted."""
    try:
        profile = pick_profile(session.config)
    except UsageError as error:
        return warn(
            "submission",
            "There is no default profile to try",
            why=str(error),
            step="slurmtui config init, or name a default_profile",
        )
    where = f"profile {profile.name}"
    try:
        answer = await test_only(session.runner, b"#!/bin/sh\ntrue\n", sbatch_options(profile))
    except CommandError as error:
        return fail("submission", "sbatch --test-only does not answer", where=where, why=visible(str(error)))
    if not answer.ok:
        return fail(
            "submission",
            "SLURM would not take a job of the default profile",
            where=where,
            why=visible(answer.text),
            step="slurmtui config check; partition, account, limits",
        )
    when = time.strftime(" %d %b %H:%M", time.localtime(answer.start)) if answer.start else ""
    on = f" on {visible(answer.nodes)}" if answer.nodes else ""
    return ok("submission", f"SLURM would take a job, and start it{when}{on}", where=where)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
