"""Reads SLURM: the queue, single jobs, accounting and the cluster itself."""

from __future__ import annotations

import functools
import re
from itertools import chain
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.models.ids import base_id, parse_job_id
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.records import PIECE_ROWS, RecordError
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm import accounting, cluster, detail
from slurmtui.sources.slurm.ask import ask, broken, knows_no_such_job
from slurmtui.sources.slurm.head_start import HeadStart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from slurmtui.models.cluster import Partition
    from slurmtui.models.job import EndedJob, Job, JobDetail
    from slurmtui.sources.exec import Runner
    from slurmtui.sources.slurm.head_start import Peek

_IDS_A_CALL = 400
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)


class Slurm:
    """SLURM as seen by one user. Every method raises CommandError with SLURM's own words when it cannot answer."""

    def __init__(self, runner: Runner, user: str, timeout: float = 20) -> None:
        self.runner = runner
        self.user = user
        self.timeout = timeout
        self.lacks = runner.lacks
        self._queue = JobTable.EMPTY
        self.begun: HeadStart | None = None
        self._cluster_name: str | None = None
        self._version: tuple[int, ...] | None = None

    async def queue(self, *, everyone: bool) -> JobTable:
        """The queue in one call of squeue: the user's jobs, or everyone's. An array's waiting rest is one row.

        Raises:
            CommandError: squeue failed, or its answer was not whole: the queue is then unknown, not empty.
        """
        begun, self.begun = self.begun, None
        if begun is not None and begun.everyone == everyone:
            return await begun.table()
        if begun is not None:
            begun.end()
        return await self._ask_queue(everyone=everyone)

    def ask_early(self, *, everyone: bool) -> HeadStart:
        """Ask for the queue before there is an event loop; the first call of :meth:`queue` takes the answer."""
        self.begun = HeadStart(lambda peek: self._ask_queue(everyone=everyone, peek=peek), everyone=everyone)
        return self.begun

    async def _ask_queue(self, *, everyone: bool, peek: Peek | None = None) -> JobTable:
        self._queue = await self._squeue(() if everyone else ("-u", self.user), peek)
        return self._queue

    async def job_detail(self, job_id: str) -> JobDetail | None:
        """Everything SLURM's controller knows of one job; None when it does not know it (any more)."""
        return await detail.job_detail(self.runner, job_id, self.timeout)

    async def ended_jobs(self, ids: Sequence[str]) -> dict[str, EndedJob]:
        """What accounting says of those jobs that have ended; ids it does not know, or knows as active, are absent.

        Raises:
            CommandError: accounting is off or does not answer. That is no proof of anything.
        """
        return await accounting.ended_jobs(self.runner, ids, self.timeout)

    async def jobs_by_id(self, ids: Sequence[str]) -> dict[str, Job]:
        """The jobs among ``ids`` that are still in the queue, whoever owns them.

        A job or a task is found under the id that was asked for, also a task that still waits in the rest of its
        array. An array or het job that was asked for as a whole gives each of its parts under the part's own id; so
        does an id that is not whole, because it is not known which tasks it means.
        """
        answer: dict[str, Job] = {}
        wanted = [job_id for job_id in dict.fromkeys(ids) if _NUMBER.fullmatch(base_id(job_id))]
        for first in range(0, len(wanted), _IDS_A_CALL):
            chunk = wanted[first : first + _IDS_A_CALL]
            table = await self._some(sorted({base_id(job_id) for job_id in chunk}))
            for job_id in chunk:
                rows = table.rows_of(job_id) if parse_job_id(job_id) is not None else table.rows_of(base_id(job_id))
                for row in rows:
                    job = table.job(row)
                    answer[job_id if len(rows) == 1 else job.id] = job
        return answer

    async def whole_id(self, job: Job) -> str | None:
        """The id of a job whose list of waiting tasks was too long for the queue's column; None when it is gone.

        Raises:
            CommandError: SLURM did not answer.
        """
        if parse_job_id(job.id) is not None:
            return job.id
        return await detail.waiting_id(self.runner, job.raw_id, self.timeout)

    async def cluster_name(self) -> str:
        """The cluster's name (asked once)."""
        if self._cluster_name is None:
            await self._identify()
        return self._cluster_name or ""

    async def version(self) -> tuple[int, ...]:
        """SLURM's version, as (22, 5, 8) (asked once)."""
        if self._version is None:
            await self._identify()
        return self._version or ()

    async def partitions(self) -> tuple[Partition, ...]:
        """The partitions that may be named in a profile."""
        return await cluster.partitions(self.runner, self.timeout)

    async def accounts(self) -> tuple[str, ...]:
        """The user's accounts; empty where accounting is off (:meth:`accounts_or_reason` says why)."""
        return (await self.accounts_or_reason())[0]

    async def accounts_or_reason(self) -> tuple[tuple[str, ...], str]:
        """The user's accounts, and why there are none."""
        return await cluster.accounts(self.runner, self.user, self.timeout)

    async def _identify(self) -> None:
        self._cluster_name, self._version = await cluster.identify(self.runner, self.timeout)

    async def _some(self, bases: Sequence[str]) -> JobTable:
        """The queue of some jobs only; one id that SLURM has forgotten fails a call of several on some versions."""
        try:
            return await self._squeue(("-j", ",".join(bases)))
        except _ForgottenJob:
            if len(bases) == 1:
                return JobTable.EMPTY
        return await self._squeue(())

    async def _squeue(self, which: Sequence[str], peek: Peek | None = None) -> JobTable:
        argv = ("squeue", "-h", "-a", *which, "-O", QUEUE.asked())
        digest = functools.partial(_table, before=self._queue, peek=peek)
        finished = await ask(self.runner, argv, self.timeout, check=False, digest=digest)
        if finished.code:
            if knows_no_such_job(finished.stderr):
                raise _ForgottenJob(finished.stderr, argv=argv, code=finished.code, stderr=finished.stderr)
            raise failure(finished)
        if isinstance(finished.digested, RecordError):
            raise broken(finished, finished.digested) from finished.digested
        table: JobTable = finished.digested
        return table


def _table(
    read: Callable[[int], Iterator[bytes]], before: JobTable, peek: Peek | None = None
) -> JobTable | RecordError:
    """The queue from squeue's answer, which shares with the one before what has not changed; that one if nothing has.

    Of 100,000 jobs the answer has 71 MB, of which most is padding, or is the same for many: it is taken piece by piece.
    Of an answer of several pieces ``peek`` is given the first one at once.
    """
    size = PIECE_ROWS * QUEUE.stride
    pieces = read(size)
    try:
        if peek is not None and len(first := next(pieces, b"")) == size:
            peek(JobTable(first))
        table = JobTable(pieces if peek is None else chain((first,), pieces), like=before)
    except RecordError as error:
        return error
    return before if table == before else table


class _ForgottenJob(CommandError):
    """Squeue was asked for a job that SLURM does not know."""
