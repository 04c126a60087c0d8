"""What is known of one job, in groups a person understands. Pure; for every view that shows a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.amounts import limit_words, size_words
from slurmtui.models.efficiency import Usage, efficiency
from slurmtui.models.exit_words import code_words
from slurmtui.models.job import Job, JobDetail
from slurmtui.models.job_dependency import Branch
from slurmtui.models.job_request import request_of
from slurmtui.models.reasons import waiting_words
from slurmtui.models.text import fit, visible
from slurmtui.models.values import moment
from slurmtui.sources.slurm.steps import Steps
from slurmtui.views import amounts
from slurmtui.views import format as words
from slurmtui.views.lines import pairs
from slurmtui.views.why_lines import request_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job_step import LiveStep
    from slurmtui.widgets.bar import Piece

_LABEL = 14
_SHOWN_ALREADY = {
    "JobId", "ArrayJobId", "ArrayTaskId", "JobName", "UserId", "Account", "QOS", "JobState", "Reason", "Dependency",
    "Partition", "NodeList", "NumNodes", "NumCPUs", "TRES", "ReqTRES", "MinMemoryNode", "MinMemoryCPU", "TresPerNode",
    "TresPerJob", "Features", "TimeLimit", "RunTime", "SubmitTime", "EligibleTime", "StartTime", "EndTime", "Command",
    "WorkDir", "StdErr", "StdIn", "StdOut", "Comment", "Priority", "Nice", "Licenses", "Reservation", "ExitCode",
    "Restarts", "BatchHost", "AllocNode:Sid", "SubmitLine",
}  # fmt: skip
_NOTHING = {"", "(null)", "N/A", "None", "0", "NO", "no", "Unknown", "00:00:00", "0:0:*:*"}


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What SLURM has answered about a job so far; None is awaited, a text says why there is none.

    ``waits_for`` and ``waited_for`` are the two sides of the tree of dependencies.
    """

    detail: JobDetail | str | None = None
    steps: Steps | str | None = None
    usage: Usage | str | None = None
    waits_for: tuple[Branch, ...] = ()
    waited_for: tuple[Branch, ...] = ()


def job_lines(job: Job, told: Told, now: float) -> list[list[Piece]]:
    """Everything about a job: what it is, asks for, where and when, why, its files, its steps, what it used."""
    style = f"bold ${words.style_of(words.mood_of(job.state))}"
    head: list[Piece] = [(f"job {job.id} · {visible(job.name)} · ", "bold"), (visible(job.state.lower()), style)]
    lines: list[list[Piece]] = [head, *_identity(job, told), *_when(job, told, now)]
    if job.state == "PENDING":
        lines.append([("why".ljust(_LABEL), "$text-muted"), (visible(waiting_words(job.reason)), "$state-waiting"),
                      ("   b tells more", "$text-muted")])  # fmt: skip
    lines += tree_lines(told.waits_for, told.waited_for)
    if told.detail is None:
        return [*lines, [("asking SLURM…", "$text-muted")]]
    if isinstance(told.detail, str):
        lines.append([(visible(told.detail), "$state-failed")])
    else:
        lines += _files(told.detail)
    if job.state in {"RUNNING", "SUSPENDED"}:
        lines += step_lines(told.steps, _asked_memory(job), job.cpus)
    if told.usage is not None:
        lines += usage_lines(told.usage)
    if isinstance(told.detail, JobDetail):
        lines += _rest(told.detail)
    return lines


def _identity(job: Job, told: Told) -> list[list[Piece]]:
    account, qos = visible(job.account) or words.DASH, visible(job.qos) or words.DASH
    fields = dict(reversed(told.detail.fields)) if isinstance(told.detail, JobDetail) else {}
    asks = visible(request_words(request_of(told.detail.fields))) if isinstance(told.detail, JobDetail) else (
        amounts.asked(job)
    )  # fmt: skip
    nice = f", nice {fields['Nice']}" if fields.get("Nice", "0") not in {"", "0"} else ""
    priority = f" · priority {job.priority:,}{nice}" if job.priority else ""
    number = f" · SLURM's number {job.raw_id}" if str(job.raw_id) != job.id else ""
    return pairs(
        [
            ("user", f"{visible(job.user)} · account {account} · qos {qos}{priority}{number}"),
            ("asks for", asks),
            ("comment", visible(job.comment)),
        ],
        _LABEL,
    )


