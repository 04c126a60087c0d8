"""Copy what names or describes jobs: to the terminal's clipboard, and into a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.actions.dialogs import Pick
from slurmtui.actions.jobs_targets import jobs_of
from slurmtui.actions.model import Action, Context
from slurmtui.control.jobs_attach import attach_argv, nodes_of, ssh_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job import Job, JobDetail

_ENOUGH = 200  # characters of a text that are shown in the menu


def _cannot_copy(context: Context) -> str:
    return "" if jobs_of(context) else "There is no job under the cursor"


async def _copy(context: Context) -> None:
    jobs = tuple(jobs_of(context))
    detail = await context.console.session.slurm.job_detail(jobs[0].id) if len(jobs) == 1 else None
    texts = _texts(jobs, detail)
    picks = [Pick(key, key, _short(text)) for key, text in texts.items()]
    title = f"Copy of job {jobs[0].id}" if len(jobs) == 1 else f"Copy of {len(jobs):,} jobs"
    picked = await context.console.dialogs.pick(title, picks)
    if picked:
        context.console.dialogs.copy(texts[picked], picked)


def _texts(jobs: Sequence[Job], detail: JobDetail | None) -> dict[str, str]:
    """What can be copied, by name; what there is nothing of is left out."""
    one = jobs[0]
    found = {"id": " ".join(job.id for job in jobs)}
    if len(jobs) > 1:
        found["ids, one a line"] = "\n".join(job.id for job in jobs)
    if detail is not None:
        found |= {
            "output file": detail.stdout or "", "error file": detail.stderr or "", "folder": detail.work_dir,
            "command": detail.command,
        }  # fmt: skip
        if found["error file"] == found["output file"]:
            found["error file"] = ""
    if len(jobs) == 1 and one.state == "RUNNING" and nodes_of(one):
        found["nodes"] = one.nodes
        found["attach"] = " ".join(attach_argv(one))
        found["ssh"] = ssh_line(nodes_of(one)[0])
    found["name"] = "\n".join(dict.fromkeys(job.name for job in jobs))
    found["JSON"] = as_json(jobs, detail)
    return {key: text for key, text in found.items() if text}


def as_json(jobs: Sequence[Job], detail: JobDetail | None = None) -> str:
    """The facts of the jobs, for scripts."""
    facts: list[Any] = [msgspec.to_builtins(job) for job in jobs]
    if detail is not None:
        facts[0]["detail"] = dict(reversed(detail.fields))
    return json.dumps(facts[0] if len(facts) == 1 else facts, indent=2, ensure_ascii=False)


def _short(text: str) -> str:
    line = " ".join(text[:_ENOUGH].split())
    return line if len(text) <= _ENOUGH else f"{line}…"


ACTIONS = (
    Action("job.copy", "y", "Copy", "Copy a job's number, paths, command or facts (JSON): clipboard and file.",
           _copy, ("jobs", "history"), footer=41, why_not=_cannot_copy),
)  # fmt: skip
