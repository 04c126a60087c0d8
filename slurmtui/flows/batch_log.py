"""Streams a batch job's output into the log of the task that waits for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.models.text import decoded
from slurmtui.sources.files.tail import FileTail

if TYPE_CHECKING:
    import logging

    from slurmtui.models.job import JobDetail

MOST_LINES = 2000
"""Lines of one file that go into the run's log; the file has the rest."""

_KEPT = 20
_SLURM_SAYS = (b"slurmstepd", b"srun: error")


class JobOutput:
    """The job's stdout and stderr, followed."""

    def __init__(
        self, detail: JobDetail | None, logger: logging.Logger | logging.LoggerAdapter[logging.Logger]
    ) -> None:
        self.stdout = detail.stdout if detail else None
        self.stderr = detail.stderr if detail else None
        self._logger = logger
        named = dict.fromkeys(path for path in (self.stdout, self.stderr) if path)
        self._tails = {path: FileTail(Path(path)) for path in named}
        self._passed_on = dict.fromkeys(self._tails, 0)
        self._last: dict[str, list[str]] = {path: [] for path in self._tails}

    def pass_on(self, *, finish: bool = False) -> bool:
        """Log what was written since the last call; True when SLURM itself has written that it ends the job."""
        ending = False
        for path, tail in self._tails.items():
            lines = tail.read_new()
            if finish:
                lines += tail.finish()
            ending = ending or any(line.startswith(_SLURM_SAYS) for line in lines)
            self._log(path, [_shown(line) for line in lines])
        return ending

    def close(self) -> None:
        """Let go of the files."""
        for tail in self._tails.values():
            tail.close()

    def last_lines(self) -> str:
        """The end of what the job wrote: of stderr if it wrote there, else of stdout."""
        wrote = [self._last[path] for path in (self.stderr, self.stdout) if path and self._last[path]]
        return "\n".join(wrote[0]) if wrote else ""

    def _log(self, path: str, lines: list[str]) -> None:
        self._last[path] = [*self._last[path], *lines][-_KEPT:]
        before = self._passed_on[path]
        self._passed_on[path] += len(lines)
        mark = "stderr: " if path == self.stderr and path != self.stdout else ""
        for line in lines[: max(0, MOST_LINES - before)]:
            self._logger.info("%s%s", mark, line)
        if before < MOST_LINES <= self._passed_on[path]:
            self._logger.warning("More output is not copied here; it is in %s", path)


def _shown(line: bytes) -> str:
    """A line as it would stand on a terminal at its end: of a progress bar, the last stand."""
    return decoded(line.rstrip(b"\r\n").rpartition(b"\r")[2])
