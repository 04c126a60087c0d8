"""Ended jobs day by day: what is known, what must still be asked for, and in which bites.

A day that is over is asked for once; of today only what ended since the last question (and a little before: accounting
learns of an end some seconds late). A span that the site finds too wide is halved until it is answered.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import CommandError
from slurmtui.models.history import PastJob, day_of, day_start, days_back
from slurmtui.sources.slurm.history import AccountingOff, TooWide
from slurmtui.store.history_cache import DayRecord, HistoryCache

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

OVERLAP = 600.0
"""So much is asked for again: an end may be told this late."""
USUAL_DAYS = 7
MOST_DAYS = 366
MOST_JOBS = 200_000
_FIRST_WIDTH = 7 * 86400.0
_LEAST_WIDTH = 1800.0
_SAVE_SECONDS = 600.0


class History(msgspec.Struct, frozen=True, kw_only=True):
    """Ended jobs, newest first.

    Attributes:
        jobs: every life that ended on one of ``days``.
        days: the days that are shown, newest first.
        read: those of them that have been read by now.
        cut: whether older days were left out because there are too many jobs.
    """

    jobs: tuple[PastJob, ...] = ()
    days: tuple[str, ...] = ()
    read: frozenset[str] = frozenset()
    cut: bool = False

    @property
    def whole(self) -> bool:
        """Whether nothing is still to come."""
        return self.cut or len(self.read) == len(self.days)


class HistoryBook:
    """The days of one user.

    ``ask`` reads a span from accounting; ``cache`` is None where nothing is to be kept.
    """

    def __init__(
        self,
        ask: Callable[[float, float], Awaitable[list[PastJob]]],
        cache: HistoryCache | None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.days = USUAL_DAYS
        self._ask = ask
        self._cache = cache
        self._clock = clock
        self._records: dict[str, DayRecord] = {}
        self._sought: set[str] = set()  # days that were looked up in the cache
        self._saved: dict[str, float] = {}
        self._width = _FIRST_WIDTH

    def again(self) -> None:
        """Ask for the whole of today and yesterday next time: accounting may have been told late."""
        for day in days_back(self._clock(), 2):
            record = self._records.get(day)
            if record is not None:
                self._records[day] = msgspec.structs.replace(record, until=day_start(day))

    async def update(self, publish: Callable[[History], None]) -> History:
        """Ask for what is missing, newest first; ``publish`` is called with what is there after each bite.

        Raises:
            CommandError: accounting does not answer; what was read before is kept.
        """
        now = self._clock()
        wanted = days_back(now, self.days)
        await self._from_cache(wanted)
        history = self._history(wanted)
        if history.jobs or history.read:
            publish(history)
        changed: set[str] = set()
        try:
            for start, end in self._missing(wanted, now):
                if history.cut:
                    break
                changed |= await self._read(start, end, now)
                history = self._history(wanted)
                publish(history)
        finally:
            await asyncio.to_thread(self._save, changed, now)
        return history

    async def _from_cache(self, wanted: Sequence[str]) -> None:
        unsought = [day for day in wanted if day not in self._sought]
        self._sought.update(unsought)
        cache = self._cache
        if cache is not None and unsought:
            found = await asyncio.to_thread(lambda: [cache.read(day) for day in unsought])
            for record in filter(None, found):
                self._records[record.day] = record
                self._saved[record.day] = record.until

    def _missing(self, wanted: Sequence[str], now: float) -> list[tuple[float, float]]:
        """The spans to ask for, newest first; whole days that follow each other are asked for together."""
        spans: list[tuple[float, float]] = []
        for day in wanted:
            start, end = day_start(day), day_start(day, 1)
            record = self._records.get(day)
            if record is not None:
                if record.until >= end + OVERLAP:
                    continue
                start = max(start, min(record.until, end) - OVERLAP)
            end = min(end, now)
            before = spans[-1] if spans else None
            together = before is not None and before[0] == end and before[1] - start <= self._width
            if together and before is not None and day_start(day) == start:
                spans[-1] = (start, before[1])
            else:
                spans.append((start, end))
        return spans

    async def _read(self, start: float, end: float, now: float) -> set[str]:
        """Read a span; the days that are other than before."""
        if end - start > self._width:
            return await self._read_parts(start, end, now)
        try:
            jobs = await self._ask(start, end)
        except AccountingOff:
            raise
        except CommandError as error:
            too_much = isinstance(error, TooWide) or error.exit_code_of_command is None
            if not too_much or end - start <= _LEAST_WIDTH:
                raise
            self._width = (end - start) / 2
            return await self._read_parts(start, end, now)
        return self._take(jobs, start, end, now)

    async def _read_parts(self, start: float, end: float, now: float) -> set[str]:
        """Read whole days one by one, newest first; a day in two halves, the earlier first, so that no hole is left."""
        middle = day_start(day_of(end - 1))
        if middle > start:
            changed = await self._read(middle, end, now)
            return changed | await self._read(start, middle, now)
        middle = (start + end) / 2
        changed = await self._read(start, middle, now)
        return changed | await self._read(middle, end, now)

    def _take(self, jobs: Sequence[PastJob], start: float, end: float, now: float) -> set[str]:
        by_day: dict[str, list[PastJob]] = {}
        for job in jobs:
            by_day.setdefault(day_of(job.end), []).append(job)
        changed = set()
        day = day_of(start)
        while day_start(day) < end:
            record = self._records.get(day) or DayRecord(day=day, until=0.0)
            known = {job.key: job for job in record.jobs}
            merged = {**known, **{job.key: job for job in by_day.get(day, ())}}
            until = now if end >= min(day_start(day, 1), now) else end
            if merged != known:
                ordered = sorted(merged.values(), key=lambda job: (-job.end, job.raw_id))
                record = msgspec.structs.replace(record, jobs=tuple(ordered))
                changed.add(day)
            self._records[day] = msgspec.structs.replace(record, until=max(record.until, until))
            day = day_of(day_start(day, 1))
        return changed

    def _history(self, wanted: Sequence[str]) -> History:
        jobs: list[PastJob] = []
        read: set[str] = set()
        cut = False
        for day in wanted:
            record = self._records.get(day)
            if record is not None:
                if read and len(jobs) + len(record.jobs) > MOST_JOBS:
                    cut = True
                    break
                read.add(day)
                jobs += record.jobs
        return History(jobs=tuple(jobs), days=tuple(wanted), read=frozenset(read), cut=cut)

    def _save(self, changed: set[str], now: float) -> None:
        """Write days that are other than before, are over by now, or were last written long ago."""
        if self._cache is None:
            return
        for day, record in self._records.items():
            over = day_start(day, 1) + OVERLAP
            saved = self._saved.get(day, 0.0)
            if day in changed or record.until - saved > _SAVE_SECONDS or saved < over <= record.until:
                self._cache.write(record)
                self._saved[day] = record.until
        if changed:
            self._cache.forget_old(now)
