"""The log of files that are known by their paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.text import visible
from slurmtui.store.log_files import FileLines
from slurmtui.store.log_reading import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slurmtui.store.log_merge import Found
    from slurmtui.store.log_prefect import PrefectLines
    from slurmtui.store.snapshot import Snapshot


class FixedLog:
    """Follows these files, and nothing else.

    Attributes:
        why_empty: a sentence why there is no line (yet).
    """

    def __init__(self, paths: Sequence[Path], source: str = "out", note: str = "") -> None:
        self.why_empty = ""
        self._note = note
        self.files = [FileLines(path, source, raw=len(paths) == 1) for path in paths]
        self._reading = Reading()
        self._started = False

    @property
    def prefect(self) -> PrefectLines | None:
        """Files have no lines there."""
        return None

    @property
    def notes(self) -> list[Found]:
        """Nothing is said between the lines."""
        return []

    def begin_at_end(self) -> None:
        """It always does."""

    def update(self, snapshot: Snapshot) -> None:
        """Files know nothing of it."""

    async def gather(self) -> list[Found]:
        """What is new; at the first call nothing but where the ends are."""
        return await self._reading.run(self._read)

    def close(self) -> None:
        """Give the file handles back."""
        self._reading.close(self._close_files)

    def _close_files(self) -> None:
        for lines in self.files:
            lines.tail.close()

    def _read(self) -> list[Found]:
        first, self._started = not self._started, True
        found = [one for lines in self.files for one in (lines.last(0) if first else lines.new(1))]
        problems = [lines.tail.problem for lines in self.files if lines.tail.problem]
        self.why_empty = visible(problems[0]) if problems else self._note or "The file is empty."
        return found
