"""What the output of one job and that of several have in common: SLURM is asked now and then, files are followed."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from slurmtui.store.log_merge import Merger
from slurmtui.store.log_reading import PATIENCE_SECONDS, Asking, Reading

if TYPE_CHECKING:
    from slurmtui.store.log_entry import LogEntry
    from slurmtui.store.log_files import FileLines
    from slurmtui.store.log_merge import Found
    from slurmtui.store.log_prefect import PrefectLines


class JobStream(ABC):
    """Files that SLURM names, followed until it says that who writes them has ended.

    Args:
        lines: how many of each file's last lines to begin with; None for all.

    Attributes:
        why_empty: a sentence why there is no line (yet).
        ended: SLURM says that it is over, or does not know it any more.
    """

    def __init__(self, lines: int | None) -> None:
        self.why_empty = ""
        self.ended = False
        self._lines = lines
        self._reading = Reading()
        self._asking = Asking(self.ask)
        self._merger = Merger()
        self._ask_seconds: float | None = None
        self._next_question = 0.0
        self._started = False

    @property
    @abstractmethod
    def files(self) -> list[FileLines]:
        """The files, as far as they are known."""

    @abstractmethod
    async def ask(self) -> None:
        """Ask SLURM where the output goes and how it stands, and say with ``_ask_again_in`` when to ask again."""

    @abstractmethod
    def _read(self) -> list[Found]:
        """What is new in all files; at the first call their ends."""

    @abstractmethod
    def _explain(self) -> None:
        """Say in ``why_empty`` why there is no line."""

    @property
    def prefect(self) -> PrefectLines | None:
        """Jobs have no lines there."""
        return None

    @property
    def notes(self) -> list[Found]:
        """Nothing is said between the lines."""
        return []

    def begin_at_end(self) -> None:
        """Begin without any line: whoever shows the log reads it from where it is followed."""
        self._lines = 0

    async def read_new(self) -> list[LogEntry]:
        """The end of the output, then what is new."""
        return self._merger.merge(await self.gather())

    async def gather(self) -> list[Found]:
        """The same, with where it comes from."""
        if not self.ended and time.monotonic() >= self._next_question:
            await self._asking.answer(PATIENCE_SECONDS if self.files else None)
        return await self._reading.run(self._read)

    async def read_rest(self) -> list[LogEntry]:
        """Everything that is left, nothing being written any more; an unfinished line too."""
        await self.ask()
        return await self._reading.run(self._read_rest)

    @property
    def behind(self) -> bool:
        """Whether more is there than the last call gave; call again at once."""
        return any(lines.tail.behind for lines in self.files)

    def ask_every(self, seconds: float) -> None:
        """Ask SLURM how it stands so often; else that is seldom."""
        self._ask_seconds = seconds
        self._next_question = min(self._next_question, time.monotonic() + seconds)

    def close(self) -> None:
        """Give the file handles back."""
        self._asking.close()
        self._reading.close(self._close_files)

    def _close_files(self) -> None:
        for lines in self.files:
            lines.tail.close()

    def _ask_again_in(self, seconds: float) -> None:
        """Ask after so many seconds, unless somebody wished otherwise."""
        self._next_question = time.monotonic() + (seconds if self._ask_seconds is None else self._ask_seconds)

    def _begins(self) -> bool:
        """Whether there are files now, and nothing has been read before."""
        first = not self._started and bool(self.files)
        self._started = self._started or first
        return first

    def _read_rest(self) -> list[LogEntry]:
        found = [] if self._started else self._read()
        found += [one for lines in self.files for one in lines.rest_of_it()]
        self._explain()
        return self._merger.merge(found)
