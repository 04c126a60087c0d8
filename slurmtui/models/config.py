"""The configuration as the program uses it, after every check."""

from __future__ import annotations

import msgspec

from slurmtui.models.pattern import Pattern
from slurmtui.models.profile import Profile


class PrefectConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Which Prefect server is used. ``auth_file`` holds ``user:password`` (0600); never the password itself here."""

    api_url: str | None = None
    auth_file: str | None = None


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The private server: the address compute nodes reach it by (``host``, or that of ``interface``), its port."""

    host: str | None = None
    interface: str | None = None
    port: int | None = None
    database_url: str | None = None


class SlurmConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How often squeue may be asked (seconds), the floor a site sets, and the time limit of a command."""

    poll_seconds: float = 10
    floor_seconds: float = 2
    timeout_seconds: float = 20


class Highlight(msgspec.Struct, frozen=True, kw_only=True):
    """What is to stand out in logs: a regular expression, the name of a style, and whether the whole line has it."""

    pattern: str
    style: str = "match"
    line: bool = False

    def compiled(self) -> Pattern:
        """The expression (its form was checked when the configuration was read)."""
        return Pattern(self.pattern)


class LogsConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How logs are shown."""

    highlights: tuple[Highlight, ...] = ()


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Everything configurable; ``source`` is the file it came from, None for the built-in defaults."""

    profiles: dict[str, Profile] = msgspec.field(default_factory=dict)
    default_profile: str | None = None
    flows: tuple[str, ...] = ()
    driver: str = "login"
    driver_profile: str | None = None
    theme: str | None = None
    read_only: bool = False
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    prefect: PrefectConfig = PrefectConfig()
    server: ServerConfig = ServerConfig()
    slurm: SlurmConfig = SlurmConfig()
    logs: LogsConfig = LogsConfig()
    source: str | None = None
