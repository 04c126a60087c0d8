"""The configuration file: read, checked, and turned into a ``Config``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui import paths
from slurmtui.config_fields import TOP, read_section
from slurmtui.config_text import parse, read_text
from slurmtui.config_yaml import Place, Problems, quoted
from slurmtui.errors import ConfigError
from slurmtui.models.config import Config
from slurmtui.models.nearest import did_you_mean
from slurmtui.paths import typed_path
from slurmtui.profiles import check_profile, sandbox_profiles

if TYPE_CHECKING:
    from pathlib import Path


class Loaded(msgspec.Struct, frozen=True):
    """A configuration with what was found on the way.

    Attributes:
        config: the configuration.
        lines: the line of each key that is set in the file, by its path (``profiles.gpu.memory``).
        notes: what is allowed, but should be known; sentences with file, line and key.
    """

    config: Config
    lines: dict[str, int] = {}
    notes: tuple[str, ...] = ()


def load_config(path: str | Path | None = None) -> Config:
    """The configuration; without a file at the usual place it is the built-in one.

    Raises:
        ConfigError: the file that was named is not there, cannot be read, or holds mistakes (all of them are told).
    """
    return read_config(path).config


def read_config(path: str | Path | None = None) -> Loaded:
    """As ``load_config``, with the lines of the keys and what else is worth knowing.

    Raises:
        ConfigError: the file that was named is not there, cannot be read, or holds mistakes (all of them are told).
    """
    file = config_path(path)
    if path is None and not _there(file):
        return Loaded(Config())
    return check_text(read_text(file), file)


def config_path(path: str | Path | None = None) -> Path:
    """The file that is meant: the one named, else the one at the usual place."""
    return typed_path(str(path)) if path is not None else paths.config_file()


def _there(file: Path) -> bool:
    """Whether there is anything by this name; what may not be looked at is there, and the reading says why not."""
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def check_text(text: str, file: Path) -> Loaded:
    """Read a configuration from its text; ``file`` is what mistakes are reported of.

    Raises:
        ConfigError: with every mistake found.
    """
    read = _values(text, file)
    if read is None:  # nothing but comments
        return Loaded(Config(source=str(file)))
    found, problems = read
    problems.raise_if_any()
    return Loaded(_build(found, file), problems.lines, problems.notes)


def right_part(path: str | Path | None = None) -> Loaded | None:
    """What is right in a file that holds mistakes, to look for more of them; None when nothing can be made of it."""
    file = config_path(path)
    try:
        read = _values(read_text(file), file)
        return None if read is None else Loaded(_build(read[0], file), read[1].lines, read[1].notes)
    except (ConfigError, msgspec.ValidationError):
        return None


def _values(text: str, file: Path) -> tuple[dict[str, Any], Problems] | None:
    """The values that were found right by their keys, and what is wrong with the others; None for an empty document.

    Raises:
        ConfigError: it is no configuration at all.
    """
    if not text.strip():
        raise ConfigError([f"{file}: is empty: remove it, or write a new one with `slurmtui config init --force`."])
    node = parse(text, file)
    if node is None:
        return None
    problems = Problems(file)
    found = read_section(TOP, Place(problems, "", node, 1)) or {}
    for name, profile in found.get("profiles", {}).items():
        _check_profile(problems, name, profile)
    _check_names(problems, found)
    _check_rest(problems, found)
    return found, problems


def _check_profile(problems: Problems, name: str, profile: dict[str, Any]) -> None:
    top = f"profiles.{name}"

    def at(key: str) -> int:
        return problems.lines.get(f"{top}.{key}") or problems.lines.get(top, 1)

    check_profile(
        profile,
        [path[len(top) + 1 :] for path in problems.lines if path.startswith(f"{top}.")],
        lambda key, sentence: problems.wrong(at(key), f"{top}.{key}", sentence),
        lambda key, sentence: problems.note(at(key), f"{top}.{key}", sentence),
    )


def _check_names(problems: Problems, found: dict[str, Any]) -> None:
    """Profiles that are named elsewhere must exist; without any, those built in for the sandbox may be meant."""
    profiles = found.get("profiles") or sandbox_profiles()
    for key in ("default_profile", "driver_profile"):
        named = found.get(key)
        if named is not None and named not in profiles:
            hint = did_you_mean(named, profiles)
            problems.wrong(problems.lines[key], key, f"there is no profile {quoted(named)}: {hint}")


def _check_rest(problems: Problems, found: dict[str, Any]) -> None:
    slurm, server = found.get("slurm") or {}, found.get("server") or {}
    poll, floor = slurm.get("poll_seconds", 10), slurm.get("floor_seconds", 2)
    if poll < floor:
        key = "slurm.poll_seconds" if "poll_seconds" in slurm else "slurm.floor_seconds"
        problems.wrong(problems.lines[key], key, f"poll_seconds is less than floor_seconds: {poll:g} < {floor:g}.")
    if "host" in server and "interface" in server:
        problems.wrong(problems.lines["server.interface"], "server.interface", "excludes host: keep one of the two.")
    if found.get("driver_profile") and found.get("driver", "login") == "login":
        problems.note(problems.lines["driver_profile"], "driver_profile", "is used with `driver: slurm` only.")


def _build(found: dict[str, Any], file: Path) -> Config:
    """The configuration from values that were all found right."""
    return msgspec.convert({**found, "source": str(file)}, Config)
