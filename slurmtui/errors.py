"""The errors that slurmtui raises on purpose, as a tree.

SlurmtuiError
├── UsageError            the command line or the input of a person was wrong (exit code 2)
├── ConfigError           the configuration file holds mistakes; carries them all
├── CommandError          a command of SLURM failed, was refused or took too long
│   └── CommandMissing    the command is not installed here
├── PrefectError          the Prefect server refused or did not answer
│   ├── PrefectUnreachable
│   └── PrefectUnauthorized
├── FlowError             a flow file cannot be used (does not import, no flow, bad parameters)
├── ServerError           the private Prefect server could not be started or stopped
├── SandboxError          the sandbox could not be brought up or down
├── RunFolderError        a run folder is missing, damaged or held by another process
├── PatternTooSlow        a regular expression takes too long
└── Refused               an action was asked for that may not be done now; the text says why

Each message says what happened, where, why if it is known, and the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class SlurmtuiError(Exception):
    """Base of all errors with a message for the user."""

    exit_code = 1


class UsageError(SlurmtuiError):
    """The command line or an input was wrong."""

    exit_code = 2


class ConfigError(SlurmtuiError):
    """The configuration holds mistakes.

    Attributes:
        problems: one sentence each, with file, line and key.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class CommandError(SlurmtuiError):
    """A command failed.

    Attributes:
        argv: the command as it was run.
        exit_code_of_command: its exit code, None when it never ended in time.
        stderr: what it said, decoded.
    """

    def __init__(self, message: str, *, argv: Sequence[str], code: int | None, stderr: str = "") -> None:
        self.argv = tuple(argv)
        self.exit_code_of_command = code
        self.stderr = stderr
        super().__init__(message)


class CommandMissing(CommandError):
    """The command is not installed on this machine or not on PATH."""


class PrefectError(SlurmtuiError):
    """The Prefect server answered with an error.

    Attributes:
        status: the HTTP status, None when there was no answer.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class PrefectUnreachable(PrefectError):
    """No answer from the Prefect server."""


class PrefectUnauthorized(PrefectError):
    """The Prefect server wants other credentials (401 or 403)."""


class FlowError(SlurmtuiError):
    """A flow file cannot be used."""


class ServerError(SlurmtuiError):
    """The private Prefect server could not be started or stopped."""


class SandboxError(SlurmtuiError):
    """The sandbox could not be brought up or down."""


class RunFolderError(SlurmtuiError):
    """A run folder is missing, damaged or held by another process."""


class PatternTooSlow(SlurmtuiError):
    """A regular expression takes too long for a line."""


class Refused(SlurmtuiError):
    """An action that may not be done now."""