def _when(job: Job, told: Told, now: float) -> list[list[Piece]]:
    fields = dict(reversed(told.detail.fields)) if isinstance(told.detail, JobDetail) else {}
    restarts = fields.get("Restarts", "0")
    pending = job.state == "PENDING"
    begin = moment(fields.get("EligibleTime", ""))
    limit = job.time_limit if isinstance(job.time_limit, int) else 0
    elapsed = job.elapsed if isinstance(job.elapsed, int) else 0
    used = f" {words.bar(elapsed, limit)} {elapsed / limit:.0%}" if limit and elapsed else ""
    submitted = f"{words.moment_words(job.submit)} ({words.coarse(now - job.submit)} ago)" if job.submit else ""
    return pairs(
        [
            ("where", f"{visible(job.partition)} {visible(job.nodes)}".strip()),
            ("submitted", submitted),
            ("may start", words.moment_words(begin) if pending and begin and begin > now else ""),
            ("estimated", words.moment_words(job.start) if pending and job.start and job.start > now else ""),
            ("started", words.moment_words(job.start) if not pending and job.start else ""),
            ("time", "" if pending else f"{words.span(job.elapsed)} of {limit_words(job.time_limit)}{used}"),
            ("ends by", words.moment_words(job.end) if job.state == "RUNNING" and job.end else ""),
            ("requeued", f"{restarts} times" if restarts not in {"", "0"} else ""),
        ],
        _LABEL,
    )


def _files(detail: JobDetail) -> list[list[Piece]]:
    same = detail.stderr == detail.stdout
    fields = dict(reversed(detail.fields))
    stdin = fields.get("StdIn", "")
    return pairs(
        [
            ("command", visible(detail.command) or "none: it was given on stdin or with --wrap"),
            ("submitted by", visible(fields.get("SubmitLine", ""))),
            ("folder", visible(detail.work_dir)),
            ("output", visible(detail.stdout or "none: the job is interactive") + (" (errors too)" if same else "")),
            ("errors", "" if same else visible(detail.stderr or "")),
            ("input", visible(stdin) if stdin not in {"", "/dev/null"} else ""),
        ],
        _LABEL,
    )


def _rest(detail: JobDetail) -> list[list[Piece]]:
    """What else SLURM tells, without what it says nothing by."""
    rest = [(visible(name), visible(value)) for name, value in detail.fields
            if name not in _SHOWN_ALREADY and value not in _NOTHING]  # fmt: skip
    return [[], [("all else that SLURM tells of it", "$text-muted")], *pairs(rest, 22)] if rest else []


def tree_lines(before: Sequence[Branch], after: Sequence[Branch]) -> list[list[Piece]]:
    """What the job waits for, and what waits for it, each as a tree."""
    lines: list[list[Piece]] = []
    for label, branches in (("waits for", before), ("waited for by", after)):
        for number, branch in enumerate(branches):
            first = label if not number else ""
            job = branch.job
            state = "in the queue no more" if job is None else job.state.lower()
            style = "$text-muted" if job is None else f"${words.style_of(words.mood_of(job.state))}"
            name = f" {visible(job.name)}" if job is not None else ""
            lines.append([(first.ljust(_LABEL), "$text-muted"), (f"{'  ' * branch.depth}└ {branch.condition} ", ""),
                          (f"{branch.id}{name} ", "bold"), (state, style)])  # fmt: skip
    return lines


def _asked_memory(job: Job) -> float | None:
    from slurmtui.models.values import memory  # noqa: PLC0415 - the only use

    return memory(job.memory) if job.memory else None


