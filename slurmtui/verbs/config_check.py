"""What ``config check`` finds beyond the file itself: the cluster, the actions, themes and files it names."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.keymap import validate
from slurmtui.models.text import visible
from slurmtui.profile_limits import compare
from slurmtui.theme_files import config_folder, load_themes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.config import Loaded
    from slurmtui.models.config import Config
    from slurmtui.session import Session


Remark = tuple[str, str]
"""The path of a key ("" for none), and a sentence."""


async def check(loaded: Loaded, session: Session | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Mistakes, and what else is worth knowing; each a sentence with file, line and key.

    Args:
        loaded: the configuration.
        session: with one, its SLURM is asked whether the profiles fit the cluster.
    """
    config = loaded.config
    problems = key_problems(config)
    notes = file_notes(config)
    if session is not None:
        wrong, more = await against_cluster(session)
        problems += wrong
        notes += more
    themes = load_themes(config_folder(config))[1]
    return (*_placed(loaded, problems), *themes), _placed(loaded, notes)


async def against_cluster(session: Session) -> tuple[list[Remark], list[Remark]]:
    """The profiles held against what SLURM says of its partitions and the user's accounts."""
    profiles = session.config.profiles
    if not profiles:
        return [], []
    try:
        partitions = await session.slurm.partitions()
        accounts, why = await session.slurm.accounts_or_reason()
    except CommandError as error:
        return [], [("", f"profiles were not held against the cluster: {visible(str(error))}")]
    found = [
        (f"profiles.{name}.{finding.key}", finding)
        for name, profile in profiles.items()
        for finding in compare(profile, partitions, accounts)
    ]
    notes = [(key, finding.sentence) for key, finding in found if not finding.wrong]
    if not accounts and any(profile.account for profile in profiles.values()):
        notes.append(("", f"accounts were not checked: {visible(why)}"))
    return [(key, finding.sentence) for key, finding in found if finding.wrong], notes


def key_problems(config: Config) -> list[Remark]:
    """What is wrong with the user's keys, held against the actions there are."""
    if not config.keys:
        return []
    from slurmtui.actions.registry import ACTIONS  # noqa: PLC0415 - only for those who move keys

    sentences = validate(
        config.keys,
        {action.id: ",".join((action.key, *action.aliases)) for action in ACTIONS},
        places={action.id: action.places for action in ACTIONS},
        touching={action.id for action in ACTIONS if action.touches},
    )
    return [(key, rest) for key, _, rest in (sentence.partition(": ") for sentence in sentences)]


def file_notes(config: Config) -> list[Remark]:
    """Files that are named and not there or readable by others, as (key, sentence)."""
    notes = [("flows", f"{path} is not there.") for path in config.flows if not os.path.lexists(path)]
    if config.prefect.auth_file:
        notes += [("prefect.auth_file", sentence) for sentence in secret_notes(Path(config.prefect.auth_file))]
    if config.source and config.server.database_url and "@" in config.server.database_url:
        notes += [("server.database_url", sentence) for sentence in secret_notes(Path(config.source))]
    for name, profile in config.profiles.items():
        program = profile.python or ""
        if "/" in program and "$" not in program and not os.path.lexists(program):
            notes.append((f"profiles.{name}.python", f"{program} is not on this machine."))
    if config.source and _mode(Path(config.source)) & stat.S_IWOTH:
        notes.append(("", f"everybody may write {config.source}, and so run commands as you: chmod go-w it."))
    return notes


def secret_notes(file: Path) -> list[str]:
    """What is the matter with a file that holds a password."""
    try:
        found = file.stat()
    except OSError as error:
        return [f"{file} cannot be read: {error.strerror}."]
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return [f"{file} holds a password and others may read it: chmod 600 it."]
    return [] if os.access(file, os.R_OK) else [f"{file} may not be read by you."]


def _mode(file: Path) -> int:
    try:
        return file.stat().st_mode
    except OSError:
        return 0


def _placed(loaded: Loaded, remarks: Sequence[Remark]) -> tuple[str, ...]:
    """Sentences with the file and the line of their key, or of what stands above it; by line."""
    found = []
    for key, sentence in remarks:
        path = key
        while path and path not in loaded.lines:
            path = path.rpartition(".")[0]
        line = loaded.lines.get(path, 0)
        where = f"{loaded.config.source}:{line}: " if line else ""
        found.append((line, f"{where}{f'{key}: ' if key else ''}{sentence}"))
    return tuple(text for _, text in sorted(found, key=lambda pair: pair[0]))
