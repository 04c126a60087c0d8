"""The profile that a flow's author means by a name, with changes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.config import load_config
from slurmtui.errors import RunFolderError, UsageError
from slurmtui.flows.environment import RUN_FOLDER
from slurmtui.models.nearest import did_you_mean
from slurmtui.models.profile import Profile
from slurmtui.profiles import pick_profile
from slurmtui.session import open_session
from slurmtui.sources.run_folder import read_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

_asked_for_run_profile = False

KEYS = frozenset(field.name for field in msgspec.structs.fields(Profile)) - {"name"}
"""What a profile says about its jobs."""


def find_profile(name: str | None) -> Profile:
    """The profile of that name; without one that of the run this is part of, else the configuration's default.

    Raises:
        ConfigError: the configuration holds mistakes.
        UsageError: there is no such profile.
    """
    if name is None and (of_run := run_profile()) is not None:
        return of_run
    return pick_profile(open_session(load_config()).config, name)


def run_profile_was_used() -> bool:
    """Whether something in this process has asked for the run's own profile."""
    return _asked_for_run_profile


def run_profile() -> Profile | None:
    """The profile that was chosen when the run was submitted, or for this attempt of it."""
    global _asked_for_run_profile  # noqa: PLW0603 - one fact of the process, told to the run's record
    folder = os.environ.get(RUN_FOLDER)
    if not folder:
        return None
    try:
        profile = read_folder(Path(folder)).profile
    except RunFolderError:
        return None
    _asked_for_run_profile |= profile is not None
    return profile


def changed(profile: Profile, changes: Mapping[str, Any]) -> Profile:
    """The profile with some keys changed; ``workers`` and ``adapt`` replace each other.

    Raises:
        UsageError: there is no such key, or a value does not fit its key.
    """
    for key in changes:
        if key not in KEYS:
            raise UsageError(f"A profile has no key {key!r}; {did_you_mean(key, sorted(KEYS))}")
    fields = msgspec.to_builtins(profile)
    for one, other in (("workers", "adapt"), ("adapt", "workers")):
        if changes.get(one) is not None and changes.get(other) is None:
            fields[other] = None
    plain = {
        key: msgspec.to_builtins(value) if isinstance(value, msgspec.Struct) else value
        for key, value in changes.items()
    }
    try:
        return msgspec.convert({**fields, **plain}, Profile)
    except msgspec.ValidationError as error:
        raise UsageError(f"profile {profile.name!r}: {error}") from error
