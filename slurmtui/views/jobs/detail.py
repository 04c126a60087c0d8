"""The detail of an array or het job as a whole. Pure; a job's own is in ``views/job_lines.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.reasons import waiting_words
from slurmtui.models.text import visible
from slurmtui.views import amounts
from slurmtui.views import format as words
from slurmtui.views.jobs.tally import tally
from slurmtui.views.lines import pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slurmtui.models.job import Job
    from slurmtui.models.job_group import JobGroup
    from slurmtui.widgets.bar import Piece


def group_lines(job: Job, group: JobGroup, ended: Mapping[str, int] | None) -> list[list[Piece]]:
    """An array or het job as a whole: how its parts stand, and what each of them asks for."""
    of_each = amounts.asked(job)
    waits = visible(waiting_words(group.reason)) if group.waiting else ""
    more = f", {group.hidden:,} hidden by the filter" if group.hidden else ""
    if not group.whole:
        more += "; squeue cut the list of those that wait: enter asks for all of it"
    lines: list[list[Piece]] = [
        [(f"{group.kind} {group.id} · {visible(job.name)} · ", "bold"), *_tally(group, ended)],
    ]
    lines += pairs(
        [
            (
                f"{group.part}s",
                f"{group.shown:,} in the queue{f', numbers {group.tasks}' if group.tasks else ''}{more}",
            ),
            ("user", f"{visible(job.user)} · account {visible(job.account) or words.DASH}"),
            ("where", visible(job.partition)),
            ("each asks for", of_each),
            ("time limit", words.span(job.time_limit)),
            ("longest runs", words.span(job.elapsed) if group.running else ""),
            ("waits for", waits),
            ("submitted", words.moment_words(job.submit)),
            ("dependency", visible(job.dependency)),
            ("comment", visible(job.comment)),
            ("folder", visible(job.work_dir)),
        ]
    )
    return [*lines, [("", "")], [(f"enter shows each {group.part} on a line of its own", "$text-muted")]]


def _tally(group: JobGroup, ended: Mapping[str, int] | None) -> list[Piece]:
    return [(text, f"${style}" if style.startswith("state-") else "$text-muted") for text, style in tally(group, ended)]