def step_lines(steps: Steps | str | None, asked: float | None, cpus: int) -> list[list[Piece]]:
    """The steps of a running job with what they use now, of what the job asked for."""
    if steps is None:
        return [[("asking for its steps…", "$text-muted")]]
    if isinstance(steps, str):
        return [[("steps".ljust(_LABEL), "$text-muted"), (visible(steps), "$text-muted")]]
    lines: list[list[Piece]] = [[]]
    if steps.why_no_use:
        lines.append([(f"what its steps use is not known: {visible(steps.why_no_use)}", "$text-muted")])
    else:
        lines.append([("uses now".ljust(_LABEL), "$text-muted"), (_use_words(steps.steps, asked, cpus), "")])
    lines.append([(_columns("step", "name", "tasks", "time", "CPUs busy", "memory", "where"), "$text-muted")])
    lines += [[(_step_line(step), "")] for step in steps.steps]
    return lines


def _use_words(steps: Sequence[LiveStep], asked: float | None, cpus: int) -> str:
    known = [step.memory for step in steps if step.memory is not None]
    busy = [step.busy for step in steps if step.busy is not None]
    of = f" of {size_words(asked)}" if asked else ""
    share = f" ({sum(known) / asked:.0%})" if asked and known else ""
    memory = f"{size_words(sum(known))}{of}{share} memory" if known else "memory not measured yet"
    return memory + (f", {sum(busy):.1f} of {cpus} CPUs busy on average" if busy else "")


def _step_line(step: LiveStep) -> str:
    busy = words.DASH if step.busy is None else f"{step.busy:.1f}"
    memory = words.DASH if step.memory is None else size_words(step.memory)
    where = visible(step.nodes)
    if step.memory_task is not None and step.tasks > 1:
        where += f" (largest task {size_words(step.memory_task)} on {visible(step.node)})"
    if step.gpu_percent is not None:
        where += f" GPU {step.gpu_percent} %"
    time = words.DASH if step.elapsed is None else words.coarse(step.elapsed)
    return _columns(step.step, visible(step.name), str(step.tasks or 1), time, busy, memory, where)


def _columns(*texts: str) -> str:
    widths = (9, 16, 6, 7, 10, 10)
    cells = [
        fit(text, width, right=number > 1) for number, (text, width) in enumerate(zip(texts, widths, strict=False))
    ]
    return "  ".join([*cells, *texts[len(widths) :]]).rstrip()


def usage_lines(usage: Usage | str | None) -> list[list[Piece]]:
    """What an ended job used of what it asked for, with advice for the next one."""
    if usage is None:
        return [[("asking accounting…", "$text-muted")]]
    if isinstance(usage, str):
        return [[("used".ljust(_LABEL), "$text-muted"), (visible(usage), "$text-muted")]]
    found = efficiency(usage)
    asked = size_words(usage.memory) if usage.memory else "?"
    hours = f"{found.cpu_hours:.1f} CPU-hours" if found.cpu_hours is not None else ""
    cards = f", {found.gpu_hours:.1f} GPU-hours" if found.gpu_hours else ""
    rows = [
        ("ended", f"{usage.state.lower()}, exit code {code_words(usage.exit_code)}"),
        ("CPUs", _share(found.cpu_share, f"{found.cpus_busy or 0:.1f} of {usage.cpus} busy on average")),
        ("memory", _share(found.memory_share, f"{size_words(found.memory_used or 0)} of {asked}")),
        ("time", _share(found.time_share, f"{limit_words(usage.elapsed or 0)} of {limit_words(usage.time_limit)}")),
        ("GPUs", _share(found.gpu_share, "busy on average")),
        ("cost", f"{hours}{cards}"),
        ("", found.why_unknown),
    ]
    lines: list[list[Piece]] = [[], [("what it used of what it asked for", "bold")], *pairs(rows, _LABEL)]
    return lines + [[("advice".ljust(_LABEL), "$text-muted"), (text, "bold $state-waiting")] for text in found.advice]


def _share(share: float | None, rest: str) -> str:
    """A bar, the share in percent, and what of what; nothing where the share is not known."""
    return "" if share is None else f"{words.bar(round(share * 100), 100, 10)} {share:4.0%}  {rest}"
