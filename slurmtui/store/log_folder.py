"""The log files in a run's folder: driver.log, and two a job, the newest jobs' as they appear."""

from __future__ import annotations

import os
from pathlib import Path

from slurmtui.store.log_entry import note
from slurmtui.store.log_files import FileLines
from slurmtui.store.log_merge import Found

DRIVER_LOG = "driver.log"
JOBS = "jobs"
_ENDINGS = {".out": "out", ".err": "err"}
_TAIL_LINES = 4_000  # of all files of jobs together, at the start
_TAIL_FILES = 100
_OPEN_FILES = 64


class FolderLines:
    """Follows every log file of one run.

    Args:
        folder: the run's.
        lines: how many of the last lines of a file to begin with; None for all.
        keep_up: leave out what was written faster than it can be shown, and say so.
    """

    def __init__(self, folder: Path, lines: int | None, *, keep_up: bool) -> None:
        self._folder = folder
        self._lines = lines
        self._keep_up = keep_up
        self._files: dict[str, FileLines] = {}
        self._started = False

    def begin_at_end(self) -> None:
        """Begin without any line."""
        self._lines = 0

    @property
    def files(self) -> list[FileLines]:
        """The files that are there: a copy, made at one go, for the reading thread may find more meanwhile."""
        return list(self._files.values())

    @property
    def problems(self) -> list[str]:
        """Sentences on files that cannot be read (one that is not there yet is none)."""
        tails = (lines.tail for lines in self.files)
        return [tail.problem for tail in tails if tail.problem and "is not there" not in tail.problem]

    def read(self) -> list[Found]:
        """New lines of all files; the ends of the files at the first call."""
        first, self._started = not self._started, True
        new = self._discover()
        found: list[Found] = []
        if first:
            found += self._start(new)
        else:
            for lines in tuple(self._files.values()):
                found += lines.new(len(self._files))
        for lines in self._files.values():
            found += lines.problem_note()
        self._limit_handles()
        return found

    def read_all(self) -> list[Found]:
        """Everything up to the ends of the files, also what stands there without a newline."""
        found = [] if self._started else self.read()
        self._discover()  # files that have come since
        for lines in self._files.values():
            found += lines.rest_of_it()
        return found

    def close(self) -> None:
        """Give all handles back."""
        for lines in self._files.values():
            lines.tail.close()

    def _discover(self) -> list[FileLines]:
        new: list[FileLines] = []
        for path, source, job_id in self._names():
            if path not in self._files:
                self._files[path] = lines = FileLines(Path(path), source, job_id, keep_up=self._keep_up)
                new.append(lines)
        return new

    def _names(self) -> list[tuple[str, str, str]]:
        names = [(str(self._folder / DRIVER_LOG), "driver", "")]
        try:
            with os.scandir(self._folder / JOBS) as entries:
                for entry in entries:
                    stem, ending = os.path.splitext(entry.name)  # noqa: PTH122 - thousands of names, no Path for each
                    if ending in _ENDINGS:
                        names.append((entry.path, _ENDINGS[ending], stem))
        except OSError:  # no job yet
            pass
        return names

    def _start(self, files: list[FileLines]) -> list[Found]:
        """The ends of the files last written to; of the others only what is new from now on."""
        if self._lines is None:
            return [one for lines in files for one in lines.whole()]
        files.sort(key=lambda lines: -_changed(lines.tail.path))
        count = min(self._lines, max(5, _TAIL_LINES // (len(files) or 1)))
        found: list[Found] = []
        for number, lines in enumerate(files):
            if lines.source == "driver":
                found += lines.last(self._lines)
            elif number < _TAIL_FILES:
                found += lines.last(count)
            else:
                lines.last(0)
            if number >= _OPEN_FILES:
                lines.tail.rest()
        left = len(files) - _TAIL_FILES
        if left > 0 and self._lines:
            text = (
                f"The earlier output of {left} files of older jobs is not shown here; open the log of the job itself."
            )
            order = min((one.order for one in found), default=0.0)
            found.append(Found(order, note(text), ""))
        return found

    def _limit_handles(self) -> None:
        held = [lines for lines in self._files.values() if lines.tail.open]
        for lines in held[:-_OPEN_FILES]:
            lines.tail.rest()


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
