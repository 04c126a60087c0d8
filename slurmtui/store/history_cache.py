"""Days of ended jobs in the state folder, so that accounting is never asked about the same day twice.

What cannot be read is asked for again; a file that cannot be written costs a question more, never the view.
"""

from __future__ import annotations

import gzip
import logging
import re
import zlib
from typing import TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.atomic import write_private
from slurmtui.models.history import PastJob, day_of

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
_KEPT_SECONDS = 400 * 86400.0
_LARGEST = 1 << 28
_DAY = re.compile(r"\d{4}-\d\d-\d\d")

_log = logging.getLogger(__name__)


class DayRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The jobs that ended on a day; ``until`` is the moment up to which accounting was asked, from midnight on."""

    day: str
    until: float
    jobs: tuple[PastJob, ...] = ()


class _File(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    user: str
    record: DayRecord


class HistoryCache:
    """The files of one user's jobs on one cluster."""

    def __init__(self, cluster: str, user: str) -> None:
        safe = re.sub(r"[^\w.-]", "_", cluster)[:100].strip(".") or "slurm"
        self.folder = paths.state_folder() / "history" / safe
        self._user = user

    def read(self, day: str) -> DayRecord | None:
        """What is kept of a day."""
        path = self._path(day)
        try:
            with gzip.open(path, "rb") as stream:
                found = msgspec.json.decode(stream.read(_LARGEST), type=_File)
        except FileNotFoundError:
            return None
        except (OSError, EOFError, zlib.error, msgspec.DecodeError, RecursionError) as error:
            _log.warning("ended jobs of %s cannot be read from %s: %s", day, path, error)
            return None
        ours = found.version == VERSION and found.user == self._user and found.record.day == day
        return found.record if ours else None

    def write(self, record: DayRecord) -> None:
        """Keep a day."""
        data = msgspec.json.encode(_File(version=VERSION, user=self._user, record=record))
        try:
            write_private(self._path(record.day), gzip.compress(data, compresslevel=3))
        except OSError as error:
            _log.warning("ended jobs of %s cannot be kept in %s: %s", record.day, self.folder, error)

    def forget_old(self, now: float) -> None:
        """Remove days that nobody looks at any more."""
        oldest = day_of(now - _KEPT_SECONDS)
        try:
            paths_of_days = [path for path in self.folder.iterdir() if _DAY.match(path.name)]
            for path in paths_of_days:
                if path.name[:10] < oldest:
                    path.unlink(missing_ok=True)
        except OSError as error:
            _log.info("old days of ended jobs stay in %s: %s", self.folder, error)

    def _path(self, day: str) -> Path:
        return self.folder / f"{day}.json.gz"
