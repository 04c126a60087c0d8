"""Jobs that have ended, as accounting keeps them, and the days they are kept by."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.marks import run_id_of
from slurmtui.models.values import Seconds, Special

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_UNTOLD = "allocation"
_MARK_LENGTH = 8  # of a run's id, at the end of the names of its jobs


class PastJob(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One life of a job: a job that was requeued has several, each with its own state and times.

    ``raw_id`` is SLURM's own number, ``id`` the shown one (``12_3``). Times are seconds since the epoch, memory
    mebibytes, ``gpus`` and ``gpu_type`` what it held.
    """

    id: str
    raw_id: str
    end: float
    name: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    state: str = ""
    exit_code: int = 0
    signal: int = 0
    nodes: str = ""
    node_count: int = 0
    cpus: int = 0
    gpus: int = 0
    gpu_type: str = ""
    memory: float | None = None
    submit: float | None = None
    eligible: float | None = None
    start: float | None = None
    elapsed: Seconds = Special.UNKNOWN
    time_limit: Seconds = Special.UNKNOWN
    comment: str = ""

    @property
    def key(self) -> str:
        """What names this life for good."""
        return f"{self.raw_id}:{self.submit or 0:.0f}:{self.end:.0f}"

    @property
    def run_mark(self) -> str:
        """What its comment, or the end of its name, says of its run: the run's id or the first 8 digits of it."""
        return run_id_of(self.comment) or _mark_in(self.name)

    @property
    def wait(self) -> float | None:
        """Seconds from when it could have started to when it did; None when it never did."""
        ready = max(self.submit or 0, self.eligible or 0)
        if not self.start or not ready or not self.ran:
            return None
        return max(0.0, self.start - ready)

    @property
    def ran(self) -> bool:
        """Whether it was ever started: one cancelled while it waited was not."""
        return isinstance(self.elapsed, int) and (self.elapsed > 0 or bool(self.nodes))


def _mark_in(name: str) -> str:
    head, dash, tail = name.rpartition("-")
    hexadecimal = len(tail) == _MARK_LENGTH and all(character in "0123456789abcdef" for character in tail)
    return tail if head and dash and hexadecimal else ""


class Lives:
    """Which life of its job each record is, told from all records that are known.

    A number that was given to two jobs tells them apart by their names. slurmdbd writes ``allocation`` for a name that
    it was never told, as of a life that was over at once.
    """

    def __init__(self, jobs: Iterable[PastJob]) -> None:
        by_number: dict[str, list[PastJob]] = {}
        for job in jobs:
            by_number.setdefault(job.raw_id, []).append(job)
        self._of: dict[str, list[PastJob]] = {}
        for records in by_number.values():
            if len(records) > 1:
                self._add(records)

    def _add(self, records: list[PastJob]) -> None:
        names = dict.fromkeys(job.name for job in records if job.name != _UNTOLD)
        for name in names or (_UNTOLD,):
            lives = [job for job in records if job.name == name or (job.name == _UNTOLD and len(names) == 1)]
            lives.sort(key=_began)
            self._of.update(dict.fromkeys((job.key for job in lives), lives))

    def of(self, job: PastJob) -> tuple[int, int]:
        """(2, 3): the second of three; (1, 1) for a job that was never requeued."""
        lives = self._of.get(job.key)
        return (1, 1) if lives is None else (lives.index(job) + 1, len(lives))

    def all_of(self, job: PastJob) -> list[PastJob]:
        """Every life of a job, the first one first."""
        return list(self._of.get(job.key, [job]))


def _began(job: PastJob) -> tuple[float, float]:
    return (job.start or job.submit or 0, job.end)


def run_of(job: PastJob, known: Mapping[str, str]) -> str:
    """The id of the run a job belonged to, "" when it is not told. ``known`` are runs by the beginning of their id."""
    mark = job.run_mark
    if len(mark) > _MARK_LENGTH:
        return mark
    return known.get(mark, "")


def marks_of(run_ids: Iterable[str]) -> dict[str, str]:
    """Run ids by their first 8 digits."""
    return {run_id[:_MARK_LENGTH]: run_id for run_id in run_ids}


# --- days: from midnight to midnight of this machine's zone, also where a clock change makes them 23 or 25 hours long


def day_of(moment: float) -> str:
    """The day of a moment, as ``2026-11-30``."""
    return time.strftime("%Y-%m-%d", time.localtime(moment))


def day_start(day: str, later: int = 0) -> float:
    """The moment a day begins; ``later`` days after it (before it, if negative)."""
    year, month, number = (int(part) for part in day.split("-"))
    return time.mktime((year, month, number + later, 0, 0, 0, -1, -1, -1))


def days_back(now: float, count: int) -> list[str]:
    """Today and the days before it, newest first."""
    today = day_of(now)
    return [day_of(day_start(today, -back)) for back in range(count)]
