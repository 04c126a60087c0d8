"""The log of a run, merged from Prefect, its driver and its jobs; the log of one job.

Both are asked again and again by whoever shows them: ``read_new`` gives the end of the log first and then what is new.
They read as long as they are asked and hold nothing else; ``close`` gives the file handles back.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui import paths
from slurmtui.errors import PrefectError
from slurmtui.models.text import visible
from slurmtui.models.verdict import Mood
from slurmtui.store.log_attempts import attempts_at_prefect, attempts_of, separators
from slurmtui.store.log_entry import LogEntry
from slurmtui.store.log_folder import JOBS, FolderLines
from slurmtui.store.log_job import JobLog
from slurmtui.store.log_jobs import JobsLog
from slurmtui.store.log_merge import Merger
from slurmtui.store.log_prefect import PrefectLines
from slurmtui.store.log_reading import PATIENCE_SECONDS, Asking, Reading

if TYPE_CHECKING:
    from slurmtui.models.run_view import RunView
    from slurmtui.session import Session
    from slurmtui.store.log_files import FileLines
    from slurmtui.store.log_merge import Found
    from slurmtui.store.snapshot import Snapshot

_NOT_BEGUN = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"})
_MOST_JOBS = 50

__all__ = ["JobLog", "LogEntry", "RunLog"]


class RunLog:
    """A run's whole log.

    Args:
        session: whom to ask.
        view: the run.
        lines: how many of each place's last lines to begin with; None for all.
        keep_up: leave out what was written faster than it can be shown, and say so.

    Attributes:
        why_empty: a sentence why there is no line (yet).
        prefect: its lines at Prefect's server.
    """

    def __init__(self, session: Session, view: RunView, lines: int | None = 500, *, keep_up: bool = True) -> None:
        self._folder = Path(view.record.folder) if view.record else paths.runs_folder() / view.run.id
        self.why_empty = ""
        self.prefect = PrefectLines(session, view.run.id, lines)
        self._view = view
        self._folder_lines = FolderLines(self._folder, lines, keep_up=keep_up)
        self._jobs = JobsLog(session, [], lines, aside=self._folder / JOBS)
        self._wanted: set[str] = set()  # jobs whose output is not in the folder
        self._begun: dict[int, float] = {}
        self._told: frozenset[int] = frozenset()
        self._session = session
        self._foreign: dict[int, float] = {}  # when attempts began, as Prefect tells it
        self._reading = Reading()
        self._asking = Asking(self.prefect.read)
        self._attempts = Asking(self._ask_attempts)
        self._patient = lines != 0  # the last lines are to be printed, not to be shown at once
        self._merger = Merger()
        self.update_view(view)

    @property
    def files(self) -> list[FileLines]:
        """The files, as far as they are known."""
        return [*self._folder_lines.files, *self._jobs.files]

    @property
    def notes(self) -> list[Found]:
        """The sentences between the attempts of a retried run."""
        return separators(self._begun)

    @property
    def began(self) -> float | None:
        """When the run began, as far as is known."""
        return self._view.run.start or self._view.run.created

    @property
    def problems(self) -> list[str]:
        """What parts of the log cannot be had now, a sentence each."""
        return [*filter(None, [self.prefect.problem]), *self._folder_lines.problems]

    def begin_at_end(self) -> None:
        """Begin without any line: whoever shows the log reads it from where it is followed."""
        self._patient = False
        for part in (self.prefect, self._folder_lines, self._jobs):
            part.begin_at_end()

    def update(self, snapshot: Snapshot) -> None:
        """Tell what is known now."""
        view = snapshot.find_run(self._view.run.id)
        if view is not None:
            self.update_view(view)

    def update_view(self, view: RunView) -> None:
        """Tell how the run stands now: why there is no line yet, how often to ask, which jobs it has."""
        self._view = view
        self.prefect.quiet = view.run.final
        self.why_empty = self._why_empty()
        begun = [job.id for job in view.jobs if job.state not in _NOT_BEGUN]
        begun += [job.id for job in view.ended_jobs]
        here = {lines.writer.job_id for lines in self._folder_lines.files}
        new = [job_id for job_id in begun if job_id not in here | self._wanted][-_MOST_JOBS:]
        if new:
            self._wanted.update(new)
            self._jobs.want(new)

    async def gather(self) -> list[Found]:
        """What is new in all places, as they brought it; at the first call the ends of all."""
        if self._view.run.run_count > max(1, len(self._begun)):
            await self._attempts.answer()
        patience = None if self._patient else PATIENCE_SECONDS
        self._patient = False
        found = await asyncio.gather(self._asking.answer(patience), self._reading.run(self._read), self._read_jobs())
        self.why_empty = self._why_empty()
        return [one for some in found for one in some or ()]

    async def read_new(self) -> list[LogEntry]:
        """The end of the log, then what is new."""
        return await self._merged(await self.gather())

    async def read_rest(self) -> list[LogEntry]:
        """Everything that is left, the run having ended; unfinished lines too."""
        late = await self._asking.answer(None)
        found = await asyncio.gather(
            self.prefect.read(at_once=True), self._reading.run(self._read_all), self._read_jobs()
        )
        rest = [one for lines in self._jobs.files for one in await asyncio.to_thread(lines.rest_of_it)]
        return await self._merged([one for some in (late or [], *found, rest) for one in some])

    def close(self) -> None:
        """Give the file handles back."""
        self._asking.close()
        self._attempts.close()
        self._reading.close(self._folder_lines.close)
        self._jobs.close()

    def _read(self) -> list[Found]:
        return self._folder_lines.read() + self._new_attempts()

    def _read_all(self) -> list[Found]:
        return self._folder_lines.read_all() + self._new_attempts()

    async def _read_jobs(self) -> list[Found]:
        return await self._jobs.gather() if self._wanted else []

    async def _ask_attempts(self) -> None:
        """When the attempts of a run began that slurmtui did not start."""
        run, client = self._view.run, self._session.prefect
        if client is None:
            return
        with contextlib.suppress(PrefectError):  # the lines are there without it
            self._foreign = await attempts_at_prefect(client, run.id)

    def _new_attempts(self) -> list[Found]:
        """The sentences on attempts that have begun since the last look (of all, at the first)."""
        own = attempts_of(self._folder)
        self._begun = own or self._foreign
        found = separators(own, self._told)
        self._told = frozenset(self._begun)
        return found

    async def _merged(self, found: list[Found]) -> list[LogEntry]:
        self.why_empty = self._why_empty()
        if not found:
            return []
        return await asyncio.to_thread(self._merger.merge, found)

    def _why_empty(self) -> str:
        verdict, run = self._view.verdict, self._view.run
        if run.final:
            text = f"This run wrote nothing: {verdict.text}."
        elif verdict.mood is Mood.WAITING:
            text = f"No line yet: {verdict.text}."
        else:
            text = f"No line yet ({verdict.text}); Prefect's lines come some seconds after they are written."
        return "\n".join(visible(words) for words in [text, *self.problems[:3]])
