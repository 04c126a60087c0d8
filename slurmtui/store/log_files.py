"""The log files of a run or a job, read as entries.

Everything here blocks on the file system; call it in a thread. Files that stay silent are looked at more and more
rarely, and give their handles back, so that a run with a thousand of them burdens neither the file server nor us.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

from slurmtui.models.dask_noise import CONTEXT, noise_among
from slurmtui.sources.files.line_file import reading
from slurmtui.sources.files.tail import FileTail
from slurmtui.store.log_entry import note
from slurmtui.store.log_lines import Spans, Writer
from slurmtui.store.log_merge import Found

if TYPE_CHECKING:
    from pathlib import Path

_SILENT = 10.0  # seconds after which a file counts as silent
_RAREST = 30.0
_PIECE = 1024 * 1024  # bytes: a line becomes an entry of several times its size
_TOO_MUCH = 64 * 1024 * 1024
_SHOWN_LINES = 2_000


class FileLines:
    """One file's lines, followed.

    Args:
        path: the file.
        source: "driver", "out" or "err".
        job_id: whose output it is, if it is a job's.
        keep_up: leave out what was written faster than it can be shown, and say so.
        raw: give the lines as they stand in the file.

    Attributes:
        tail: the file.
        writer: what its lines are made into.
        next_look: when it is to be looked at again (monotonic seconds).
        most: go on at the end when more bytes than this have been written since the last look; whoever sets it can
            read any part of the file and looks at ``skipped``.
        skipped: from where on bytes were passed over so, None for none.
        skipped_lines: how many lines that were.
    """

    def __init__(self, path: Path, source: str, job_id: str = "", *, keep_up: bool = True, raw: bool = False) -> None:
        self.tail = FileTail(path)
        self.place = str(path)
        self.writer = Writer(self.place, source, job_id, raw)
        self._keep_up = keep_up
        self.most: int | None = None
        self.skipped: int | None = None
        self.skipped_lines = 0
        self.next_look = 0.0
        self._problem = ""  # as last told
        self._heard = time.monotonic()
        self._before = b""  # the last lines that were given out
        self._partial = b""  # as last seen
        self._told = b""  # as last given out

    @property
    def source(self) -> str:
        """Who writes: "driver", "out" or "err"."""
        return self.writer.source

    @property
    def changed(self) -> float:
        """When the file was last written, as far as can be seen (seconds since the epoch)."""
        try:
            return min(self.tail.path.stat().st_mtime, time.time())
        except OSError:
            return time.time()

    def _skip(self) -> bool:
        """Go on at the end of the file when there is too much to read."""
        passed = None if self.most is None else self.tail.skip(self.most)
        if passed is None:
            return False
        self.skipped = passed[0] if self.skipped is None else self.skipped
        self.skipped_lines += _count_lines(self.tail.path, *passed)
        return True

    def last(self, count: int) -> list[Found]:
        """The end of the file."""
        lines = self.tail.last_lines(count)
        return self._noticed(self._found(lines, self.changed))

    def new(self, crowd: int) -> list[Found]:
        """What is new, if it is time to look; ``crowd`` is how many files are followed."""
        now = time.monotonic()
        if now < self.next_look:
            return []
        skipped = self._skip()
        found = ([] if skipped else self._read()) + self._unfinished()
        if found or skipped or self.tail.behind:
            self._heard = now
        silent = now - self._heard
        if silent < _SILENT:
            self.next_look = 0.0 if self.tail.behind else now
        else:
            self.tail.rest()
            self.next_look = now + min(silent / 10, _RAREST, max(2.0, crowd / 20))
        return found

    def _read(self) -> list[Found]:
        found = self._noticed(self._found(self.tail.read_new(_PIECE), time.time()))
        left_out = self.tail.unread
        if self._keep_up and left_out > _TOO_MUCH:
            text = f"{left_out / 1e6:.0f} MB were written faster than they can be shown; most of it is left out here."
            found.append(Found(found[-1].order if found else time.time(), note(text), self.place))
            found += self._found(self.tail.last_lines(_SHOWN_LINES), time.time())
        return found

    def whole(self) -> list[Found]:
        """The file from its beginning."""
        lines, starts = self._drain()
        return self._noticed(self._spanned(lines, starts, self.changed))

    def rest_of_it(self) -> list[Found]:
        """Everything up to the end; nothing more will be written."""
        lines, starts = self._drain()
        lines += self.tail.finish()
        found = self._noticed(self._spanned(lines, starts + self.tail.starts, time.time()))
        self.tail.rest()
        return found

    def _drain(self) -> tuple[list[bytes], list[int]]:
        lines, starts = self.tail.read_new(), self.tail.starts
        while self.tail.behind:
            lines += self.tail.read_new()
            starts += self.tail.starts
        return lines, starts

    def problem_note(self) -> list[Found]:
        """A sentence on why the file cannot be read, once; that it is not there yet is no problem."""
        problem = self.tail.problem
        if problem == self._problem or "is not there" in problem:
            return []
        self._problem = problem
        return [Found(time.time(), note(problem, time.time()), self.place)] if problem else []

    def _noticed(self, found: list[Found]) -> list[Found]:
        """The lines, and before them what has happened to the file."""
        now = time.time()
        order = found[0].order if found else now
        return [*(Found(order, note(text, now), self.place) for text in self.tail.take_notices()), *found]

    def _found(self, lines: list[bytes], latest: float) -> list[Found]:
        """The lines that the file has just given."""
        return self._spanned(lines, self.tail.starts, latest)

    def _spanned(self, lines: list[bytes], starts: list[int], latest: float) -> list[Found]:
        noise = noise_among(lines, self._before)
        self._before = b"".join([self._before, *(line + b"\n" for line in lines)])[-CONTEXT:]
        return self.writer.up_to(Spans(lines, starts, self.tail.settled, self.tail.generation, noise=noise), latest)

    def _unfinished(self) -> list[Found]:
        """The last line while it is written: a progress bar, or one that has been waiting for its end for a while."""
        before, self._partial = self._partial, self.tail.partial
        partial = self._partial
        if partial == self._told or not (b"\r" in partial or partial == before):
            return []
        self._told = partial
        if not partial:
            return []
        return [Found(time.time(), self.writer.partial(partial), self.place)]


def _count_lines(path: Path, begin: int, end: int) -> int:
    """How many lines end in this part of a file."""
    count = 0
    with contextlib.suppress(OSError), reading(path) as handle:
        while begin < end and (data := os.pread(handle, min(_PIECE, end - begin), begin)):
            count += data.count(b"\n")
            begin += len(data)
    return count
