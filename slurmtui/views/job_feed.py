"""Asks SLURM about the job whose detail is shown: politely, and only as long as it is shown."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import SlurmtuiError
from slurmtui.models.job_dependency import Dependencies, dependencies_of, parse_dependency
from slurmtui.sources.slurm.steps import live_steps
from slurmtui.sources.slurm.usage import job_usage
from slurmtui.views.job_lines import Told
from slurmtui.widgets.beside import start

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slurmtui.models.efficiency import Usage
    from slurmtui.models.job import Job, JobDetail
    from slurmtui.models.job_table import JobTable
    from slurmtui.views.base import ViewScreen

AGAIN_SECONDS = 10.0
"""How often it is asked again, while the detail is shown, what a running job uses or what accounting knows by now."""
PAUSE_SECONDS = 0.25
"""The cursor must rest on a job before SLURM is asked about it: one that only passes by costs nothing."""

_UNKNOWN = "accounting does not know this job (yet)"


class JobFeed:
    """What is known of the job that was asked about last; ``again`` is called when more is known."""

    def __init__(self, screen: ViewScreen, again: Callable[[], None]) -> None:
        self._screen, self._again = screen, again
        self._of: tuple[str, str] = ("", "")  # id and state of the job that is known of
        self._told = Told()
        self._asked_at = 0.0
        self._asking = False
        self._tree: tuple[JobTable | None, Dependencies | None] = (None, None)

    def told(self, job: Job) -> Told:
        """What is known now; what lacks, or is old, is asked for."""
        if self._of != (job.id, job.state):
            self._of, self._told, self._asked_at, self._asking = (job.id, job.state), Told(), 0.0, True
            self._run(partial(self._ask, job))
        elif not self._asking and time.monotonic() - self._asked_at >= AGAIN_SECONDS:
            if job.state == "RUNNING":
                self._asking = True
                self._run(partial(self._ask_steps, job))
            elif self._told.usage is not None and not _is_whole(self._told.usage):
                self._asking = True
                self._run(partial(self._ask_usage, job))
        return self._with_tree(job)

    def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        start(self._screen, work, "detail", exclusive=True)

    async def _ask(self, job: Job) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        slurm = self._screen.console.session.slurm
        try:
            detail: JobDetail | str = await slurm.job_detail(job.id) or "SLURM does not know this job any more"
        except SlurmtuiError as error:
            detail = str(error)
        self._tell(job, detail=detail)
        if job.state in {"RUNNING", "SUSPENDED"}:
            await self._ask_steps(job)
        elif not job.active or isinstance(detail, str):
            await self._ask_usage(job)
        self._asking = False

    async def _ask_usage(self, job: Job) -> None:
        self._asked_at = time.monotonic()
        try:
            usage: Usage | str = await job_usage(self._screen.console.session.slurm, job.id) or _UNKNOWN
        except SlurmtuiError as error:
            usage = str(error)
        self._tell(job, usage=usage)
        self._asking = False

    async def _ask_steps(self, job: Job) -> None:
        self._asked_at = time.monotonic()
        try:
            steps = await live_steps(self._screen.console.session.slurm, job.raw_id)
        except SlurmtuiError as error:
            self._tell(job, steps=str(error))
        else:
            self._tell(job, steps=steps)
        self._asking = False

    def _tell(self, job: Job, **known: object) -> None:
        if self._of == (job.id, job.state):
            self._told = msgspec.structs.replace(self._told, **known)
            self._again()

    def _with_tree(self, job: Job) -> Told:
        """With the dependencies among the jobs of the last poll; SLURM is not asked for them."""
        table = self._screen.snapshot.queue.data
        if self._tree[0] is not table or self._tree[1] is None:
            self._tree = (table, dependencies_of(table))
        tree, detail = self._tree[1], self._told.detail
        if tree is None:
            return self._told
        full = None
        if detail is not None and not isinstance(detail, str):
            full = parse_dependency(dict(reversed(detail.fields)).get("Dependency", ""))
        return msgspec.structs.replace(self._told, waits_for=tree.before(job, full), waited_for=tree.after(job))


def _is_whole(usage: Usage | str) -> bool:
    """Whether accounting has told of the end: it hears of it some seconds later. A refusal is an answer as well."""
    return usage != _UNKNOWN if isinstance(usage, str) else usage.end is not None
