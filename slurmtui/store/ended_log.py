"""The output of a job that ended, maybe long ago: also when slurmctld has forgotten it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.models.exit_words import had_no_output
from slurmtui.models.text import visible
from slurmtui.sources.slurm.past_output import PastOutput, past_output
from slurmtui.store.log_files import FileLines
from slurmtui.store.log_job import NO_OUTPUT, JobLog

if TYPE_CHECKING:
    from collections.abc import Sequence


class EndedJobLog(JobLog):
    """As the log of a job in the queue; what is forgotten is looked for where accounting says that it was written."""

    async def _forgotten(self) -> None:
        await super()._forgotten()
        if self._files:
            return
        slurm, job_id = self._session.slurm, self._job_id
        try:
            found = await past_output(slurm, job_id)
            ended = (await slurm.ended_jobs([job_id])).get(job_id)
        except CommandError as error:
            self.why_empty = visible(f"SLURM has forgotten job {job_id}, and accounting does not answer: {error}")
            return
        there = await asyncio.to_thread(lambda: [one for one in found.paths if _is_there(Path(one[0]))])
        self._look_at(found, there, had_none=ended is not None and had_no_output(f"{ended.exit_code}:{ended.signal}"))

    def _look_at(self, found: PastOutput, there: Sequence[tuple[str, str]], *, had_none: bool) -> None:
        if there:
            self.failed = False
            self._files = [
                FileLines(Path(path), source, self._job_id, keep_up=self._keep_up, raw=True) for path, source in there
            ]
        elif found.paths:
            self.why_empty = visible(
                f"SLURM has forgotten job {self._job_id}. Its output would be in {found.paths[0][0]} ({found.how}), "
                f"but no such file is to be seen from here.{NO_OUTPUT if had_none else ''}"
            )
        else:
            self.why_empty = visible(
                f"Neither slurmctld nor accounting tells where the output of job {self._job_id} went."
            )


def _is_there(path: Path) -> bool:
    """Whether there is a file; one that may not be looked at counts, for the reason is worth showing."""
    try:
        path.stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return True
