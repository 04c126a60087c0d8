"""The output of one job."""

from __future__ import annotations

import asyncio
import glob
import socket
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from slurmtui import paths
from slurmtui.errors import CommandError
from slurmtui.models.exit_words import had_no_output
from slurmtui.models.job import ACTIVE_STATES
from slurmtui.models.nodes import first_node
from slurmtui.models.reasons import waiting_words
from slurmtui.models.text import visible
from slurmtui.store.log_files import FileLines
from slurmtui.store.log_job_stream import JobStream
from slurmtui.store.log_outputs import files_of

if TYPE_CHECKING:
    from slurmtui.models.job import JobDetail
    from slurmtui.session import Session
    from slurmtui.store.log_merge import Found
    from slurmtui.store.snapshot import Snapshot


class Elsewhere(NamedTuple):
    """A file that only a job's own node can read."""

    job_id: str
    node: str
    path: str


NO_OUTPUT = (
    " It could not be written when the job started (mostly because its folder was not there; SLURM makes none), and so "
    "the job ended at once (signal 53)."
)
_ASK_SECONDS = 15.0
_SELDOM_SECONDS = 120.0
_WAITING = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"})


class JobLog(JobStream):
    """A job's stdout and stderr, wherever SLURM says they go.

    Args:
        session: whom to ask.
        job_id: as squeue shows it.
        lines: how many of each file's last lines to begin with; None for all.
        keep_up: leave out what was written faster than it can be shown, and say so.

    Attributes:
        why_empty: a sentence why there is no line (yet).
        failed: the output cannot be had, and waiting does not help.
        ended: SLURM says that the job is over, or does not know it any more.
    """

    def __init__(self, session: Session, job_id: str, lines: int | None = 2_000, *, keep_up: bool = True) -> None:
        super().__init__(lines)
        self.failed = False
        self._session = session
        self._job_id = job_id
        self._keep_up = keep_up
        self._detail: JobDetail | None = None
        self._files: list[FileLines] = []

    @property
    def files(self) -> list[FileLines]:
        """The files, as far as they are known."""
        return list(self._files)

    @property
    def detail(self) -> JobDetail | None:
        """What SLURM said of the job."""
        return self._detail

    def update(self, snapshot: Snapshot) -> None:
        """Ask again at once when the queue tells that the job stands otherwise than it was said to."""
        number = snapshot.queue.data.index(self._job_id)
        if number is None or self._detail is None:
            return
        job = snapshot.queue.data.job(number)
        if job.state != self._detail.state:
            self._next_question = 0.0

    async def ask(self) -> None:
        """Ask SLURM where the output goes, and how the job stands."""
        try:
            if self._detail is None or not self._files:
                await self._ask_where()
            else:
                await self._ask_how(self._detail)
        except CommandError as error:
            self.why_empty = visible(f"SLURM does not answer, so it is not known where the output is: {error}")
        known = any(lines.tail.position for lines in self._files)
        self._ask_again_in(_SELDOM_SECONDS if known else _ASK_SECONDS)

    async def _ask_where(self) -> None:
        detail = await self._session.slurm.job_detail(self._job_id)
        if detail is None:
            await self._forgotten()
            return
        self._detail = detail
        self.ended = detail.state not in ACTIVE_STATES
        self._files = [
            FileLines(path, source, self._job_id, keep_up=self._keep_up, raw=True) for path, source in files_of(detail)
        ]

    async def _ask_how(self, detail: JobDetail) -> None:
        jobs = await self._session.slurm.jobs_by_id([self._job_id])
        self.ended = not jobs
        if self.ended:
            last = await self._session.slurm.job_detail(self._job_id)
            self._detail = last or msgspec.structs.replace(detail, state="")
        for job in jobs.values():
            self._detail = msgspec.structs.replace(detail, state=job.state, reason=job.reason, nodes=job.nodes)

    async def _forgotten(self) -> None:
        """SLURM knows the job no more; its files may be in the folder of its run."""
        self.ended = True
        self._files = await asyncio.to_thread(_files_of_a_run, self._job_id, keep_up=self._keep_up)
        if not self._files:
            self.failed = True
            self.why_empty = (
                f"SLURM does not know job {visible(self._job_id)} any more and it belongs to no run of yours, so it is "
                "not known where its output went."
            )

    def _read(self) -> list[Found]:
        first = self._begins()
        found: list[Found] = []
        for lines in self._files:
            found += self._first(lines) if first else lines.new(len(self._files))
        if any(not lines.tail.problem for lines in self._files):  # else it is the whole log that cannot be read
            found += [one for lines in self._files for one in lines.problem_note()]
        self._explain()
        return found

    def _first(self, lines: FileLines) -> list[Found]:
        return lines.new(len(self._files)) if self._lines is None else lines.last(self._lines)

    @property
    def elsewhere(self) -> Elsewhere | None:
        """The file on a disk of the job's own node, when the job runs and its file is not to be seen from here."""
        detail = self._detail
        if detail is None or detail.state != "RUNNING" or not detail.nodes:
            return None
        node = first_node(detail.nodes)
        missing = [lines for lines in self._files if "is not there" in lines.tail.problem]
        if not missing or node.split(".")[0] == socket.gethostname().split(".")[0]:
            return None
        return Elsewhere(self._job_id, node, missing[0].place)

    def _why_missing(self, detail: JobDetail | None) -> str:
        """What a missing file means, as far as it can be told."""
        if detail is None or not detail.nodes:
            return ""
        if self.ended and had_no_output(detail.exit_code):
            return NO_OUTPUT
        if self.ended:
            return f" It has been removed (purged) since the job ended, or is on a disk of {detail.nodes} itself."
        return f" If that is a disk of {detail.nodes} itself, it cannot be read from here."

    def _explain(self) -> None:
        """Why there is no line."""
        detail = self._detail
        if not self._files and detail is None:
            return
        self.failed = False
        problems = [lines.tail.problem for lines in self._files if lines.tail.problem]
        if detail is not None and detail.state in _WAITING:
            reason = f": {waiting_words(detail.reason)}" if detail.reason else ""
            self.why_empty = visible(f"Not started: waiting for SLURM{reason}.")
        elif problems:
            missing = all("is not there" in problem for problem in problems)
            self.failed = len(problems) == len(self._files) and (not missing or self.ended)
            self.why_empty = visible(problems[0] + (self._why_missing(detail) if missing else ""))
        elif self._files:
            self.why_empty = "The job has written nothing." if self.ended else "The job has written nothing yet."
        elif detail is not None:
            self.failed = True
            self.why_empty = (
                "SLURM names no output file for this job: an interactive job (srun, salloc) writes to the terminal it "
                "was started from."
            )


def _files_of_a_run(job_id: str, *, keep_up: bool) -> list[FileLines]:
    """The files of a job in the run folders."""
    if "/" in job_id or not job_id[:1].isdigit():
        return []
    folder, name = paths.runs_folder(), glob.escape(job_id)
    return [
        FileLines(path, source, job_id, keep_up=keep_up, raw=True)
        for source in ("out", "err")
        for path in sorted(folder.glob(f"*/jobs/{name}.{source}"))
    ]
