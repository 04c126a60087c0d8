"""What one process works with: its configuration, the SLURM and the Prefect server it speaks to, its command log."""

from __future__ import annotations

import getpass
import os
import pwd
import threading
from typing import TYPE_CHECKING

import msgspec

from slurmtui.profiles import sandbox_profiles
from slurmtui.sources.command_log import CommandLog
from slurmtui.sources.exec import Runner
from slurmtui.sources.prefect.connection import find_connection
from slurmtui.sources.slurm.client import Slurm
from slurmtui.sources.slurm.place import find_slurm

if TYPE_CHECKING:
    from slurmtui.models.config import Config
    from slurmtui.sources.prefect.client import PrefectClient
    from slurmtui.sources.prefect.connection import Connection
    from slurmtui.sources.slurm.place import SlurmPlace


class Session:
    """One a process.

    Attributes:
        config: the configuration; in the sandbox, without profiles of its own, with the built-in ones.
        place: which SLURM is spoken to.
        log: every command and request of this process.
        runner: runs commands in the environment of ``place``.
        slurm: reads from SLURM.
        user: the name SLURM knows this user by.
    """

    def __init__(self, config: Config, place: SlurmPlace, user: str) -> None:
        self.config = config
        self.place = place
        self.user = user
        self.log = CommandLog()
        # A flow reads its profiles from the same file, also when it was named on the command line only.
        self._environment = {**place.environment, **({"SLURMTUI_CONFIG": config.source} if config.source else {})}
        self.runner = Runner(self.log, self._environment)
        self.slurm = Slurm(self.runner, user, config.slurm.timeout_seconds)
        self._prefect: PrefectClient | None = None
        self._connection: Connection | None = None
        # A view in the event loop and a poll in a thread may both be the first to want them: of two clients nobody
        # would close the other.
        self._looking_up = threading.RLock()
        self._looked_up = False

    @property
    def connection(self) -> Connection | None:
        """Where the Prefect server is, None when there is none to speak to (looked up again until there is one)."""
        if (known := self._connection) is not None:
            return known
        with self._looking_up:
            if self._connection is None:
                self._connection = find_connection(self.config)
            self._looked_up = True
            return self._connection

    @property
    def prefect(self) -> PrefectClient | None:
        """The client of the Prefect server, made when it is first wanted; None when there is no server."""
        if (made := self._prefect) is not None:
            return made
        with self._looking_up:
            if self._prefect is None and self.connection is not None:
                from slurmtui.sources.prefect.client import PrefectClient  # noqa: PLC0415 - only when it is needed

                self._prefect = PrefectClient(self.connection, self.log)
            return self._prefect

    @property
    def has_prefect(self) -> bool:
        """Whether there is a server to speak to, as far as is known; reads no file, so that a paint may ask."""
        return self._prefect is not None or self._connection is not None or not self._looked_up

    def environment(self) -> dict[str, str]:
        """What a process started on behalf of this session needs beside its own environment."""
        return dict(self._environment)

    async def forget_prefect(self) -> None:
        """Close the client, so that the next look-up finds a server that was started or moved since."""
        with self._looking_up:
            client, self._prefect, self._connection = self._prefect, None, None
        if client is not None:
            await client.close()

    async def close(self) -> None:
        """Let go of the connection to Prefect."""
        await self.forget_prefect()


def open_session(config: Config) -> Session:
    """Start a session; this reads a few small files and asks neither SLURM nor Prefect anything."""
    place = find_slurm()
    if place.sandbox and not config.profiles:
        built_in = sandbox_profiles()
        config = msgspec.structs.replace(
            config, profiles=built_in, default_profile=config.default_profile or next(iter(built_in))
        )
    return Session(config, place, user_name())


def user_name() -> str:
    """The name of the user this process runs as, as the system (and so SLURM) knows it."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a container without an entry for this number
        return getpass.getuser()
