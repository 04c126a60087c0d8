"""The output of several jobs as one log: those marked, or the tasks of an array, also tasks that begin later."""

from __future__ import annotations

import asyncio
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.models.ids import parse_job_id
from slurmtui.models.text import visible
from slurmtui.sources.slurm.past_output import past_outputs
from slurmtui.store.log_files import FileLines
from slurmtui.store.log_job_stream import JobStream
from slurmtui.store.log_outputs import BEGUN, family, files_of, outputs_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.ids import JobId
    from slurmtui.models.job import JobDetail
    from slurmtui.session import Session
    from slurmtui.store.log_merge import Found
    from slurmtui.store.snapshot import Snapshot

_ASK_SECONDS = 15.0
_MOST_FILES = 2_000
_MOST_FORGOTTEN = 20  # questions to accounting
_WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"})


class JobsLog(JobStream):
    """The merged output of several jobs.

    Args:
        session: whom to ask.
        ids: jobs as squeue shows them; an array's number means all of its tasks, ``7_[0-2]`` these three.
        lines: how many of each file's last lines to begin with; None for all.
        aside: a folder whose files are read by somebody else; without it the jobs are asked for again and again.
        keep_up: leave out what was written faster than it can be shown, and say so.

    Attributes:
        why_empty: a sentence why there is no line (yet).
        ended: SLURM knows none of the jobs as waiting or running any more.
    """

    def __init__(
        self,
        session: Session,
        ids: Sequence[str],
        lines: int | None = 0,
        *,
        aside: Path | None = None,
        keep_up: bool = True,
    ) -> None:
        super().__init__(lines)
        self._unanswered = ""
        self._session = session
        self._ids: list[str] = []
        self._spans: dict[str, list[JobId]] = {}  # by an array's number: the tasks that are meant, where not all are
        self._take(ids)
        self._aside = aside
        self._keep_up = keep_up
        self._files: dict[str, FileLines] = {}
        self._families: set[tuple[Path, str, str, str, str]] = set()  # folder, array, head and tail of names, source
        self._states: dict[str, str] = {}
        self._forgotten = False  # accounting alone knows them

    @property
    def files(self) -> list[FileLines]:
        """The files, as far as they are known: a copy, made at one go, for another thread may find more meanwhile."""
        return list(self._files.values())

    def update(self, snapshot: Snapshot) -> None:
        """How the jobs stand is asked for by itself."""

    def want(self, ids: Sequence[str]) -> None:
        """Follow these jobs as well."""
        self._take(ids)
        self._next_question = 0.0

    def _take(self, ids: Sequence[str]) -> None:
        """SLURM is asked for an array as a whole, also where only some of its tasks are meant."""
        named = {job_id: parse_job_id(job_id) for job_id in ids}
        for job_id, parsed in named.items():
            base = str(parsed.base) if parsed is not None and parsed.tasks else job_id
            if base == job_id:
                self._spans.pop(base, None)
            elif parsed is not None and (base in self._spans or base not in self._ids):
                self._spans.setdefault(base, []).append(parsed)
            if base not in self._ids:
                self._ids.append(base)

    def _is_meant(self, job_id: str) -> bool:
        parsed = parse_job_id(job_id)
        spans = None if parsed is None else self._spans.get(str(parsed.base))
        return parsed is None or spans is None or job_id in self._ids or any(map(parsed.common_tasks, spans))

    @property
    def failed(self) -> bool:
        """Whether the output cannot be had, and waiting does not help."""
        return self.ended and not self._files

    async def ask(self) -> None:
        """Ask SLURM where the output of the jobs goes, also of those that have begun since, and how they stand."""
        known = self._aside is None and bool(self._files)
        try:
            found = await outputs_of(self._session, self._ids, BEGUN if known else "all")
            details = {job_id: detail for job_id, detail in found.items() if self._is_meant(job_id)}
            first = not self._states
            self._states.update({job_id: detail.state for job_id, detail in details.items()})
            await asyncio.to_thread(self._add, details)
            if self._aside is None:
                await self._ask_of_the_ended(details, first=first)
        except CommandError as error:
            self._unanswered = f"SLURM does not answer, so it is not known where the output is: {error}"
        else:
            self._unanswered = ""
        self._ask_again_in(_ASK_SECONDS if self._aside is None else math.inf)

    async def _ask_of_the_ended(self, details: dict[str, JobDetail], *, first: bool) -> None:
        """Whether they have all ended; what SLURM has forgotten is looked for where accounting says that it was."""
        if first and details:
            return
        known = {} if first else await self._session.slurm.jobs_by_id(self._ids)
        active = [job for job in known.values() if self._is_meant(job.id)]
        self._states = {job.id: job.state for job in active} or self._states
        if first:
            slurm = self._session.slurm
            for job_id in self._ids[:_MOST_FORGOTTEN]:
                told = await past_outputs(slurm, job_id)
                self._forgotten |= bool(told)
                await asyncio.to_thread(self._add_past, told)
        self.ended = not active  # after all answers: a question that fails is asked again

    def _add_past(self, told: Mapping[str, tuple[tuple[str, str], ...]]) -> None:
        for job_id, paths in told.items():
            for path, source in paths:
                if Path(path).exists():
                    self._follow(Path(path), source, job_id)

    def _add(self, details: dict[str, JobDetail]) -> None:
        for job_id, detail in details.items():
            if detail.state in _WAITING:
                continue
            shown = parse_job_id(job_id)
            whole_array = shown is not None and str(shown.base) in self._ids
            for path, source in files_of(detail):
                self._follow(path, source, job_id)
                names = family(path, job_id) if whole_array else None
                if names is not None:
                    self._families.add((path.parent, *names, source))
        for folder, base, head, tail, source in tuple(self._families):
            self._add_family(folder, base, (head, tail), source)

    def _add_family(self, folder: Path, base: str, names: tuple[str, str], source: str) -> None:
        """The files of an array's tasks that SLURM has forgotten."""
        head, tail = names
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    number = entry.name.removeprefix(head).removesuffix(tail)
                    if number.isdigit() and entry.name == f"{head}{number}{tail}":
                        self._follow(folder / entry.name, source, f"{base}_{number}")
        except OSError:
            return

    def _follow(self, path: Path, source: str, job_id: str) -> None:
        if not self._is_meant(job_id):
            return
        if path.parent != self._aside and str(path) not in self._files and len(self._files) < _MOST_FILES:
            self._files[str(path)] = FileLines(path, source, job_id, keep_up=self._keep_up)

    def _read(self) -> list[Found]:
        first = self._begins()
        found: list[Found] = []
        for lines in self.files:
            if first:
                found += lines.last(self._lines) if self._lines is not None else lines.whole()
            else:
                found += lines.new(len(self._files))
            found += lines.problem_note()
        held = [lines for lines in self.files if lines.tail.open]
        for lines in held[:-64]:
            lines.tail.rest()
        self._explain()
        return found

    def _explain(self) -> None:
        problems = [lines.tail.problem for lines in self.files if lines.tail.problem]
        waiting = sum(state in _WAITING for state in tuple(self._states.values()))
        if problems:
            self.why_empty = visible(problems[0])
        elif self._files:
            self.why_empty = "The jobs have written nothing." if self.ended else "The jobs have written nothing yet."
        elif self._unanswered:
            self.why_empty = visible(self._unanswered)
        elif waiting:
            self.why_empty = f"Not started: {waiting} jobs wait for SLURM."
        elif self._states:
            self.why_empty = "SLURM names no output file for these jobs."
        elif self._forgotten:
            self.why_empty = "SLURM has forgotten these jobs, and where they wrote there are no such files any more."
        else:
            self.why_empty = "SLURM does not know these jobs any more, so it is not known where their output went."
