"""``slurmtui config init|check|show|reference``: write, check or show the configuration."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from typing import TYPE_CHECKING

from slurmtui.atomic import write_private
from slurmtui.config import Loaded, check_text, config_path, read_config, right_part
from slurmtui.config_reference import reference
from slurmtui.config_template import template
from slurmtui.errors import CommandError, ConfigError, Refused
from slurmtui.models.config import Config
from slurmtui.session import Session, open_session
from slurmtui.sources.within import within
from slurmtui.verbs.config_check import check
from slurmtui.verbs.config_show import effective, table

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.models.cluster import Partition

_PATIENCE = 15.0  # seconds for each question to a SLURM that may be down


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "init       write a commented file with the partitions and accounts of this cluster\n"
        "check      name every mistake; partitions, accounts and limits are held against the cluster\n"
        "show       the values in force, and where each came from\n"
        "reference  what every key means, in Markdown"
    )
    parser.add_argument("what", choices=("init", "check", "show", "reference"), help="what to do")
    parser.add_argument("--json", action="store_true", help="print the facts as JSON (check, show)")
    parser.add_argument("--force", action="store_true", help="init: replace a file that is there; it is kept as .bak")
    parser.add_argument("--offline", action="store_true", help="init, check: do not ask SLURM")


def run(arguments: argparse.Namespace) -> int:
    """Do it; 1 when the configuration holds mistakes or may not be replaced."""
    if arguments.what == "init":
        return _init(arguments)
    if arguments.what == "check":
        return _check(arguments)
    if arguments.what == "show":
        return _show(arguments)
    print(reference(), end="")
    return 0


def _init(arguments: argparse.Namespace) -> int:
    file = config_path(arguments.config)
    if os.path.isdir(file):  # noqa: PTH112 - pathlib's raises where the folder may not be looked into
        raise Refused(f"{file} is a directory: name the file in it, {file / 'config.yaml'}.")
    there = os.path.lexists(file)
    if there and not arguments.force:
        raise Refused(f"{file} is there already. `slurmtui config init --force` replaces it (and keeps it as .bak).")
    partitions, accounts, reason = ((), (), "--offline") if arguments.offline else _look_around()
    text = template(partitions, accounts, reason)
    check_text(text, file)
    target = file.resolve() if file.is_symlink() else file
    kept = _put(target, text, keep=there)
    print(f"Written: {file}" + (f" (the old one is {kept})" if kept else ""))
    if reason:
        print(f"SLURM was not asked or did not answer, so the profiles are examples to fill in: {reason}")
    print("Next: `slurmtui config check`, then `slurmtui doctor`.")
    return 0


def _put(target: Path, text: str, *, keep: bool) -> Path | None:
    """Write the file; the one that was there is kept beside it."""
    backup = target.with_name(f"{target.name}.bak")
    try:
        if keep and target.is_file():
            write_private(backup, target.read_bytes())
        write_private(target, text)
    except OSError as error:
        raise ConfigError([f"{target}: cannot be written: {error.strerror or error}."]) from error
    return backup if keep and backup.is_file() else None


def _look_around() -> tuple[tuple[Partition, ...], tuple[str, ...], str]:
    """The cluster's partitions, the user's accounts, and why there are none."""

    async def ask(session: Session) -> tuple[tuple[Partition, ...], tuple[str, ...], str]:
        try:
            partitions = await within(session.slurm.partitions(), _PATIENCE)
        except CommandError as error:
            return (), (), str(error)
        except asyncio.TimeoutError:
            return (), (), f"sinfo did not answer within {_PATIENCE:g} s"
        try:
            accounts = await within(session.slurm.accounts(), _PATIENCE)
        except (CommandError, asyncio.TimeoutError):
            accounts = ()  # accounting is a help here, no need
        return partitions, accounts, "" if partitions else "sinfo names no partition"

    return asyncio.run(ask(open_session(Config())))


def _check(arguments: argparse.Namespace) -> int:
    file = str(config_path(arguments.config))
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    try:
        loaded: Loaded | None = read_config(arguments.config)
    except ConfigError as error:
        problems = error.problems
        loaded = right_part(arguments.config)  # what is right in it may not fit the cluster, or the keys
    if loaded is not None:
        session = None if arguments.offline else open_session(loaded.config)
        wrong, more = asyncio.run(check(loaded, session))
        problems, notes = (*problems, *wrong), (*loaded.notes, *more)
        file = loaded.config.source or f"no file at {file}, so the built-in configuration"
    if arguments.json:
        print(json.dumps({"file": file, "well": not problems, "problems": problems, "notes": notes}))
        return 1 if problems else 0
    for problem in problems:
        print(problem)
    for note in notes:
        print(f"note: {note}")
    count = "no mistakes" if not problems else "1 mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
    print(f"{file}: {count}")
    return 1 if problems else 0


def _show(arguments: argparse.Namespace) -> int:
    loaded = read_config(arguments.config)
    session = open_session(loaded.config)
    values = effective(loaded, session)
    if arguments.json:
        facts = {key: {"value": value, "from": origin} for key, value, origin in values}
        print(json.dumps({"file": loaded.config.source, "values": facts}))
        return 0
    print(table(values, loaded.config.source or f"none ({config_path(arguments.config)} is not there)"))
    return 0
